"""Looks for files (SPEC T6): inside listed folders, through no link, and nothing is opened."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.core.probing import Reason, Target, TargetKind
from tenure.engines.probing.files import FileProber


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A listed folder with a file in it, beside one that is not listed."""
    inside = tmp_path / "listed"
    (inside / "nginx").mkdir(parents=True)
    (inside / "nginx" / "nginx.conf").write_text("worker_processes 2;")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.pem").write_text("a key")
    return inside


def looked(root: Path, path: Path | str, *, permits: Callable[[Target], bool] = lambda _one: True) -> Reason:
    """What a look for a file says."""
    one = Target(kind=TargetKind.PATH, what=str(path))
    return FileProber([str(root)]).look(one, permits=permits, seconds_max=1.0)


def test_what_is_there_holds_and_what_is_not_fails(root: Path) -> None:
    """SPEC T6: files and folders; a file on the way is no folder."""
    assert looked(root, root / "nginx" / "nginx.conf") is Reason.EXISTS
    assert looked(root, root / "nginx") is Reason.EXISTS
    assert looked(root, root / "nginx" / "gone.conf") is Reason.NOT_FOUND
    assert looked(root, root / "gone" / "x") is Reason.NOT_FOUND
    assert looked(root, root / "nginx" / "nginx.conf" / "x") is Reason.NOT_FOUND


def test_a_root_with_a_slash_at_its_end_is_the_same(root: Path) -> None:
    """SPEC T6: as an operator happens to write it."""
    one = Target(kind=TargetKind.PATH, what=str(root / "nginx"))

    reason = FileProber([f"{root}/"]).look(one, permits=lambda _one: True, seconds_max=1.0)

    assert reason is Reason.EXISTS


@pytest.mark.parametrize(
    "path",
    [
        "{root}/../secret/key.pem", "{root}/nginx/../../secret/key.pem", "{root}/./nginx", "{root}//nginx",
        "{root}", "{root}/", "{root}ed", "/etc/passwd", "nginx", "", "/", "{root}/nginx\x00/x",
    ],
)  # fmt: skip
def test_what_leads_out_of_the_root_is_not_looked_at(root: Path, path: str) -> None:
    """SPEC T6: a target that was not read as plain is read again here."""
    assert looked(root, path.format(root=root)) is Reason.NOT_ALLOWED


def test_links_are_not_followed(root: Path) -> None:
    """SPEC T6: neither on the way nor at its end, nor told apart by whether they lead anywhere."""
    (root / "out").symlink_to(root.parent / "secret")
    (root / "key").symlink_to(root.parent / "secret" / "key.pem")
    (root / "nowhere").symlink_to(root / "gone")

    found = [looked(root, root / path) for path in ("out/key.pem", "out/gone", "out", "key", "nowhere")]

    assert found == [Reason.UNREADABLE] * 5


def test_a_link_that_takes_a_folders_place_during_the_walk_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6: the race between the look at a step and the step itself."""
    opened = os.open

    def swapping(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "nginx":
            (root / "nginx").rename(root / "moved")
            (root / "nginx").symlink_to(root.parent / "secret")
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapping)

    assert looked(root, root / "nginx" / "key.pem") is Reason.UNREADABLE


def test_a_pipe_is_looked_at_and_not_opened(root: Path) -> None:
    """SPEC T6: to open one would wait for whoever writes into it."""
    os.mkfifo(root / "pipe")

    assert looked(root, root / "pipe") is Reason.EXISTS


def test_no_folder_stays_open(root: Path) -> None:
    """SPEC T6: whatever a look comes to."""
    (root / "out").symlink_to("/")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 -- a folder of the system's own

    for path in ("nginx/nginx.conf", "gone/x", "out/x", "nginx/nginx.conf/x"):
        looked(root, root / path)

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


def test_a_root_that_is_missing_says_nothing_against_a_memory(root: Path) -> None:
    """SPEC T6: it is a slip in the settings."""
    assert looked(root / "missing", root / "missing" / "x") is Reason.UNREADABLE


def test_what_is_not_permitted_is_not_looked_at(root: Path) -> None:
    """SPEC T6: a root alone allows no tenant anything."""
    assert looked(root, root / "nginx", permits=lambda _one: False) is Reason.NOT_ALLOWED


def test_of_two_roots_the_inner_one_is_where_the_walk_begins(root: Path) -> None:
    """SPEC T6: a listed folder may itself lie behind a link, as an operator wishes."""
    (root / "current").symlink_to(root / "nginx")
    prober = FileProber([str(root), str(root / "current")])
    one = Target(kind=TargetKind.PATH, what=str(root / "current" / "nginx.conf"))

    assert prober.look(one, permits=lambda _one: True, seconds_max=1.0) is Reason.EXISTS


def test_without_a_root_nothing_is_looked_at(root: Path) -> None:
    """SPEC T6: off unless allowed."""
    one = Target(kind=TargetKind.PATH, what=str(root / "nginx"))

    assert FileProber([]).look(one, permits=lambda _one: True, seconds_max=1.0) is Reason.NOT_ALLOWED
    assert FileProber(["/"]).look(one, permits=lambda _one: True, seconds_max=1.0) is Reason.NOT_ALLOWED

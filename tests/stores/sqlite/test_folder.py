"""Who owns a data folder, and what a store says when it cannot be opened (SPEC S5, S3)."""

import base64
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.stores.engine import SqliteEngine
from tests.usecases.asking import written

from tenure.config import Keys, Settings
from tenure.core.errors import Unavailable
from tenure.wiring import open_store

SECONDS_MAX = 30
OWNER = """
import sys
from tenure.wiring import open_store
with open_store(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""
KEK = bytes(range(32))


@contextmanager
def owned_by_another_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the store open until its input ends."""
    command = [sys.executable, "-c", OWNER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        try:
            assert owner.stdout.readline() == "open\n"
            yield owner
        finally:
            owner.kill()
            owner.communicate(timeout=SECONDS_MAX)


def refused(folder: Path, settings: Settings | None = None) -> Unavailable:
    """How the opening of a store is refused."""
    with pytest.raises(Unavailable) as refusal:
        open_store(folder, settings=settings)
    assert refusal.value.status == 503
    assert refusal.value.hint
    return refusal.value


def made(folder: Path, settings: Settings | None = None) -> str:
    """A store with one memory in it; gives back its id."""
    with open_store(folder, settings=settings) as node:
        return str(written(node.pipeline).id)


def test_a_folder_that_another_process_owns_is_refused_with_its_pid(folder: Path) -> None:
    """SPEC S5: two processes never share an embedded store, and the second learns who is in its way."""
    with owned_by_another_process(folder) as owner:
        message = refused(folder).message

    assert str(folder) in message
    assert f"pid {owner.pid}" in message


def test_a_folder_is_free_again_when_its_owner_was_killed(folder: Path) -> None:
    """SPEC E5: nobody has to clean up after a crash."""
    with owned_by_another_process(folder) as owner:
        owner.send_signal(signal.SIGKILL)
        owner.wait(SECONDS_MAX)

        made(folder)


def test_a_folder_that_this_process_owns_is_refused_and_stays_in_use(embedded: SqliteEngine) -> None:
    """SPEC S5: not even the same process opens a store twice; the first one goes on."""
    opened = embedded.open()
    try:
        assert f"pid {os.getpid()}" in refused(embedded.folder).message
        written(opened.pipeline)
    finally:
        opened.close()


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    """SPEC S3: a folder that cannot be made is named, with what to do."""
    file = tmp_path / "file"
    file.write_text("no folder", encoding="ascii")

    for path in (file, file / "store", file / "a" / "b"):
        refusal = refused(path)
        assert str(path) in refusal.message
        assert "--data" in (refusal.hint or "")


def test_a_new_store_keeps_its_secrets_to_its_owner(folder: Path) -> None:
    """SPEC S5: nobody else on the machine reads the root key."""
    made(folder)

    assert stat.S_IMODE((folder / "root.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_store_without_its_root_key_is_refused(folder: Path) -> None:
    """SPEC F7: without the key nothing can be opened; no new one is made in its place."""
    made(folder)
    key = (folder / "root.key").read_bytes()
    (folder / "root.key").unlink()

    assert "root.key cannot be read" in refused(folder).message
    assert not (folder / "root.key").exists()

    (folder / "root.key").write_bytes(key)
    made(folder)


@pytest.mark.parametrize(
    ("content", "because"),
    [
        (base64.b64encode(KEK).decode(), "does not open this keyring"),
        (base64.b64encode(KEK[:16]).decode(), "32 bytes"),
        ("not base64!", "not base64"),
        ("schlüssel", "not base64"),
        ("", "32 bytes"),
    ],
    ids=["another key", "too short", "no base64", "no ascii", "empty"],
)
def test_a_wrong_root_key_is_refused(folder: Path, content: str, because: str) -> None:
    """SPEC F7, E5: refused at the start, never misread later; and the right key still opens it."""
    made(folder)
    right = (folder / "root.key").read_bytes()
    (folder / "root.key").write_text(content, encoding="utf-8")

    assert because in refused(folder).message
    (folder / "root.key").write_bytes(right)
    made(folder)


def test_a_root_key_from_the_settings_is_never_written_to_the_folder(folder: Path) -> None:
    """SPEC S3: a key that comes from outside stays outside."""
    settings = Settings(keys=Keys(kek=KEK))
    made(folder, settings)

    assert not (folder / "root.key").exists()
    assert "does not open this keyring" in refused(folder, Settings(keys=Keys(kek=KEK[::-1]))).message
    made(folder, settings)


def test_a_root_key_from_a_file_of_ones_own_opens_the_store(folder: Path, tmp_path: Path) -> None:
    """SPEC S3: the file is named in the settings, must be there, and is never made."""
    settings = Settings(keys=Keys(kek_file=str(tmp_path / "kek")))
    assert "cannot be read" in refused(folder, settings).message
    (tmp_path / "kek").write_text(base64.b64encode(KEK).decode(), encoding="ascii")

    made(folder, settings)

    assert not (folder / "root.key").exists()


@pytest.mark.parametrize("file", ["log.db", "keyring.db"])
def test_a_file_of_a_newer_program_is_refused(folder: Path, file: str) -> None:
    """SPEC E3: what this program does not know it does not touch."""
    made(folder)
    connection = apsw.Connection(str(folder / file))
    connection.pragma("user_version", 99)
    connection.close()
    before = (folder / file).read_bytes()

    refusal = refused(folder)

    assert "schema 99" in refusal.message
    assert "newer version" in (refusal.hint or "")
    assert (folder / file).read_bytes() == before


@pytest.mark.parametrize("file", ["log.db", "keyring.db"])
def test_a_file_that_is_no_database_is_refused(folder: Path, file: str) -> None:
    """SPEC E5: refused, never misread; the hint says to keep a copy."""
    made(folder)
    (folder / file).write_bytes(b"\xa5" * 8192)

    assert "backup" in (refused(folder).hint or "")


def test_a_refused_opening_leaves_the_folder_free(folder: Path) -> None:
    """SPEC S5: whatever was wrong can be mended and tried again by the same process."""
    made(folder)
    key = (folder / "root.key").read_bytes()
    (folder / "root.key").write_text(base64.b64encode(KEK).decode(), encoding="ascii")
    for _ in range(3):
        refused(folder)

    (folder / "root.key").write_bytes(key)
    made(folder)


def test_a_first_start_that_was_interrupted_before_its_key_was_made_is_repeated(folder: Path) -> None:
    """SPEC E5: a crash while the root key is made leaves a store that was never used, not a lost one."""
    folder.mkdir()
    (folder / "root.key").touch(mode=0o600)

    made(folder)

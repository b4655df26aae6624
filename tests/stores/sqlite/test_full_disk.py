"""A real disk that is full or read-only: 503, nothing half-written, and on again by itself (SPEC E5)."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.stores.engine import Opened, SqliteEngine
from tests.stores.sqlite.acknowledging import Acknowledged, assert_nothing_lost, listed
from tests.usecases.asking import written

from tenure.core.errors import Unavailable

DISK_SIZE = "4m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system that is full after a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs"]
    mounted = subprocess.run(["mount", *options, str(disk)], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Take what space is left; gives back the file to delete."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096) == 4096:
                pass
        except OSError:
            pass
    return filler


def test_a_full_disk_refuses_and_loses_nothing_and_goes_on_once_there_is_space(small_disk: Path) -> None:
    """SPEC E5: 503 with what to do; what was acknowledged stays, what was refused is not there at all."""
    embedded = SqliteEngine(small_disk / "store")
    opened = embedded.open()
    try:
        acknowledged = Acknowledged(opened.pipeline)
        acknowledged.write(count=3)
        filler = fill(small_disk)
        acknowledged.write(until_refused=True)
        while_full = listed(opened.pipeline)
        filler.unlink()
        refusals = list(acknowledged.refusals)
        acknowledged.write(count=5)
    finally:
        opened.close()

    assert {type(one) for one in refusals} == {Unavailable}
    assert {one.status for one in refusals} == {503}
    assert "disk is full" in (refusals[0].hint or "")
    assert while_full.keys() <= acknowledged.contents.keys()
    assert acknowledged.refusals == refusals, "nothing is refused any more"
    assert_nothing_lost(embedded, acknowledged)


def test_a_store_on_a_full_disk_closes_and_opens_again_with_everything(small_disk: Path) -> None:
    """SPEC E5: stopping while the disk is full loses nothing that was acknowledged."""
    embedded = SqliteEngine(small_disk / "store")
    opened = embedded.open()
    acknowledged = Acknowledged(opened.pipeline)
    acknowledged.write(count=3)
    filler = fill(small_disk)
    acknowledged.write(until_refused=True)
    opened.close()
    filler.unlink()

    assert_nothing_lost(embedded, acknowledged)


def test_a_new_store_on_a_full_disk_is_refused(small_disk: Path) -> None:
    """SPEC E5, S3: not half a store, and a store once there is space."""
    filler = fill(small_disk)
    embedded = SqliteEngine(small_disk / "store")
    with pytest.raises(Unavailable):
        embedded.open()
    filler.unlink()

    opened = embedded.open()
    written(opened.pipeline)
    opened.close()


def test_a_read_only_disk_is_refused_at_the_start(small_disk: Path) -> None:
    """SPEC S3: the folder and the reason are named."""
    embedded = SqliteEngine(small_disk / "store")
    embedded.open().close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    with pytest.raises(Unavailable, match="Read-only file system"):
        embedded.open()


def test_a_store_on_a_full_disk_does_not_call_itself_healthy(small_disk: Path) -> None:
    """SPEC S3, E5: a node that refuses every write must not be sent any."""
    opened: Opened = SqliteEngine(small_disk / "store").open()
    try:
        acknowledged = Acknowledged(opened.pipeline)
        acknowledged.write(count=3)
        filler = fill(small_disk)
        acknowledged.write(until_refused=True)
        while_full = opened.store.healthy()
        filler.unlink()
        after = opened.store.healthy()
    finally:
        opened.close()

    assert (while_full, after) == (False, True)

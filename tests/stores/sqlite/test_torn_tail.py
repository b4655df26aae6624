"""A write-ahead log that was torn by a crash of the machine: repaired to a moment that was, never misread."""

import random
import shutil
from pathlib import Path

import pytest
from tests.stores.engine import SqliteEngine
from tests.stores.items import TENANT
from tests.usecases.asking import BOT, written

from tenure.usecases.evidence import verify
from tenure.usecases.reading import LIST, ListMemories

MEMORIES = 20


@pytest.fixture
def crashed(embedded: SqliteEngine, folder: Path, tmp_path: Path) -> Path:
    """The files of a store with some memories, as they are while it is in use."""
    opened = embedded.open()
    for number in range(MEMORIES):
        written(opened.pipeline, f"Memory {number}")
    copy = Path(shutil.copytree(folder, tmp_path / "crashed"))
    opened.close()
    return copy


def contents(folder: Path) -> list[str | None]:
    """What can be read after the start, oldest first; the log and the views must be whole."""
    opened = SqliteEngine(folder).open()
    try:
        assert verify(opened.pipeline, TENANT).holds
        assert opened.store.rebuild().identical
        items = opened.pipeline.run(LIST, BOT, ListMemories(limit=200)).items
        written(opened.pipeline, "Life goes on")
    finally:
        opened.close()
    return [memory.content for memory in reversed(items)]


EVERYTHING = [f"Memory {number}" for number in range(MEMORIES)]


def test_an_image_of_the_files_in_use_has_everything(crashed: Path) -> None:
    """SPEC E5: what was acknowledged is in the files, and not only in the process."""
    assert contents(crashed) == EVERYTHING


@pytest.mark.parametrize("part", range(8))
def test_a_log_that_was_cut_off_is_repaired_to_a_moment_that_was(crashed: Path, part: int) -> None:
    """SPEC E5: a torn tail is dropped; what stands is what stood at some moment, with its index and views."""
    tail = crashed / "log.db-wal"
    whole = tail.read_bytes()
    tail.write_bytes(whole[: len(whole) * part // 8 + random.Random(part).randrange(4096)])

    left = contents(crashed)

    assert left == EVERYTHING[: len(left)]
    assert len(left) < MEMORIES


@pytest.mark.parametrize("seed", range(8))
def test_a_log_with_a_damaged_tail_is_repaired_to_a_moment_that_was(crashed: Path, seed: int) -> None:
    """SPEC E5: bytes that the disk mixed up are found by their sums, and nothing behind them is believed."""
    tail = crashed / "log.db-wal"
    damaged = bytearray(tail.read_bytes())
    place = random.Random(seed).randrange(len(damaged) // 2, len(damaged))
    damaged[place] ^= 0xFF
    tail.write_bytes(damaged)

    left = contents(crashed)

    assert left == EVERYTHING[: len(left)]
    assert len(left) < MEMORIES

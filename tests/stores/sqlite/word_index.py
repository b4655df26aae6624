"""Opening a store in a folder, and asking it by words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.stores.engine import Opened, SqliteEngine
from tests.usecases.asking import BOT, question

from tenure.usecases.retrieval import RECALL


@contextmanager
def open_at(folder: Path) -> Iterator[Opened]:
    """The store in a folder, closed again whatever happens."""
    opened = SqliteEngine(folder).open()
    try:
        yield opened
    finally:
        opened.close()


def found(opened: Opened, word: str) -> list[str | None]:
    """The contents that share a word with a question."""
    items = opened.pipeline.run(RECALL, BOT, question(word, explain=True)).items
    return [item.memory.content for item in items if item.why and item.why["words"]]


def index_files(folder: Path) -> list[Path]:
    """The files of the word index."""
    return sorted(folder.glob("search.db*"))

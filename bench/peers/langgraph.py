"""LangGraph's SqliteStore with a vector index, a namespace for each user."""

import sqlite3
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bench.peers import work

ROOM: Final = "memories"
PUTS_AT_ONCE: Final = 500


class LanggraphPeer:
    """Vectors alone: it ranks by no words."""

    def __init__(self, folder: Path, vectors: work.Vectors) -> None:
        _let_sqlite_load_extensions()
        # Only its own environment has it.
        store_class = import_module("langgraph.store.sqlite").SqliteStore
        self._put = import_module("langgraph.store.base").PutOp
        self.version = version("langgraph-checkpoint-sqlite")
        self._open = ExitStack()

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [vectors.of(text) for text in texts]

        # Its documentation says `fields`; its code reads `text_fields`, else it embeds the whole record.
        index = {"dims": vectors.dimensions, "embed": embed, "text_fields": ["text"]}
        self._store = self._open.enter_context(
            store_class.from_conn_string(str(folder / "store.db"), index=index)
        )
        self._store.setup()

    def add(self, memory: work.Memory) -> str:
        """One call of `put`."""
        self._store.put((ROOM, memory.user), memory.id, {"text": memory.text})
        return memory.id

    def fill(self, memories: Sequence[work.Memory]) -> None:
        """Some hundreds to a call of `batch`."""
        for first in range(0, len(memories), PUTS_AT_ONCE):
            self._store.batch(
                [
                    self._put((ROOM, one.user), one.id, {"text": one.text})
                    for one in memories[first : first + PUTS_AT_ONCE]
                ]
            )

    def find(self, question: work.Question, limit: int) -> list[str]:
        """One call of `search`."""
        found = self._store.search((ROOM, question.user), query=question.text, limit=limit)
        return [one.key for one in found]

    def holds(self, user: str, handle: str) -> bool:
        """Whether `get` gives it back."""
        return self._store.get((ROOM, user), handle) is not None

    def close(self) -> None:
        """In order."""
        self._open.close()


def _let_sqlite_load_extensions() -> None:
    """Its vectors are an extension of SQLite, which some builds of Python cannot load; another module can."""
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        sys.modules["sqlite3"] = import_module("pysqlite3")


if __name__ == "__main__":
    work.serve(LanggraphPeer)

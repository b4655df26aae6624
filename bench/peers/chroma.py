"""Chroma in the process, its files on disk, one collection whose entries name their user."""

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from bench.peers import work


class ChromaPeer:
    """Vectors alone, in an approximate index, filtered by the user."""

    def __init__(self, folder: Path, vectors: work.Vectors) -> None:
        # Only its own environment has it.
        chromadb = import_module("chromadb")
        self.version = version("chromadb")
        self._vectors = vectors
        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._entries = self._client.get_or_create_collection(
            "memories", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def add(self, memory: work.Memory) -> str:
        """One call of `add`."""
        self._add([memory])
        return memory.id

    def fill(self, memories: Sequence[work.Memory]) -> None:
        """As many to a call as it takes."""
        at_once = self._client.get_max_batch_size()
        for first in range(0, len(memories), at_once):
            self._add(memories[first : first + at_once])

    def find(self, question: work.Question, limit: int) -> list[str]:
        """One call of `query`."""
        found = self._entries.query(
            query_embeddings=[self._vectors.of(question.text)],
            n_results=limit,
            where={"user": question.user},
            include=["documents", "distances"],
        )
        return [str(one) for one in found["ids"][0]]

    def holds(self, user: str, handle: str) -> bool:  # noqa: ARG002 -- the id says everything
        """Whether `get` gives it back."""
        return bool(self._entries.get(ids=[handle])["ids"])

    def close(self) -> None:
        """It has no way to be closed."""

    def _add(self, memories: Sequence[work.Memory]) -> None:
        self._entries.add(
            ids=[one.id for one in memories],
            embeddings=[self._vectors.of(one.text) for one in memories],
            documents=[one.text for one in memories],
            metadatas=[{"user": one.user} for one in memories],
        )


if __name__ == "__main__":
    work.serve(ChromaPeer)

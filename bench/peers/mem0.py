"""mem0 as its documentation sets it up for one machine: Qdrant on disk, and no language model is asked."""

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.peers import work

os.environ["MEM0_TELEMETRY"] = "False"
ANY_KEY: Final = "none-is-needed"


class Mem0Peer:
    """Vectors alone: its word ranking needs a model that it fetches when it runs."""

    def __init__(self, folder: Path, vectors: work.Vectors) -> None:
        os.environ["MEM0_DIR"] = str(folder / "home")
        # It reads the environment when it is imported, and only its own environment has it.
        memory_class = import_module("mem0").Memory
        self.version = version("mem0ai")
        store = {
            "path": str(folder / "qdrant"),
            "embedding_model_dims": vectors.dimensions,
            "on_disk": True,
            "collection_name": "bench",
        }
        self._memory = memory_class.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                # Neither is ever asked: the embedder is replaced below, and nothing is inferred.
                "embedder": {"provider": "openai", "config": {"api_key": ANY_KEY}},
                "llm": {"provider": "openai", "config": {"api_key": ANY_KEY}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Embedder(vectors)

    def add(self, memory: work.Memory) -> str:
        """One call of `add`."""
        kept = self._memory.add(memory.text, user_id=memory.user, metadata={"ref": memory.id}, infer=False)
        return str(kept["results"][0]["id"])

    def fill(self, memories: Sequence[work.Memory]) -> None:
        """It has no call for many memories of several users."""
        for memory in memories:
            self.add(memory)

    def find(self, question: work.Question, limit: int) -> list[str]:
        """One call of `search`; the threshold is off, since it would cut the list short."""
        found = self._memory.search(
            question.text, top_k=limit, filters={"user_id": question.user}, threshold=0.0
        )
        return [one["metadata"]["ref"] for one in found["results"]]

    def holds(self, user: str, handle: str) -> bool:  # noqa: ARG002 -- the id says everything
        """Whether `get` gives it back."""
        return self._memory.get(handle) is not None

    def close(self) -> None:
        """As its own code does at the end of a program."""
        self._memory.vector_store.client.close()


class _Embedder:
    """Vectors that were computed before."""

    def __init__(self, vectors: work.Vectors) -> None:
        self._vectors = vectors

    def embed(self, text: str, memory_action: Any = None) -> list[float]:  # noqa: ARG002 -- its interface
        """The vector of a text."""
        return self._vectors.of(text)

    def embed_batch(self, texts: Sequence[str], memory_action: Any = None) -> list[list[float]]:  # noqa: ARG002
        """The vectors of some texts."""
        return [self._vectors.of(text) for text in texts]


if __name__ == "__main__":
    work.serve(Mem0Peer)

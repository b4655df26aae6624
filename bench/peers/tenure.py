"""Tenure as a peer of the others: the library, embedded, with the embedder that ships."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final
from uuid import UUID

from bench.peers import work
from bench.stores import BATCH
from tenure import Source, Tenure
from tenure.core.errors import TenureError
from tenure.core.proposals import Remember
from tenure.core.vocabulary import Kind
from tenure.usecases.remembering import REMEMBER

AGENT: Final = "assistant"


class TenurePeer:
    """Every write passes the gate, is sealed, chained and audited; its vector is computed with it."""

    def __init__(self, folder: Path, _vectors: work.Vectors) -> None:
        self.version = version("tenure")
        self._store = Tenure.open(folder)
        self._session = self._store.session(tenant="bench", agent=AGENT, purpose=AGENT)

    def add(self, memory: work.Memory) -> str:
        """One write through the library's face."""
        source = Source.application(memory.id)
        kept = self._session.remember(memory.text, kind="fact", source=source, subject=memory.user)
        return str(kept.id)

    def fill(self, memories: Sequence[work.Memory]) -> None:
        """Batches, as an import sends them."""
        commands = [(_command(memory), None) for memory in memories]
        for first in range(0, len(commands), BATCH):
            batch = commands[first : first + BATCH]
            self._store.node.pipeline.run_many(REMEMBER, self._session.caller, batch)

    def find(self, question: work.Question, limit: int) -> list[str]:
        """One recall, scanned and rendered, with its receipt."""
        found = self._session.recall(question.text, subject=question.user, limit=limit)
        return [memory.source.id for memory in found]

    def holds(self, user: str, handle: str) -> bool:  # noqa: ARG002 -- the id says everything
        """Whether the memory is there and can be read."""
        try:
            return self._session.get(UUID(handle)).content is not None
        except TenureError:
            return False

    def close(self) -> None:
        """In order."""
        self._store.close()


def _command(memory: work.Memory) -> Remember:
    return Remember(
        agent=AGENT,
        purpose=AGENT,
        subject=memory.user,
        kind=Kind.FACT,
        content=memory.text,
        source=Source.application(memory.id),
    )


if __name__ == "__main__":
    work.serve(TenurePeer)

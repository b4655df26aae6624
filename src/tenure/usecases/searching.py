"""What ranking asks of memories: of the present, which a store answers, or of a past put together again."""

from collections.abc import Sequence
from typing import Protocol

from tenure.core.retrieval import Candidate, Filter, Hit, Statistics
from tenure.core.rows import MemoryRow, SuppressionRow


class Searching(Protocol):
    """Rows that pass hard filters: how many there are, which words are in them, which are keyed (SPEC R1)."""

    def statistics(self, where: Filter) -> Statistics:
        """How many rows pass the filters, and their tokens."""

    def hits(self, where: Filter, terms: Sequence[str]) -> list[Hit]:
        """The query terms in the rows that pass the filters."""

    def candidates(self, where: Filter, created_seqs: Sequence[int]) -> list[Candidate]:
        """Those of these rows that pass the filters."""

    def recent(self, where: Filter, limit: int) -> list[Candidate]:
        """The newest rows that pass the filters."""

    def keyed(self, where: Filter, key_digest: bytes | None = None) -> list[MemoryRow]:
        """The rows with a key, or with this one, that pass the filters."""

    def suppressions(self, tenant: str, subject: str, now: int) -> list[SuppressionRow]:
        """The forgets of leaves alone that hold at this time for a subject."""

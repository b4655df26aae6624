"""What ranking asks of memories: of the present, which a store answers, or of a past put together again."""

from collections.abc import Sequence
from typing import Protocol

from tenure.core.boundary_rows import Searched
from tenure.core.retrieval import Filter
from tenure.core.rows import MemoryRow, SuppressionRow


class Searching(Protocol):
    """Rows that pass hard filters: all that ranking needs of them, and which are keyed (SPEC R1)."""

    def search(self, where: Filter, terms: Sequence[str], model: str | None) -> Searched:
        """Every row that passes the filters, with its vector of this model, and where the terms stand."""

    def keyed(self, where: Filter, key_digest: bytes | None = None) -> list[MemoryRow]:
        """The rows with a key, or with this one, that pass the filters."""

    def suppressions(self, tenant: str, subject: str, now: int) -> list[SuppressionRow]:
        """The forgets of leaves alone that hold at this time for a subject."""

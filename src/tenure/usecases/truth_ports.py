"""What keeping memory true asks of a store: claims of one thing, contradictions, merges, support (SPEC T)."""

from collections.abc import Collection, Iterable
from typing import Protocol
from uuid import UUID

import msgspec

from tenure.core.candidates import Candidates
from tenure.core.retrieval import Filter
from tenure.core.rows import ContradictionRow, DerivationRow, SupportRow, ThingRow


class Walls(msgspec.Struct, frozen=True, kw_only=True):
    """The four walls around memories that may be compared with one another."""

    tenant: str
    agent: str
    purpose: str
    subject: str


class ContradictionListing(msgspec.Struct, frozen=True, kw_only=True):
    """Which contradictions to list, newest first. Sides left open are not narrowed."""

    tenant: str
    limit: int
    agents: frozenset[str] | None = None
    purposes: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    is_open: bool | None = True
    """Those that wait for a person, those that were decided, or both."""
    before_seq: int | None = None


class TruthReading(Protocol):
    """What a look at the store says about what memories claim, and how they stand to one another."""

    def claiming(self, walls: Walls, things: Collection[bytes], *, now: int, limit: int) -> list[UUID]:
        """The memories that stand within these walls and claim something of any of these things.

        The most trusted come first, of equal trust the newest.
        """

    def at_hand(self, where: Filter, model: str, *, most: int) -> Candidates | None:
        """All that passes the filters, with its vectors; some may have run out of time.

        None where their subjects have more memories than ``most``, or while the search data is behind the
        log: nobody waits for that, a write goes on without it.
        """

    def things_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ThingRow]:
        """Of what these memories claim something."""

    def edges(
        self,
        tenant: str,
        kinds: Collection[str],
        *,
        parents: Iterable[UUID] = (),
        children: Iterable[UUID] = (),
    ) -> list[DerivationRow]:
        """The edges of these kinds that leave any of the parents, or lead to any of the children."""

    def support(self, tenant: str, memory_ids: Iterable[UUID]) -> list[SupportRow]:
        """How many sources say what these memories say, of those that more than one says."""

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""

    def contradictions_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ContradictionRow]:
        """Every contradiction, open or decided, that any of these memories has a part in."""

    def contradictions_beside(
        self, tenant: str, memory_ids: Iterable[UUID], *, limit: int, found_by: int | None = None
    ) -> list[ContradictionRow]:
        """Contradictions that these memories have a part in: the open ones, or all found by a time.

        Those with what waits in quarantine come last, of each sort the newest first: a crowd of rumours
        hides nothing.
        """

    def contradictions(self, listing: ContradictionListing) -> list[ContradictionRow]:
        """A page of contradictions."""

    def stranded(self, limit: int) -> list[DerivationRow]:
        """Merges, of any tenant, whose memory was revoked or expired while what is behind it could stand.

        What has longest to live comes first: whether it has expired meanwhile is the caller's to say.
        """

    def claims_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many rows are left of what a subject's memories claimed, up to a position."""

"""Reads about what memories claim, and how they stand to one another (SPEC T2, T3)."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from tenure.core.rows import FOREVER, ContradictionRow, DerivationRow, SupportRow, ThingRow
from tenure.stores.queries import load_queries
from tenure.usecases.truth_ports import ContradictionListing, Walls

SQL = load_queries("tenure.stores.postgres", "truth.sql")


class TruthReading:
    """The part of the Reading port that keeping memory true asks."""

    def claiming(self, walls: Walls, things: Collection[bytes], *, now: int, limit: int) -> list[UUID]:
        """The memories that stand within these walls and claim something of any of these things."""
        bindings = {
            "tenant": walls.tenant,
            "agent": walls.agent,
            "purpose": walls.purpose,
            "subject": walls.subject,
            "things": list(things),
            "now": now,
            "limit": limit,
        }
        return [row[0] for row in self._rows(walls.tenant, "claiming", bindings)]

    def things_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ThingRow]:
        """Of what these memories claim something."""
        found = self._rows(tenant, "things_of", {"tenant": tenant, "ids": list(memory_ids)})
        return [ThingRow(*row) for row in found]

    def edges(
        self,
        tenant: str,
        kinds: Collection[str],
        *,
        parents: Iterable[UUID] = (),
        children: Iterable[UUID] = (),
    ) -> list[DerivationRow]:
        """The edges of these kinds that leave any of the parents, or lead to any of the children."""
        bindings = {
            "tenant": tenant,
            "kinds": sorted(kinds),
            "parents": list(parents),
            "children": list(children),
        }
        return [DerivationRow(*row) for row in self._rows(tenant, "edges", bindings)]

    def support(self, tenant: str, memory_ids: Iterable[UUID]) -> list[SupportRow]:
        """How many sources say what these memories say, of those that more than one says."""
        found = self._rows(tenant, "support", {"tenant": tenant, "ids": list(memory_ids)})
        return [SupportRow(*row) for row in found]

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""
        found = self._rows(tenant, "contradiction", (tenant, contradiction_id))
        return ContradictionRow(*found[0]) if found else None

    def contradictions_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ContradictionRow]:
        """Every contradiction, open or decided, that any of these memories has a part in; newest first."""
        found = self._rows(tenant, "contradictions_of", {"tenant": tenant, "ids": list(memory_ids)})
        return [ContradictionRow(*row) for row in found]

    def contradictions_beside(
        self, tenant: str, memory_ids: Iterable[UUID], *, limit: int, found_by: int | None = None
    ) -> list[ContradictionRow]:
        """Contradictions that these memories have a part in: the open ones, or all found by a time."""
        bindings = {"tenant": tenant, "ids": list(memory_ids), "found_by": found_by, "limit": limit}
        return [ContradictionRow(*row) for row in self._rows(tenant, "contradictions_beside", bindings)]

    def contradictions(self, listing: ContradictionListing) -> list[ContradictionRow]:
        """A page of contradictions, newest first."""
        bindings = {
            "tenant": listing.tenant,
            "agents": _listed(listing.agents),
            "purposes": _listed(listing.purposes),
            "subjects": _listed(listing.subjects),
            "before": FOREVER if listing.before_seq is None else listing.before_seq,
            "limit": listing.limit,
        }
        if listing.is_open:
            found = self._rows(listing.tenant, "contradictions_open", bindings)
        else:
            found = self._rows(listing.tenant, "contradictions", bindings | {"is_open": listing.is_open})
        return [ContradictionRow(*row) for row in found]

    def stranded(self, limit: int) -> list[DerivationRow]:
        """Merges of any tenant whose memory was revoked or expired; what has longest to live comes first."""
        found = [row for tenant in self.tenants() for row in self._rows(tenant, "stranded", (tenant, limit))]
        found.sort(key=lambda row: row[5], reverse=True)
        return [DerivationRow(*row[:5]) for row in found[:limit]]

    def claims_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many rows are left of what a subject's memories claimed, up to a position."""
        bindings = {"tenant": tenant, "subject": subject, "up_to_seq": up_to_seq}
        return int(self._rows(tenant, "claims_left", bindings)[0][0])

    def tenants(self) -> list[str]:
        """Every tenant that has a log."""
        raise NotImplementedError

    def _rows(self, tenant: str, name: str, bindings: Any) -> list[Any]:
        raise NotImplementedError


def _listed(values: Iterable[str] | None) -> list[str] | None:
    return sorted(values) if values is not None else None

"""Reads about what memories claim, and how they stand to one another (SPEC T2, T3)."""

import json
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from tenure.core.rows import FOREVER, ContradictionRow, DerivationRow, SupportRow, ThingRow
from tenure.stores.queries import load_queries
from tenure.usecases.truth_ports import ContradictionListing, Walls

SQL = load_queries("tenure.stores.sqlite", "truth.sql")


class TruthReading:
    """The part of the Reading port that keeping memory true asks."""

    def claiming(self, walls: Walls, things: Collection[bytes], *, now: int, limit: int) -> list[UUID]:
        """The memories that stand within these walls and claim something of any of these things."""
        bindings = {
            "tenant": walls.tenant,
            "agent": walls.agent,
            "purpose": walls.purpose,
            "subject": walls.subject,
            "things": json.dumps([thing.hex() for thing in things]),
            "now": now,
            "limit": limit,
        }
        return [UUID(bytes=row[0]) for row in self._rows("claiming", bindings)]

    def things_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ThingRow]:
        """Of what these memories claim something."""
        found = self._rows("things_of", {"tenant": tenant, "ids": _ids(memory_ids)})
        return [ThingRow(row[0], row[1], UUID(bytes=row[2]), row[3]) for row in found]

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
            "kinds": json.dumps(sorted(kinds)),
            "parents": _ids(parents),
            "children": _ids(children),
        }
        return [_edge(row) for row in self._rows("edges", bindings)]

    def support(self, tenant: str, memory_ids: Iterable[UUID]) -> list[SupportRow]:
        """How many sources say what these memories say, of those that more than one says."""
        found = self._rows("support", {"tenant": tenant, "ids": _ids(memory_ids)})
        return [SupportRow(row[0], UUID(bytes=row[1]), *row[2:]) for row in found]

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""
        found = self._rows("contradiction", (tenant, contradiction_id.bytes))
        return _contradiction(found[0]) if found else None

    def contradictions_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[ContradictionRow]:
        """Every contradiction, open or decided, that any of these memories has a part in; newest first."""
        found = self._rows("contradictions_of", {"tenant": tenant, "ids": _ids(memory_ids)})
        return [_contradiction(row) for row in found]

    def contradictions_beside(
        self, tenant: str, memory_ids: Iterable[UUID], *, limit: int, found_by: int | None = None
    ) -> list[ContradictionRow]:
        """Contradictions that these memories have a part in: the open ones, or all found by a time."""
        bindings = {"tenant": tenant, "ids": _ids(memory_ids), "found_by": found_by, "limit": limit}
        return [_contradiction(row) for row in self._rows("contradictions_beside", bindings)]

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
            found = self._rows("contradictions_open", bindings)
        else:
            found = self._rows("contradictions", bindings | {"is_open": listing.is_open})
        return [_contradiction(row) for row in found]

    def stranded(self, limit: int) -> list[DerivationRow]:
        """Merges of any tenant whose memory was revoked or expired; what has longest to live comes first."""
        return [_edge(row) for row in self._rows("stranded", (limit,))]

    def claims_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many rows are left of what a subject's memories claimed, up to a position."""
        bindings = {"tenant": tenant, "subject": subject, "up_to_seq": up_to_seq}
        return int(self._rows("claims_left", bindings)[0][0])

    def _rows(self, name: str, bindings: Any) -> list[Any]:
        raise NotImplementedError


def _ids(memory_ids: Iterable[UUID]) -> str:
    return json.dumps([memory_id.hex for memory_id in memory_ids])


def _listed(values: Iterable[str] | None) -> str | None:
    return json.dumps(sorted(values)) if values is not None else None


def _edge(row: tuple[Any, ...]) -> DerivationRow:
    return DerivationRow(row[0], UUID(bytes=row[1]), UUID(bytes=row[2]), row[3], row[4])


def _contradiction(row: tuple[Any, ...]) -> ContradictionRow:
    values: list[Any] = [
        UUID(bytes=value) if at in _IDS and value is not None else value for at, value in enumerate(row)
    ]
    return ContradictionRow(*values)


_IDS = frozenset({1, 5, 6, 13})
"""The columns of a contradiction that hold ids."""

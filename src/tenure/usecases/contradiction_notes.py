"""What is said beside memories that contradict others, until a person has decided (SPEC T3).

    1 the contradictions of what would be shown that are open, or were at the moment that is asked about
    2 of these, those whose other side could still be right: it stands, waits or was superseded
    3 what gives way to a memory of the answer that is believed before it, and a note beside what stays

Law: what was revoked, rejected, forgotten, or whose time is over, is named beside nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from heapq import nsmallest
from typing import Final, NamedTuple
from uuid import UUID

from tenure.core.contradictions import Effect, Open, shown
from tenure.core.events import decode_header
from tenure.core.memory import Memory
from tenure.core.retrieval import Contradicted, Opposing
from tenure.core.rows import ContradictionRow, MemoryRow, microseconds
from tenure.core.statements import standing_of
from tenure.core.vocabulary import Status
from tenure.usecases.pipeline import World
from tenure.usecases.time_travel import rows_then

LOOKED_AT_MAX: Final = 200
"""How many contradictions are looked at for an answer at once; of what waits, the newest."""
OPPOSING_MAX: Final = 20
"""How many contradictions are listed beside one memory; its note counts the others."""
_COULD_BE_RIGHT: Final = frozenset({Status.ACTIVE, Status.QUARANTINED, Status.SUPERSEDED})


class Told(NamedTuple):
    """What is not shown, and what is said beside the others.

    What did not fit with its note keeps it: without one it would seem to fit.
    """

    hidden: frozenset[UUID]
    contradicted: dict[UUID, Contradicted]


class ContradictionNotes:
    """The contradictions of an answer; each memory is asked about once, however often the answer changes."""

    def __init__(self, world: World, tenant: str, *, as_of: datetime | None = None) -> None:
        self._world, self._tenant, self._as_of = world, tenant, as_of
        self._asked: set[UUID] = set()
        self._open: dict[UUID, ContradictionRow] = {}
        self._told: dict[UUID, Contradicted] = {}

    def among(self, memories: Sequence[Memory]) -> Told:
        """What these memories of an answer change for one another, and what is said beside them."""
        unknown = [memory.id for memory in memories if memory.id not in self._asked]
        if unknown:
            self._asked.update(unknown)
            self._open.update((row.contradiction_id, row) for row in self._standing(unknown))
        if not self._open:
            return Told(frozenset(), {})
        rows = self._open.values()
        pairs = [Open(row.believed, row.doubted, Effect(row.effect), None) for row in rows]
        standings = {memory.id: standing_of(memory) for memory in memories}
        told = shown(standings, pairs, self._world.rules.truth.showing)
        self._told = self._told | {
            one: Contradicted(note, _opposing(one, rows, told.ids)) for one, note in told.notes.items()
        }
        return Told(frozenset(standings).difference(told.ids), self._told)

    def _standing(self, memory_ids: Sequence[UUID]) -> list[ContradictionRow]:
        """Their open contradictions with what could still be right."""
        found_by = microseconds(self._as_of) if self._as_of is not None else None
        reading = self._world.reading
        rows = self._open_ones(
            reading.contradictions_beside(self._tenant, memory_ids, limit=LOOKED_AT_MAX, found_by=found_by)
        )
        if not rows:
            return []
        others = {side for row in rows for side in (row.believed, row.doubted)} - self._asked
        now = microseconds(self._as_of or self._world.moment.now)
        could_be = self._asked | {
            row.memory_id
            for row in self._rows(others)
            if row.status in _COULD_BE_RIGHT and row.expires_at > now
        }
        return [row for row in rows if {row.believed, row.doubted} <= could_be]

    def _rows(self, memory_ids: Collection[UUID]) -> Iterable[MemoryRow]:
        if not memory_ids:
            return ()
        if self._as_of is None:
            return self._world.reading.rows_of(self._tenant, memory_ids)
        return rows_then(self._world, self._tenant, sorted(memory_ids), self._as_of)

    def _open_ones(self, rows: Sequence[ContradictionRow]) -> list[ContradictionRow]:
        """Those that no person has decided, or that none had by the moment that is asked about."""
        if self._as_of is None:
            return list(rows)
        decided = [row.resolved_seq for row in rows if row.resolved_seq]
        later = {
            stored.seq
            for stored in (self._world.reading.events_at(self._tenant, decided) if decided else ())
            if decode_header(stored.header).at > self._as_of
        }
        return [row for row in rows if not row.resolved_seq or row.resolved_seq in later]


def _opposing(
    one: UUID, rows: Iterable[ContradictionRow], shown_ids: Collection[UUID]
) -> tuple[Opposing, ...]:
    """The contradictions of a memory, in the order of the ids of what says otherwise."""
    others = {row.doubted: row.contradiction_id for row in rows if row.believed == one}
    others |= {row.believed: row.contradiction_id for row in rows if row.doubted == one}
    first = nsmallest(OPPOSING_MAX, others, key=lambda other: other.int)
    return tuple(Opposing(id=others[other], other=other, shown=other in shown_ids) for other in first)

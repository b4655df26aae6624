"""What is to be compared next, as the log has it: every memory that stands anew, or says something else.

A walk through a tenant's log finds the memories that were let in, promoted, revised, or stand again. Each is
compared with what was written before it; one that was there already when its event came, with everything.
So each pair of memories that stand comes up, and the later of the two was never skipped.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core.boundary_rows import Rows
from tenure.core.duplicates import Likeness, Near, Neighbour, chosen, near_before
from tenure.core.events import NAMES, Admitted, Promoted, Revised, decode_header
from tenure.core.neighbours import place_of
from tenure.core.retrieval import Filter
from tenure.core.rows import MemoryRow
from tenure.core.truth_events import Reinstated, Unmerged
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Status
from tenure.usecases.comparing import CLAIMING_MAX
from tenure.usecases.ports import Reading, StoredEvent
from tenure.usecases.truth_ports import Walls

CLAIMING_AT_ONCE: Final = 1_000
"""So many memories that claim something of the things of a page are looked up together."""

_ADMITTED: Final = NAMES[Admitted][0]
_STANDS: Final = frozenset(NAMES[shape][0] for shape in (Admitted, Promoted, Revised, Unmerged, Reinstated))


class Look(NamedTuple):
    """A memory that stands anew, the position that says so, and all that it may have to do with."""

    seq: int
    row: MemoryRow
    is_new: bool
    rows: Rows | None
    same_things: tuple[UUID, ...]
    near: Near | None = None

    def candidates(self, gone: Collection[UUID], like: Likeness) -> tuple[Neighbour, ...]:
        """Those that a write would be compared with, of what still stands."""
        found: dict[UUID, Neighbour] = {}
        cosines: dict[UUID, float] = {}
        if self.rows is not None and self.near is not None and len(self.near.places):
            ids = [self.rows.ids[place] for place in self.near.places.tolist()]
            cosines = dict(zip(ids, self.near.cosines.tolist(), strict=True))
            kept = [at for at, one in enumerate(ids) if one not in gone]
            left = Near(self.near.places[kept], self.near.cosines[kept])
            found = {one.memory_id: one for one in chosen(self.rows, left, like=like)}
        for one in self.same_things:
            if one not in gone and one not in found:
                found[one] = Neighbour(one, cosines.get(one))
        return tuple(found.values())


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a tenant's log: what stands anew by it, and up to where it was looked through."""

    looks: tuple[Look, ...]
    events: int
    up_to: int
    more: bool


def beside_near(looks: Sequence[Look], like: Likeness) -> list[Look]:
    """The looks with what is near each, of what it is to be compared with; no look at the store is held."""
    found: list[Look] = []
    for rows, mine in _by_rows(looks):
        places = [None if rows is None else place_of(rows, one.row.created_seq) for one in mine]
        there = [(one, place) for one, place in zip(mine, places, strict=True) if place is not None]
        found += [one for one, place in zip(mine, places, strict=True) if place is None]
        if rows is not None and there:
            beside_all = {place for one, place in there if not one.is_new}
            near = near_before(rows, [place for _, place in there], like=like, beside_all=beside_all)
            found += [one._replace(near=near_it) for (one, _), near_it in zip(there, near, strict=True)]
    return sorted(found, key=lambda look: look.seq)


def _by_rows(looks: Iterable[Look]) -> Iterable[tuple[Rows | None, list[Look]]]:
    groups: dict[int, tuple[Rows | None, list[Look]]] = {}
    for look in looks:
        groups.setdefault(id(look.rows), (look.rows, []))[1].append(look)
    return groups.values()


class _Anew(NamedTuple):
    seq: int
    is_new: bool


def walk_name(rules: TruthRules, model: str | None) -> str:
    """What the progress of the walk is kept under: by other rules, or another model, it begins again."""
    said = msgspec.json.encode([model, rules.like, rules.merges], order="deterministic")
    return f"compared:{hashlib.blake2b(said, digest_size=8).hexdigest()}"


class Walk:
    """The walk through one tenant's log, in one look at the store."""

    def __init__(
        self, reading: Reading, tenant: str, rules: TruthRules, *, model: str | None, now: int
    ) -> None:
        self._reading = reading
        self._tenant = tenant
        self._rules = rules
        self._model = model
        self._now = now

    def page(self, limit: int) -> Page | None:
        """The next part of the log; None at its end.

        It ends before a memory that has no vector of the model in use yet, so that none is passed over.
        """
        reading = self._reading
        after = reading.progress(walk_name(self._rules, self._model), self._tenant)
        if after >= reading.head(self._tenant)[0]:
            return None
        log = reading.log(self._tenant, after=after, limit=limit)
        anew = _standing_anew(log)
        looks = sorted(self._looks(anew), key=lambda look: look.seq)
        waits = next((look.seq for look in looks if self._waits_for_a_vector(look)), None)
        return Page(
            looks=tuple(look for look in looks if waits is None or look.seq < waits),
            events=len(log),
            up_to=log[-1].seq if waits is None else waits - 1,
            more=waits is None and len(log) == limit,
        )

    def _looks(self, anew: Mapping[UUID, _Anew]) -> Iterator[Look]:
        standing: dict[Walls, list[MemoryRow]] = {}
        for row in self._reading.rows_of(self._tenant, anew) if anew else ():
            if row.status == Status.ACTIVE and row.expires_at > self._now:
                walls = Walls(tenant=row.tenant, agent=row.agent, purpose=row.purpose, subject=row.subject)
                standing.setdefault(walls, []).append(row)
        for walls, mine in standing.items():
            rows = self._rows(walls)
            same = self._same_things(walls, mine, anew)
            for row in mine:
                seq, is_new = anew[row.memory_id]
                yield Look(seq, row, is_new, rows, same.get(row.memory_id, ()))

    def _rows(self, walls: Walls) -> Rows | None:
        """What stands within the walls, with its vectors; None where no model says what is alike."""
        if self._model is None:
            return None
        where = Filter(
            tenant=walls.tenant,
            agent=walls.agent,
            purpose=walls.purpose,
            subjects=frozenset({walls.subject}),
            now=self._now,
        )
        return self._reading.search(where, (), self._model).rows

    def _same_things(
        self, walls: Walls, mine: Sequence[MemoryRow], anew: Mapping[UUID, _Anew]
    ) -> dict[UUID, tuple[UUID, ...]]:
        """What claims something of the same things, of what each is to be compared with."""
        things: dict[UUID, list[bytes]] = {}
        for one in self._reading.things_of(self._tenant, [row.memory_id for row in mine]):
            things.setdefault(one.memory_id, []).append(one.thing)
        if not things:
            return {}
        claiming = self._claiming(walls, things)
        seqs = {
            row.memory_id: row.created_seq
            for row in self._reading.rows_of(
                self._tenant, {one for found in claiming.values() for one in found}
            )
        }
        return {
            one: tuple(
                other
                for other in found
                if other != one and other in seqs and (not anew[one].is_new or seqs[other] < seqs[one])
            )
            for one, found in claiming.items()
        }

    def _claiming(self, walls: Walls, things: Mapping[UUID, Sequence[bytes]]) -> dict[UUID, Sequence[UUID]]:
        """For each of these what claims something of its things; looked up together, where it is not much."""
        every = {thing for mine in things.values() for thing in mine}
        together = self._reading.claiming(walls, every, now=self._now, limit=CLAIMING_AT_ONCE)
        by_thing: dict[bytes, list[UUID]] = {}
        if len(together) < CLAIMING_AT_ONCE:
            for row in self._reading.things_of(self._tenant, together):
                by_thing.setdefault(row.thing, []).append(row.memory_id)
        found: dict[UUID, Sequence[UUID]] = {}
        for one, mine in things.items():
            found[one] = tuple(dict.fromkeys(other for thing in mine for other in by_thing.get(thing, ())))
            if len(together) == CLAIMING_AT_ONCE or len(found[one]) > CLAIMING_MAX:
                found[one] = self._reading.claiming(walls, mine, now=self._now, limit=CLAIMING_MAX)
        return found

    def _waits_for_a_vector(self, look: Look) -> bool:
        """Whether the model in use is yet to embed it; zeros may say that it knows none of the words."""
        if look.rows is None or look.rows.vectors is None or self._model is None:
            return False
        place = place_of(look.rows, look.row.created_seq)
        if place is None or look.rows.vectors.scales[place] > 0:
            return False
        missing = self._reading.unembedded(self._tenant, self._model, after=look.row.created_seq - 1, limit=1)
        return any(one.memory_id == look.row.memory_id for one in missing)


def _standing_anew(log: Iterable[StoredEvent]) -> dict[UUID, _Anew]:
    """The memories that stand anew by these events, each where its first of them lies."""
    found: dict[UUID, _Anew] = {}
    for stored in log:
        try:
            header = decode_header(stored.header)
        except (ValueError, msgspec.MsgspecError):
            # No event any more: `tenure log verify` tells of it, and the walk goes on.
            continue
        if header.type in _STANDS and header.stream is not None:
            is_new = header.type == _ADMITTED
            before = found.get(header.stream, _Anew(stored.seq, is_new))
            found[header.stream] = _Anew(before.seq, before.is_new and is_new)
    return found

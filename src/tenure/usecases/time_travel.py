"""Putting a past together again from the log, for recalls of a moment or of what held (SPEC R8, T4).

    1 every memory that there ever was in the boundary, each folded over what had happened by then
    2 of those that passed the filters then: none whose source was revoked by then
    3 none that was forgotten or erased since, or made from one that was
    4 the key forgets that held then, where a scope is asked

The search data and the views know the present alone, so all of it comes from the events.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import time_travel
from tenure.core.errors import InvalidRequest
from tenure.core.events import MemoryForgotten, ScopedKeyForgotten, decode_event, decode_header
from tenure.core.memory import Memory, evolve
from tenure.core.retrieval import Filter
from tenure.core.rows import (
    REVOKING,
    MemoryRow,
    SuppressionRow,
    from_microseconds,
    microseconds,
)
from tenure.core.scopes import Place
from tenure.core.time_travel import Past, Recorded, Then
from tenure.core.truth_events import Pruned
from tenure.core.views import indexed_text, key_target, own_words
from tenure.core.vocabulary import Status
from tenure.usecases.paging import batched, subject_events
from tenure.usecases.pipeline import World
from tenure.usecases.ports import StoredEvent
from tenure.usecases.sealing import open_event

MEMORIES_MAX: Final = 20_000
"""How many memories of a boundary are folded for one question."""
BATCH: Final = 500


def look_back(world: World, where: Filter, at: datetime, *, places: Sequence[Place] = ()) -> Past:
    """What a recall of this boundary would have had before it; raises InvalidRequest where that is too much.

    With ``places``, memories of every kind, trust, key and time: what stands before what is decided first.
    """
    wide = where.widened if places else where
    found = list(_stood(world, wide, at))
    standing = _rows_now(world, where.tenant, [stream[0] for stream in found])
    withdrawn = _Withdrawn(world, where.tenant, at)
    memories = [
        then
        for memory_id, stored in found
        if not withdrawn.reached(memory_id, stored, standing.get(memory_id))
        and (memory_id in standing or not is_gone(world, where.tenant, memory_id))
        and (then := _then(world, stored, at, standing.get(memory_id))) is not None
    ]
    vectors = world.meaning.of_past([own_words(one.memory.content, one.memory.claim) for one in memories])
    seqs = [one.row.created_seq for one in memories]
    return Past(
        memories,
        _suppressed(world, where, at, places, memories),
        dict(zip(seqs, vectors, strict=True)) if vectors is not None else None,
        world.rules.language,
    )


def rows_then(world: World, tenant: str, memory_ids: Sequence[UUID], at: datetime) -> list[MemoryRow]:
    """The rows of memories as they stood, but for what was withdrawn by then, or is gone for good since."""
    streams = _streams(world, tenant, memory_ids)
    now = _rows_now(world, tenant, memory_ids)
    withdrawn = _Withdrawn(world, tenant, at)
    return [
        row
        for memory_id, (stored, headers) in streams.items()
        if (row := time_travel.stood(headers, at)) is not None
        and not withdrawn.reached(memory_id, stored, now.get(memory_id))
        and (memory_id in now or not is_gone(world, tenant, memory_id))
    ]


def is_gone(world: World, tenant: str, memory_id: UUID) -> bool:
    """Whether a memory that is in no view, or one that it came of, was forgotten or erased (SPEC F9)."""
    waiting, seen = [memory_id], {memory_id}
    while waiting:
        asked = waiting.pop()
        recorded = _opened(world, world.reading.stream(tenant, asked))
        if _lies_below(world, recorded):
            return True
        memory = _folded(recorded)
        parents = _came_of(memory) - seen if memory is not None else set()
        standing = {row.memory_id for row in world.reading.rows_of(tenant, parents)} if parents else set()
        waiting += sorted(parents - standing)
        seen |= parents
    return False


def _stood(world: World, where: Filter, at: datetime) -> Iterator[tuple[UUID, list[StoredEvent]]]:
    """The memories that passed the filters at the moment, with all their events; nothing is opened yet."""
    ids = world.reading.memories_ever(
        where.tenant, where.agent, where.purpose, subjects=where.subjects, limit=MEMORIES_MAX + 1
    )
    if len(ids) > MEMORIES_MAX:
        raise InvalidRequest(
            f"more than {MEMORIES_MAX:,} memories would have to be read for this moment",
            field="valid_at" if where.asks_of_before else "as_of",
            hint="Name a subject.",
        )
    for batch in batched(ids, BATCH):
        for memory_id, (stored, recorded) in _streams(world, where.tenant, batch).items():
            row = time_travel.stood(recorded, at)
            corrected = time_travel.was_corrected(recorded, at)
            if row is not None and time_travel.passes(row, where, corrected=corrected):
                yield memory_id, stored


def _streams(
    world: World, tenant: str, memory_ids: Sequence[UUID]
) -> Mapping[UUID, tuple[list[StoredEvent], list[Recorded]]]:
    """The events of each of these memories, as they are stored and with nothing of them opened."""
    streams: dict[UUID, tuple[list[StoredEvent], list[Recorded]]] = {one: ([], []) for one in memory_ids}
    for stored in world.reading.events_of(tenant, memory_ids):
        event = decode_event(decode_header(stored.header), None)
        if event.stream is not None:
            streams[event.stream][0].append(stored)
            streams[event.stream][1].append(Recorded(stored.seq, event))
    return streams


def _rows_now(world: World, tenant: str, ids: Sequence[UUID]) -> dict[UUID, MemoryRow]:
    return {
        row.memory_id: row for batch in batched(ids, BATCH) for row in world.reading.rows_of(tenant, batch)
    }


def _opened(world: World, stored: Iterable[StoredEvent]) -> list[Recorded]:
    return [Recorded(one.seq, open_event(one, world.keyring)) for one in stored]


def _then(world: World, stored: list[StoredEvent], at: datetime, row_now: MemoryRow | None) -> Then | None:
    """A memory as it stood and as it stands; None once its key or its text is gone."""
    recorded = _opened(world, stored)
    past = time_travel.until(recorded, at)
    row = time_travel.stood(recorded, at)
    text = next((text for one in reversed(past) if (text := indexed_text(one.event)) is not None), None)
    memory, now = _folded(past), _folded(recorded)
    if row is None or text is None or memory is None or now is None or memory.content is None:
        return None
    if row_now is not None and row_now.status == REVOKING:
        now = msgspec.structs.replace(now, status=Status.REVOKED)
    return Then(row=row, memory=memory, text=text, now=now, corrected=time_travel.was_corrected(recorded, at))


def _came_of(memory: Memory) -> set[UUID]:
    """What goes and takes the memory along: what it was made from, and what stands for it (SPEC F9, T2)."""
    stands = {memory.merged_into} if memory.merged_into is not None else set()
    return {*memory.derived_from, *stands}


def _folded(recorded: Iterable[Recorded]) -> Memory | None:
    memory: Memory | None = None
    for one in recorded:
        memory = evolve(memory, one.event)
    return memory


class _Withdrawn:
    """Which memories the revocation of a source had reached by a moment, before their own events said so."""

    def __init__(self, world: World, tenant: str, at: datetime) -> None:
        self._world, self._tenant, self._at = world, tenant, at
        self._moments: dict[int, datetime] = {}
        self._waiting: frozenset[UUID] | None = None

    def reached(self, memory_id: UUID, stored: Iterable[StoredEvent], row_now: MemoryRow | None) -> bool:
        """Whether this one was withdrawn by then."""
        if row_now is not None and row_now.status == REVOKING and memory_id in self._reached_first():
            return True
        recorded = [Recorded(one.seq, decode_event(decode_header(one.header), None)) for one in stored]
        return any(self._begun(seq) <= self._at for seq in time_travel.revoked_with(recorded))

    def _begun(self, seq: int) -> datetime:
        if seq not in self._moments:
            for stored in self._world.reading.events_at(self._tenant, [seq]):
                self._moments[seq] = decode_header(stored.header).at
        return self._moments[seq]

    def _reached_first(self) -> frozenset[UUID]:
        """What the revocations reach that had begun by then and are not finished now."""
        if self._waiting is None:
            reading = self._world.reading
            self._waiting = frozenset(
                one.memory_id
                for row in reading.revocations_begun()
                if row.tenant == self._tenant and from_microseconds(row.revoked_at) <= self._at
                for one in reading.source_memories(self._tenant, row.source_type or None, row.source_id)
            )
        return self._waiting


def _lies_below(world: World, recorded: Sequence[Recorded]) -> bool:
    if any(isinstance(one.event.data, MemoryForgotten) for one in recorded) or not recorded:
        return True
    kept = [one for one in recorded if not isinstance(one.event.data, Pruned)]
    row = time_travel.stood(kept, recorded[-1].event.at)
    said = [one.event.secret for one in recorded if indexed_text(one.event) is not None]
    if row is None or not said:
        return True
    values = {secret.fingerprint for secret in said if secret is not None and secret.fingerprint is not None}
    targets = time_travel.floor_targets(row, sorted(values))
    return time_travel.lies_below(row, world.reading.floors(row.tenant, row.subject, targets))


def _suppressed(
    world: World, where: Filter, at: datetime, places: Sequence[Place], memories: Iterable[Then]
) -> Iterator[SuppressionRow]:
    """The forgets of leaves alone that had been asked for by then.

    Each has laid a floor that is kept for ever, so the events of a subject are read only where there is one.
    """
    digests: dict[str, set[bytes]] = {}
    for one in memories:
        if one.row.key_digest is not None:
            digests.setdefault(one.row.subject, set()).add(one.row.key_digest)
    for subject, keys in digests.items():
        targets = [
            ("key", key_target(where.agent, where.purpose, key, str(place)))
            for key in sorted(keys)
            for place in places
        ]
        if targets and world.reading.floors(where.tenant, subject, targets):
            yield from _forgets_of_leaves(world, where.tenant, subject, at)


def _forgets_of_leaves(world: World, tenant: str, subject: str, at: datetime) -> Iterator[SuppressionRow]:
    for stored in subject_events(world.reading, tenant, subject):
        if b'"scoped_key.forgotten"' in stored.header:
            row = _suppression(stored, at)
            if row is not None:
                yield row


def _suppression(stored: StoredEvent, at: datetime) -> SuppressionRow | None:
    event = decode_event(decode_header(stored.header), None)
    data = event.data
    if not isinstance(data, ScopedKeyForgotten) or data.holds_until is None or event.stream is None:
        return None
    if (data.first_at or event.at) > at:
        return None
    return SuppressionRow(
        event.tenant,
        event.stream,
        event.subject or "",
        data.agent,
        data.purpose,
        data.key_digest,
        msgspec.json.encode(data.scope).decode(),
        str(Place(data.scope.tier, data.scope.id)),
        stored.seq,
        microseconds(data.holds_until),
        microseconds(data.probe_at or data.holds_until),
    )

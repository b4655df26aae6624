"""Forgetting: a subject, one memory, or a key in a named scope (SPEC F1-F6). Pure.

This is logical absence: what is forgotten is out of every read at once. It is not erasure, and no answer
calls it that. Laws: a forgetting lays floors that are kept for ever; what has its source at or below a
floor is refused, however it comes back; a forget of the leaf alone says that it is not durable.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import NotFound, VersionConflict
from tenure.core.events import (
    AlertRaised,
    Event,
    ForgetProbed,
    MemoryForgotten,
    ScopedKeyForgotten,
    SubjectForgotten,
)
from tenure.core.identity import Caller, Moment, Scope, checked_name
from tenure.core.memory import Memory
from tenure.core.proposals import Remember
from tenure.core.retention import UPKEEP, Ladder
from tenure.core.rows import FloorRow, MemoryRow, SuppressionRow, from_microseconds, microseconds
from tenure.core.scopes import ANY, Place, covers, floor_places
from tenure.core.views import key_target, value_target

VALUE_RULE = "forgotten-value"
SOURCE_RULE = "forgotten-source"


class Forgetting(StrEnum):
    """Whether this call did it or an earlier one had."""

    FORGOTTEN = "forgotten"
    ALREADY_FORGOTTEN = "already_forgotten"


class ForgetState(StrEnum):
    """Whether a forget is known to hold (SPEC F6)."""

    COMPLETE = "complete"
    WAITING = "waiting"
    FAILED = "failed"


class Shadowed(msgspec.Struct, frozen=True, kw_only=True):
    """A scope that still holds a key which was forgotten at the leaf alone, and until when it does."""

    scope: str
    holds_until: datetime


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a forget.

    ``durable`` says that nothing from which it could come back outlives the tombstone (SPEC F4). Where it
    is not, ``shadowed`` says what still holds the key, and ``probe_at`` when it is asked for again.
    """

    status: Forgetting
    forgotten: int
    durable: bool = True
    anchored_at: str = "subject"
    shadowed: tuple[Shadowed, ...] = ()
    probe_at: datetime | None = None
    forget_id: UUID | None = None


class ForgetStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How a forget of a key stands now: complete, waiting for its probe, or found not to hold."""

    forget_id: UUID
    state: ForgetState
    durable: bool
    probe_at: datetime | None = None
    found_in: str | None = None


class ForgetFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: how many memories stand, and whether all that there ever was is forgotten already."""

    memories: int
    forgotten_before: bool


class ForgetKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key is to be out of every read at a scope."""

    agent: str
    purpose: str
    subject: str
    key: str
    scope: Scope
    leaf_only: bool = False


class KeyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: the key's digest, its rows within the four walls, its floors and markers.

    ``written_since`` says that something of the key was written behind a floor, and no read finds it now.
    """

    key_digest: bytes
    rows: tuple[MemoryRow, ...]
    floors: tuple[FloorRow, ...]
    suppressions: tuple[SuppressionRow, ...]
    written_since: bool = False


class MemoryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: the memory, whether any read finds it, and whether it is forgotten already.

    What only left the working set is found by none and is not forgotten: the past still knows it (SPEC R8).
    """

    memory: Memory
    stands: bool
    gone: bool
    forgot_seq: int = 0


def forget_subject(subject: str, facts: ForgetFacts, caller: Caller, moment: Moment) -> Decided[Forgotten]:
    """Put every memory of the subject out of every read; doing it again says so and writes nothing."""
    checked_name(subject, field="subject")
    if facts.forgotten_before and facts.memories == 0:
        return Decided(answer=Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0))
    event = Event(
        tenant=caller.tenant, at=moment.now, actor=caller.id, data=SubjectForgotten(), subject=subject
    )
    return Decided(answer=Forgotten(status=Forgetting.FORGOTTEN, forgotten=facts.memories), events=(event,))


def forget_memory(
    facts: MemoryFacts, expected_version: int, caller: Caller, moment: Moment
) -> Decided[Forgotten] | Refused:
    """Put one memory, and what was derived from it, out of every read (SPEC F9)."""
    memory = facts.memory
    if facts.gone:
        answer = Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0, anchored_at="memory")
        return Decided(answer=answer)
    if memory.version != expected_version:
        return Refused(VersionConflict(expected=expected_version, current=memory.version))
    event = Event(
        tenant=memory.tenant,
        at=moment.now,
        actor=caller.id,
        data=MemoryForgotten(),
        stream=memory.id,
        subject=memory.subject,
    )
    return Decided(
        answer=Forgotten(status=Forgetting.FORGOTTEN, forgotten=1, anchored_at="memory"),
        events=(event,),
        needs=(Needs(memory_id=memory.id, version=memory.version),) if facts.stands else (),
        forgot_seq=None if facts.stands else facts.forgot_seq,
    )


def key_floors(command: ForgetKey, ladder: Ladder) -> tuple[Place, ...]:
    """The places that a forget of a key lays floors at, innermost first (SPEC F4)."""
    around = floor_places(command.scope, ladder.inherits)
    return around[:1] if command.leaf_only else around


def forget_key(
    command: ForgetKey, facts: KeyFacts, caller: Caller, moment: Moment, ladder: Ladder
) -> Decided[Forgotten]:
    """Put a key out of every read at a scope: at each place that can serve it, or at the leaf alone."""
    floors = key_floors(command, ladder)
    outer = floor_places(command.scope, ladder.inherits)[1:] if command.leaf_only else ()
    standing = [row for row in facts.rows if _covered(row, floors)]
    shadowed = _shadowed(facts.rows, outer, microseconds(moment.now))
    is_durable = not outer
    if not standing and not _is_new(facts, floors, shadowed, is_durable=is_durable):
        return Decided(answer=_again(floors, facts, shadowed, is_durable=is_durable))
    holds_until = None if is_durable else moment.now + ladder.retention(command.scope.tier)
    probe_at = None if holds_until is None else holds_until + ladder.probe_margin
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=moment.fresh_id,
        subject=command.subject,
        data=ScopedKeyForgotten(
            agent=command.agent,
            purpose=command.purpose,
            key_digest=facts.key_digest,
            scope=command.scope,
            floors=tuple(str(place) for place in floors),
            holds_until=holds_until,
            probe_at=probe_at,
        ),
    )
    did = standing or shadowed
    answer = Forgotten(
        status=Forgetting.FORGOTTEN if did else Forgetting.ALREADY_FORGOTTEN,
        forgotten=len(standing),
        durable=is_durable,
        anchored_at=str(floors[-1]),
        shadowed=shadowed,
        probe_at=probe_at,
        forget_id=moment.fresh_id,
    )
    return Decided(answer=answer, events=(event,))


def probe(row: SuppressionRow, found: MemoryRow | None, now: datetime, ladder: Ladder) -> tuple[Event, ...]:
    """What a probe says of a forget that was not durable: it held, or failed and is asked again (SPEC F6)."""
    if found is None:
        return (_probed(row, ForgetProbed(passed=True), now),)
    place = f"{found.scope_tier}:{found.scope_id}"
    again = max(from_microseconds(found.expires_at), now) + ladder.probe_margin
    alert = AlertRaised(
        kind="forget-failed",
        message=f"a key that was forgotten at {row.place} alone can be read there again, from {place}",
        about=str(row.forget_id),
    )
    return (
        _probed(row, ForgetProbed(passed=False, found_in=place, probe_at=again), now),
        Event(tenant=row.tenant, at=now, actor=UPKEEP, data=alert, subject=row.subject),
    )


def write_targets(
    command: Remember, scope: Scope, fingerprint: bytes, key_digest: bytes | None
) -> list[tuple[str, str]]:
    """The floors that a write may lie below, as kind and target."""
    agent, purpose = command.agent, command.purpose
    found = [("subject", command.subject), ("value", value_target(agent, purpose, fingerprint))]
    if key_digest is not None:
        found += [
            ("key", key_target(agent, purpose, key_digest, str(Place(scope.tier, name))))
            for name in (scope.id, ANY)
        ]
    return found


def below(observed_at: datetime | None, floors: Iterable[FloorRow]) -> tuple[str, str] | None:
    """Rule and reason for which a write is refused, where it lies below a floor (SPEC F4a, F4b).

    A value that was forgotten or rejected stays so. What was observed before the forget is the old memory
    on another way; what has been observed since is a new one.
    """
    for floor in sorted(floors, key=lambda floor: floor.target_kind != "value"):
        if floor.target_kind == "value":
            return VALUE_RULE, "this value was rejected or forgotten here before"
        if observed_at is not None and microseconds(observed_at) <= floor.floor_at:
            return SOURCE_RULE, f"its source was observed before the {floor.target_kind} was forgotten"
    return None


def standing_of(forget_id: UUID, events: Sequence[Event], row: SuppressionRow | None) -> ForgetStanding:
    """How a forget stands, from its own events; raises NotFound where there was none."""
    data = events[0].data if events else None
    if not isinstance(data, ScopedKeyForgotten):
        raise NotFound("there is no forget of a key with this id", forget_id=str(forget_id))
    if row is None:
        return ForgetStanding(
            forget_id=forget_id, state=ForgetState.COMPLETE, durable=data.holds_until is None
        )
    probes = [event.data for event in events if isinstance(event.data, ForgetProbed)]
    last = probes[-1] if probes else None
    return ForgetStanding(
        forget_id=forget_id,
        state=ForgetState.FAILED if last is not None else ForgetState.WAITING,
        durable=False,
        probe_at=from_microseconds(row.probe_at),
        found_in=last.found_in if last is not None else None,
    )


def _covered(row: MemoryRow, floors: Iterable[Place]) -> bool:
    return any(covers(floor, Place(row.scope_tier, row.scope_id)) for floor in floors)


def _shadowed(rows: Iterable[MemoryRow], outer: Sequence[Place], now: int) -> tuple[Shadowed, ...]:
    """The outer scopes that hold the key now, innermost first, and until when the last of each does."""
    held: dict[str, int] = {}
    for floor in outer:
        for row in rows:
            place = Place(row.scope_tier, row.scope_id)
            if covers(floor, place) and row.status == "active" and row.expires_at > now:
                held[str(place)] = max(held.get(str(place), 0), row.expires_at)
    return tuple(Shadowed(scope=scope, holds_until=from_microseconds(until)) for scope, until in held.items())


def _is_new(
    facts: KeyFacts, floors: Sequence[Place], shadowed: Sequence[Shadowed], *, is_durable: bool
) -> bool:
    """Whether the forget would lay a floor or a marker that does not lie there already."""
    laid = {floor.target.rpartition("\x1f")[2] for floor in facts.floors}
    if facts.written_since or not laid.issuperset(str(place) for place in floors):
        return True
    return not is_durable and bool(shadowed) and not facts.suppressions


def _again(
    floors: Sequence[Place], facts: KeyFacts, shadowed: tuple[Shadowed, ...], *, is_durable: bool
) -> Forgotten:
    marker = facts.suppressions[-1] if facts.suppressions and not is_durable else None
    return Forgotten(
        status=Forgetting.ALREADY_FORGOTTEN,
        forgotten=0,
        durable=is_durable,
        anchored_at=str(floors[-1]),
        shadowed=shadowed,
        probe_at=from_microseconds(marker.probe_at) if marker else None,
        forget_id=marker.forget_id if marker else None,
    )


def _probed(row: SuppressionRow, data: ForgetProbed, now: datetime) -> Event:
    return Event(
        tenant=row.tenant, at=now, actor=UPKEEP, data=data, stream=row.forget_id, subject=row.subject
    )

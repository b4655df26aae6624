"""Forgetting, over the pipeline: a subject, one memory, or a key in a named scope (SPEC F1-F6)."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from tenure.core import forgetting
from tenure.core.authority import Permission, Target, reaches, sees
from tenure.core.decision import Decided, Refused
from tenure.core.events import Event, Remembered, ScopedKeyForgotten, decode_header
from tenure.core.forgetting import (
    ForgetFacts,
    ForgetKey,
    ForgetStanding,
    Forgetting,
    Forgotten,
    KeyFacts,
    MemoryFacts,
)
from tenure.core.identity import Caller, Moment, checked_name
from tenure.core.proposals import check_scope
from tenure.core.rows import FloorRow, microseconds
from tenure.core.scopes import Place, covers
from tenure.core.views import key_target
from tenure.usecases.paging import subject_events
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.ports import Appended, KeyedRows
from tenure.usecases.reading import absent
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold, open_event
from tenure.usecases.time_travel import is_gone


class ForgetSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything held about one subject is to be out of every read."""

    subject: str


class ForgetMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One memory, as it was seen at this version, is to be out of every read."""

    memory_id: UUID
    expected_version: int


class AskForget(msgspec.Struct, frozen=True, kw_only=True):
    """How a forget of a key stands."""

    forget_id: UUID


def _gather_subject(world: World, caller: Caller, command: ForgetSubject) -> ForgetFacts:
    floors = world.reading.floors(caller.tenant, command.subject, [("subject", command.subject)])
    memories = world.reading.subject_memories(caller.tenant, command.subject)
    covered = bool(floors) and (memories > 0 or not any(_born(world, caller, command.subject, floors)))
    return ForgetFacts(memories=memories, forgotten_before=covered)


def _decide_subject(
    command: ForgetSubject, facts: ForgetFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Forgotten]:
    return forgetting.forget_subject(command.subject, facts, caller, moment)


def _gather_memory(world: World, caller: Caller, command: ForgetMemory) -> MemoryFacts:
    """The memory, even one that no read finds, and how it stands; raises NotFound for any other."""
    memory = fold(world.reading, world.keyring, caller.tenant, command.memory_id)
    if memory is None or not sees(caller, memory):
        raise absent(command.memory_id)
    stands = world.reading.memory_row(caller.tenant, command.memory_id) is not None
    return MemoryFacts(
        memory=memory,
        stands=stands,
        gone=not stands and is_gone(world, caller.tenant, command.memory_id),
        forgot_seq=world.reading.forgot_seq(caller.tenant),
    )


def _decide_memory(
    command: ForgetMemory, facts: MemoryFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Forgotten] | Refused:
    return forgetting.forget_memory(facts, command.expected_version, caller, moment)


def _born(
    world: World, caller: Caller, subject: str, floors: Sequence[FloorRow]
) -> Iterator[tuple[int, Event]]:
    """The memories of a subject that were written behind the lowest of some floors, with their places."""
    after = min(floor.floor_seq for floor in floors)
    for stored in subject_events(world.reading, caller.tenant, subject, after=after):
        if decode_header(stored.header).version == 1:
            yield stored.seq, open_event(stored, world.keyring)


def _written_since(
    world: World, caller: Caller, command: ForgetKey, digest: bytes, floors: Sequence[FloorRow]
) -> bool:
    """Whether anything of the key was written at one of the floors' places after that floor was laid."""
    for seq, event in _born(world, caller, command.subject, floors) if floors else ():
        data, secret = event.data, event.secret
        if not isinstance(data, Remembered) or secret is None or secret.key_digest != digest:
            continue
        if (data.agent, data.purpose) != (command.agent, command.purpose):
            continue
        place = Place(data.scope.tier, data.scope.id)
        if any(
            floor.floor_seq < seq and covers(Place.read(floor.target.rpartition("\x1f")[2]), place)
            for floor in floors
        ):
            return True
    return False


def _gather_key(world: World, caller: Caller, command: ForgetKey) -> KeyFacts:
    for field in ("agent", "purpose", "subject", "key"):
        checked_name(getattr(command, field), field=field)
    check_scope(command.scope)
    digest = world.keyring.digest(caller.tenant, "key", command.key)
    places = forgetting.key_floors(command, world.rules.write.ladder)
    targets = [("key", key_target(command.agent, command.purpose, digest, str(place))) for place in places]
    leaf = f"{command.scope.tier}:{command.scope.id}"
    held = world.reading.suppressions(caller.tenant, command.subject, microseconds(world.moment.now))
    rows = world.reading.key_rows(
        KeyedRows(
            tenant=caller.tenant,
            agent=command.agent,
            purpose=command.purpose,
            subject=command.subject,
            key_digest=digest,
        )
    )
    floors = world.reading.floors(caller.tenant, command.subject, targets)
    return KeyFacts(
        key_digest=digest,
        rows=tuple(rows),
        floors=tuple(floors),
        # Only asked where nothing stands: what does is forgotten anyway.
        written_since=not rows and _written_since(world, caller, command, digest, floors),
        suppressions=tuple(
            row
            for row in held
            if (row.agent, row.purpose, row.key_digest, row.place)
            == (command.agent, command.purpose, digest, leaf)
        ),
    )


def _decide_key(
    command: ForgetKey, facts: KeyFacts, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Forgotten]:
    return forgetting.forget_key(command, facts, caller, moment, rules.write.ladder)


def _standing(world: World, caller: Caller, command: AskForget) -> ForgetStanding:
    events = [
        open_event(stored, world.keyring) for stored in world.reading.stream(caller.tenant, command.forget_id)
    ]
    if events and not _may_see(caller, events[0]):
        events = []
    row = world.reading.suppression(caller.tenant, command.forget_id)
    return forgetting.standing_of(command.forget_id, events, row)


def _may_see(caller: Caller, event: Event) -> bool:
    data = event.data
    if not isinstance(data, ScopedKeyForgotten):
        return False
    return reaches(caller, agent=data.agent, purpose=data.purpose, subject=event.subject)


def _settle(answer: Forgotten, appended: Appended) -> Forgotten:
    """The count is what the transaction took, not what was read before it."""
    status = Forgetting.FORGOTTEN if appended.dropped else answer.status
    return msgspec.structs.replace(answer, forgotten=appended.dropped, status=status)


def _replay(_world: World, _caller: Caller, _first: Event | None, outcome: bytes) -> Forgotten:
    return msgspec.json.decode(outcome, type=Forgotten)


FORGET_SUBJECT: UseCase[ForgetSubject, ForgetFacts, Forgotten] = UseCase(
    name="forget-subject",
    permission=Permission.FORGET,
    target=lambda command: Target(subject=command.subject),
    gather=_gather_subject,
    decide=_decide_subject,
    settle=_settle,
    outcome=msgspec.json.encode,
    replay=_replay,
)

FORGET_MEMORY: UseCase[ForgetMemory, MemoryFacts, Forgotten] = UseCase(
    name="forget-memory",
    permission=Permission.FORGET,
    target=lambda _command: Target(),
    gather=_gather_memory,
    decide=_decide_memory,
    settle=_settle,
    outcome=msgspec.json.encode,
    replay=_replay,
)

FORGET_KEY: UseCase[ForgetKey, KeyFacts, Forgotten] = UseCase(
    name="forget-key",
    permission=Permission.FORGET,
    target=lambda command: Target(agent=command.agent, purpose=command.purpose, subject=command.subject),
    gather=_gather_key,
    decide=_decide_key,
    settle=_settle,
    outcome=msgspec.json.encode,
    replay=_replay,
)

ASK_FORGET: UseCase[AskForget, ForgetStanding, ForgetStanding] = UseCase(
    name="ask-forget",
    permission=Permission.FORGET,
    target=lambda _command: Target(),
    gather=_standing,
    decide=lambda _command, standing, _caller, _moment, _rules: Decided(answer=standing),
    showed=lambda _standing: Showed(1),
)

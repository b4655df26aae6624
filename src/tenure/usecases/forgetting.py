"""Forgetting, over the pipeline: a subject, one memory, or a key in a named scope (SPEC F1-F6)."""

from uuid import UUID

import msgspec

from tenure.core import forgetting
from tenure.core.authority import Permission, Target, sees
from tenure.core.decision import Decided, Refused
from tenure.core.events import Event, ScopedKeyForgotten
from tenure.core.forgetting import (
    ForgetFacts,
    ForgetKey,
    ForgetStanding,
    Forgetting,
    Forgotten,
    KeyFacts,
)
from tenure.core.identity import Caller, Moment, checked_name
from tenure.core.memory import Memory
from tenure.core.proposals import check_scope
from tenure.core.rows import microseconds
from tenure.core.views import key_target
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.ports import Appended, KeyedRows
from tenure.usecases.reading import absent
from tenure.usecases.sealing import fold, open_event


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
    return ForgetFacts(
        memories=world.reading.subject_memories(caller.tenant, command.subject), forgotten_before=bool(floors)
    )


def _decide_subject(
    command: ForgetSubject, facts: ForgetFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Forgotten]:
    return forgetting.forget_subject(command.subject, facts, caller, moment)


def _gather_memory(world: World, caller: Caller, command: ForgetMemory) -> tuple[Memory, bool]:
    """The memory, even one that is forgotten, and whether it still stands; raises NotFound for any other."""
    memory = fold(world.reading, world.keyring, caller.tenant, command.memory_id)
    if memory is None or not sees(caller, memory):
        raise absent(command.memory_id)
    return memory, world.reading.memory_row(caller.tenant, command.memory_id) is not None


def _decide_memory(
    command: ForgetMemory, facts: tuple[Memory, bool], caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Forgotten] | Refused:
    memory, stands = facts
    return forgetting.forget_memory(memory, command.expected_version, caller, moment, stands=stands)


def _gather_key(world: World, caller: Caller, command: ForgetKey) -> KeyFacts:
    for field in ("agent", "purpose", "subject", "key"):
        checked_name(getattr(command, field), field=field)
    check_scope(command.scope)
    digest = world.keyring.digest(caller.tenant, "key", command.key)
    places = forgetting.key_floors(command, world.rules.write.ladder)
    targets = [("key", key_target(command.agent, command.purpose, digest, str(place))) for place in places]
    leaf = f"{command.scope.tier}:{command.scope.id}"
    held = world.reading.suppressions(caller.tenant, command.subject, microseconds(world.moment.now))
    return KeyFacts(
        key_digest=digest,
        rows=tuple(
            world.reading.key_rows(
                KeyedRows(
                    tenant=caller.tenant,
                    agent=command.agent,
                    purpose=command.purpose,
                    subject=command.subject,
                    key_digest=digest,
                )
            )
        ),
        floors=tuple(world.reading.floors(caller.tenant, command.subject, targets)),
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
    data, grants = event.data, caller.grants
    if not isinstance(data, ScopedKeyForgotten):
        return False
    sides = (
        (event.subject, grants.subjects),
        (data.agent, grants.agents),
        (data.purpose, grants.purposes),
    )
    return all(granted is None or value in granted for value, granted in sides)


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

FORGET_MEMORY: UseCase[ForgetMemory, tuple[Memory, bool], Forgotten] = UseCase(
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
)

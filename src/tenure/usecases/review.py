"""Deciding on single memories (SPEC L6, L7, L11, L12). The queue of what waits is in review_queue.py."""

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

import msgspec

from tenure.core import incidents, retention, review
from tenure.core.authority import Permission, Target, answered
from tenure.core.comparing import Compared
from tenure.core.decision import Decided, Refused
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory
from tenure.core.retention import Renew
from tenure.core.review import Judge
from tenure.usecases.comparing import compared_again
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.reading import first_memory, visible
from tenure.usecases.sealing import load


class JudgeMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word, and the memory that it is on."""

    memory_id: UUID
    judge: Judge


class RenewMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A renewal, and the memory that it is of."""

    memory_id: UUID
    renew: Renew


def _no_target(_command: object) -> Target:
    return Target()


def _judged(world: World, caller: Caller, command: JudgeMemory) -> Memory:
    return visible(world, caller, command.memory_id)


class ToPromote(NamedTuple):
    """A memory that waits, what it corrects, and what stands and says the same or otherwise."""

    memory: Memory
    corrected: Memory | None
    compared: tuple[Compared, ...]


def _to_promote(world: World, caller: Caller, command: JudgeMemory) -> ToPromote:
    memory = visible(world, caller, command.memory_id)
    corrected = None
    if memory.supersedes is not None:
        corrected = load(world.reading, world.keyring, caller.tenant, memory.supersedes)
    leaving_out = {memory.supersedes} if memory.supersedes is not None else set[UUID]()
    return ToPromote(memory, corrected, compared_again(world, memory, leaving_out=leaving_out))


def _promote(
    command: JudgeMemory, facts: ToPromote, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Memory] | Refused:
    decided = review.promote(
        command.judge,
        facts.memory,
        facts.corrected,
        caller,
        moment,
        rules.review,
        truth=rules.truth,
        compared=facts.compared,
    )
    return _told(decided, caller)


def _renew(
    command: RenewMemory, memory: Memory, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Memory] | Refused:
    return _told(retention.renew(command.renew, memory, caller, moment, rules.write.ladder), caller)


def _replay(world: World, caller: Caller, first: Event | None, _outcome: bytes) -> Memory:
    return answered(caller, first_memory(world, first))


def _told(decided: Decided[Memory] | Refused, caller: Caller) -> Decided[Memory] | Refused:
    """Who may judge or end a memory may not read it for that (SPEC L6, L13)."""
    if isinstance(decided, Refused):
        return decided
    return msgspec.structs.replace(decided, answer=answered(caller, decided.answer))


def _judgement(
    name: str,
    permission: Permission,
    rule: Callable[[Judge, Memory, Caller, Moment], Decided[Memory] | Refused],
) -> UseCase[JudgeMemory, Memory, Memory]:
    return UseCase(
        name=name,
        permission=permission,
        target=_no_target,
        gather=_judged,
        decide=lambda command, memory, caller, moment, _rules: _told(
            rule(command.judge, memory, caller, moment), caller
        ),
        replay=_replay,
    )


PROMOTE: UseCase[JudgeMemory, ToPromote, Memory] = UseCase(
    name="promote",
    permission=Permission.REVIEW,
    target=_no_target,
    gather=_to_promote,
    decide=_promote,
    replay=_replay,
)
REJECT = _judgement("reject", Permission.REVIEW, review.reject)
REVOKE = _judgement("revoke", Permission.REVOKE, incidents.revoke)
RENEW: UseCase[RenewMemory, Memory, Memory] = UseCase(
    name="renew",
    permission=Permission.RENEW,
    target=_no_target,
    gather=lambda world, caller, command: visible(world, caller, command.memory_id),
    decide=_renew,
    replay=_replay,
)

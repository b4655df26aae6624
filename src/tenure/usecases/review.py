"""Deciding on single memories, and the queue of what waits (SPEC L6, L7, L11, L12)."""

from collections.abc import Callable
from uuid import UUID

import msgspec

from tenure.core import incidents, retention, review
from tenure.core.authority import Permission, Target, answered
from tenure.core.decision import Decided, Refused
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment, Scope
from tenure.core.memory import Memory
from tenure.core.retention import Renew
from tenure.core.retrieval import Filter, best_rows, rank, words
from tenure.core.review import Judge
from tenure.core.rows import microseconds
from tenure.core.vocabulary import Decision, Status, Verdict
from tenure.core.wording import analyse
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.reading import LIST, ListMemories, first_memory, visible
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import load

NEIGHBOURS_MAX = 3
_QUERY_TERMS_MAX = 40


class JudgeMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word, and the memory that it is on."""

    memory_id: UUID
    judge: Judge


class RenewMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A renewal, and the memory that it is of."""

    memory_id: UUID
    renew: Renew


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One quarantined memory with what a reviewer needs to judge it."""

    memory: Memory
    decision: Decision
    findings: tuple[Verdict, ...]
    requested_scope: Scope
    neighbours: tuple[Memory, ...]
    contradictions: tuple[Memory, ...]


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what waits."""

    items: tuple[Waiting, ...]
    next_cursor: str | None = None


def _no_target(_command: object) -> Target:
    return Target()


def _judged(world: World, caller: Caller, command: JudgeMemory) -> Memory:
    return visible(world, caller, command.memory_id)


def _to_promote(world: World, caller: Caller, command: JudgeMemory) -> tuple[Memory, Memory | None]:
    memory = visible(world, caller, command.memory_id)
    corrected = None
    if memory.supersedes is not None:
        corrected = load(world.reading, world.keyring, caller.tenant, memory.supersedes)
    return memory, corrected


def _promote(
    command: JudgeMemory, facts: tuple[Memory, Memory | None], caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Memory] | Refused:
    return _told(review.promote(command.judge, facts[0], facts[1], caller, moment), caller)


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


def _queue(world: World, caller: Caller, command: ListMemories) -> Queue:
    page = LIST.gather(world, caller, msgspec.structs.replace(command, status=Status.QUARANTINED))
    return Queue(items=tuple(_waiting(world, memory) for memory in page.items), next_cursor=page.next_cursor)


def _waiting(world: World, memory: Memory) -> Waiting:
    neighbours = _neighbours(world, memory)
    return Waiting(
        memory=memory,
        decision=memory.decision,
        findings=memory.findings,
        requested_scope=memory.scope,
        neighbours=neighbours,
        contradictions=tuple(other for other in neighbours if review.contradicts(memory, other)),
    )


def _neighbours(world: World, memory: Memory) -> tuple[Memory, ...]:
    """The active memories within the same four walls that share the most words."""
    where = Filter(
        tenant=memory.tenant,
        agent=memory.agent,
        purpose=memory.purpose,
        subjects=frozenset({memory.subject}),
        now=microseconds(world.moment.now),
    )
    terms = sorted(set(analyse(memory.content or "")))[:_QUERY_TERMS_MAX]
    scores = words(world.reading.hits(where, terms), world.reading.statistics(where))
    candidates = world.reading.candidates(where, best_rows(scores, NEIGHBOURS_MAX))
    nearest = [one.candidate.memory_id for one in rank(candidates, scores, where.now)]
    found = [load(world.reading, world.keyring, memory.tenant, memory_id) for memory_id in nearest]
    return tuple(other for other in found if other is not None)


PROMOTE: UseCase[JudgeMemory, tuple[Memory, Memory | None], Memory] = UseCase(
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
QUEUE: UseCase[ListMemories, Queue, Queue] = UseCase(
    name="review-queue",
    permission=Permission.REVIEW,
    target=lambda command: Target(agent=command.agent, purpose=command.purpose, subject=command.subject),
    gather=_queue,
    decide=lambda _command, queue, _caller, _moment, _rules: Decided(answer=queue),
    showed=lambda queue: Showed(len(queue.items)),
)

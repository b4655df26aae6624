"""Deciding on what waits in quarantine (SPEC L6, L7, A5). Pure.

Laws: promotion works from quarantined alone, at the version that was read, never by whoever proposed it and
never by a model; where two reviewers are asked for, the first only endorses, and no one principal is both; a
promoted correction takes its place in the same step.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tenure.core.comparing import Compared, carried_out, what_follows
from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, IllegalTransition, VersionConflict
from tenure.core.events import Endorsed, Event, EventData, Promoted, Rejected, Secret
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.remembering import closed_by, supersession
from tenure.core.retention import checked_reason
from tenure.core.scanning import FindingKind
from tenure.core.statements import Statement, statement_of
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Kind, Status, Trust


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on one memory: which version they looked at, and why."""

    expected_version: int
    reason: str


class ReviewRules(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes two reviewers to let in: memories of these kinds, or with findings of these kinds."""

    second_reviewer_kinds: frozenset[Kind] = frozenset()
    second_reviewer_findings: frozenset[FindingKind] = frozenset()

    def asks_for_two(self, memory: Memory) -> bool:
        """Whether one reviewer is not enough for this memory."""
        if memory.kind in self.second_reviewer_kinds:
            return True
        return any(found.kind in self.second_reviewer_findings for found in memory.findings)


def promote(
    command: Judge,
    memory: Memory,
    corrected: Memory | None,
    caller: Caller,
    moment: Moment,
    rules: ReviewRules = ReviewRules(),  # noqa: B008 -- a frozen record
    *,
    truth: TruthRules = TruthRules(),  # noqa: B008 -- a frozen record
    compared: Sequence[Compared] = (),
) -> Decided[Memory] | Refused:
    """Let a quarantined memory in, with the reviewer's trust (SPEC L7), or endorse it for a second one.

    It is weighed again against what stands and contradicts it, as said by the reviewer now (SPEC T3).
    """
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status_at(moment.now), Step.PROMOTE)
    asks_for_two = rules.asks_for_two(memory)
    refusal = _own(memory, caller, asks_for_two=asks_for_two) or _overtaken(memory, corrected)
    if refusal is not None:
        return Refused(refusal)
    if asks_for_two and memory.endorsed_by is None:
        endorsed = judged(memory, Endorsed(), command.reason, caller, moment)
        return Decided(answer=evolve(memory, endorsed), events=(endorsed,))
    said = reviewed(memory, moment.now)
    follows = what_follows(said, compared, truth, stands=True, now=moment.now)
    displaced = corrected if corrected is not None and _stands(corrected, moment.now) else None
    closed = closed_by(displaced, said) if displaced is not None else None
    promoted = Promoted(
        trust=Trust.REVIEWER_VERIFIED,
        valid_from=_begins(memory, follows.weighed.valid_from or (closed.new.start if closed else None)),
    )
    event = judged(memory, promoted, command.reason, caller, moment)
    appended = [event]
    if displaced is not None:
        appended.append(supersession(displaced, memory.id, closed, caller, moment))
    left, behind = carried_out(follows, said, evolve(memory, event), compared, actor=caller.id, at=moment.now)
    return Decided(answer=left, events=(*appended, *behind))


def reviewed(memory: Memory, now: datetime) -> Statement:
    """A memory as a reviewer who lets it in says it: with their trust, now."""
    return msgspec.structs.replace(statement_of(memory), trust=Trust.REVIEWER_VERIFIED, said_at=now)


def _stands(memory: Memory, now: datetime) -> bool:
    return memory.status_at(now) is Status.ACTIVE


def _begins(memory: Memory, follows_from: datetime | None) -> datetime | None:
    """Since when it holds, where it did not say so and takes the place of another (SPEC T4)."""
    return None if memory.valid_from is not None else follows_from


def _own(memory: Memory, caller: Caller, *, asks_for_two: bool) -> Forbidden | None:
    """Why this principal may not say yes, if it has a part in the memory already (SPEC A5)."""
    if memory.proposed_by == caller.id:
        return Forbidden(
            "nobody approves what they proposed", hint="Let another reviewer decide.", field="caller"
        )
    if asks_for_two and memory.endorsed_by == caller.id:
        return Forbidden(
            "this takes a second reviewer, and you are the first",
            hint="Let another reviewer decide.",
            field="caller",
        )
    return None


def _overtaken(memory: Memory, corrected: Memory | None) -> IllegalTransition | None:
    """Why a correction comes too late, if it does."""
    if corrected is None or corrected.status is not Status.SUPERSEDED:
        return None
    if corrected.superseded_by == memory.id:
        return None
    return IllegalTransition(
        "what this memory corrects was already superseded by another correction",
        hint="Reject this one, and correct the present memory if it is still wrong.",
        superseded_by=str(corrected.superseded_by),
    )


def reject(command: Judge, memory: Memory, caller: Caller, moment: Moment) -> Decided[Memory] | Refused:
    """Turn a quarantined memory down; its content is shown to nobody any more (SPEC L13)."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status_at(moment.now), Step.REJECT)
    event = judged(memory, Rejected(), command.reason, caller, moment)
    return Decided(answer=evolve(memory, event), events=(event,))


def judged(memory: Memory, data: EventData, reason: str, caller: Caller, moment: Moment) -> Event:
    """A person's decision as an event; the reason is sealed, since it may quote the memory."""
    return Event(
        tenant=memory.tenant,
        at=moment.now,
        actor=caller.id,
        data=data,
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
        secret=Secret(reason=checked_reason(reason)),
    )

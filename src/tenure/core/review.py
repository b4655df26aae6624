"""Deciding on what waits in quarantine (SPEC L6, L7, A5). Pure.

Laws: promotion works from quarantined alone, at the version that was read, never by whoever proposed it and
never
by a model; a promoted correction takes its place in the same step.
"""

import msgspec

from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, IllegalTransition, VersionConflict
from tenure.core.events import Event, EventData, Promoted, Rejected, Secret
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.remembering import supersession
from tenure.core.retention import checked_reason
from tenure.core.vocabulary import Status, Trust


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on one memory: which version they looked at, and why."""

    expected_version: int
    reason: str


def promote(
    command: Judge, memory: Memory, corrected: Memory | None, caller: Caller, moment: Moment
) -> Decided[Memory] | Refused:
    """Let a quarantined memory in, with the reviewer's trust (SPEC L7)."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status_at(moment.now), Step.PROMOTE)
    if memory.proposed_by == caller.id:
        return Refused(
            Forbidden(
                "nobody approves what they proposed", hint="Let another reviewer decide.", field="caller"
            )
        )
    event = judged(memory, Promoted(trust=Trust.REVIEWER_VERIFIED), command.reason, caller, moment)
    appended = [event]
    if corrected is not None:
        if corrected.status is Status.SUPERSEDED and corrected.superseded_by != memory.id:
            return Refused(
                IllegalTransition(
                    "what this memory corrects was already superseded by another correction",
                    hint="Reject this one, and correct the present memory if it is still wrong.",
                    superseded_by=str(corrected.superseded_by),
                )
            )
        if corrected.status_at(moment.now) is Status.ACTIVE:
            appended.append(supersession(corrected, memory.id, caller, moment))
    return Decided(answer=evolve(memory, event), events=tuple(appended))


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


def contradicts(memory: Memory, other: Memory) -> bool:
    """Whether both claim something else of the same thing."""
    mine, theirs = memory.claim, other.claim
    if mine is None or theirs is None:
        return False
    same = (mine.entity.casefold(), mine.attribute.casefold()) == (
        theirs.entity.casefold(),
        theirs.attribute.casefold(),
    )
    return same and mine.value != theirs.value

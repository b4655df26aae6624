"""Forgetting a subject: one idempotent event (SPEC F1, F2). Pure.

This is logical absence: the memories are out of every read at once. It is not erasure, and no answer calls
it that.
"""

from enum import StrEnum

import msgspec

from tenure.core.decision import Decided
from tenure.core.events import Event, SubjectForgotten
from tenure.core.identity import Caller, Moment, checked_name


class Forgetting(StrEnum):
    """Whether this call did it or an earlier one had."""

    FORGOTTEN = "forgotten"
    ALREADY_FORGOTTEN = "already_forgotten"


class ForgetFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: how many memories stand, and whether the subject was forgotten before."""

    memories: int
    forgotten_before: bool


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. ``durable`` holds: a subject's floor is kept for ever and covers every scope (SPEC F4)."""

    status: Forgetting
    forgotten: int
    durable: bool = True
    anchored_at: str = "subject"
    shadowed: tuple[str, ...] = ()


def forget_subject(subject: str, facts: ForgetFacts, caller: Caller, moment: Moment) -> Decided[Forgotten]:
    """Put every memory of the subject out of every read; doing it again says so and writes nothing."""
    checked_name(subject, field="subject")
    if facts.forgotten_before and facts.memories == 0:
        return Decided(answer=Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0))
    event = Event(
        tenant=caller.tenant, at=moment.now, actor=caller.id, data=SubjectForgotten(), subject=subject
    )
    return Decided(answer=Forgotten(status=Forgetting.FORGOTTEN, forgotten=facts.memories), events=(event,))

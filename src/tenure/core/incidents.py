"""Withdrawing what should not have been believed: one memory, or all that came from a source (SPEC L12, I1).

Pure. Laws: one event takes everything of a source out of every read; the own events of its memories follow,
one each, and say the same; doing it again writes nothing.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, VersionConflict
from tenure.core.events import Event, Revoked, Secret
from tenure.core.identity import Caller, Moment, SourceType, checked_reference
from tenure.core.incident_events import SourceRevocationFinished, SourceRevoked
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.proposals import CLOCK_LEEWAY, check_time
from tenure.core.review import Judge, judged
from tenure.core.rows import CONNECTOR, MemoryRow, RevokedSourceRow

REASON_CHARACTERS_MAX: Final = 500
LISTED_MAX: Final = 10_000
"""So many ids each list of a blast radius holds; its counts are of all."""


class Revocation(StrEnum):
    """Whether this call did it or an earlier one had."""

    REVOKED = "revoked"
    ALREADY_REVOKED = "already_revoked"


class RevokeSource(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing that came from this source is to be believed any more.

    ``source_type`` is a source type, ``connector`` for the credential that brought things in, whose id the
    source's id is then, or None for every source type.
    """

    source_id: str
    reason: str
    source_type: str | None = None
    detected_at: datetime | None = None


class AskImpact(msgspec.Struct, frozen=True, kw_only=True):
    """What a source has touched; at most ``limit`` ids in each list."""

    source_id: str
    source_type: str | None = None
    limit: int = LISTED_MAX


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read: an earlier revocation that covers the source, and how many memories of it stand."""

    last: RevokedSourceRow | None
    standing: int


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """The source is revoked, since this position of the log; so many memories were withdrawn by this call."""

    status: Revocation
    revoked: int
    revoked_seq: int = 0


class Called(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A tool call that followed from a response."""

    id: str
    name: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many of each there are, listed or not."""

    memories: int = 0
    recalls: int = 0
    responses: int = 0
    tool_calls: int = 0
    agents: int = 0
    subjects: int = 0
    displaced: int = 0


class Impact(msgspec.Struct, frozen=True, kw_only=True):
    """The blast radius of a source (SPEC I2): ids and names, never content.

    ``memories`` are those that had text from it and all that was made from them, whether or not they can
    still be read. ``recalls`` are receipts. ``displaced`` are memories of other sources whose place one of
    these took. ``counts`` are exact where lists are cut, which ``truncated`` says.
    """

    memories: tuple[UUID, ...] = ()
    recalls: tuple[UUID, ...] = ()
    responses: tuple[str, ...] = ()
    tool_calls: tuple[Called, ...] = ()
    agents: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    displaced: tuple[UUID, ...] = ()
    counts: Counts = Counts()
    truncated: bool = False


class SourceRevocation(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a revocation of a source.

    ``revoked`` is how many memories this call withdrew, and ``revoked_seq`` where in the log the source was
    revoked. ``seconds_to_revocation`` is from its detection, where that is known, else from the call, until
    no read found anything of it.
    """

    status: Revocation
    revoked: int
    revoked_seq: int
    impact: Impact
    detected_at: datetime | None = None
    seconds_to_revocation: float | None = None


def revoke(command: Judge, memory: Memory, caller: Caller, moment: Moment) -> Decided[Memory] | Refused:
    """Take one memory out of every read from the next one on."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status, Step.REVOKE)
    event = judged(memory, Revoked(), command.reason, caller, moment)
    return Decided(answer=evolve(memory, event), events=(event,))


def check_source_named(source_type: str | None, source_id: str) -> None:
    """Raise InvalidRequest unless this can name a source."""
    known = (*(str(one) for one in SourceType), CONNECTOR)
    if source_type is not None and source_type not in known:
        raise InvalidRequest(
            "type is not a source type",
            field="type",
            hint=f"Known: {', '.join(known)}. Leave it out for every source type.",
        )
    checked_reference(source_id, field="id")


def check_listed(limit: int) -> int:
    """How many ids a list may hold; raises InvalidRequest for a number out of range."""
    if not 1 <= limit <= LISTED_MAX:
        raise InvalidRequest(f"limit must be 1 to {LISTED_MAX}", field="limit")
    return limit


def check_revoke_source(command: RevokeSource, now: datetime) -> None:
    """Raise InvalidRequest, naming the field, unless the wish is well formed."""
    check_source_named(command.source_type, command.source_id)
    reason = command.reason
    if not reason.strip() or len(reason) > REASON_CHARACTERS_MAX or not reason.isprintable():
        raise InvalidRequest(
            f"reason must have 1 to {REASON_CHARACTERS_MAX} printable characters",
            field="reason",
            hint="It stands in the log in the open: name the incident, and quote no memory.",
        )
    if command.detected_at is not None:
        check_time(command.detected_at, field="detected_at")
        if command.detected_at > now + CLOCK_LEEWAY:
            raise InvalidRequest("detected_at lies in the future", field="detected_at")


def revoke_source(
    command: RevokeSource, facts: SourceFacts, caller: Caller, moment: Moment
) -> Decided[Withdrawn]:
    """Take all that came from a source out of every read; again, with nothing new, writes nothing."""
    if facts.last is not None and facts.standing == 0:
        return Decided(
            answer=Withdrawn(status=Revocation.ALREADY_REVOKED, revoked=0, revoked_seq=facts.last.seq)
        )
    data = SourceRevoked(
        source_type=command.source_type,
        source_id=command.source_id,
        reason=command.reason,
        detected_at=command.detected_at,
    )
    event = Event(tenant=caller.tenant, at=moment.now, actor=caller.id, data=data)
    return Decided(answer=Withdrawn(status=Revocation.REVOKED, revoked=facts.standing), events=(event,))


def withdrawal(row: MemoryRow, begun: Event, seq: int, reason: str, now: datetime) -> Event:
    """The own event of a memory whose source was revoked at a position: by whoever revoked it, and why."""
    return Event(
        tenant=row.tenant,
        at=now,
        actor=begun.actor,
        data=Revoked(because_of=seq),
        stream=row.memory_id,
        version=row.version + 1,
        subject=row.subject,
        secret=Secret(reason=reason),
    )


def finished(begun: Event, data: SourceRevocationFinished, now: datetime) -> Event:
    """Every memory of the source has its own event."""
    return Event(tenant=begun.tenant, at=now, actor=begun.actor, data=data)


def seconds_until(held_at: datetime, *, called_at: datetime, detected_at: datetime | None) -> float:
    """How long a source was believed after its detection, where that is known, else after the call."""
    return max(0.0, (held_at - (detected_at or called_at)).total_seconds())

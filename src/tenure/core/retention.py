"""How long a memory lives: kinds, scopes, renewal and expiry (SPEC L11, M3, F3). Pure."""

from datetime import datetime, timedelta

import msgspec

from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, VersionConflict
from tenure.core.events import Event, Expired, Renewed, Secret
from tenure.core.identity import Caller, Moment, Tier
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.proposals import check_text, check_time
from tenure.core.vocabulary import LIFETIMES, Kind, Status

REASON_CHARACTERS_MAX = 1_000
UPKEEP = "tenure:upkeep"
"""The actor under which the workers write."""


class Ladder(msgspec.Struct, frozen=True, kw_only=True):
    """How long each retention scope keeps what was written in it (SPEC F3)."""

    task: timedelta = timedelta(hours=1)
    session: timedelta = timedelta(hours=24)
    user: timedelta = timedelta(days=90)
    inherits: frozenset[Tier] = frozenset({Tier.TASK, Tier.SESSION})
    """The tiers from which a read goes on outward."""
    probe_margin: timedelta = timedelta(minutes=1)
    """How long after a leaf's retention a forget that is not durable is probed (SPEC F6)."""

    def retention(self, tier: Tier) -> timedelta:
        """The time that a tier keeps a memory."""
        return {Tier.TASK: self.task, Tier.SESSION: self.session, Tier.USER: self.user}[tier]


class Renew(msgspec.Struct, frozen=True, kw_only=True):
    """Let a memory live longer, for a reason."""

    expected_version: int
    reason: str
    expires_at: datetime | None = None
    ttl_seconds: int | None = None


def checked_reason(reason: str) -> str:
    """A reason that a later reader can use; raises InvalidRequest when there is none."""
    check_text(reason, field="reason")
    if not reason.strip() or len(reason) > REASON_CHARACTERS_MAX:
        raise InvalidRequest(f"reason must have 1 to {REASON_CHARACTERS_MAX:,} characters", field="reason")
    return reason


def asked_expiry(
    *, kind: Kind, now: datetime, expires_at: datetime | None, ttl_seconds: int | None
) -> datetime | None:
    """When the caller wants it to end; raises InvalidRequest beyond the kind's maximum or in the past."""
    if expires_at is not None and ttl_seconds is not None:
        raise InvalidRequest("give expires_at or ttl_seconds, not both", field="ttl_seconds")
    maximum = LIFETIMES[kind].maximum
    if ttl_seconds is not None:
        if not 0 < ttl_seconds <= maximum.total_seconds():
            raise InvalidRequest(
                f"ttl_seconds must be 1 to {int(maximum.total_seconds())} for a {kind}", field="ttl_seconds"
            )
        return now + timedelta(seconds=ttl_seconds)
    if expires_at is None:
        return None
    check_time(expires_at, field="expires_at")
    if not now < expires_at <= now + maximum:
        raise InvalidRequest(
            f"expires_at must be in the future and at most {maximum.days} days from now for a {kind}",
            field="expires_at",
        )
    return expires_at


def first_expiry(
    *, kind: Kind, now: datetime, asked: datetime | None, lifetime: timedelta | None, kept: timedelta | None
) -> datetime:
    """When a new memory ends: as asked, else by its rule and kind; never past its scope."""
    default = LIFETIMES[kind].default
    expires_at = asked or now + (min(lifetime, default) if lifetime else default)
    return expires_at if kept is None else min(expires_at, now + kept)


def renew(
    command: Renew, memory: Memory, caller: Caller, moment: Moment, ladder: Ladder
) -> Decided[Memory] | Refused:
    """SPEC L11: renewal needs a reason; kind and scope bound it, from now."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status_at(moment.now), Step.RENEW)
    until = asked_expiry(
        kind=memory.kind, now=moment.now, expires_at=command.expires_at, ttl_seconds=command.ttl_seconds
    )
    if until is None:
        return Refused(InvalidRequest("give expires_at or ttl_seconds", field="expires_at"))
    if memory.scope.tier is not Tier.USER:
        until = min(until, moment.now + ladder.retention(memory.scope.tier))
    event = Event(
        tenant=memory.tenant,
        at=moment.now,
        actor=caller.id,
        data=Renewed(expires_at=until),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
        secret=Secret(reason=checked_reason(command.reason)),
    )
    return Decided(answer=evolve(memory, event), events=(event,))


def expire(memory: Memory, now: datetime) -> Event | None:
    """The explicit event for a memory whose time has passed, if it still lacks one."""
    if memory.status not in {Status.ACTIVE, Status.QUARANTINED} or memory.expires_at > now:
        return None
    return Event(
        tenant=memory.tenant,
        at=now,
        actor=UPKEEP,
        data=Expired(expired_at=memory.expires_at),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
    )

"""The words a memory is described with: kinds, trust, status, source, claim, decision (SPEC M3-M6)."""

from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

import msgspec

from tenure.core.identity import SourceType


class Kind(StrEnum):
    """What sort of thing is remembered; each has its own lifetime and half-life (SPEC M3)."""

    PREFERENCE = "preference"
    FACT = "fact"
    SKILL = "skill"
    WORKING_NOTE = "working_note"
    SUMMARY = "summary"
    EXTERNAL_CLAIM = "external_claim"
    SENSITIVE_CHANGE = "sensitive_change"


class Trust(StrEnum):
    """How far a memory may be relied on; decided by policy, never by content (SPEC M5)."""

    UNTRUSTED = "untrusted"
    USER_ASSERTED = "user_asserted"
    APPLICATION_VERIFIED = "application_verified"
    REVIEWER_VERIFIED = "reviewer_verified"

    @property
    def rank(self) -> int:
        """0 for untrusted up to 3 for reviewer_verified."""
        return TRUST_RANK[self]


TRUST_BY_RANK = tuple(Trust)
TRUST_RANK = {trust: rank for rank, trust in enumerate(TRUST_BY_RANK)}


class Status(StrEnum):
    """Where a memory stands in its life (SPEC M6)."""

    PROPOSED = "proposed"
    QUARANTINED = "quarantined"
    ACTIVE = "active"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"
    ERASED = "erased"
    PRUNED = "pruned"


class Outcome(StrEnum):
    """What the admission policy may say (SPEC L2)."""

    APPROVE = "approve"
    QUARANTINE = "quarantine"
    REJECT = "reject"


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The policy's word on one proposal, and which rule of which policy spoke it."""

    outcome: Outcome
    rule: str
    reason: str
    policy_version: str


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Where a text came from: an immutable reference and its place there (SPEC M4)."""

    type: SourceType
    id: str
    uri: str | None = None
    version: str | None = None
    observed_at: datetime | None = None
    thread: str | None = None
    position: int | None = None


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False, order=True):
    """A root of a memory: the author's source, not whoever passed it on (SPEC M5a)."""

    type: SourceType
    id: str


class Claim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The structured part of a memory: what is said, of what."""

    entity: str
    attribute: str
    value: str


class Support(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How many independent sources say what a memory says; shown, and never turned into trust (SPEC M5a)."""

    voices: int
    trusted_voices: int
    """How many of them are more than untrusted."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A scanner's finding as it is kept: never the text that was found (SPEC M5b)."""

    kind: str
    rule: str
    scanner: str
    start: int
    end: int
    confidence: float


class Lifetime(msgspec.Struct, frozen=True, kw_only=True):
    """How long one kind lives and how fast it is doubted (SPEC M3, L11, T1)."""

    default: timedelta
    maximum: timedelta
    half_life: timedelta


def _lifetime(*, default_days: int, maximum_days: int, half_life_days: int) -> Lifetime:
    return Lifetime(
        default=timedelta(days=default_days),
        maximum=timedelta(days=maximum_days),
        half_life=timedelta(days=half_life_days),
    )


LIFETIMES = MappingProxyType(
    {
        Kind.PREFERENCE: _lifetime(default_days=90, maximum_days=365, half_life_days=90),
        Kind.FACT: _lifetime(default_days=30, maximum_days=180, half_life_days=14),
        Kind.SKILL: _lifetime(default_days=90, maximum_days=365, half_life_days=90),
        Kind.WORKING_NOTE: _lifetime(default_days=1, maximum_days=7, half_life_days=1),
        Kind.SUMMARY: _lifetime(default_days=30, maximum_days=90, half_life_days=14),
        Kind.EXTERNAL_CLAIM: _lifetime(default_days=7, maximum_days=30, half_life_days=7),
        Kind.SENSITIVE_CHANGE: _lifetime(default_days=30, maximum_days=90, half_life_days=14),
    }
)

MemoryId = UUID

"""What a caller proposes to remember, and whether it is well formed (SPEC L1, step "validate"). Pure."""

import re
import unicodedata
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest
from tenure.core.identity import Scope, checked_name, checked_reference
from tenure.core.vocabulary import Claim, Kind, Source

SOURCE_URI_CHARACTERS_MAX: Final = 2_000
CLAIM_CHARACTERS_MAX: Final = 500
DERIVED_FROM_MAX: Final = 100
CLOCK_LEEWAY: Final = timedelta(minutes=5)
_UNPRINTABLE: Final = re.compile("[\x00\ud800-\udfff]")


class Remember(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal, as it comes from a caller whose agent, purpose and subject are known."""

    agent: str
    purpose: str
    subject: str
    kind: Kind
    content: str
    source: Source
    id: UUID | None = None
    scope: Scope | None = None
    key: str | None = None
    claim: Claim | None = None
    confidence: float = 1.0
    expires_at: datetime | None = None
    ttl_seconds: int | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: UUID | None = None
    derived_from: tuple[UUID, ...] = ()
    expected_version: int = 0


class Revise(msgspec.Struct, frozen=True, kw_only=True):
    """A new version of a memory; what is left out stays as it is."""

    expected_version: int
    source: Source
    content: str | None = None
    claim: Claim | None = None
    confidence: float | None = None


def canonical(content: str) -> str:
    """The wording that a fingerprint is taken over: case, width and spacing do not make another memory."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def check_remember(command: Remember, now: datetime) -> None:
    """Raise InvalidRequest, naming the field, unless the proposal is well formed."""
    for field, value in (
        ("agent", command.agent),
        ("purpose", command.purpose),
        ("subject", command.subject),
    ):
        checked_name(value, field=field)
    if command.key is not None:
        checked_name(command.key, field="key")
    if command.scope is not None:
        check_scope(command.scope)
    check_text(command.content, field="content")
    check_source(command.source, now)
    check_confidence(command.confidence)
    if command.claim is not None:
        check_claim(command.claim)
    _check_times(command)
    if len(command.derived_from) > DERIVED_FROM_MAX:
        raise InvalidRequest(
            f"derived_from may name at most {DERIVED_FROM_MAX} memories", field="derived_from"
        )


def check_text(text: str, *, field: str) -> None:
    """Raise InvalidRequest for text that no store and no reader can carry: NUL, lone surrogates."""
    if _UNPRINTABLE.search(text):
        raise InvalidRequest(f"{field} has a NUL character or a lone surrogate", field=field)


def check_confidence(confidence: float) -> None:
    """Confidence is a share."""
    if not 0.0 <= confidence <= 1.0:
        raise InvalidRequest("confidence must be between 0 and 1", field="confidence")


def check_claim(claim: Claim) -> None:
    """Each part of a claim is short, printable text."""
    for name in ("entity", "attribute", "value"):
        text = getattr(claim, name)
        check_text(text, field=f"claim.{name}")
        if not 0 < len(text) <= CLAIM_CHARACTERS_MAX:
            raise InvalidRequest(
                f"claim.{name} must have 1 to {CLAIM_CHARACTERS_MAX} characters", field=f"claim.{name}"
            )


def check_source(source: Source, now: datetime) -> None:
    """A source names an immutable reference; it cannot have been seen in the future."""
    checked_reference(source.id, field="source.id")
    for field, value in (("source.version", source.version), ("source.thread", source.thread)):
        if value is not None:
            checked_reference(value, field=field)
    if source.uri is not None:
        check_text(source.uri, field="source.uri")
        if len(source.uri) > SOURCE_URI_CHARACTERS_MAX:
            raise InvalidRequest(
                f"source.uri may have at most {SOURCE_URI_CHARACTERS_MAX:,} characters", field="source.uri"
            )
    if source.position is not None and not 0 <= source.position < 2**53:
        raise InvalidRequest("source.position must be 0 or more", field="source.position")
    if source.observed_at is not None:
        check_time(source.observed_at, field="source.observed_at")
        if source.observed_at > now + CLOCK_LEEWAY:
            raise InvalidRequest("source.observed_at lies in the future", field="source.observed_at")


def check_time(value: datetime, *, field: str) -> None:
    """Times carry their zone."""
    if value.tzinfo is None:
        raise InvalidRequest(
            f"{field} must name its time zone, for example 2026-01-31T12:00:00Z", field=field
        )


def check_scope(scope: Scope) -> None:
    """Raise InvalidRequest unless every scope is named by an id."""
    for field, value in (
        ("scope.id", scope.id),
        ("scope.session", scope.session),
        ("scope.user", scope.user),
    ):
        if value is not None:
            checked_name(value, field=field)


def _check_times(command: Remember) -> None:
    for field in ("expires_at", "valid_from", "valid_to"):
        value = getattr(command, field)
        if value is not None:
            check_time(value, field=field)
    if command.valid_from and command.valid_to and command.valid_from >= command.valid_to:
        raise InvalidRequest("valid_from must lie before valid_to", field="valid_from")

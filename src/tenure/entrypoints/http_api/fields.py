"""Parts that several bodies share: versions, times, durations, sources, claims, scopes. All strict."""

from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tenure.core.errors import InvalidRequest
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.vocabulary import Claim, Source

WHOLE_NUMBER_MAX: Final = 2**53 - 1
"""The largest number that every JSON reader takes for the same one."""

Version = Annotated[
    int, Meta(ge=0, le=WHOLE_NUMBER_MAX, description="The version that the caller looked at.")
]
Seconds = Annotated[int, Meta(ge=1, le=WHOLE_NUMBER_MAX, description="A lifetime, from now.")]
Time = Annotated[datetime, Meta(tz=True, description="RFC 3339, with a time zone.")]
Reason = Annotated[str, Meta(min_length=1, description="Why, for whoever reads the history.")]


class GivenScope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A retention scope, and the outer ones that it lies in."""

    tier: Tier
    id: str
    session: str | None = None
    user: str | None = None

    def scope(self) -> Scope:
        """The scope as the rules take it."""
        return Scope(tier=self.tier, id=self.id, session=self.session, user=self.user)


class GivenSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a text came from: an immutable reference and its place there."""

    type: SourceType
    id: str
    uri: str | None = None
    version: str | None = None
    observed_at: Time | None = None
    thread: str | None = None
    position: Annotated[int, Meta(ge=0, le=WHOLE_NUMBER_MAX)] | None = None

    def source(self) -> Source:
        """The source as the rules take it."""
        return Source(
            type=self.type,
            id=self.id,
            uri=self.uri,
            version=self.version,
            observed_at=utc(self.observed_at, field="source.observed_at"),
            thread=self.thread,
            position=self.position,
        )


class GivenClaim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The structured part of a memory: what is said, of what."""

    entity: str
    attribute: str
    value: str

    def claim(self) -> Claim:
        """The claim as the rules take it."""
        return Claim(entity=self.entity, attribute=self.attribute, value=self.value)


def utc(value: datetime | None, *, field: str) -> datetime | None:
    """The same instant in UTC; raises InvalidRequest where no calendar has it."""
    if value is None:
        return None
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest(f"{field} lies outside the years 1 to 9999", field=field) from None

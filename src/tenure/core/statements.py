"""What two memories are compared by: where they stand, what they say, from whom, and since when. Pure.

Laws: of two statements one always stands before the other, on every node and in whatever order they came
(``standing``): by trust, then by when they were said, then by id. A date that a source gives itself can make
a statement older, never newer than the moment in which it was written.
"""

from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from tenure.core.claim_values import TypedValue
from tenure.core.claims import Found, extracted, thing, value_of
from tenure.core.identity import Boundary, Scope
from tenure.core.memory import Memory
from tenure.core.validity import Interval, interval_of
from tenure.core.vocabulary import Claim, Kind, Origin, Trust

Standing: TypeAlias = tuple[int, datetime, UUID]


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, as far as comparing it needs it."""

    id: UUID
    boundary: Boundary
    scope: Scope
    kind: Kind
    content: str
    trust: Trust
    said_at: datetime
    valid: Interval = Interval()
    claims: tuple[Found, ...] = ()
    origins: tuple[Origin, ...] = ()
    thread: str | None = None
    fingerprint: str | None = None
    derived_from: tuple[UUID, ...] = ()

    @property
    def standing(self) -> Standing:
        """What it is believed by before others: more trust, then the later word, then the higher id."""
        return (self.trust.rank, self.said_at, self.id)

    @property
    def claimed(self) -> frozenset[tuple[str, str, TypedValue, bool]]:
        """What is claimed, wherever in the text."""
        return frozenset((one.entity, one.attribute, one.value, one.negated) for one in self.claims)


def standing_of(memory: Memory) -> Standing:
    """What a memory is believed by before others; nothing of its text is looked at."""
    return (memory.trust.rank, _said_at(memory), memory.id)


def statement_of(memory: Memory) -> Statement:
    """A memory as a statement, with the claim that it was given and those that its text makes."""
    source, content = memory.source, memory.content or ""
    given = () if memory.claim is None else (as_found(memory.claim),)
    own = Origin(type=source.type, id=source.id)
    return Statement(
        id=memory.id,
        boundary=memory.boundary,
        scope=memory.scope,
        kind=memory.kind,
        content=content,
        trust=memory.trust,
        said_at=_said_at(memory),
        valid=interval_of(memory),
        claims=(*given, *extracted(content)),
        origins=tuple(sorted({own, *memory.origins})),
        thread=source.thread,
        fingerprint=memory.fingerprint,
        derived_from=memory.derived_from,
    )


def as_found(claim: Claim) -> Found:
    """A claim that a caller gave, in the form of those that are found."""
    entity, attribute = thing(claim.entity, claim.attribute)
    return Found(entity=entity, attribute=attribute, value=value_of(claim), start=0, end=0)


def _said_at(memory: Memory) -> datetime:
    """The date that its source gives, and never later than when it was written."""
    return min(memory.source.observed_at or memory.created_at, memory.created_at)

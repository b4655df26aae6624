"""Statements for the tests of duplicates and contradictions, and a store of beliefs that fits in a hand."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import NOW, id_of

from tenure.core.claims import Found
from tenure.core.contradictions import Rival, Weighed, weigh
from tenure.core.duplicates import Contradiction, Duplicate, verdict
from tenure.core.identity import Boundary, Scope, SourceType, Tier
from tenure.core.merging import merge
from tenure.core.statements import Statement, as_found
from tenure.core.validity import Interval
from tenure.core.vocabulary import Claim, Kind, Origin, Status, Trust

BOUNDARY: Final = Boundary(tenant="acme", agent="ops", purpose="run", subject="shop")


def proxy(value: str) -> Found:
    """What the shop's proxy is said to be."""
    return as_found(Claim(entity="shop proxy", attribute="software", value=value))


def said(number: int = 1, value: str = "nginx", **changes: object) -> Statement:
    """A fact about the shop's proxy, of an application."""
    return replace(
        Statement(
            id=id_of(number),
            boundary=BOUNDARY,
            scope=Scope(tier=Tier.USER, id="shop"),
            kind=Kind.FACT,
            content=f"The proxy of the shop is {value}.",
            trust=Trust.APPLICATION_VERIFIED,
            said_at=NOW,
            claims=(proxy(value),),
            origins=(Origin(type=SourceType.APPLICATION, id=f"deploy-{number}"),),
        ),
        **changes,
    )


days: Final = st.integers(-40, 40).map(lambda count: NOW + timedelta(days=count))
intervals: Final = st.builds(Interval, start=st.none() | days, end=st.none() | days)
trusts: Final = st.sampled_from(Trust)
values: Final = st.sampled_from(("nginx", "caddy", "envoy"))


class Belief(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of the small store, and where it stands."""

    statement: Statement
    status: Status = Status.ACTIVE


class Beliefs:
    """Memories that are written one after another, each by the rules and by nothing else."""

    def __init__(self) -> None:
        self.held: dict[UUID, Belief] = {}

    def write(self, new: Statement) -> Weighed:
        """What the gate approved comes in, and is compared with all that stands."""
        standing = [belief.statement for belief in self.held.values() if belief.status is Status.ACTIVE]
        found = [(old, verdict(new, old, cosine=None)) for old in standing]
        rivals = [Rival(old, one.because) for old, one in found if isinstance(one, Contradiction)]
        weighed = weigh(new, rivals, now=NOW)
        self.held[new.id] = Belief(statement=new, status=_status(weighed))
        for end in weighed.ends:
            self._end(end.memory_id, supersedes=end.supersedes)
        if self.held[new.id].status is Status.ACTIVE:
            for old, one in found:
                if isinstance(one, Duplicate):
                    self._end(merge(new, old).evidence, supersedes=True)
        return weighed

    def believed(self) -> frozenset[str]:
        """What the memories that stand say."""
        return frozenset(one.statement.content for one in self.held.values() if one.status is Status.ACTIVE)

    def _end(self, memory_id: UUID, *, supersedes: bool) -> None:
        if supersedes:
            self.held[memory_id] = replace(self.held[memory_id], status=Status.SUPERSEDED)


def _status(weighed: Weighed) -> Status:
    if weighed.waits:
        return Status.QUARANTINED
    return Status.ACTIVE if weighed.superseded_by is None else Status.SUPERSEDED


def believed(statements: Iterable[Statement], rivalries: Iterable[frozenset[UUID]]) -> frozenset[UUID]:
    """Which of these are believed: each that contradicts none of those that stand before it."""
    against: dict[UUID, set[UUID]] = {}
    for pair in rivalries:
        for one in pair:
            against.setdefault(one, set()).update(pair - {one})
    chosen: set[UUID] = set()
    for statement in sorted(statements, key=lambda one: one.standing, reverse=True):
        if not against.get(statement.id, set()) & chosen:
            chosen.add(statement.id)
    return frozenset(chosen)

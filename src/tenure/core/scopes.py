"""Retention scopes: where a read looks, and which memory a key means there (SPEC F3, F4). Pure.

    user:u1                     kept longest; what is written here is served to everything inside it
    └── session:s1              sees user:u1 as well
        └── task:t1             sees session:s1 and user:u1 as well

Laws: a read looks in its own scope and outward, never inward or sideways; of one key the innermost place
that holds it wins, and there the newest; a suppression ends the way outward for what was written before it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, Self

from tenure.core.identity import Scope, Tier

ANY: Final = "*"
"""Every scope of a tier; no name may be this."""


class Place(NamedTuple):
    """One scope, or every scope of one tier, as ``tier:id``."""

    tier: str
    id: str

    def __str__(self) -> str:
        return f"{self.tier}:{self.id}"

    @classmethod
    def read(cls, text: str) -> Self:
        """The inverse of ``str``."""
        tier, _, name = text.partition(":")
        return cls(tier, name)


class Keyed(NamedTuple):
    """A standing memory that has a key: where it lies, and since which position."""

    created_seq: int
    key_digest: bytes
    place: Place


class Suppressed(NamedTuple):
    """A key that is not looked for outward of a place, for what was written up to a position."""

    key_digest: bytes
    place: Place
    seq: int


def places(scope: Scope, subject: str | None, inherits: Iterable[Tier]) -> tuple[Place, ...]:
    """Where a read at the scope looks, innermost first.

    A user scope that is not named is the subject's own, where memories without a scope are written.
    """
    named = {Tier.SESSION: scope.session, Tier.USER: scope.user or subject}
    return _outward(scope, {tier: (name,) for tier, name in named.items() if name}, frozenset(inherits))


def floor_places(scope: Scope, inherits: Iterable[Tier]) -> tuple[Place, ...]:
    """Every place from which a read at the scope could be served, innermost first.

    An outer scope that is not named is every one of its tier: a later read may name any.
    """
    named = {Tier.SESSION: scope.session, Tier.USER: scope.user}
    return _outward(scope, {tier: (name or ANY,) for tier, name in named.items()}, frozenset(inherits))


def covers(floor: Place, place: Place) -> bool:
    """Whether a floor at the one place holds at the other."""
    return floor.tier == place.tier and floor.id in {ANY, place.id}


def winners(
    rows: Iterable[Keyed], where: Sequence[Place], suppressed: Iterable[Suppressed]
) -> dict[bytes, Keyed]:
    """For each key the memory that a read in these places is served, innermost place first."""
    by_key: dict[bytes, list[Keyed]] = {}
    for row in rows:
        by_key.setdefault(row.key_digest, []).append(row)
    ends = {(one.key_digest, one.place): one.seq for one in sorted(suppressed, key=lambda one: one.seq)}
    found = {digest: _winner(digest, held, where, ends) for digest, held in by_key.items()}
    return {digest: row for digest, row in found.items() if row is not None}


def hidden(rows: Sequence[Keyed], where: Sequence[Place], suppressed: Iterable[Suppressed]) -> frozenset[int]:
    """The memories with a key that a read in these places must not be served."""
    served = {row.created_seq for row in winners(rows, where, suppressed).values()}
    return frozenset(row.created_seq for row in rows if row.created_seq not in served)


def _winner(
    digest: bytes, held: list[Keyed], where: Sequence[Place], ends: Mapping[tuple[bytes, Place], int]
) -> Keyed | None:
    since = 0
    for place in where:
        since = max(since, ends.get((digest, place), 0))
        here = [row for row in held if row.place == place and row.created_seq > since]
        if here:
            return max(here, key=lambda row: row.created_seq)
    return None


def _outward(
    scope: Scope, named: Mapping[Tier, tuple[str, ...]], inherits: frozenset[Tier]
) -> tuple[Place, ...]:
    found = [Place(scope.tier.value, scope.id)]
    tiers = tuple(Tier)
    for inner, outer in pairwise(tiers):
        if tiers.index(inner) < tiers.index(scope.tier):
            continue
        if inner not in inherits:
            break
        found += [Place(outer.value, name) for name in named.get(outer, ())]
    return tuple(found)

"""What an open store shows of claims, merges and contradictions, by the numbers of memories."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace
from tests.stores.engine import Opened
from tests.stores.items import (
    SUBJECT,
    TENANT,
    number,
)
from tests.stores.looking import AT

from tenure.core.rows import (
    CORROBORATES,
    DERIVED,
    MERGED,
    SUPERSEDES,
)
from tenure.usecases.truth_ports import ContradictionListing, Walls

WALLS = Walls(tenant=TENANT, agent="support", purpose="answering", subject=SUBJECT)
EVERY_KIND = (DERIVED, SUPERSEDES, MERGED, CORROBORATES)


def claiming(
    opened: Opened, *things: bytes, walls: Walls = WALLS, now: int = AT, limit: int = 50
) -> list[int]:
    """The memories that claim something of any of these things."""
    with opened.store.reading() as reading:
        return [one.int for one in reading.claiming(walls, things, now=now, limit=limit)]


def things(opened: Opened, *memories: int) -> list[tuple[int, bytes]]:
    """Of what memories claim something."""
    with opened.store.reading() as reading:
        return [(row.memory_id.int, row.thing) for row in reading.things_of(TENANT, map(number, memories))]


def edges(
    opened: Opened,
    kinds: Iterable[str] = EVERY_KIND,
    parents: Iterable[int] = (),
    children: Iterable[int] = (),
) -> list[tuple[int, int, str]]:
    """The edges that leave some memories or lead to others."""
    with opened.store.reading() as reading:
        found = reading.edges(
            TENANT, list(kinds), parents=map(number, parents), children=map(number, children)
        )
    return [(row.parent.int, row.child.int, row.kind) for row in found]


def support(opened: Opened, *memories: int) -> dict[int, tuple[int, int]]:
    """How many say what memories say, and how many of them are trusted."""
    with opened.store.reading() as reading:
        found = reading.support(TENANT, map(number, memories))
    return {row.memory_id.int: (row.voices, row.trusted_voices) for row in found}


def contradictions(opened: Opened, **sides: Any) -> list[int]:
    """A page of contradictions."""
    listing = replace(ContradictionListing(tenant=TENANT, limit=50), **sides)
    with opened.store.reading() as reading:
        return [row.contradiction_id.int for row in reading.contradictions(listing)]


def contradictions_of(opened: Opened, *memories: int) -> list[int]:
    """The contradictions that memories have a part in."""
    with opened.store.reading() as reading:
        return [row.contradiction_id.int for row in reading.contradictions_of(TENANT, map(number, memories))]


def contradictions_beside(opened: Opened, *memories: int, **sides: Any) -> list[int]:
    """Those of the contradictions that memories have a part in which matter to a reader."""
    with opened.store.reading() as reading:
        found = reading.contradictions_beside(TENANT, map(number, memories), **({"limit": 50} | sides))
    return [row.contradiction_id.int for row in found]


def stranded(opened: Opened, limit: int = 50) -> list[tuple[str, int, int]]:
    """Merges whose memory no longer stands, in the order in which they are told."""
    with opened.store.reading() as reading:
        return [(row.tenant, row.parent.int, row.child.int) for row in reading.stranded(limit)]


def everything(opened: Opened) -> tuple[object, ...]:
    """All that is kept about the first ten memories."""
    some = range(1, 11)
    listed = contradictions(opened, is_open=None)
    return things(opened, *some), edges(opened, parents=some), support(opened, *some), listed

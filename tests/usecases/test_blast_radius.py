"""The blast radius against a plain model of it, over whatever may come of whatever (SPEC I1, I2)."""

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stores.engine import Engine, Opened
from tests.stores.forgetting_items import giraffe
from tests.stores.items import TENANT, accepted, number, put
from tests.stores.source_items import influenced, recalled, revised
from tests.usecases.asking import OPERATOR

from tenure.core.identity import SourceType
from tenure.core.incidents import AskImpact, Called, Impact, Revocation, RevokeSource
from tenure.usecases.ports import Append
from tenure.usecases.sources import IMPACT, revoke_source

_BASES: Final = itertools.count(1_000, 1_000)
TYPES: Final = (SourceType.EMAIL, SourceType.WEB)
SOURCES_MAX: Final = 2


class Source(NamedTuple):
    """One source of an example."""

    type: SourceType
    number: int


class Written(NamedTuple):
    """A memory: where it came from first and later, and what it was made from."""

    source: Source
    parents: frozenset[int]
    later: Source | None


class Used(NamedTuple):
    """What a response used of a recall, and the tool calls that followed."""

    recall: int
    response: int
    memories: frozenset[int]
    calls: int


class World(NamedTuple):
    """What was written, recalled and used."""

    memories: tuple[Written, ...]
    recalls: tuple[frozenset[int], ...]
    uses: tuple[Used, ...]


sources = st.builds(Source, st.sampled_from(TYPES), st.integers(0, SOURCES_MAX))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Any graph without a circle, any receipts over it, and any reports on those."""
    memories = tuple(
        Written(
            draw(sources),
            draw(st.frozensets(st.integers(0, index - 1), max_size=3)) if index else frozenset(),
            draw(st.none() | sources),
        )
        for index in range(draw(st.integers(1, 9)))
    )
    some = st.frozensets(st.integers(0, len(memories) - 1), max_size=4)
    recalls = tuple(draw(some) for _ in range(draw(st.integers(0, 5))))
    uses = []
    for _ in range(draw(st.integers(0, 4)) if recalls else 0):
        recall = draw(st.integers(0, len(recalls) - 1))
        used = frozenset(one for one in recalls[recall] if draw(st.booleans()))
        uses.append(Used(recall, draw(st.integers(0, 2)), used, draw(st.integers(0, 2))))
    return World(memories, recalls, tuple(uses))


@pytest.fixture(scope="module")
def opened(shared_engine: Engine) -> Iterator[Opened]:
    """One store for all examples, which are each other's noise."""
    with shared_engine.open() as store:
        yield store


def items(opened: Opened, world: World, base: int) -> list[Append]:
    """The events of an example, whose ids begin at the base."""
    keys = opened.keyring
    found: list[Append] = []
    for index, one in enumerate(world.memories):
        found.append(
            giraffe(
                keys,
                base + index,
                source_type=one.source.type,
                source_id=f"{base}-{one.source.number}",
                derived_from=tuple(number(base + parent) for parent in sorted(one.parents)),
                subject="customer-7",
            )
        )
    for index, one in enumerate(world.memories):
        if one.later is not None:
            found.append(
                revised(keys, base + index, f"{base}-{one.later.number}", source_type=one.later.type)
            )
    for index, shown in enumerate(world.recalls):
        found.append(recalled(keys, base + 500 + index, [base + one for one in sorted(shown)]))
    for use in world.uses:
        calls = [f"{base}-call-{use.response}-{call}" for call in range(use.calls)]
        memories = [base + one for one in sorted(use.memories)]
        found.append(influenced(keys, base + 500 + use.recall, f"{base}-r-{use.response}", memories, calls))
    return found


def reached(world: World, source_type: SourceType | None, source: int) -> set[int]:
    """The memories of a source, and all that was made from them: step by step until nothing is added."""

    def names(said: Source | None) -> bool:
        return said is not None and said.number == source and source_type in {None, said.type}

    found = {index for index, one in enumerate(world.memories) if names(one.source) or names(one.later)}
    while more := {index for index, one in enumerate(world.memories) if one.parents & found} - found:
        found |= more
    return found


def expected(world: World, taken: set[int], base: int) -> dict[str, set[object]]:
    """What these memories touched, by looking at every receipt and every report."""
    uses = [use for use in world.uses if use.memories & taken]
    return {
        "memories": {number(base + one) for one in taken},
        "recalls": {number(base + 500 + index) for index, shown in enumerate(world.recalls) if shown & taken},
        "responses": {f"{base}-r-{use.response}" for use in uses},
        "tool_calls": {
            Called(id=f"{base}-call-{use.response}-{call}", name="pay")
            for use in uses
            for call in range(use.calls)
        },
        "agents": {"support"} if taken else set(),
        "subjects": {"customer-7"} if taken else set(),
        "displaced": set(),
    }


def told(impact: Impact) -> dict[str, set[object]]:
    """The lists of a blast radius, each checked against its count."""
    lists = {name: getattr(impact, name) for name in impact.counts.__struct_fields__}
    assert {name: len(one) for name, one in lists.items()} == {
        name: getattr(impact.counts, name) for name in lists
    }
    assert not impact.truncated
    return {name: set(one) for name, one in lists.items()}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds(), source_type=st.none() | st.sampled_from(TYPES), source=st.integers(0, SOURCES_MAX))
def test_the_blast_radius_is_what_a_plain_walk_finds(
    opened: Opened, world: World, source_type: SourceType | None, source: int
) -> None:
    """SPEC I1, I2: nothing is missed and nothing is added; a revocation takes exactly that."""
    base = next(_BASES)
    accepted(put(opened, *items(opened, world, base)))
    taken = reached(world, source_type, source)
    name, type_ = f"{base}-{source}", str(source_type) if source_type is not None else None

    asked = opened.pipeline.run(IMPACT, OPERATOR, AskImpact(source_type=type_, source_id=name))
    revoke = RevokeSource(source_type=type_, source_id=name, reason="phished")
    answer = revoke_source(opened.pipeline, OPERATOR, revoke)
    again = revoke_source(opened.pipeline, OPERATOR, revoke)

    assert told(asked) == told(answer.impact) == told(again.impact) == expected(world, taken, base)
    assert (answer.revoked, again.revoked) == (len(taken), 0)
    assert again.status is Revocation.ALREADY_REVOKED
    assert revoked_of(opened, [number(base + index) for index in range(len(world.memories))]) == {
        number(base + one) for one in taken
    }


def test_after_all_of_it_a_rebuild_comes_out_the_same(opened: Opened) -> None:
    """SPEC E1: whatever the examples left."""
    assert opened.store.rebuild().identical


def revoked_of(opened: Opened, memories: list[UUID]) -> set[UUID]:
    """Those of the memories that are revoked; the others are active."""
    with opened.store.reading() as reading:
        rows = reading.rows_of(TENANT, memories)
    assert {row.status for row in rows} <= {"active", "revoked"}
    return {row.memory_id for row in rows if row.status == "revoked"}

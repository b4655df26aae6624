"""How fast memories are doubted, as an operator set it, wherever an answer tells of it (SPEC T1, T5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.clock import MovableClock
from tests.usecases.asking import BOT, question, source, written
from tests.usecases.policies import OPEN, run_under

from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.retrieval import FRESHNESS_DIGITS, Found, Item
from tenure.core.truth import HalfLives, freshness
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Kind
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL

LIVES = HalfLives(
    kinds={Kind.FACT: timedelta(days=10)},
    source_types={SourceType.WEB: timedelta(days=1), SourceType.APPLICATION: timedelta(days=900)},
)


@pytest.fixture(autouse=True)
def configured(pipeline: Pipeline) -> None:
    """A gate that lets everything in, and half-lives that an operator set."""
    run_under(pipeline, OPEN)
    doubted(pipeline, LIVES)


def doubted(pipeline: Pipeline, half_lives: HalfLives) -> None:
    """These half-lives, and nothing that is compared."""
    truth = TruthRules(compares=False, half_lives=half_lives)
    pipeline.rules = replace(pipeline.rules, write=replace(pipeline.rules.write, truth=truth))


def recalled(pipeline: Pipeline, **sides: Any) -> Found:
    """What is found about a vault, explained."""
    return pipeline.run(RECALL, BOT, question("where is the vault?", explain=True, **sides))


def beside(found: Found, memory: Memory) -> Item:
    """The memory as it was shown."""
    return next(item for item in found.items if item.memory.id == memory.id)


def test_what_comes_from_the_web_is_doubted_sooner_and_nothing_later_than_its_kind(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T1, T5: the number, the banner and the score all follow the shorter half-life."""
    web, own, note = (
        written(pipeline, f"The vault is {where}", source=source(type_, id_=where), kind=kind)
        for type_, where, kind in (
            (SourceType.WEB, "green", Kind.FACT),
            (SourceType.APPLICATION, "blue", Kind.FACT),
            (SourceType.WEB, "red", Kind.PREFERENCE),
        )
    )
    clock.pass_time(days=2)

    found = recalled(pipeline)

    fresh = {memory.id: beside(found, memory).freshness for memory in (web, own, note)}
    assert list(fresh.values()) == [0.25, round(0.5**0.2, 4), 0.25]
    assert [beside(found, memory).stale for memory in (web, own, note)] == [True, False, True]
    assert "2 days ago), source web" in (beside(found, web).banner or "")
    shares = [(beside(found, memory).why or {})["freshness"] for memory in (own, web)]
    assert shares[0] > shares[1] == pytest.approx(shares[0] * 0.25 / 0.5**0.2, abs=1e-6)


def test_neighbours_and_the_past_are_doubted_alike(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T1, R8: the same number for the same age, whichever way it is asked for."""
    memory = written(pipeline, "The vault is green", source=source(SourceType.WEB))
    clock.pass_time(days=1)
    live, at = recalled(pipeline), clock.now()
    around = pipeline.run(NEIGHBOURS, BOT, AskNeighbours(memory_id=memory.id))
    clock.pass_time(days=3)

    past = recalled(pipeline, as_of=at)

    assert [beside(found, memory).freshness for found in (live, around, past)] == [0.5, 0.5, 0.5]
    assert beside(past, memory).score == beside(live, memory).score
    assert beside(recalled(pipeline), memory).freshness == 0.0625


half_lives = st.timedeltas(min_value=timedelta(minutes=1), max_value=timedelta(days=400))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lives=st.builds(
        HalfLives,
        kinds=st.dictionaries(st.sampled_from(Kind), half_lives),
        source_types=st.dictionaries(st.sampled_from(SourceType), half_lives),
    ),
    kind=st.sampled_from([Kind.FACT, Kind.SKILL, Kind.PREFERENCE]),
    type_=st.sampled_from(SourceType),
    hours=st.integers(0, 600),
)
def test_freshness_is_a_function_of_kind_source_type_and_age(
    pipeline: Pipeline, clock: MovableClock, lives: HalfLives, kind: Kind, type_: SourceType, hours: int
) -> None:
    """SPEC T1: of a present and of a past alike, and a source type never slows doubt."""
    doubted(pipeline, lives)
    subject = f"customer-{clock.moment().fresh_id}"
    memory = written(pipeline, "The vault is green", kind=kind, source=source(type_), subject=subject)
    clock.pass_time(hours=hours)
    at: datetime = clock.now()
    live = recalled(pipeline, subject=subject)
    clock.pass_time(hours=1)

    past = recalled(pipeline, subject=subject, as_of=at)

    age = timedelta(hours=hours)
    expected = freshness(age, lives.of(kind, type_))
    assert [beside(found, memory).freshness for found in (live, past)] == [
        round(expected, FRESHNESS_DIGITS)
    ] * 2
    assert expected <= freshness(age, HalfLives(kinds=lives.kinds).of(kind, type_))
    assert beside(live, memory).why == beside(past, memory).why

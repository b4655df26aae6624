"""What stands beside a write is what a search would find, after whatever was stored (SPEC T2, T3)."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened
from tests.stores.places import NewEngine
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    OPERATOR,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    TENANT,
    held,
    judgement,
    proposal,
    source,
    written,
)

from tenure.core.candidates import Candidates, candidates_of
from tenure.core.errors import TenureError
from tenure.core.identity import SourceType
from tenure.core.incidents import RevokeSource
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.vectors import Vector
from tenure.core.vocabulary import Status
from tenure.usecases.forgetting import FORGET_MEMORY, FORGET_SUBJECT, ForgetMemory, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE, REVOKE
from tenure.usecases.sources import REVOKE_SOURCE
from tenure.usecases.upkeep import upkeep_round

MOST = 1_000


def here(clock: MovableClock) -> Filter:
    """All that stands within the walls of the tests."""
    return Filter(
        tenant=TENANT,
        agent=AGENT,
        purpose=PURPOSE,
        subjects=frozenset({SUBJECT}),
        now=microseconds(clock.now()),
    )


def looked(node: Opened, clock: MovableClock, *, most: int = MOST) -> tuple[Candidates | None, Candidates]:
    """What is at hand, and what a search finds."""
    model = node.pipeline.meaning.model
    assert model is not None
    with node.store.reading() as reading:
        at_hand = reading.at_hand(here(clock), model, most=most)
        return at_hand, candidates_of(reading.search(here(clock), (), model).rows)


def agrees(node: Opened, clock: MovableClock) -> Candidates:
    """Both are the same, to the last bit of the vectors; gives back what is at hand."""
    kept, found = looked(node, clock)
    assert kept is not None
    assert by_id(kept) == by_id(found)
    return kept


def by_id(candidates: Candidates) -> dict[UUID, tuple[int, bytes, float]]:
    """Each with its trust, its vector and how long that is."""
    ids, trusts, steps, lengths = candidates
    assert len(ids) == len(trusts) == len(steps) == len(lengths)
    columns = zip(ids, trusts.tolist(), steps, lengths.tolist(), strict=True)
    return {one: (trust, row.tobytes(), length) for one, trust, row, length in columns}


def standing(pipeline: Pipeline) -> list[Memory]:
    """The memories of the tests that stand, oldest first."""
    with pipeline.store.reading() as reading:
        rows = reading.memory_page(TENANT, after=0, limit=1_000)
    ids = [row.memory_id for row in rows if row.status == Status.ACTIVE]
    return [pipeline.run(GET, REVIEWER, Get(memory_id=one)) for one in ids]


def writes(pipeline: Pipeline, number: int) -> None:
    """Another memory."""
    written(pipeline, f"The timeout of gateway {number} is {number} seconds")


def corrects(pipeline: Pipeline, number: int) -> None:
    """The first that stands is corrected by name."""
    for memory in standing(pipeline)[:1]:
        written(pipeline, f"Corrected for the time {number}", supersedes=memory.id)


def says_again(pipeline: Pipeline, _number: int) -> None:
    """The same words as before, so that two are merged."""
    written(pipeline, "The cache is Redis", source=source(id_=f"wiki-{_number}"))


def revises(pipeline: Pipeline, number: int) -> None:
    """The last that stands has a new version."""
    for memory in standing(pipeline)[-1:]:
        revise = Revise(
            content=f"Revised for the time {number}", source=source(), expected_version=memory.version
        )
        pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))


def promotes(pipeline: Pipeline, number: int) -> None:
    """What came by mail is let in."""
    memory = held(pipeline, f"Mail {number} says that parcels go out at noon")
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, memory.version))


def revokes(pipeline: Pipeline, _number: int) -> None:
    """One that stands is withdrawn."""
    for memory in standing(pipeline)[:1]:
        pipeline.run(REVOKE, OPERATOR, judgement(memory.id, memory.version))


def revokes_a_source(pipeline: Pipeline, number: int) -> None:
    """All that came from one source is out of every read at once."""
    written(pipeline, f"From a phished source, number {number}", source=source(id_=f"phished-{number}"))
    pipeline.run(REVOKE_SOURCE, OPERATOR, RevokeSource(source_id=f"phished-{number}", reason="phished"))


def forgets_one(pipeline: Pipeline, _number: int) -> None:
    """One that stands is forgotten."""
    for memory in standing(pipeline)[:1]:
        command = ForgetMemory(memory_id=memory.id, expected_version=memory.version)
        pipeline.run(FORGET_MEMORY, OFFICER, command)


def forgets_all(pipeline: Pipeline, _number: int) -> None:
    """Everything of the subject is forgotten."""
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))


STEPS: tuple[Callable[[Pipeline, int], None], ...] = (
    writes,
    corrects,
    says_again,
    revises,
    promotes,
    revokes,
    revokes_a_source,
    forgets_one,
    forgets_all,
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=10))
def test_it_is_what_a_search_finds_after_whatever_was_stored(
    new_engine: NewEngine, steps: list[Callable[[Pipeline, int], None]]
) -> None:
    """SPEC T2, T3, F1, I1: what came is there, what went is not, in whatever order."""
    clock = MovableClock()
    node = new_engine().open(clock)
    written(node.pipeline, "The first of all")
    handed_out = [(kept := agrees(node, clock), by_id(kept))]
    for number, step in enumerate(steps):
        # What was forgotten may not come again: then nothing is stored.
        with contextlib.suppress(TenureError):
            step(node.pipeline, number)
        handed_out.append((kept := agrees(node, clock), by_id(kept)))
        clock.pass_time(seconds=1)
    node.close()

    assert all(by_id(kept) == as_it_was for kept, as_it_was in handed_out)


def test_nothing_is_read_once_it_is_at_hand(
    opened: Opened, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DESIGN: a write in a boundary that was written to asks the store for nothing."""
    writes(opened.pipeline, 1)
    agrees(opened, clock)

    with opened.store.reading() as reading:
        model = opened.pipeline.meaning.model
        assert model is not None
        for name in ("search", "_passing"):
            monkeypatch.setattr(type(reading), name, _no_search, raising=False)
        rows = reading.at_hand(here(clock), model, most=MOST)

    assert rows is not None
    assert len(rows.ids) == 1


def test_a_text_is_embedded_once(
    opened: Opened, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R2, T2: what it was compared by is what it is found by, and what is compared with it later."""
    for number in range(2):
        writes(opened.pipeline, number)
    agrees(opened, clock)
    meant: list[str] = []
    embedder = opened.pipeline.meaning.immediate
    assert embedder is not None
    passages = embedder.passages

    def noted(texts: Sequence[str]) -> list[Vector]:
        meant.extend(texts)
        return passages(texts)

    monkeypatch.setattr(embedder, "passages", noted)
    for number in range(2, 5):
        writes(opened.pipeline, number)
    agrees(opened, clock)

    assert len(meant) == len(set(meant)) == 3


def _no_search(*_: Any) -> Any:
    raise AssertionError("a search was made")


def test_it_is_read_anew_after_a_while(
    opened: Opened, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T4: what begins to hold later is seen then."""
    writes(opened.pipeline, 1)
    written(opened.pipeline, "Holds from tomorrow on", valid_from=clock.now() + timedelta(days=1))
    kept, found = looked(opened, clock)
    clock.pass_time(days=2)
    monkeypatch.setattr("tenure.stores.standing_rows.SECONDS_MAX", -1.0)

    assert kept is not None
    assert len(found.ids) == 1
    assert len(looked(opened, clock)[1].ids) == 2
    agrees(opened, clock)


def test_too_many_are_not_handed_out(opened: Opened, clock: MovableClock) -> None:
    """SPEC T8: a bound on what one write looks at, kept or read."""
    for number in range(3):
        writes(opened.pipeline, number)

    assert looked(opened, clock, most=2)[0] is None
    agrees(opened, clock)
    assert looked(opened, clock, most=2)[0] is None


def test_a_look_that_began_before_a_commit_keeps_nothing(opened: Opened, clock: MovableClock) -> None:
    """SPEC T3: what it found may lack what was stored meanwhile."""
    model = opened.pipeline.meaning.model
    assert model is not None
    writes(opened.pipeline, 1)
    with opened.store.reading() as early:
        early.memory_page(TENANT, after=0, limit=1)
        opened.pipeline.run(
            REMEMBER, BOT, proposal("Stored meanwhile", source=source(SourceType.APPLICATION))
        )
        early.at_hand(here(clock), model, most=MOST)

    agrees(opened, clock)


def test_what_upkeep_ends_is_taken_away(opened: Opened, clock: MovableClock) -> None:
    """SPEC L11: an expiry is a commit as any other."""
    written(opened.pipeline, "Ends soon", ttl_seconds=60)
    writes(opened.pipeline, 1)
    agrees(opened, clock)
    clock.pass_time(seconds=61)
    upkeep_round(opened.pipeline, batch_size=10)

    agrees(opened, clock)


def test_what_another_node_stored_is_seen(engine: Engine, clock: MovableClock) -> None:
    """SPEC S5, T3: what is kept is of no use once somebody else wrote to the tenant."""
    if engine.name == "sqlite":
        pytest.skip("an embedded store has one node")
    one, other = engine.open(clock), engine.open(clock)
    try:
        writes(one.pipeline, 1)
        agrees(one, clock)
        writes(other.pipeline, 2)
        agrees(one, clock)
        writes(one.pipeline, 3)
        agrees(other, clock)
        agrees(one, clock)
        kept, _ = looked(one, clock)
    finally:
        one.close()
        other.close()

    assert kept is not None
    assert len(kept.ids) == 3

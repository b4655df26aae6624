"""Pruning: what is superseded or fully decayed is kept at hand no longer, but what is needed is (SPEC T7)."""

from typing import Any

from tests.clock import START, MovableClock
from tests.stores.engine import PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import (
    BOT,
    OFFICER,
    SUBJECT,
    caller,
    happened,
    held,
    log,
    proposal,
    question,
    source,
    written,
)
from tests.usecases.test_truth_upkeep import OTHER_SOURCE, kept_true, timeout, total

from tenure.core.errors import NotFound
from tenure.core.holds import PlaceHold
from tenure.core.identity import Role
from tenure.core.memory import Memory
from tenure.core.truth_events import Pruned
from tenure.core.vocabulary import Kind
from tenure.usecases.holds import PLACE_HOLD, RELEASE_HOLD, ReleaseHold
from tenure.usecases.passes import EVERY
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import Round, upkeep_round

INVESTIGATOR = caller(Role.REVIEWER, Role.READER, Role.AUDITOR, name="inga")
KEPT_DAYS = 90
LONG_SECONDS = 180 * 86_400


def corrected(pipeline: Pipeline) -> tuple[Memory, Memory]:
    """A memory and what took its place."""
    old = written(pipeline, "Prefers e-mail", ttl_seconds=60)
    return old, written(pipeline, "Prefers letters", supersedes=old.id)


def is_there(pipeline: Pipeline, memory: Memory) -> bool:
    """Whether it can still be read as a memory."""
    try:
        pipeline.run(GET, BOT, Get(memory_id=memory.id))
    except NotFound:
        return False
    return True


def pruned(pipeline: Pipeline) -> list[tuple[Any, str]]:
    """What was pruned, and why."""
    return [(one.stream, one.data.because) for one in log(pipeline) if isinstance(one.data, Pruned)]


def test_what_was_superseded_is_pruned_after_its_audit_retention(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T7: not a day before; the log keeps it."""
    old, new = corrected(pipeline)
    clock.pass_time(days=KEPT_DAYS, seconds=-1)
    early = total(kept_true(pipeline), "pruned")
    clock.pass_time(days=1)

    late = total(kept_true(pipeline), "pruned")

    assert (early, late) == (0, 2)
    assert pruned(pipeline) == [(old.id, "superseded"), (new.id, "decayed")]
    assert not is_there(pipeline, old)
    assert pipeline.store.rebuild().identical


def test_what_was_pruned_is_found_as_of_before(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, R8: the log has it still."""
    old = written(pipeline, "Prefers e-mail")
    clock.pass_time(hours=1)
    written(pipeline, "Prefers letters", supersedes=old.id)
    clock.pass_time(days=KEPT_DAYS + 1)
    kept_true(pipeline)

    past = pipeline.run(RECALL, INVESTIGATOR, question("letters or e-mail", as_of=START))

    assert [item.memory.content for item in past.items] == [old.content]
    assert not is_there(pipeline, old)


def test_what_is_fresh_enough_stays(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, T1: a preference has a half-life of 90 days, and is not decayed after one."""
    stays = written(pipeline, "Prefers tea", kind=Kind.PREFERENCE)
    clock.pass_time(days=KEPT_DAYS + 1)

    kept_true(pipeline)

    assert is_there(pipeline, stays)


def test_nothing_is_pruned_under_a_hold(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, F10: once it is released, the next pass goes on."""
    old, _ = corrected(pipeline)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a claim in court"))
    clock.pass_time(days=KEPT_DAYS + 1)

    under_hold = total(kept_true(pipeline), "pruned")
    there = is_there(pipeline, old)
    pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=SUBJECT, reason="the claim was settled"))
    clock.pass_time(seconds=EVERY.total_seconds())

    assert (under_hold, there) == (0, True)
    assert total(kept_true(pipeline), "pruned") == 2


def test_evidence_for_what_stands_stays(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, T2: through however many merges; once what stands is pruned, it goes as well."""
    sources = (source(), OTHER_SOURCE, source(id_="crm-3"))
    memories = [timeout(pipeline, 30, source=one, ttl_seconds=LONG_SECONDS) for one in sources]
    clock.pass_time(days=KEPT_DAYS + 1)
    kept_true(pipeline)
    while_it_stands = [is_there(pipeline, one) for one in memories]
    clock.pass_time(days=400)

    for _ in range(3):
        kept_true(pipeline)
        clock.pass_time(seconds=EVERY.total_seconds())

    assert while_it_stands == [True] * 3
    assert [is_there(pipeline, one) for one in memories] == [False] * 3
    assert pipeline.store.rebuild().identical


def test_what_waits_for_a_person_stays(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7: both sides of a contradiction, until somebody decided."""
    old, new = timeout(pipeline, 30), timeout(pipeline, 40)
    clock.pass_time(days=KEPT_DAYS + 400)

    assert total(kept_true(pipeline), "pruned") == 0
    assert is_there(pipeline, old)
    assert is_there(pipeline, new)


def test_a_pass_goes_on_in_the_next_rounds(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8: some pages a round, until all was looked at; the next pass begins a day later."""
    for number in range(25):
        written(pipeline, f"Memory {number}", ttl_seconds=60)
    clock.pass_time(days=KEPT_DAYS + 1)

    rounds = [upkeep_round(pipeline, batch_size=1)]
    while rounds[-1].more:
        rounds.append(upkeep_round(pipeline, batch_size=1))

    assert total(rounds, "pruned") == 25
    assert max(one.pruned for one in rounds) <= 10
    assert len(pruned(pipeline)) == 25


def test_another_node_goes_on_where_the_first_one_was(postgres_places: NewPlace, clock: MovableClock) -> None:
    """SPEC T8: nothing is pruned twice, and nothing is left out."""
    engine = PostgresEngine(postgres_places())
    one = engine.open(clock)
    for number in range(15):
        written(one.pipeline, f"Memory {number}", ttl_seconds=60)
    clock.pass_time(days=KEPT_DAYS + 1)
    begun = upkeep_round(one.pipeline, batch_size=1)
    with engine.open(clock) as two:
        idle = upkeep_round(two.pipeline, batch_size=1)
        one.close()
        rest = kept_true(two.pipeline)

        assert idle == Round()
        assert 0 < begun.pruned < 15
        assert begun.pruned + total(rest, "pruned") == len(pruned(two.pipeline)) == 15


def test_each_tenant_has_its_own_pass(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, M2: one that is not done yet keeps no other waiting."""
    for tenant in ("acme", "globex"):
        for number in range(12):
            pipeline.run(REMEMBER, caller(tenant=tenant), proposal(f"Memory {number}", ttl_seconds=60))
    clock.pass_time(days=KEPT_DAYS + 1)

    upkeep_round(pipeline, batch_size=5)

    assert [happened(pipeline, tenant).count("memory.pruned") for tenant in ("acme", "globex")] == [12, 12]


def test_what_waits_in_quarantine_is_for_a_person(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T7, L6: pruned only once its own time is over."""
    waits = held(pipeline)
    clock.pass_time(days=20)
    kept_true(pipeline)

    assert is_there(pipeline, waits)

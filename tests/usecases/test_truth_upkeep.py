"""Upkeep keeps true what stands already: as if one had been written after the other (SPEC T2, T3, T8)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace
from tests.clock import START, MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import Engine, PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    TENANT,
    happened,
    judgement,
    log,
    question,
    source,
    written,
)
from tests.usecases.test_embedding import Later

from tenure.core.contradictions import WAITS_RULE
from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.resolving import Unmerge
from tenure.core.truth_events import Merged
from tenure.core.vocabulary import Claim, Kind, Status
from tenure.usecases.embedding import Embedding
from tenure.usecases.meaning import Meaning
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REVOKE
from tenure.usecases.standing_anew import walk_name
from tenure.usecases.unmerging import UNMERGE
from tenure.usecases.upkeep import Round, upkeep_round

OTHER_SOURCE = source(id_="crm-2")
LESS_TRUSTED = source(SourceType.DIRECT_USER, "anna")


def timeout(pipeline: Pipeline, seconds: int, **sides: Any) -> Memory:
    """A memory that says how long the gateway waits."""
    said = f"The timeout of the gateway is {seconds} seconds."
    return written(pipeline, said, **({"kind": Kind.PREFERENCE} | sides))


def compares(pipeline: Pipeline, *, is_on: bool) -> None:
    """Whether memories are compared from now on, when they are written and by upkeep."""
    write = pipeline.rules.write
    pipeline.rules = replace(pipeline.rules, write=replace(write, truth=replace(write.truth, compares=is_on)))


@contextmanager
def uncompared(pipeline: Pipeline) -> Iterator[None]:
    """While nothing is compared when it is written, as before it could be."""
    compares(pipeline, is_on=False)
    yield
    compares(pipeline, is_on=True)


def kept_true(pipeline: Pipeline, *, batch_size: int = 100) -> list[Round]:
    """Rounds of upkeep until nothing is left."""
    rounds = [upkeep_round(pipeline, batch_size=batch_size)]
    while rounds[-1].more:
        rounds.append(upkeep_round(pipeline, batch_size=batch_size))
    return rounds


def total(rounds: list[Round], name: str) -> int:
    """How much of something the rounds did together."""
    return sum(getattr(one, name) for one in rounds)


def now_is(pipeline: Pipeline, memory: Memory) -> Memory:
    """The memory now, as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def begins_again(pipeline: Pipeline) -> None:
    """What a crash before the place was kept comes to."""
    name = walk_name(pipeline.rules.truth, pipeline.meaning.model)
    pipeline.store.keep_progress(name, TENANT, 0)


def test_what_says_the_same_is_merged_as_at_a_write(pipeline: Pipeline) -> None:
    """SPEC T2: the later one stands, the other is kept behind it, and both are counted as voices."""
    with uncompared(pipeline):
        first = timeout(pipeline, 30)
        second = timeout(pipeline, 30, source=OTHER_SOURCE)

    rounds = kept_true(pipeline)

    (event,) = (one.data for one in log(pipeline) if isinstance(one.data, Merged))
    assert total(rounds, "merged") == 1
    assert (event.into, event.voices, event.trusted_voices) == (second.id, 2, 2)
    assert now_is(pipeline, first).merged_into == second.id
    assert now_is(pipeline, second).version == 1
    assert [one.memory.id for one in pipeline.run(RECALL, BOT, question("timeout of the gateway")).items] == [
        second.id
    ]
    assert pipeline.store.rebuild().identical


def test_what_cannot_both_be_true_is_decided_as_at_a_write(pipeline: Pipeline) -> None:
    """SPEC T3, T4: the later word stands, the other's time ends, and a person is to decide."""
    with uncompared(pipeline):
        old = timeout(pipeline, 30)
        new = timeout(pipeline, 40)

    rounds = kept_true(pipeline)

    displaced = now_is(pipeline, old)
    assert total(rounds, "contradicted") == 1
    assert (displaced.status, displaced.superseded_by) == (Status.SUPERSEDED, new.id)
    assert displaced.valid_to is not None
    assert happened(pipeline)[2:] == ["memory.superseded", "contradiction.found"]
    assert pipeline.store.rebuild().identical


def test_what_was_let_in_against_more_trust_waits(pipeline: Pipeline) -> None:
    """SPEC T3, L6: out of recall and in the queue, by the rule that a write would have had."""
    with uncompared(pipeline):
        trusted = timeout(pipeline, 30)
        doubted = timeout(pipeline, 40, source=LESS_TRUSTED)

    kept_true(pipeline)

    waits = now_is(pipeline, doubted)
    assert (waits.status, waits.decision.rule) == (Status.QUARANTINED, WAITS_RULE)
    assert now_is(pipeline, trusted).version == 1
    assert happened(pipeline)[2:] == ["memory.held", "contradiction.found"]
    assert pipeline.store.rebuild().identical


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_what_is_believed_is_what_writes_one_after_another_come_to(
    engine: Engine, clock: MovableClock, order: tuple[int, ...]
) -> None:
    """SPEC T2, T3: whichever came first, compared at once or afterwards, however small the batches."""
    said: list[dict[str, Any]] = [
        {"seconds": 30},
        {"seconds": 30, "source": OTHER_SOURCE},
        {"seconds": 40, "source": source(id_="crm-3")},
        {"seconds": 50, "source": LESS_TRUSTED},
    ]
    node = engine.open(clock)
    pipeline = node.pipeline
    try:
        at_once_, afterwards = (
            [timeout(pipeline, **said[number], subject=subject) for number in order]
            if subject == "at-once"
            else _uncompared(pipeline, [said[number] for number in order], subject)
            for subject in ("at-once", "afterwards")
        )
        kept_true(pipeline, batch_size=1)
        believed, later = (
            {one.content for one in memories if now_is(pipeline, one).status is Status.ACTIVE}
            for memories in (at_once_, afterwards)
        )
        waiting, held_later = (
            {one.content for one in memories if now_is(pipeline, one).status is Status.QUARANTINED}
            for memories in (at_once_, afterwards)
        )
    finally:
        node.close()

    assert (later, held_later) == (believed, waiting)
    assert len(believed) == 1


def _uncompared(pipeline: Pipeline, said: list[dict[str, Any]], subject: str) -> list[Memory]:
    with uncompared(pipeline):
        return [timeout(pipeline, **one, subject=subject) for one in said]


def test_nothing_is_done_twice(pipeline: Pipeline) -> None:
    """SPEC T8: neither by a round after the last, nor by one that begins again after a crash."""
    with uncompared(pipeline):
        for seconds in (30, 30, 40, 50):
            timeout(pipeline, seconds)
        timeout(pipeline, 60, source=LESS_TRUSTED)
    kept_true(pipeline)
    before = happened(pipeline)

    again = kept_true(pipeline)
    begins_again(pipeline)
    after_a_crash = kept_true(pipeline, batch_size=2)

    assert happened(pipeline) == before
    assert total([*again, *after_a_crash], "merged") == total([*again, *after_a_crash], "contradicted") == 0


def test_what_was_compared_when_it_was_written_is_left_as_it_is(pipeline: Pipeline) -> None:
    """SPEC T2, T3: the look finds nothing to do."""
    for seconds in (30, 30, 40):
        timeout(pipeline, seconds)
    written(pipeline, "The owner of the shop is Anna.", source=LESS_TRUSTED)
    before = happened(pipeline)

    kept_true(pipeline)

    assert happened(pipeline) == before


def test_a_person_who_undid_a_merge_has_the_last_word(pipeline: Pipeline) -> None:
    """SPEC T2: what a person parted is not put together again."""
    first = timeout(pipeline, 30)
    timeout(pipeline, 30, source=OTHER_SOURCE)
    version = now_is(pipeline, first).version
    pipeline.run(
        UNMERGE, REVIEWER, Unmerge(memory_id=first.id, expected_version=version, reason="two gateways")
    )

    kept_true(pipeline)

    assert now_is(pipeline, first).status is Status.ACTIVE


def test_evidence_stands_again_once_what_stood_for_it_is_revoked(pipeline: Pipeline) -> None:
    """SPEC T2: it has a source of its own; it is found again, and compared again."""
    first = timeout(pipeline, 30)
    second = timeout(pipeline, 30, source=OTHER_SOURCE)
    with uncompared(pipeline):
        third = timeout(pipeline, 30, source=source(id_="crm-3"))
    pipeline.run(REVOKE, REVIEWER, judgement(second.id, second.version))

    rounds = kept_true(pipeline)

    assert total(rounds, "reinstated") == 1
    assert now_is(pipeline, first).merged_into == third.id
    assert happened(pipeline)[-2:] == ["memory.unmerged", "memory.merged"]
    assert pipeline.store.rebuild().identical


def test_evidence_stands_again_where_it_lives_longer(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T2, L11: also behind what has no time left itself, which expires first."""
    outlives = timeout(pipeline, 30, ttl_seconds=1_000)
    ends_too = timeout(pipeline, 30, ttl_seconds=50, source=source(id_="crm-3"))
    ends = timeout(pipeline, 30, ttl_seconds=60, source=OTHER_SOURCE)
    clock.pass_time(seconds=60)

    for _ in range(3):
        kept_true(pipeline)

    assert [now_is(pipeline, one).status for one in (ends, ends_too)] == [Status.EXPIRED] * 2
    assert now_is(pipeline, outlives).status is Status.ACTIVE
    assert happened(pipeline)[-2:] == ["memory.expired", "memory.unmerged"]


def test_what_has_no_time_left_itself_stays_behind(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T2, L11: nothing of it would be shown."""
    first = timeout(pipeline, 30, ttl_seconds=50)
    timeout(pipeline, 30, ttl_seconds=60, source=OTHER_SOURCE)
    clock.pass_time(seconds=60)

    assert total(kept_true(pipeline), "reinstated") == 0
    assert now_is(pipeline, first).status is Status.SUPERSEDED


def test_what_has_no_vector_yet_is_not_passed_over(pipeline: Pipeline) -> None:
    """SPEC T2, T8: a write does not wait for an engine that is asked, and upkeep does."""
    later = Later()
    pipeline.meaning = Meaning(later)
    with uncompared(pipeline):
        first = timeout(pipeline, 30)
        timeout(pipeline, 30, source=OTHER_SOURCE)
    early = kept_true(pipeline)
    embedding = Embedding(pipeline, later, batch_size=10)
    while embedding.round().more:
        pass

    rounds = kept_true(pipeline)

    assert (total(early, "merged"), total(rounds, "merged")) == (0, 1)
    assert now_is(pipeline, first).status is Status.SUPERSEDED


def test_without_an_engine_what_says_the_same_to_the_letter_is_not_waited_for(pipeline: Pipeline) -> None:
    """SPEC T2: claims alone are compared then, and the walk goes on."""
    pipeline.meaning = Meaning()
    claim = Claim(entity="gateway", attribute="timeout", value="30 s")
    other = Claim(entity="gateway", attribute="timeout", value="40 s")
    old = written(pipeline, "Thirty seconds, says the handbook", claim=claim)
    written(pipeline, "It gives up after forty, says the wiki", claim=other)
    before = happened(pipeline)

    kept_true(pipeline)

    assert now_is(pipeline, old).status is Status.SUPERSEDED
    assert happened(pipeline) == before


def test_by_other_rules_everything_is_compared_again(pipeline: Pipeline) -> None:
    """SPEC T2: merging that is switched on later finds what was there before."""
    write = pipeline.rules.write
    with uncompared(pipeline):
        first = timeout(pipeline, 30)
        timeout(pipeline, 30, source=OTHER_SOURCE)
    pipeline.rules = replace(pipeline.rules, write=replace(write, truth=replace(write.truth, merges=False)))
    apart = kept_true(pipeline)
    pipeline.rules = replace(pipeline.rules, write=write)

    together = kept_true(pipeline)

    assert (total(apart, "merged"), total(together, "merged")) == (0, 1)
    assert now_is(pipeline, first).status is Status.SUPERSEDED


def test_rounds_at_the_same_moment_do_it_once(pipeline: Pipeline) -> None:
    """SPEC T8, L8: however many workers there are in a process."""
    with uncompared(pipeline):
        for number in range(10):
            timeout(pipeline, 30 + number)

    rounds = at_once(*[partial(upkeep_round, pipeline, batch_size=100)] * 4)

    assert total(rounds, "contradicted") == happened(pipeline).count("contradiction.found") == 9
    assert happened(pipeline).count("memory.superseded") == 9


def test_of_two_nodes_one_compares(postgres_places: NewPlace, clock: MovableClock) -> None:
    """SPEC T8: the one that holds the lease."""
    engine = PostgresEngine(postgres_places())
    with engine.open(clock) as one, engine.open(clock) as two:
        with uncompared(one.pipeline):
            timeout(one.pipeline, 30)
            timeout(one.pipeline, 40)
        first = upkeep_round(one.pipeline, batch_size=10, lease_seconds=3_600)
        second = upkeep_round(two.pipeline, batch_size=10, lease_seconds=3_600)

        assert (first.contradicted, second) == (1, Round())


def test_a_memory_that_was_tampered_with_is_in_no_others_way(engine: Engine, clock: MovableClock) -> None:
    """SPEC T8: the walk goes on; 'tenure log verify' tells of it."""
    with engine.open(clock) as node, uncompared(node.pipeline):
        timeout(node.pipeline, 30)
        timeout(node.pipeline, 40)
        timeout(node.pipeline, 50, subject="customer-8")
        timeout(node.pipeline, 60, subject="customer-8")
    engine.alter_event(TENANT, 1, "altered body")

    with engine.open(clock) as node:
        rounds = kept_true(node.pipeline)

        assert total(rounds, "contradicted") == 1
        assert kept_true(node.pipeline)[-1].more is False


def test_batches_of_one_come_to_the_same(pipeline: Pipeline) -> None:
    """SPEC T8: rounds follow one another while logs go on."""
    with uncompared(pipeline):
        memories = [timeout(pipeline, 30 + number) for number in range(25)]

    rounds = kept_true(pipeline, batch_size=1)

    assert len(rounds) > 2
    assert [now_is(pipeline, one).status for one in memories] == [Status.SUPERSEDED] * 24 + [Status.ACTIVE]


def test_what_was_said_later_stands_though_it_was_written_first(pipeline: Pipeline) -> None:
    """SPEC T3: a late import does not displace the later word."""
    yesterday = source(id_="crm-2", observed_at=START - timedelta(days=1))
    with uncompared(pipeline):
        stands = timeout(pipeline, 30)
        late = timeout(pipeline, 40, source=yesterday)

    kept_true(pipeline)

    assert now_is(pipeline, stands).status is Status.ACTIVE
    assert now_is(pipeline, late).superseded_by == stands.id

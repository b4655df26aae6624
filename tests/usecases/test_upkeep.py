"""The workers' rounds: bounded, repeatable, and never in anybody's way (SPEC L11, T8)."""

from functools import partial

from tests.clock import MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import BOT, REVIEWER, caller, happened, held, judgement, proposal, written

from tenure.core.vocabulary import Status
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE, QUEUE
from tenure.usecases.upkeep import Round, expiry_round


def test_the_expired_event_is_written_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: one version more, by the upkeep's own name; a second round has nothing to do."""
    memory = written(pipeline, ttl_seconds=60)
    early = expiry_round(pipeline, batch_size=10)
    clock.pass_time(seconds=60)

    first, second = (expiry_round(pipeline, batch_size=10) for _ in range(2))

    assert (early.expired, first.expired, second.expired) == (0, 1, 0)
    assert happened(pipeline) == ["memory.admitted", "memory.expired"]
    stands = pipeline.run(GET, BOT, Get(memory_id=memory.id))
    assert (stands.status, stands.version) == (Status.EXPIRED, 2)


def test_what_waits_expires_too(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11, L6: nothing stays in the queue for ever."""
    held(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)
    before = pipeline.run(QUEUE, REVIEWER, ListMemories()).items
    expiry_round(pipeline, batch_size=10)

    assert before == ()
    assert happened(pipeline) == ["memory.quarantined", "memory.expired"]


def test_a_batch_is_bounded_and_says_that_more_is_due(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8: rounds follow one another until nothing is left, oldest first."""
    for number in range(5):
        written(pipeline, ttl_seconds=60 + number)
    clock.pass_time(hours=1)

    rounds = [expiry_round(pipeline, batch_size=2) for _ in range(4)]

    assert rounds == [
        Round(expired=2, more=True),
        Round(expired=2, more=True),
        Round(expired=1, more=False),
        Round(expired=0, more=False),
    ]


def test_one_round_serves_every_tenant(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8, M2: each in its own log."""
    for tenant in ("acme", "globex"):
        pipeline.run(REMEMBER, caller(tenant=tenant), proposal(ttl_seconds=60))
    clock.pass_time(seconds=60)

    assert expiry_round(pipeline, batch_size=10).expired == 2
    assert [happened(pipeline, tenant)[-1] for tenant in ("acme", "globex")] == ["memory.expired"] * 2


def test_rounds_at_the_same_moment_write_one_event(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8, L8: run by however many workers, a memory expires once."""
    for number in range(20):
        written(pipeline, f"Memory {number}", ttl_seconds=60)
    clock.pass_time(seconds=60)

    rounds = at_once(*[partial(expiry_round, pipeline, batch_size=100)] * 4)

    assert sum(one.expired for one in rounds) == 20
    assert happened(pipeline).count("memory.expired") == 20


def test_the_rounds_go_on_elsewhere_as_soon_as_their_node_closes(
    postgres_places: NewPlace, clock: MovableClock
) -> None:
    """SPEC T8: another node does not wait until the lease is out."""
    engine = PostgresEngine(postgres_places())
    one, two = engine.open(clock), engine.open(clock)
    written(one.pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)
    holding = expiry_round(one.pipeline, batch_size=10, lease_seconds=3_600)
    written(one.pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)
    waiting = expiry_round(two.pipeline, batch_size=10, lease_seconds=3_600)

    one.close()
    taken_over = expiry_round(two.pipeline, batch_size=10, lease_seconds=3_600)
    two.close()

    assert (holding.expired, waiting.expired, taken_over.expired) == (1, 0, 1)


def test_what_was_decided_in_time_is_left_alone(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: only what is active or waiting, and past its time, gets the event."""
    old = written(pipeline, ttl_seconds=60)
    written(pipeline, supersedes=old.id)
    promoted = held(pipeline, ttl_seconds=120)
    pipeline.run(PROMOTE, REVIEWER, judgement(promoted.id, 1))
    clock.pass_time(seconds=60)

    assert expiry_round(pipeline, batch_size=10).expired == 0

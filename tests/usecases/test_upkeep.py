"""The workers' rounds: bounded, repeatable, and never in anybody's way (SPEC L11, T8)."""

from datetime import timedelta
from functools import partial

import pytest
from tests.clock import START, MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import PostgresEngine
from tests.stores.places import NewPlace
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    caller,
    happened,
    held,
    judgement,
    proposal,
    written,
)

from tenure.core.errors import NotFound
from tenure.core.forgetting import ForgetKey, ForgetStanding, ForgetState, Forgotten
from tenure.core.holds import PlaceHold
from tenure.core.identity import Scope, Tier
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Status
from tenure.usecases.alerts import READ_ALERTS, ReadAlerts
from tenure.usecases.forgetting import ASK_FORGET, FORGET_KEY, AskForget
from tenure.usecases.holds import PLACE_HOLD, RELEASE_HOLD, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.upkeep import Round, upkeep_round

TASK = Scope(tier=Tier.TASK, id="t-1")


def test_the_expired_event_is_written_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: one version more, by the upkeep's own name; a second round has nothing to do."""
    memory = written(pipeline, ttl_seconds=60)
    early = upkeep_round(pipeline, batch_size=10)
    clock.pass_time(seconds=60)

    first, second = (upkeep_round(pipeline, batch_size=10) for _ in range(2))

    assert (early.expired, first.expired, second.expired) == (0, 1, 0)
    assert happened(pipeline) == ["memory.admitted", "memory.expired"]
    stands = pipeline.run(GET, BOT, Get(memory_id=memory.id))
    assert (stands.status, stands.version) == (Status.EXPIRED, 2)


def test_what_waits_expires_too(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11, L6: nothing stays in the queue for ever."""
    held(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)
    before = pipeline.run(QUEUE, REVIEWER, AskQueue()).items
    upkeep_round(pipeline, batch_size=10)

    assert before == ()
    assert happened(pipeline) == ["memory.quarantined", "memory.expired"]


def test_a_batch_is_bounded_and_says_that_more_is_due(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8: rounds follow one another until nothing is left, oldest first."""
    for number in range(5):
        written(pipeline, f"Memory {number}", ttl_seconds=60 + number)
    clock.pass_time(hours=1)

    rounds = [upkeep_round(pipeline, batch_size=2) for _ in range(4)]

    assert rounds == [
        Round(expired=2, signed=1, more=True),
        Round(expired=2, more=True),
        Round(expired=1, more=False),
        Round(expired=0, more=False),
    ]


def test_one_round_serves_every_tenant(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8, M2: each in its own log."""
    for tenant in ("acme", "globex"):
        pipeline.run(REMEMBER, caller(tenant=tenant), proposal(ttl_seconds=60))
    clock.pass_time(seconds=60)

    assert upkeep_round(pipeline, batch_size=10).expired == 2
    assert [happened(pipeline, tenant)[-1] for tenant in ("acme", "globex")] == ["memory.expired"] * 2


def test_rounds_at_the_same_moment_write_one_event(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T8, L8: run by however many workers, a memory expires once."""
    for number in range(20):
        written(pipeline, f"Memory {number}", ttl_seconds=60)
    clock.pass_time(seconds=60)

    rounds = at_once(*[partial(upkeep_round, pipeline, batch_size=100)] * 4)

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
    holding = upkeep_round(one.pipeline, batch_size=10, lease_seconds=3_600)
    written(one.pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)
    waiting = upkeep_round(two.pipeline, batch_size=10, lease_seconds=3_600)

    one.close()
    taken_over = upkeep_round(two.pipeline, batch_size=10, lease_seconds=3_600)
    two.close()

    assert (holding.expired, waiting.expired, taken_over.expired) == (1, 0, 1)


def test_what_was_decided_in_time_is_left_alone(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: only what is active or waiting, and past its time, gets the event."""
    old = written(pipeline, ttl_seconds=60)
    written(pipeline, supersedes=old.id)
    promoted = held(pipeline, ttl_seconds=120)
    pipeline.run(PROMOTE, REVIEWER, judgement(promoted.id, 1))
    clock.pass_time(seconds=60)

    assert upkeep_round(pipeline, batch_size=10).expired == 0


def test_a_task_that_is_over_is_compacted_once(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F3: its memories are no longer at hand, the log keeps them; a user scope is never compacted."""
    memory = written(pipeline, scope=TASK)
    stands = written(pipeline, "Prefers the phone", ttl_seconds=60)
    clock.pass_time(hours=1)

    rounds = [upkeep_round(pipeline, batch_size=10) for _ in range(2)]

    assert [(one.expired, one.compacted) for one in rounds] == [(2, 1), (0, 0)]
    assert happened(pipeline)[2:] == ["memory.expired"] * 2 + ["scope.compacted"]
    with pytest.raises(NotFound):
        pipeline.run(GET, BOT, Get(memory_id=memory.id))
    assert pipeline.run(GET, BOT, Get(memory_id=stands.id)).status is Status.EXPIRED
    assert pipeline.store.rebuild().identical


def test_what_still_lives_in_a_compacted_scope_stays(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F3: only what has ended goes, scope by scope and boundary by boundary."""
    written(pipeline, scope=TASK)
    clock.pass_time(minutes=30)
    lives = written(pipeline, "Prefers the phone", scope=TASK)
    elsewhere = written(pipeline, "Prefers letters", scope=TASK, agent="sales")
    clock.pass_time(minutes=30)

    assert upkeep_round(pipeline, batch_size=10).compacted == 1

    assert {one.id for one in pipeline.run(LIST, BOT, ListMemories()).items} == {lives.id, elsewhere.id}
    assert pipeline.store.rebuild().identical


def test_nothing_is_compacted_under_a_hold(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F10: a hold blocks pruning; once it is released, the next round goes on."""
    memory = written(pipeline, scope=TASK)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a claim in court"))
    clock.pass_time(hours=1)

    assert upkeep_round(pipeline, batch_size=10).compacted == 0
    assert pipeline.run(GET, BOT, Get(memory_id=memory.id)).status is Status.EXPIRED
    pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=SUBJECT, reason="the claim was settled"))
    assert upkeep_round(pipeline, batch_size=10).compacted == 1


def forget_at_leaf(pipeline: Pipeline) -> Forgotten:
    """Forget the key in its task alone, though the user scope holds it."""
    command = ForgetKey(
        agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="contact", scope=TASK, leaf_only=True
    )
    return pipeline.run(FORGET_KEY, OFFICER, command)


def state_of(pipeline: Pipeline, forget: Forgotten) -> ForgetStanding:
    """How a forget stands."""
    assert forget.forget_id is not None
    return pipeline.run(ASK_FORGET, OFFICER, AskForget(forget_id=forget.forget_id))


def test_a_probe_that_finds_nothing_completes_the_forget(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F6: the outer scope ended before the leaf's retention did; no round before that asks."""
    written(pipeline, key="contact", ttl_seconds=60)
    forget = forget_at_leaf(pipeline)
    clock.pass_time(minutes=60)
    early = upkeep_round(pipeline, batch_size=10).probed
    before = state_of(pipeline, forget).state
    clock.pass_time(minutes=1)

    probed = [upkeep_round(pipeline, batch_size=10).probed for _ in range(2)]

    assert (early, before, probed) == (0, ForgetState.WAITING, [1, 0])
    after = state_of(pipeline, forget)
    assert (after.state, after.durable, after.probe_at) == (ForgetState.COMPLETE, False, None)
    assert happened(pipeline)[-1] == "forget.probed"
    assert pipeline.store.rebuild().identical


def test_a_probe_that_finds_the_key_is_an_alert_and_is_repeated_until_it_is_gone(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F6: a failed forget is not reported complete before a probe passes."""
    written(pipeline, key="contact", ttl_seconds=7_200)
    forget = forget_at_leaf(pipeline)
    clock.pass_time(minutes=61)
    upkeep_round(pipeline, batch_size=10)

    failed = state_of(pipeline, forget)
    assert (failed.state, failed.found_in) == (ForgetState.FAILED, f"user:{SUBJECT}")
    assert failed.probe_at == START + timedelta(seconds=7_200) + timedelta(minutes=1)
    assert happened(pipeline)[-2:] == ["forget.probed", "alert.raised"]
    (alert,) = pipeline.run(READ_ALERTS, OFFICER, ReadAlerts()).items
    assert (alert.kind, alert.about) == ("forget-failed", str(forget.forget_id))
    assert pipeline.store.rebuild().identical
    clock.pass_time(minutes=59)
    assert upkeep_round(pipeline, batch_size=10).probed == 0
    clock.pass_time(minutes=1)
    upkeep_round(pipeline, batch_size=10)
    assert state_of(pipeline, forget).state is ForgetState.COMPLETE


def test_a_failed_forget_is_mended_by_a_durable_one(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F4, F6: forgotten where it can be served from, the next probe passes."""
    written(pipeline, key="contact")
    forget = forget_at_leaf(pipeline)
    clock.pass_time(minutes=61)
    upkeep_round(pipeline, batch_size=10)
    command = ForgetKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="contact", scope=TASK)
    assert pipeline.run(FORGET_KEY, OFFICER, command).forgotten == 1
    probe_at = state_of(pipeline, forget).probe_at
    assert probe_at is not None
    clock.pass_time(seconds=(probe_at - clock.now()).total_seconds())

    upkeep_round(pipeline, batch_size=10)

    assert state_of(pipeline, forget).state is ForgetState.COMPLETE


def test_what_is_written_after_the_forget_makes_no_probe_fail(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F4a, F6: a fresh write is a new memory, not the forgotten one."""
    written(pipeline, key="contact", ttl_seconds=60)
    forget = forget_at_leaf(pipeline)
    written(pipeline, "Prefers the phone", key="contact")
    clock.pass_time(minutes=61)

    upkeep_round(pipeline, batch_size=10)

    assert state_of(pipeline, forget).state is ForgetState.COMPLETE

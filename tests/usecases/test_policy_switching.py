"""Switching a policy on: recorded, examined in batches, and only ever stricter by itself (SPEC I4)."""

from functools import partial
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    TENANT,
    caller,
    happened,
    held,
    judgement,
    log,
    proposal,
    question,
    written,
)
from tests.usecases.policies import DEFAULT, OPEN, STRICT, opened_under, replayed, run_under

from tenure.core.errors import Unavailable
from tenure.core.incident_events import PolicyReevaluated, PolicySwitched
from tenure.core.memory import Memory
from tenure.core.policy_documents import digest
from tenure.core.retention import Renew
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_switching import Switching, switch_round
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, RENEW, RenewMemory
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.upkeep import upkeep_round

FINISHED = ["policy.switched", "policy.reevaluated"]


def stands(pipeline: Pipeline, memory: Memory) -> Memory:
    """The memory now, as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def of_policies(pipeline: Pipeline) -> list[str]:
    """What happened that is about the policy, and what it held."""
    return [name for name in happened(pipeline) if name.startswith("policy.") or name == "memory.held"]


def test_what_would_not_be_let_in_today_waits_for_review_again(pipeline: Pipeline) -> None:
    """SPEC I4, L6: out of recall on the next read, in the queue with the rule that holds it."""
    fact = written(pipeline)
    stays = written(pipeline, "Prefers tea", kind=Kind.PREFERENCE)
    run_under(pipeline, STRICT)

    done = upkeep_round(pipeline, batch_size=100)

    recalled = [one.memory.id for one in pipeline.run(RECALL, BOT, question()).items]
    waiting = pipeline.run(QUEUE, REVIEWER, AskQueue()).items
    assert done.held == 1
    assert recalled == [stays.id]
    assert [(one.memory.id, one.decision.rule, one.decision.policy_version) for one in waiting] == [
        (fact.id, "facts_wait", "strict-2")
    ]
    assert of_policies(pipeline) == ["policy.switched", "memory.held", "policy.reevaluated"]


def test_the_log_says_what_was_switched_to_from_what_and_what_came_of_it(pipeline: Pipeline) -> None:
    """SPEC I4, E1: by version and digest, with counts."""
    for number in range(3):
        written(pipeline, f"Fact {number}")
    run_under(pipeline, STRICT)
    switch_round(pipeline, batch_size=100)

    said = [one.data for one in log(pipeline) if isinstance(one.data, PolicySwitched | PolicyReevaluated)]

    assert said == [
        PolicySwitched(version="strict-2", digest=digest(STRICT), before="default-1"),
        PolicyReevaluated(seq=4, version="strict-2", examined=3, held=3),
    ]
    assert pipeline.store.rebuild().identical


def test_a_change_of_rules_alone_lets_nothing_in(pipeline: Pipeline) -> None:
    """SPEC I4, L7: what waits is a reviewer's to let in, and trust is not raised or lowered."""
    waits = held(pipeline)
    trusted = written(pipeline)
    run_under(pipeline, OPEN)

    done = switch_round(pipeline, batch_size=100)

    assert (done.examined, done.held) == (2, 0)
    assert stands(pipeline, waits) == waits
    assert stands(pipeline, trusted).trust is Trust.APPLICATION_VERIFIED


def test_what_a_reviewer_let_in_stays(pipeline: Pipeline) -> None:
    """SPEC I4, L7: also what was let in again after a policy had held it."""
    fact = written(pipeline)
    run_under(pipeline, STRICT)
    switch_round(pipeline, batch_size=100)
    pipeline.run(PROMOTE, REVIEWER, judgement(fact.id, 2))
    run_under(pipeline, DEFAULT)
    switch_round(pipeline, batch_size=100)
    run_under(pipeline, STRICT)

    again = switch_round(pipeline, batch_size=100)

    assert (again.held, stands(pipeline, fact).status) == (0, Status.ACTIVE)
    assert stands(pipeline, fact).trust is Trust.REVIEWER_VERIFIED
    assert of_policies(pipeline).count("policy.switched") == 3


def test_a_held_correction_can_be_let_in_again(pipeline: Pipeline) -> None:
    """SPEC L7, L10: what it took the place of stays superseded, by itself and by no other."""
    old = written(pipeline)
    correction = written(pipeline, "Prefers letters", supersedes=old.id)
    run_under(pipeline, STRICT)
    switch_round(pipeline, batch_size=100)

    pipeline.run(PROMOTE, REVIEWER, judgement(correction.id, 2))

    assert stands(pipeline, correction).status is Status.ACTIVE
    assert (stands(pipeline, old).status, stands(pipeline, old).superseded_by) == (
        Status.SUPERSEDED,
        correction.id,
    )


def test_the_policy_that_ships_is_not_recorded_where_no_other_was(pipeline: Pipeline) -> None:
    """SPEC I4: stores from before the first switch were decided on by it."""
    written(pipeline)

    assert switch_round(pipeline, batch_size=100) == Switching()
    assert of_policies(pipeline) == []


def test_going_back_is_a_switch_like_any_other(pipeline: Pipeline) -> None:
    """SPEC I4: recorded and examined; a second round has nothing to do."""
    written(pipeline)
    for policy in (OPEN, DEFAULT):
        run_under(pipeline, policy)
        switch_round(pipeline, batch_size=100)

    again = switch_round(pipeline, batch_size=100)

    assert (again, of_policies(pipeline)) == (Switching(), FINISHED * 2)


def test_a_policy_is_known_by_its_rules_and_not_by_its_name(pipeline: Pipeline) -> None:
    """SPEC I4: an operator who forgets to change the version is not believed."""
    written(pipeline)
    run_under(pipeline, STRICT)
    switch_round(pipeline, batch_size=100)
    run_under(pipeline, type(STRICT)(version=STRICT.version, rules=OPEN.rules))
    switch_round(pipeline, batch_size=100)

    assert of_policies(pipeline).count("policy.switched") == 2


def test_a_tenant_without_memories_is_left_alone(pipeline: Pipeline) -> None:
    """SPEC I4, M2: each tenant's log has its own switch, once there is something that it matters to."""
    written(pipeline)
    pipeline.run(REMEMBER, caller(tenant="globex"), proposal())
    run_under(pipeline, STRICT)

    done = switch_round(pipeline, batch_size=100)

    assert done.held == 2
    assert [happened(pipeline, tenant)[1] for tenant in (TENANT, "globex")] == ["policy.switched"] * 2


def test_an_examination_goes_on_in_batches_where_it_was(pipeline: Pipeline) -> None:
    """SPEC I4, T8: bounded; only the end of it says that it ended."""
    for number in range(5):
        written(pipeline, f"Fact {number}")
    run_under(pipeline, STRICT)

    rounds = [switch_round(pipeline, batch_size=2) for _ in range(4)]

    assert [(one.examined, one.held, one.more) for one in rounds] == [
        (2, 2, True),
        (2, 2, True),
        (1, 1, False),
        (0, 0, False),
    ]
    assert of_policies(pipeline) == ["policy.switched", *["memory.held"] * 5, "policy.reevaluated"]


@pytest.mark.parametrize("last", ["append", "keep_progress"])
def test_an_examination_that_dies_half_way_is_taken_up(
    engine: Engine, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """SPEC I4, E5: after a restart; nothing is held twice, and nothing skipped."""
    node = opened_under(engine, clock, STRICT)
    facts = [written(node.pipeline, f"Fact {number}", kind=Kind.PREFERENCE) for number in range(5)]
    node.close()
    with_facts_held = type(STRICT)(version="none", rules=STRICT.rules[1:2])
    node = opened_under(engine, clock, with_facts_held)
    switch_round(node.pipeline, batch_size=2)
    fail_after(monkeypatch, node, last)
    with pytest.raises(Unavailable):
        switch_round(node.pipeline, batch_size=2)
    node.close()

    node = opened_under(engine, clock, with_facts_held)
    while switch_round(node.pipeline, batch_size=2).more:
        pass

    ended = log(node.pipeline)[-1].data
    assert of_policies(node.pipeline).count("memory.held") == 5
    assert all(stands(node.pipeline, one).version == 2 for one in facts)
    assert isinstance(ended, PolicyReevaluated)
    assert ended.held == 5
    node.close()


def fail_after(monkeypatch: pytest.MonkeyPatch, node: Opened, name: str) -> None:
    """The store does this once more, and nothing after it is reached."""
    does = getattr(node.store, name)

    def do_and_fail(*given: Any) -> None:
        does(*given)
        raise Unavailable("the power is gone")

    monkeypatch.setattr(node.store, name, do_and_fail)


def test_what_changes_meanwhile_is_examined_again(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC I4, L8: a change that came first is not overwritten; the next round looks at what came of it."""
    first, memory, last = (written(pipeline, f"Fact {number}") for number in range(3))
    run_under(pipeline, STRICT)
    append = pipeline.append

    def come_late(items: Any) -> Any:
        if len(items) == 3:
            renewal = Renew(expected_version=1, reason="still true", ttl_seconds=3_600)
            pipeline.run(RENEW, REVIEWER, RenewMemory(memory_id=memory.id, renew=renewal))
        return append(items)

    monkeypatch.setattr(pipeline, "append", come_late)
    rounds = [switch_round(pipeline, batch_size=100) for _ in range(2)]

    assert [(one.examined, one.held, one.more) for one in rounds] == [(1, 2, True), (2, 1, False)]
    assert [stands(pipeline, one).version for one in (first, memory, last)] == [2, 3, 2]
    assert happened(pipeline).count("memory.held") == 3


def test_rounds_at_the_same_moment_hold_each_memory_once(pipeline: Pipeline) -> None:
    """SPEC T8, L8: whoever does it, it is done once."""
    facts = [written(pipeline, f"Fact {number}") for number in range(10)]
    run_under(pipeline, STRICT)

    at_once(*[partial(switch_round, pipeline, batch_size=100)] * 3)
    while switch_round(pipeline, batch_size=100).more:
        pass

    assert happened(pipeline).count("memory.held") == 10
    assert {stands(pipeline, one).version for one in facts} == {2}


def test_the_replay_of_the_policy_in_force_changes_nothing_after_a_switch(pipeline: Pipeline) -> None:
    """SPEC I4: what was held is as the policy would have it."""
    written(pipeline)
    run_under(pipeline, type(STRICT)(version="none", rules=(DEFAULT.rules[0],)))
    switch_round(pipeline, batch_size=100)

    assert replayed(pipeline, pipeline.rules.write.policy)[0] == []

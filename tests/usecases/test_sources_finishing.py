"""Who records a revocation that somebody left half-way, and what others see meanwhile (SPEC I1, T8)."""

from collections.abc import Sequence

import msgspec
import pytest
from tests.clock import MovableClock
from tests.usecases.asking import (
    OFFICER,
    OPERATOR,
    REVIEWER,
    happened,
    judgement,
    log,
    source,
    written,
)
from tests.usecases.sourcing import REVOKE, Died, Dying, a_summary, of_the_log, over, recalled

from tenure.core.errors import (
    IllegalTransition,
    MemoryRejected,
    Unavailable,
)
from tenure.core.events import Revoked
from tenure.core.incident_events import SourceRevocationFinished, SourceRevoked
from tenure.core.incidents import Revocation
from tenure.core.vocabulary import Status
from tenure.usecases.forgetting import FORGET_MEMORY, ForgetMemory
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.reading import GET, Get
from tenure.usecases.review import REVOKE as REVOKE_ONE
from tenure.usecases.sources import REVOKE_SOURCE, finish_revocations, revoke_source
from tenure.usecases.upkeep import upkeep_round


def test_before_their_own_events_memories_are_shown_as_revoked(pipeline: Pipeline) -> None:
    """SPEC I1: from the one event on, whoever died behind it."""
    memory, waiting = written(pipeline), written(pipeline, "Two")
    pipeline.run(REVOKE_SOURCE, OPERATOR, REVOKE)

    assert recalled(pipeline) == set()
    assert [pipeline.run(GET, REVIEWER, Get(memory_id=one.id)).status for one in (memory, waiting)] == [
        Status.REVOKED,
        Status.REVOKED,
    ]
    with pytest.raises(IllegalTransition):
        pipeline.run(REVOKE_ONE, REVIEWER, judgement(memory.id, 1))
    with pytest.raises(MemoryRejected):
        a_summary(pipeline, memory)
    assert upkeep_round(pipeline, batch_size=10).revoked == 0


@pytest.mark.parametrize("after", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("by", ["the same call", "upkeep"])
def test_whoever_dies_on_the_way_loses_nothing_and_repeats_nothing(
    pipeline: Pipeline,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    *,
    by: str,
    at: int,
    after: bool,
) -> None:
    """SPEC I1, T8: at every append; what the log has in the end is what it has without a death."""
    monkeypatch.setattr("tenure.usecases.sources.BATCH", 2)
    memories = [written(pipeline, f"E-mail number {number}") for number in range(5)]

    with pytest.raises(Died):
        revoke_source(over(pipeline, Dying(pipeline, at=at, after=after)), OPERATOR, REVOKE)

    is_revoked = at > 1 or after
    assert (recalled(pipeline) == set()) == is_revoked
    if by == "upkeep" and is_revoked:
        clock.pass_time(minutes=3)
        upkeep_round(pipeline, batch_size=10)
    else:
        answer = revoke_source(pipeline, OPERATOR, REVOKE)
        expected = Revocation.ALREADY_REVOKED if is_revoked else Revocation.REVOKED
        assert (answer.status, answer.revoked) == (expected, 0 if is_revoked else 5)
    assert recalled(pipeline) == set()
    own = [event.stream for event in log(pipeline) if isinstance(event.data, Revoked)]
    assert own == [memory.id for memory in memories]
    assert len(of_the_log(pipeline, SourceRevoked)) == 1
    assert [done.revoked for done in of_the_log(pipeline, SourceRevocationFinished)] == [5]
    assert pipeline.store.rebuild().identical
    assert finish_revocations(pipeline) == 0


def test_a_revocation_that_just_began_is_left_to_whoever_began_it(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T8: upkeep does not compete with a call that is at work."""
    written(pipeline)
    pipeline.run(REVOKE_SOURCE, OPERATOR, REVOKE)
    clock.pass_time(seconds=90)
    assert upkeep_round(pipeline, batch_size=10).revoked == 0

    clock.pass_time(seconds=60)

    assert upkeep_round(pipeline, batch_size=10).revoked == 1
    assert happened(pipeline)[-1] == "source.revocation_finished"


def test_of_two_revocations_each_memory_says_which_one_reached_it(pipeline: Pipeline) -> None:
    """SPEC I1: the first that did, whoever records it, in whatever order."""
    one = written(pipeline)
    both = written(pipeline, "Of both", source=source(id_="crm-2"), derived_from=(one.id,))
    two = written(pipeline, "Of the second", source=source(id_="crm-2"))
    pipeline.run(REVOKE_SOURCE, OPERATOR, REVOKE)

    answer = revoke_source(pipeline, OPERATOR, msgspec.structs.replace(REVOKE, source_id="crm-2"))

    assert answer.revoked == 1
    because = {
        event.stream: event.data.because_of for event in log(pipeline) if isinstance(event.data, Revoked)
    }
    assert because == {one.id: 4, both.id: 4, two.id: 5}
    done = {one.seq: one.revoked for one in of_the_log(pipeline, SourceRevocationFinished)}
    assert done == {4: 2, 5: 1}


def test_a_memory_that_is_forgotten_meanwhile_is_passed_over(pipeline: Pipeline) -> None:
    """SPEC I1, F1: it is gone, and the others get their events."""
    one, two = written(pipeline, "E-mail"), written(pipeline, "Phone")
    pipeline.run(REVOKE_SOURCE, OPERATOR, REVOKE)
    pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=one.id, expected_version=1))

    assert finish_revocations(pipeline) == 1

    assert [event.stream for event in log(pipeline) if isinstance(event.data, Revoked)] == [two.id]
    assert of_the_log(pipeline, SourceRevocationFinished)[0].revoked == 1


def test_a_step_that_cannot_be_done_is_told_as_one_that_goes_on(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2, E5: the source is revoked; the same call goes on from there."""
    written(pipeline)
    store, calls = pipeline.store, []

    def failing(items: Sequence[Append]) -> list[AppendResult]:
        calls.append(len(items))
        if len(calls) > 1:
            raise Unavailable("the disk is full")
        return list(type(store).append(store, items))

    monkeypatch.setattr(store, "append", failing)
    with pytest.raises(Unavailable) as failure:
        revoke_source(pipeline, OPERATOR, REVOKE)
    monkeypatch.undo()

    assert failure.value.details["outcome_unknown"] is True
    assert recalled(pipeline) == set()
    assert revoke_source(pipeline, OPERATOR, REVOKE).status is Revocation.ALREADY_REVOKED
    assert happened(pipeline).count("source.revocation_finished") == 1

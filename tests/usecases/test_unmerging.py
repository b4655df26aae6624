"""Undoing a merge: two memories were taken for one, and stand for themselves again (SPEC T2, M5a)."""

from typing import Any
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    caller,
    happened,
    held,
    judgement,
    question,
    source,
    written,
)

from tenure.core.errors import Forbidden, IllegalTransition, InvalidRequest, NotFound, VersionConflict
from tenure.core.identity import Caller, Role
from tenure.core.memory import Memory
from tenure.core.resolving import Unmerge
from tenure.core.vocabulary import Status, Support
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, HISTORY, LIST, Get, ListMemories
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import REVOKE
from tenure.usecases.unmerging import UNMERGE
from tenure.usecases.upkeep import upkeep_round

TEXT = "The shop opens at nine in the morning"


def told(pipeline: Pipeline, id_: str, **sides: Any) -> Memory:
    """The same text from one more source."""
    return written(pipeline, TEXT, source=source(id_=id_), **sides)


def read(pipeline: Pipeline, memory: Memory) -> Memory:
    """A memory as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def unmerged(
    pipeline: Pipeline, memory: Memory, version: int = 2, who: Caller = REVIEWER, **more: Any
) -> Memory:
    """The memory after a reviewer's word that it is not the same."""
    command = Unmerge(memory_id=memory.id, expected_version=version, reason="of the other shop")
    return pipeline.run(UNMERGE, who, command, **more)


def recalled(pipeline: Pipeline) -> list[UUID]:
    """The ids that a recall shows."""
    found = pipeline.run(RECALL, BOT, question("when does the shop open?"))
    return sorted(item.memory.id for item in found.items)


@pytest.fixture
def merged(pipeline: Pipeline, clock: MovableClock) -> tuple[Memory, Memory, Memory]:
    """Three of one text, the first two behind the last."""
    memories = []
    for number in range(3):
        memories.append(told(pipeline, f"crm-{number}"))
        clock.pass_time(hours=1)
    return memories[0], memories[1], memories[2]


def test_a_memory_says_what_stands_behind_it_and_how_many_say_so(
    pipeline: Pipeline, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC T2, M5a: read by its id; what is behind it says where it is."""
    first, second, stands = merged

    whole, behind = read(pipeline, stands), read(pipeline, second)

    assert whole.evidence == (second.id,)
    assert whole.support == Support(voices=3, trusted_voices=3)
    assert (whole.merged_into, whole.status) == (None, Status.ACTIVE)
    assert (behind.merged_into, behind.status) == (stands.id, Status.SUPERSEDED)
    assert behind.evidence == (first.id,)
    assert recalled(pipeline) == [stands.id]


def test_a_list_tells_nothing_of_what_is_behind(
    pipeline: Pipeline, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC T2: it is for one memory, and costs a look at its edges."""
    items = pipeline.run(LIST, REVIEWER, ListMemories()).items

    assert {(one.evidence, one.support) for one in items} == {((), None)}
    assert {one.merged_into for one in items} == {None, merged[1].id, merged[2].id}


def test_a_memory_that_nothing_is_behind_says_nothing_of_it(pipeline: Pipeline) -> None:
    """SPEC M5a: one voice is no support."""
    alone = told(pipeline, "crm-1")

    assert read(pipeline, alone) == alone
    assert (alone.evidence, alone.support, alone.merged_into) == ((), None, None)


def test_what_was_merged_stands_for_itself_again(
    pipeline: Pipeline, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC T2: as it was, found again by what it says; and the voices are counted anew."""
    first, second, stands = merged

    again = unmerged(pipeline, second)

    assert (again.status, again.version, again.merged_into, again.superseded_by) == (
        Status.ACTIVE,
        3,
        None,
        None,
    )
    assert (again.content, again.source, again.trust) == (second.content, second.source, second.trust)
    assert recalled(pipeline) == sorted([second.id, stands.id])
    assert read(pipeline, stands).evidence == ()
    assert read(pipeline, stands).support in {None, Support(voices=1, trusted_voices=1)}
    assert read(pipeline, second).evidence == (first.id,)
    assert read(pipeline, second).support == Support(voices=2, trusted_voices=2)
    last = pipeline.run(HISTORY, REVIEWER, Get(memory_id=second.id)).items[-1]
    assert (last.event, last.reason) == ("memory.unmerged", "of the other shop")


def test_upkeep_does_not_merge_again_what_a_person_parted(
    pipeline: Pipeline, clock: MovableClock, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC T2: their word holds."""
    _first, second, stands = merged
    unmerged(pipeline, second)
    clock.pass_time(hours=1)
    upkeep_round(pipeline, batch_size=100)

    assert recalled(pipeline) == sorted([second.id, stands.id])


def test_it_is_done_once_at_the_version_that_was_looked_at(
    pipeline: Pipeline, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC L8, L9: a retry under its key gets the first answer."""
    _first, second, _stands = merged

    with pytest.raises(VersionConflict):
        unmerged(pipeline, second, 1)
    first = unmerged(pipeline, second, idempotency_key="k-1")
    assert unmerged(pipeline, second, idempotency_key="k-1") == first
    with pytest.raises(IllegalTransition):
        unmerged(pipeline, second, 3)
    assert happened(pipeline).count("memory.unmerged") == 1


def test_what_is_not_merged_cannot_be_unmerged(pipeline: Pipeline) -> None:
    """SPEC M6: neither what stands, nor what waits, nor what was corrected or revoked."""
    stands, waits = told(pipeline, "crm-1"), held(pipeline)
    corrected = written(pipeline, "Closed on Mondays")
    written(pipeline, "Closed on Tuesdays", supersedes=corrected.id)
    revoked = written(pipeline, "There is a car park")
    pipeline.run(REVOKE, REVIEWER, judgement(revoked.id, 1))

    for memory, version in ((stands, 1), (waits, 1), (corrected, 2), (revoked, 2)):
        with pytest.raises(IllegalTransition) as refusal:
            unmerged(pipeline, memory, version)
        assert refusal.value.hint


def test_it_takes_a_reviewer_who_may_see_it(
    pipeline: Pipeline, merged: tuple[Memory, Memory, Memory]
) -> None:
    """SPEC A2, A4, A5: others are refused, or do not see that it is there."""
    _first, second, _stands = merged
    model = caller(Role.REVIEWER, name="model", model_driven=True)
    narrow = caller(Role.REVIEWER, name="narrow", agents={"sales"})

    for who in (BOT, model):
        with pytest.raises(Forbidden):
            unmerged(pipeline, second, who=who)
    with pytest.raises(NotFound):
        unmerged(pipeline, second, who=narrow)
    with pytest.raises(InvalidRequest):
        pipeline.run(UNMERGE, REVIEWER, Unmerge(memory_id=second.id, expected_version=2, reason=""))

"""The contract under real threads: of two writers with one expectation exactly one wins."""

from functools import partial
from typing import Any

import pytest
from tests.stores.concurrently import at_once
from tests.stores.engine import Opened
from tests.stores.items import TENANT, created, log_of, number, put, renewed
from tests.usecases.asking import BOT, OFFICER, REVIEWER, SUBJECT, held, judgement, proposal, source, written

from tenure.core.errors import IllegalTransition, NotFound, TenureError, VersionConflict
from tenure.core.forgetting import Forgotten
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.remembering import Written
from tenure.core.vocabulary import Status
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.ports import Appended, Stale
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE, REJECT

ROUNDS = 8
WRITERS = 8
FORGET = ForgetSubject(subject=SUBJECT)


def standing(opened: Opened) -> tuple[Memory, ...]:
    """Every memory of the subject that can be read."""
    return opened.pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT, limit=200)).items


def of_kind(outcomes: list[Any], kind: type) -> list[Any]:
    """The outcomes of one kind."""
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]


def assert_whole(opened: Opened) -> None:
    """The log verifies and the views are what it says."""
    assert verify(opened.pipeline, TENANT).holds
    assert opened.store.rebuild().identical


def test_of_many_appends_with_one_expectation_exactly_one_wins(opened: Opened) -> None:
    """SPEC L8: the others are told which version stands now, and left nothing."""
    put(opened, created(opened.keyring, 1))

    for version in range(2, 2 + ROUNDS):
        items = [
            renewed(opened.keyring, 1, to_version=version, days=30 + days) for days in range(1, 1 + WRITERS)
        ]
        results = [one for [one] in at_once(*(partial(put, opened, item) for item in items))]

        assert len(of_kind(results, Appended)) == 1
        losers = of_kind(results, Stale)
        assert losers == [Stale(memory_id=number(1), expected=version - 1, current=version)] * (WRITERS - 1)
    assert len(log_of(opened)) == 1 + ROUNDS


def test_of_many_memories_of_one_id_exactly_one_is_made(opened: Opened) -> None:
    """SPEC L8: a new memory expects version 0, and only one can find it."""
    for memory in range(1, 1 + ROUNDS):
        items = [created(opened.keyring, memory) for _ in range(WRITERS)]
        results = [one for [one] in at_once(*(partial(put, opened, item) for item in items))]

        assert len(of_kind(results, Appended)) == 1
    assert len(log_of(opened)) == ROUNDS


def test_many_writers_get_dense_positions_and_a_chain_that_holds(opened: Opened) -> None:
    """SPEC E1, E2: whatever is committed together, nothing is lost, doubled or out of place."""
    batches = [
        [created(opened.keyring, 100 * writer + one) for one in range(1, 26)]
        for writer in range(1, 1 + WRITERS)
    ]

    results = at_once(*(partial(put, opened, *batch) for batch in batches))

    positions = [result.seq for batch in results for result in batch]
    assert sorted(positions) == list(range(1, 201))
    assert_whole(opened)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_two_revisions_of_one_version_exactly_one_wins(opened: Opened, _round: int) -> None:
    """SPEC L8: the loser learns the current version, and its text is nowhere."""
    memory = written(opened.pipeline)
    commands = [
        ReviseMemory(
            memory_id=memory.id, revise=Revise(expected_version=1, source=source(), content=f"Text {one}")
        )
        for one in range(2)
    ]

    outcomes = at_once(*(partial(opened.pipeline.run, REVISE, BOT, command) for command in commands))

    [winner], [loser] = of_kind(outcomes, Written), of_kind(outcomes, VersionConflict)
    assert (loser.expected_version, loser.current_version) == (1, 2)
    assert [one.content for one in standing(opened)] == [winner.memory.content]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_two_corrections_of_one_memory_exactly_one_takes_its_place(opened: Opened, _round: int) -> None:
    """SPEC L8, L10: the other is told that the step is not possible any more, and is not kept."""
    memory = written(opened.pipeline)
    commands = [proposal(f"Correction {one}", supersedes=memory.id) for one in range(2)]

    outcomes = at_once(*(partial(opened.pipeline.run, REMEMBER, BOT, command) for command in commands))

    [winner] = of_kind(outcomes, Written)
    assert len(of_kind(outcomes, IllegalTransition)) == 1
    statuses = {one.id: one.status for one in standing(opened)}
    assert statuses == {memory.id: Status.SUPERSEDED, winner.memory.id: Status.ACTIVE}
    assert_whole(opened)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_two_promoted_corrections_exactly_one_takes_the_place(opened: Opened, _round: int) -> None:
    """SPEC L7, L10: two reviewers may promote at the same moment, but a memory is corrected once."""
    memory = written(opened.pipeline)
    waiting = [held(opened.pipeline, f"Correction {one}", supersedes=memory.id) for one in range(2)]

    outcomes = at_once(
        *(partial(opened.pipeline.run, PROMOTE, REVIEWER, judgement(one.id, 1)) for one in waiting)
    )

    [winner] = of_kind(outcomes, Memory)
    assert len(of_kind(outcomes, IllegalTransition)) == 1
    statuses = [one.status for one in standing(opened) if one.id not in {winner.id, memory.id}]
    assert statuses == [Status.QUARANTINED]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_two_reviewers_exactly_one_decides(opened: Opened, _round: int) -> None:
    """SPEC L7, L8: a memory is promoted or rejected, never both."""
    memory = held(opened.pipeline)

    outcomes = at_once(
        partial(opened.pipeline.run, PROMOTE, REVIEWER, judgement(memory.id, 1)),
        partial(opened.pipeline.run, REJECT, REVIEWER, judgement(memory.id, 1)),
    )

    [winner] = of_kind(outcomes, Memory)
    assert len(of_kind(outcomes, VersionConflict)) == 1
    assert [one.status for one in standing(opened)] == [winner.status]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_promoting_beside_forgetting_leaves_nothing_to_read(opened: Opened, _round: int) -> None:
    """SPEC F1, L7: promoted just before, or absent for the reviewer; forgotten either way."""
    memory = held(opened.pipeline)

    promoted, forgotten = at_once(
        partial(opened.pipeline.run, PROMOTE, REVIEWER, judgement(memory.id, 1)),
        partial(opened.pipeline.run, FORGET_SUBJECT, OFFICER, FORGET),
    )

    assert isinstance(promoted, Memory | NotFound)
    assert isinstance(forgotten, Forgotten)
    assert forgotten.forgotten == 1
    assert standing(opened) == ()
    assert_whole(opened)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_writing_beside_forgetting_is_before_it_or_after_it(opened: Opened, _round: int) -> None:
    """SPEC F1, F4a: what came before is gone and counted, what came after is a new memory that stands."""
    written(opened.pipeline, "From before")

    *writes, forgotten = at_once(
        *(
            partial(opened.pipeline.run, REMEMBER, BOT, proposal(f"Writer {one}"))
            for one in range(WRITERS - 1)
        ),
        partial(opened.pipeline.run, FORGET_SUBJECT, OFFICER, FORGET),
    )

    assert len(of_kind(writes, Written)) == WRITERS - 1
    assert forgotten.forgotten + len(standing(opened)) == WRITERS
    order = [b"subject.forgotten" in stored.header for stored in log_of(opened)]
    assert len(order) - order.index(True) - 1 == len(standing(opened))
    assert_whole(opened)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_correcting_beside_forgetting_never_brings_anything_back(opened: Opened, _round: int) -> None:
    """SPEC F1, F4a: a correction that comes too late finds nothing to correct and is not kept."""
    memory = written(opened.pipeline)

    correction, forgotten = at_once(
        partial(opened.pipeline.run, REMEMBER, BOT, proposal("Correction", supersedes=memory.id)),
        partial(opened.pipeline.run, FORGET_SUBJECT, OFFICER, FORGET),
    )

    if isinstance(correction, TenureError):
        assert isinstance(correction, NotFound)
        assert forgotten.forgotten == 1
    else:
        assert forgotten.forgotten == 2
    assert standing(opened) == ()


def test_a_retry_beside_its_first_try_is_stored_once(opened: Opened) -> None:
    """SPEC L9: however many retries are on their way at once, all get the one answer."""
    for key in range(ROUNDS):
        said = proposal(subject=f"customer-{key}")
        call = partial(opened.pipeline.run, REMEMBER, BOT, said, idempotency_key=f"k-{key}")

        answers = at_once(*[call] * WRITERS)

        assert len({answer.memory.id for answer in of_kind(answers, Written)}) == 1
        assert len(of_kind(answers, Written)) == WRITERS
    assert len(log_of(opened)) == ROUNDS

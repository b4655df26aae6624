"""Neighbours over a real store: filtered, scanned and recorded as a recall is (SPEC R1, R2a, R5, R7)."""

from typing import Any
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.spotting import Spotting, scanning
from tests.usecases.asking import BOT, OFFICER, REVIEWER, SUBJECT, caller, judgement, log, source, written

from tenure.core.errors import Forbidden, NotFound
from tenure.core.events import Recalled
from tenure.core.identity import Caller
from tenure.core.memory import Memory
from tenure.core.neighbours import Around
from tenure.core.retrieval import Found
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import INFLUENCE, Influence
from tenure.usecases.review import REVOKE


def around(pipeline: Pipeline, memory: Memory, who: Caller = BOT, **sides: int) -> Found:
    """A memory with its neighbours."""
    command = AskNeighbours(memory_id=memory.id, around=Around(**sides))
    return pipeline.run(NEIGHBOURS, who, command)


def ids(found: Found) -> list[UUID]:
    """What was shown, in its order."""
    return [item.memory.id for item in found.items]


def talk(pipeline: Pipeline, count: int = 5, **sides: Any) -> list[Memory]:
    """A conversation of so many turns."""
    return [
        written(pipeline, f"Turn number {turn}", source=source(thread="talk-7", position=turn), **sides)
        for turn in range(count)
    ]


def test_neighbours_are_those_of_the_same_four_walls(pipeline: Pipeline) -> None:
    """SPEC M2, R1: a thread of the same name elsewhere is another thread."""
    turns = talk(pipeline)
    talk(pipeline, agent="sales")
    talk(pipeline, purpose="billing")
    talk(pipeline, subject="customer-8")

    found = around(pipeline, turns[2], before=9, after=9)

    assert ids(found) == [turn.id for turn in turns]
    assert (found.rankers, {item.score for item in found.items}) == ((), {0.0})


def test_only_what_a_recall_would_show_is_a_neighbour(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L6, L11, L12: what waits, was revoked or has expired is passed over, and the next stand closer."""
    turns = talk(pipeline)
    waiting = written(
        pipeline, "Turn number 5", source=source(source().type.EMAIL, "mail-1", thread="talk-7", position=5)
    )
    brief = written(pipeline, "Turn number 6", ttl_seconds=60, source=source(thread="talk-7", position=6))
    last = written(pipeline, "Turn number 7", source=source(thread="talk-7", position=7))
    pipeline.run(REVOKE, REVIEWER, judgement(turns[3].id, 1))
    clock.pass_time(minutes=2)

    assert ids(around(pipeline, turns[2], before=1, after=2)) == [
        turns[1].id,
        turns[2].id,
        turns[4].id,
        last.id,
    ]
    for gone in (turns[3], waiting, brief):
        with pytest.raises(NotFound):
            around(pipeline, gone)


def test_what_is_forgotten_is_nobodys_neighbour(pipeline: Pipeline) -> None:
    """SPEC F1: no read reaches it."""
    turns = talk(pipeline)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    with pytest.raises(NotFound):
        around(pipeline, turns[0])


def test_a_memory_beyond_a_callers_grants_is_absent(pipeline: Pipeline) -> None:
    """SPEC A2, M2: as it is to every read; and who may not recall may not look around either."""
    turns = talk(pipeline)

    for stranger in (caller(agents=["sales"]), caller(subjects=["customer-8"]), caller(tenant="globex")):
        with pytest.raises(NotFound):
            around(pipeline, turns[0], stranger)
    with pytest.raises(Forbidden):
        around(pipeline, turns[0], REVIEWER)


def test_a_look_around_leaves_a_receipt_that_use_is_reported_on(pipeline: Pipeline) -> None:
    """SPEC R7: no question was asked, so there is no digest of one; the memory is named."""
    turns = talk(pipeline)

    found = around(pipeline, turns[2], before=1, after=1)
    report = Influence(receipt_id=found.receipt_id, response_id="r-1", used_memory_ids=(turns[3].id,))
    pipeline.run(INFLUENCE, BOT, report)

    [receipt] = [event for event in log(pipeline) if isinstance(event.data, Recalled)]
    assert (receipt.stream, receipt.subject, receipt.actor) == (found.receipt_id, SUBJECT, BOT.id)
    assert receipt.data == Recalled(
        agent="support",
        purpose="answering",
        query_fingerprint=b"",
        memory_ids=tuple(turn.id for turn in turns[1:4]),
        limit=3,
        around=turns[2].id,
    )


def test_neighbours_that_say_something_only_together_are_held_back(pipeline: Pipeline) -> None:
    """SPEC R5: the memory itself takes part, since its text may be in the prompt already."""
    pipeline.scanning = scanning(Spotting())
    parts = [
        written(pipeline, half, source=source(thread="talk-7", position=number))
        for number, half in enumerate(("Before noon always open", "the vault and leave"))
    ]
    pipeline.scanning = scanning(Spotting("open the vault", version="2"))

    found = around(pipeline, parts[0])

    assert (len(found.items), found.skipped.together) == (1, 1)


def test_a_memory_of_no_thread_is_shown_alone(pipeline: Pipeline) -> None:
    """SPEC M4: nothing is known to have stood around it."""
    alone = written(pipeline)
    written(pipeline, "Another of no thread")

    assert ids(around(pipeline, alone)) == [alone.id]

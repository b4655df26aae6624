"""One word on many memories: each decided on by itself, and nothing that was not seen (SPEC A5, L7, L8)."""

from typing import Any
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine
from tests.usecases.asking import (
    BOT,
    OPERATOR,
    REVIEWER,
    caller,
    happened,
    held,
    judgement,
    proposal,
    source,
    written,
)

from tenure.config import Review, Settings
from tenure.core.bulk_review import Action, Became, DecideMany, Decisions, OfSource, Seen
from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.identity import Caller, Role, SourceType
from tenure.core.memory import Memory
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.usecases import bulk_review
from tenure.usecases.bulk_review import decide_many
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE
from tenure.usecases.review_queue import QUEUE

MAIL = OfSource(type=SourceType.EMAIL, id="mail-1")


def said(pipeline: Pipeline, action: Action, who: Caller = REVIEWER, **sides: Any) -> Decisions:
    """One word on many."""
    command = DecideMany(**({"action": action, "reason": "checked them all"} | sides))
    return decide_many(pipeline, who, command)


def outcomes(answer: Decisions) -> dict[UUID, Became]:
    """What became of each."""
    return {one.memory_id: one.outcome for one in answer.items}


def looked(pipeline: Pipeline) -> int:
    """The position up to which a reviewer has seen the queue."""
    return pipeline.run(QUEUE, REVIEWER, AskQueue()).seen_until


def seen(*memories: Memory) -> tuple[Seen, ...]:
    """These memories as they are now."""
    return tuple(Seen(id=memory.id, version=memory.version) for memory in memories)


def status(pipeline: Pipeline, memory: Memory) -> Status:
    """Where a memory stands."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id)).status


def test_what_waits_from_a_source_is_decided_on_with_one_word(pipeline: Pipeline) -> None:
    """SPEC L7: and what came from elsewhere, or is active, is not."""
    mails = [held(pipeline, f"Claim number {number}") for number in range(3)]
    other = written(pipeline, "Something else", source=source(SourceType.EMAIL, "mail-2"))
    active = written(pipeline)

    answer = said(pipeline, Action.PROMOTE, source=MAIL, seen_until=looked(pipeline))

    assert outcomes(answer) == {one.id: Became.PROMOTED for one in mails}
    assert (answer.decided, answer.refused, answer.not_seen, answer.more) == (3, 0, 0, False)
    promoted = pipeline.run(GET, REVIEWER, Get(memory_id=mails[0].id))
    assert (promoted.trust, promoted.reviewed_by) == (Trust.REVIEWER_VERIFIED, REVIEWER.id)
    assert promoted.decision_reason == "checked them all"
    assert (status(pipeline, other), status(pipeline, active)) == (Status.QUARANTINED, Status.ACTIVE)


@pytest.mark.parametrize(
    ("action", "expected"), [(Action.REJECT, Status.REJECTED), (Action.REVOKE, Status.REVOKED)]
)
def test_what_waits_from_a_source_can_be_turned_down_or_withdrawn(
    pipeline: Pipeline, action: Action, expected: Status
) -> None:
    """SPEC L12, L13: with an event of its own for each."""
    mails = [held(pipeline, f"Claim number {number}") for number in range(2)]

    answer = said(pipeline, action, source=MAIL, seen_until=looked(pipeline))

    assert [one.status for one in answer.items] == [expected] * 2
    assert [status(pipeline, one) for one in mails] == [expected] * 2
    assert [word for word in happened(pipeline) if word.endswith(expected)] == [f"memory.{expected}"] * 2


def test_what_came_after_the_page_was_looked_at_is_left_alone(pipeline: Pipeline) -> None:
    """SPEC L8: a flood that arrives while somebody reads is not waved through."""
    before = held(pipeline, "Claim number 1")
    until = looked(pipeline)
    after = held(pipeline, "Claim number 2")

    answer = said(pipeline, Action.PROMOTE, source=MAIL, seen_until=until)

    assert outcomes(answer) == {before.id: Became.PROMOTED, after.id: Became.NOT_SEEN}
    assert (status(pipeline, after), answer.not_seen) == (Status.QUARANTINED, 1)


def test_what_changed_after_the_page_was_looked_at_is_left_alone(engine: Engine, clock: MovableClock) -> None:
    """SPEC L8, A5: an endorsement that the reviewer has not seen counts as a change."""
    settings = Settings(review=Review(second_reviewer_kinds=(Kind.SENSITIVE_CHANGE,)))
    with engine.open(clock, settings) as node:
        memory = written(node.pipeline, "New phone number", kind=Kind.SENSITIVE_CHANGE)
        until = looked(node.pipeline)
        node.pipeline.run(PROMOTE, caller(Role.REVIEWER, name="bea"), judgement(memory.id, 1))

        answer = said(node.pipeline, Action.PROMOTE, ids=(memory.id,), seen_until=until)

        assert outcomes(answer) == {memory.id: Became.NOT_SEEN}
        assert answer.items[0].because is not None
        assert answer.items[0].because.current_version == 2


def test_nobody_has_seen_what_is_still_to_come(pipeline: Pipeline) -> None:
    """SPEC L8: a position beyond the log would be a yes to everything, whenever it arrives."""
    memory = held(pipeline)

    with pytest.raises(InvalidRequest) as refusal:
        said(pipeline, Action.PROMOTE, source=MAIL, seen_until=2**53 - 1)

    assert refusal.value.details["field"] == "seen_until"
    assert status(pipeline, memory) is Status.QUARANTINED


def test_versions_that_are_named_are_held_to(pipeline: Pipeline) -> None:
    """SPEC L8: a conflict says the current version, and the others are decided on all the same."""
    one, two, gone = held(pipeline, "One"), held(pipeline, "Two"), UUID(int=9)
    stale = Seen(id=two.id, version=2)

    answer = said(pipeline, Action.REJECT, expected=(*seen(one), stale, Seen(id=gone, version=1)))

    assert outcomes(answer) == {
        one.id: Became.REJECTED,
        two.id: Became.REFUSED,
        gone: Became.REFUSED,
    }
    codes = [said.because and (said.because.code, said.because.current_version) for said in answer.items]
    assert codes == [None, ("version-conflict", 1), ("not-found", None)]
    assert status(pipeline, two) is Status.QUARANTINED


def test_of_the_memories_named_only_those_seen_are_decided_on(pipeline: Pipeline) -> None:
    """SPEC L8: to name it is not to have seen it."""
    one, two = held(pipeline, "One"), held(pipeline, "Two")

    answer = said(pipeline, Action.PROMOTE, ids=(two.id, one.id), expected=seen(one))

    assert [item.memory_id for item in answer.items] == [two.id, one.id]
    assert outcomes(answer) == {two.id: Became.NOT_SEEN, one.id: Became.PROMOTED}


def test_a_source_and_versions_hold_together(pipeline: Pipeline) -> None:
    """SPEC L8: what is named and does not wait from that source is refused, not decided on."""
    mine = held(pipeline, "One")
    other = written(pipeline, "Two", source=source(SourceType.EMAIL, "mail-2"))

    answer = said(pipeline, Action.PROMOTE, source=MAIL, expected=seen(mine, other))

    assert outcomes(answer) == {mine.id: Became.PROMOTED, other.id: Became.REFUSED}
    assert status(pipeline, other) is Status.QUARANTINED


def test_nobody_approves_among_many_what_they_proposed(pipeline: Pipeline) -> None:
    """SPEC A5: many at once is no way round the rule for one."""
    both = caller(Role.WRITER, Role.REVIEWER, name="both")
    own = pipeline.run(REMEMBER, both, proposal(kind=Kind.SENSITIVE_CHANGE)).memory
    assert own is not None
    other = held(pipeline)

    answer = said(pipeline, Action.PROMOTE, both, expected=seen(own, other))

    assert outcomes(answer) == {own.id: Became.REFUSED, other.id: Became.PROMOTED}
    assert answer.items[0].because is not None
    assert answer.items[0].because.code == "forbidden"
    assert status(pipeline, own) is Status.QUARANTINED


def test_many_are_endorsed_by_one_and_promoted_by_another(engine: Engine, clock: MovableClock) -> None:
    """SPEC A5: the answer never calls a first yes a promotion."""
    settings = Settings(review=Review(second_reviewer_kinds=(Kind.SENSITIVE_CHANGE,)))
    bea = caller(Role.REVIEWER, name="bea")
    with engine.open(clock, settings) as node:
        one = written(node.pipeline, "New phone number", kind=Kind.SENSITIVE_CHANGE)
        two = held(node.pipeline)
        first = said(node.pipeline, Action.PROMOTE, ids=(one.id, two.id), seen_until=looked(node.pipeline))
        again = said(node.pipeline, Action.PROMOTE, expected=(Seen(id=one.id, version=2),))
        second = said(node.pipeline, Action.PROMOTE, bea, expected=(Seen(id=one.id, version=2),))

    assert outcomes(first) == {one.id: Became.ENDORSED, two.id: Became.PROMOTED}
    assert outcomes(again) == {one.id: Became.REFUSED}
    assert outcomes(second) == {one.id: Became.PROMOTED}


def test_of_two_corrections_of_one_memory_in_one_call_exactly_one_wins(pipeline: Pipeline) -> None:
    """SPEC L8, L10: each is decided on as if it came alone."""
    old = written(pipeline)
    corrections = [held(pipeline, f"Correction {number}", supersedes=old.id) for number in range(2)]

    answer = said(pipeline, Action.PROMOTE, expected=seen(*corrections))

    assert sorted(outcomes(answer).values()) == [Became.PROMOTED, Became.REFUSED]


def test_only_so_many_are_decided_on_and_it_says_that_there_are_more(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC L6: those that wait longest first."""
    monkeypatch.setattr(bulk_review, "DECIDED_MAX", 2)
    mails = [held(pipeline, f"Claim number {number}") for number in range(3)]
    until = looked(pipeline)

    first = said(pipeline, Action.REJECT, source=MAIL, seen_until=until)
    second = said(pipeline, Action.REJECT, source=MAIL, seen_until=until)

    assert [list(outcomes(answer)) for answer in (first, second)] == [
        [mails[0].id, mails[1].id],
        [mails[2].id],
    ]
    assert (first.more, second.more) == (True, False)


def test_a_reviewer_of_a_part_decides_on_nothing_of_the_rest(pipeline: Pipeline) -> None:
    """SPEC M2, A2: what lies outside is absent, whether it is named or only comes from the source."""
    mine, other = held(pipeline, "One"), held(pipeline, "Two", agent="sales")
    narrow = caller(Role.REVIEWER, name="narrow", agents={"support"})

    named = said(pipeline, Action.REJECT, narrow, expected=seen(other))
    sourced = said(pipeline, Action.REJECT, narrow, source=MAIL, seen_until=looked(pipeline))

    assert named.items[0].because is not None
    assert named.items[0].because.code == "not-found"
    assert outcomes(sourced) == {mine.id: Became.REJECTED}
    assert status(pipeline, other) is Status.QUARANTINED


@pytest.mark.parametrize(
    "who",
    [BOT, OPERATOR, caller(Role.REVIEWER, name="model", model_driven=True)],
    ids=["writer", "operator", "model"],
)
@pytest.mark.parametrize("action", Action)
def test_whoever_may_not_review_is_refused_once_and_as_a_whole(
    pipeline: Pipeline, who: Caller, action: Action
) -> None:
    """SPEC A4, A5: one denial is recorded, not one for each memory."""
    memories = [held(pipeline, f"Claim number {number}") for number in range(3)]

    with pytest.raises(Forbidden):
        said(pipeline, action, who, expected=seen(*memories))

    assert happened(pipeline).count("access.denied") == 1


def test_a_word_without_a_reason_is_refused_before_anything_is_decided(pipeline: Pipeline) -> None:
    """SPEC L7: for all of them, with one answer."""
    memory = held(pipeline)

    with pytest.raises(InvalidRequest) as refusal:
        said(pipeline, Action.PROMOTE, expected=seen(memory), reason=" ")

    assert refusal.value.details["field"] == "reason"
    assert status(pipeline, memory) is Status.QUARANTINED


def test_asked_again_it_decides_on_nothing_twice(pipeline: Pipeline) -> None:
    """SPEC L8: a retry says how things stand, and changes nothing."""
    memory = held(pipeline)
    said(pipeline, Action.PROMOTE, expected=seen(memory))
    before = happened(pipeline)

    again = said(pipeline, Action.PROMOTE, expected=seen(memory))

    assert outcomes(again) == {memory.id: Became.REFUSED}
    assert [word for word in happened(pipeline) if word != "read.answered"] == [
        word for word in before if word != "read.answered"
    ]

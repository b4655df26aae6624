"""Deciding on what waits: promote, reject, revoke, renew, and the queue (SPEC L6, L7, L11, L12)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    BOT,
    JUDGES,
    OPERATOR,
    REVIEWER,
    caller,
    happened,
    held,
    judgement,
    proposal,
    question,
    written,
)

from tenure.core.errors import Forbidden, IllegalTransition, InvalidRequest, NotFound, VersionConflict
from tenure.core.identity import Role
from tenure.core.memory import Memory
from tenure.core.retention import Renew
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Claim, Kind, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REJECT, RENEW, REVOKE, RenewMemory
from tenure.usecases.review_queue import QUEUE, Waiting
from tenure.usecases.upkeep import upkeep_round


def read(pipeline: Pipeline, memory_id: UUID) -> Memory:
    """A memory as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory_id))


def recalled(pipeline: Pipeline) -> list[UUID]:
    """The ids that a recall shows."""
    return [item.memory.id for item in pipeline.run(RECALL, BOT, question()).items]


def renewed(pipeline: Pipeline, memory: Memory, **change: Any) -> Memory:
    """A memory after a renewal by the bot, who wrote it."""
    whole: dict[str, Any] = {"expected_version": memory.version, "reason": "still true"}
    return pipeline.run(RENEW, BOT, RenewMemory(memory_id=memory.id, renew=Renew(**(whole | change))))


def waiting(pipeline: Pipeline, **narrowed: Any) -> list[Waiting]:
    """What waits, as a reviewer sees it."""
    return list(pipeline.run(QUEUE, REVIEWER, AskQueue(**narrowed)).items)


def test_a_promoted_memory_is_recalled_with_the_reviewers_trust(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC L7, L6: not before; and who, when and why stay with it."""
    memory = held(pipeline)
    before = recalled(pipeline)
    clock.pass_time(hours=1)
    promoted = pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1, reason="called back"))

    assert before == []
    assert recalled(pipeline) == [memory.id]
    assert (promoted.status, promoted.version, promoted.trust) == (Status.ACTIVE, 2, Trust.REVIEWER_VERIFIED)
    assert (promoted.reviewed_by, promoted.decision_reason) == (REVIEWER.id, "called back")
    assert promoted.reviewed_at == START + timedelta(hours=1)
    assert read(pipeline, memory.id) == promoted


@pytest.mark.parametrize("judge", JUDGES)
def test_a_decision_needs_the_current_version(pipeline: Pipeline, judge: str) -> None:
    """SPEC L7, L8: the conflict says the current version, and nothing changed."""
    memory = held(pipeline)

    for version in (0, 2):
        with pytest.raises(VersionConflict) as conflict:
            pipeline.run(JUDGES[judge], REVIEWER, judgement(memory.id, version))
        assert conflict.value.current_version == 1
    assert read(pipeline, memory.id) == memory


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    "reason", ["", "  \n", "x" * 1_001, "nul \x00"], ids=["none", "blank", "long", "nul"]
)
def test_a_decision_needs_a_reason(pipeline: Pipeline, judge: str, reason: str) -> None:
    """SPEC L7: something that a later reader can use."""
    memory = held(pipeline)

    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(JUDGES[judge], REVIEWER, judgement(memory.id, 1, reason))

    assert refusal.value.field == "reason"
    assert read(pipeline, memory.id) == memory


@pytest.mark.parametrize("judge", ["promote", "reject"])
def test_only_what_waits_is_promoted_or_rejected(pipeline: Pipeline, clock: MovableClock, judge: str) -> None:
    """SPEC L7, M6, L11: neither what is active, nor what ended, nor what expired a moment ago."""
    active, revoked, late = written(pipeline), held(pipeline), held(pipeline, ttl_seconds=60)
    pipeline.run(REVOKE, REVIEWER, judgement(revoked.id, 1))
    clock.pass_time(seconds=60)

    for memory_id, version in ((active.id, 1), (revoked.id, 2), (late.id, 1)):
        with pytest.raises(IllegalTransition):
            pipeline.run(JUDGES[judge], REVIEWER, judgement(memory_id, version))


@pytest.mark.parametrize("is_kept_up", [False, True], ids=["before upkeep", "after upkeep"])
def test_a_promoted_correction_leaves_what_has_expired_as_it_is(
    pipeline: Pipeline, clock: MovableClock, *, is_kept_up: bool
) -> None:
    """SPEC L11, L10: at its instant it has expired, and nothing depends on when upkeep came by."""
    old = written(pipeline, ttl_seconds=60)
    correction = held(pipeline, supersedes=old.id)
    clock.pass_time(seconds=60)
    if is_kept_up:
        upkeep_round(pipeline, batch_size=10)

    promoted = pipeline.run(PROMOTE, REVIEWER, judgement(correction.id, 1))

    assert promoted.status is Status.ACTIVE
    assert read(pipeline, old.id).status is Status.EXPIRED
    assert recalled(pipeline) == [correction.id]


def test_nobody_approves_what_they_proposed(pipeline: Pipeline) -> None:
    """SPEC A5: not even with the reviewer's role; rejecting it is allowed."""
    both = caller(Role.WRITER, Role.REVIEWER, name="both")
    memory = pipeline.run(REMEMBER, both, proposal(kind=Kind.SENSITIVE_CHANGE)).memory
    assert memory is not None

    with pytest.raises(Forbidden):
        pipeline.run(PROMOTE, both, judgement(memory.id, 1))

    assert read(pipeline, memory.id).status is Status.QUARANTINED
    assert pipeline.run(REJECT, both, judgement(memory.id, 1)).status is Status.REJECTED


def test_a_model_never_decides(pipeline: Pipeline) -> None:
    """SPEC A5: whatever roles its credential carries; each attempt is audited."""
    model = caller(Role.REVIEWER, name="model", model_driven=True)
    memory = held(pipeline)

    for judge in ("promote", "reject"):
        with pytest.raises(Forbidden):
            pipeline.run(JUDGES[judge], model, judgement(memory.id, 1))
    with pytest.raises(Forbidden):
        pipeline.run(QUEUE, model, AskQueue())

    assert happened(pipeline) == ["memory.quarantined", *["access.denied"] * 3]


def test_a_writer_decides_on_nothing(pipeline: Pipeline) -> None:
    """SPEC A4: reviewing and revoking are roles of their own; an operator may revoke."""
    memory = written(pipeline)

    for use_case in JUDGES.values():
        with pytest.raises(Forbidden):
            pipeline.run(use_case, BOT, judgement(memory.id, 1))
    assert pipeline.run(REVOKE, OPERATOR, judgement(memory.id, 1)).status is Status.REVOKED


@pytest.mark.parametrize("judge", JUDGES)
def test_what_a_reviewer_may_not_see_is_absent(pipeline: Pipeline, judge: str) -> None:
    """SPEC M2, A2: a reviewer of one agent decides on nothing of another."""
    memory = held(pipeline)
    narrow = caller(Role.REVIEWER, name="narrow", agents={"sales"})

    with pytest.raises(NotFound):
        pipeline.run(JUDGES[judge], narrow, judgement(memory.id, 1))


def test_a_revoked_memory_is_out_of_the_next_read(pipeline: Pipeline) -> None:
    """SPEC L12: of every kind of read at once."""
    memory = written(pipeline)
    before = recalled(pipeline)
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 1))

    assert (before, recalled(pipeline)) == ([memory.id], [])


def test_a_rejected_memory_is_never_recalled(pipeline: Pipeline) -> None:
    """SPEC L6, L13: turned down is turned down."""
    memory = held(pipeline)
    rejected = pipeline.run(REJECT, REVIEWER, judgement(memory.id, 1))

    assert rejected.status is Status.REJECTED
    assert recalled(pipeline) == []
    assert waiting(pipeline) == []


def test_a_renewal_is_bounded_from_now(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: up to the kind's maximum, counted from the renewal; the reason is kept."""
    memory = written(pipeline, ttl_seconds=3_600)
    now = clock.pass_time(minutes=30)
    longer = renewed(pipeline, memory, ttl_seconds=180 * 86_400)

    assert longer.expires_at == now + timedelta(days=180)
    assert (longer.version, longer.decision_reason) == (2, "still true")
    clock.pass_time(days=179)
    assert recalled(pipeline) == [memory.id]
    clock.pass_time(days=1)
    assert recalled(pipeline) == []


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"ttl_seconds": 180 * 86_400 + 1},
        {"ttl_seconds": 0},
        {"expires_at": START},
        {"expires_at": START + timedelta(days=181)},
        {"ttl_seconds": 60, "expires_at": START + timedelta(days=1)},
        {"ttl_seconds": 60, "reason": " "},
    ],
    ids=["nothing", "too long", "no time", "past", "too late", "both", "no reason"],
)
def test_a_renewal_that_cannot_be_is_refused(pipeline: Pipeline, change: dict[str, Any]) -> None:
    """SPEC L11: it needs a reason and an end within the bounds."""
    memory = written(pipeline)

    with pytest.raises(InvalidRequest):
        renewed(pipeline, memory, **change)

    assert read(pipeline, memory.id) == memory


def test_what_is_not_active_is_not_renewed(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11, M6: neither what waits nor what has expired comes back to life this way."""
    waits, late = held(pipeline), written(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)

    for memory in (waits, late):
        with pytest.raises(IllegalTransition):
            renewed(pipeline, memory, ttl_seconds=3_600)
    with pytest.raises(VersionConflict):
        renewed(pipeline, late, ttl_seconds=3_600, expected_version=2)


def test_the_queue_shows_what_is_needed_to_judge(pipeline: Pipeline) -> None:
    """SPEC L6: the text, the rule, the findings, the scope, near memories, and what it contradicts."""
    phone = Claim(entity="Customer", attribute="contact", value="phone")
    mail = Claim(entity="customer", attribute="Contact", value="mail")
    known = written(pipeline, "The customer prefers the phone", claim=phone)
    written(pipeline, "Something else altogether")
    written(pipeline, "The customer prefers the phone", agent="sales")
    memory = held(pipeline, "The customer prefers mail to the phone", claim=mail)

    [shown] = waiting(pipeline)

    assert shown.memory == memory
    assert (shown.decision, shown.findings, shown.requested_scope) == (memory.decision, (), memory.scope)
    assert [near.id for near in shown.neighbours] == [known.id]
    assert [near.id for near in shown.contradictions] == [known.id]


def test_the_queue_holds_to_grants_and_comes_in_pages(pipeline: Pipeline) -> None:
    """SPEC A2, L6: newest first; nothing of another agent."""
    ids = [held(pipeline, f"Text {number}").id for number in range(3)]
    held(pipeline, agent="sales")
    narrow = caller(Role.REVIEWER, name="narrow", agents={"support"})

    first = pipeline.run(QUEUE, narrow, AskQueue(limit=2))
    second = pipeline.run(QUEUE, narrow, AskQueue(limit=2, cursor=first.next_cursor))

    assert [one.memory.id for one in (*first.items, *second.items)] == ids[::-1]
    assert second.next_cursor is None

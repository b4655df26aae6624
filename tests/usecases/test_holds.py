"""Legal holds: in the way of erasing and pruning, never of forgetting (SPEC F10)."""

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    happened,
    log,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, NotFound, OnHold
from tenure.core.holds import Hold, PlaceHold
from tenure.core.identity import Role
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.holds import ASK_HOLD, PLACE_HOLD, RELEASE_HOLD, AskHold, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories

REASON = "a claim is before the court"
PLACE = PlaceHold(subject=SUBJECT, reason=REASON)
RELEASE = ReleaseHold(subject=SUBJECT, reason="the claim was settled")
ASK = AskHold(subject=SUBJECT)


def test_a_hold_stands_until_it_is_released(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F10: who placed it and when; once released, there is none."""
    placed = pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    asked = pipeline.run(ASK_HOLD, OFFICER, ASK)
    released_at = clock.pass_time(days=1)
    released = pipeline.run(RELEASE_HOLD, OFFICER, RELEASE)

    assert placed == asked == Hold(subject=SUBJECT, placed_by=OFFICER.id, placed_at=START)
    assert released == Hold(subject=SUBJECT, placed_by=OFFICER.id, placed_at=START, released_at=released_at)
    with pytest.raises(NotFound):
        pipeline.run(ASK_HOLD, OFFICER, ASK)
    with pytest.raises(NotFound):
        pipeline.run(RELEASE_HOLD, OFFICER, RELEASE)
    assert happened(pipeline) == ["hold.placed", "hold.released"]


def test_a_hold_that_is_placed_again_has_the_new_date_of_review(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F10: one hold a subject; both are in the log."""
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    review_at = clock.pass_time(days=1).replace(year=2032)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason=REASON, review_at=review_at))

    assert pipeline.run(ASK_HOLD, OFFICER, ASK).review_at == review_at
    pipeline.run(RELEASE_HOLD, OFFICER, RELEASE)
    with pytest.raises(NotFound):
        pipeline.run(ASK_HOLD, OFFICER, ASK)


def test_the_reason_of_a_hold_is_sealed(pipeline: Pipeline) -> None:
    """SPEC F7, E6: it may tell something of the subject, so it is in no header."""
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    stored = list(pipeline.store.export(TENANT))

    assert not any(b"court" in one.header or b"court" in (one.body or b"") for one in stored)
    (event,) = log(pipeline)
    assert event.secret is not None
    assert event.secret.reason == REASON


def test_under_a_hold_nothing_is_erased_and_forgetting_works(pipeline: Pipeline) -> None:
    """SPEC F10: the refusal changes nothing; the keys stay until the release, and then they go."""
    written(pipeline)
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    before, keys = happened(pipeline), pipeline.keyring.key_ids(TENANT, SUBJECT)

    with pytest.raises(OnHold) as refused:
        erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert refused.value.details["placed_at"] == START.isoformat()
    assert (happened(pipeline), pipeline.keyring.key_ids(TENANT, SUBJECT)) == (before, keys)
    assert len(pipeline.run(LIST, BOT, ListMemories()).items) == 1
    assert pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT)).forgotten == 1
    assert log(pipeline)[0].secret is not None
    pipeline.run(RELEASE_HOLD, OFFICER, RELEASE)
    assert erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT)).statement.memories_erased == 1
    assert all(event.secret is None for event in log(pipeline))


def test_a_write_under_a_hold_is_sealed_and_read_as_ever(pipeline: Pipeline) -> None:
    """SPEC F10: the refused erasure retired no key."""
    written(pipeline)
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    with pytest.raises(OnHold):
        erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    written(pipeline, "Prefers the phone")

    assert len(pipeline.keyring.key_ids(TENANT, SUBJECT)) == 1


def test_a_hold_on_one_subject_is_no_other_ones(pipeline: Pipeline) -> None:
    """SPEC M2: neither of the tenant nor of another tenant."""
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)
    stranger = caller(Role.PRIVACY_OFFICER, tenant="globex")

    assert erase(pipeline, OFFICER, EraseSubject(subject="customer-8")).statement.subject == "customer-8"
    assert erase(pipeline, stranger, EraseSubject(subject=SUBJECT)).statement.tenant == "globex"


def test_only_a_privacy_officer_holds_and_lets_go(pipeline: Pipeline) -> None:
    """SPEC A4, F10: not the subject either, who might wish evidence away, nor whoever a model drives."""
    person = caller(Role.SUBJECT, subjects={SUBJECT})
    driven = caller(*Role, model_driven=True)
    pipeline.run(PLACE_HOLD, OFFICER, PLACE)

    for who in (person, driven, REVIEWER, OPERATOR, BOT):
        with pytest.raises(Forbidden):
            pipeline.run(PLACE_HOLD, who, PLACE)
        with pytest.raises(Forbidden):
            pipeline.run(RELEASE_HOLD, who, RELEASE)
        with pytest.raises(Forbidden):
            pipeline.run(ASK_HOLD, who, ASK)

    assert pipeline.run(ASK_HOLD, OFFICER, ASK).placed_at == START


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (PlaceHold(subject="two\nlines", reason=REASON), "subject"),
        (PlaceHold(subject=SUBJECT, reason=" "), "reason"),
        (PlaceHold(subject=SUBJECT, reason=REASON, review_at=START), "review_at"),
    ],
)
def test_a_hold_that_says_too_little_is_refused(pipeline: Pipeline, command: PlaceHold, field: str) -> None:
    """SPEC S2: the field is named, and nothing is written."""
    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(PLACE_HOLD, OFFICER, command)

    assert refusal.value.field == field
    assert happened(pipeline) == []


def test_holds_are_the_same_after_a_rebuild(pipeline: Pipeline) -> None:
    """SPEC E1: placed, placed again and released, in the log and in the view."""
    for subject in (SUBJECT, "customer-8"):
        pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=subject, reason=REASON))
    pipeline.run(RELEASE_HOLD, OFFICER, RELEASE)

    assert pipeline.store.rebuild().identical
    assert verify(pipeline, TENANT).holds
    assert pipeline.run(ASK_HOLD, OFFICER, AskHold(subject="customer-8")).placed_at == START
    with pytest.raises(NotFound):
        pipeline.run(ASK_HOLD, OFFICER, ASK)

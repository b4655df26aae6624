"""Legal holds: placed and released for a reason, and in the way of an erasure alone."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, REASON, caller, moment

from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, NotFound, OnHold
from tenure.core.events import HoldPlaced, HoldReleased, Secret
from tenure.core.holds import Hold, PlaceHold, forbids, halts, place, release, standing
from tenure.core.identity import Role
from tenure.core.rows import HoldRow, microseconds

OFFICER = caller(Role.PRIVACY_OFFICER)
REVIEW_AT = NOW + timedelta(days=180)
HELD = HoldRow("acme", "customer-7", 12, "caller-1", microseconds(NOW), microseconds(REVIEW_AT))


def test_a_hold_is_one_event_whose_reason_is_sealed() -> None:
    """SPEC F10: who, when and until when it is looked at again; why is for the holder of the key."""
    command = PlaceHold(subject="customer-7", reason=REASON, review_at=REVIEW_AT)

    decided = place(command, OFFICER, moment())

    assert decided.answer == Hold(
        subject="customer-7", placed_by="caller-1", placed_at=NOW, review_at=REVIEW_AT
    )
    (event,) = decided.events
    assert (event.data, event.secret) == (HoldPlaced(review_at=REVIEW_AT), Secret(reason=REASON))
    assert (event.tenant, event.subject, event.actor, event.at) == ("acme", "customer-7", "caller-1", NOW)
    assert (event.stream, event.version) == (None, None)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"subject": "two\nlines"}, "subject"),
        ({"subject": ""}, "subject"),
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 1_001}, "reason"),
        ({"review_at": NOW}, "review_at"),
        ({"review_at": NOW - timedelta(days=1)}, "review_at"),
        ({"review_at": LATER.replace(tzinfo=None)}, "review_at"),
    ],
)
def test_a_hold_without_a_name_a_reason_or_a_day_to_come_is_refused(
    changes: dict[str, str | datetime], field: str
) -> None:
    """SPEC S2: the field is named."""
    whole = PlaceHold(subject="customer-7", reason=REASON)

    with pytest.raises(InvalidRequest) as caught:
        place(replace(whole, **changes), OFFICER, moment())

    assert caught.value.field == field


def test_a_release_says_what_stood_and_until_when() -> None:
    """SPEC F10: one event, with a reason of its own."""
    decided = release("customer-7", REASON, HELD, OFFICER, moment(now=LATER))

    assert isinstance(decided, Decided)
    assert decided.answer == Hold(
        subject="customer-7", placed_by="caller-1", placed_at=NOW, review_at=REVIEW_AT, released_at=LATER
    )
    (event,) = decided.events
    assert (event.data, event.secret, event.at) == (HoldReleased(), Secret(reason=REASON), LATER)


def test_without_a_hold_there_is_nothing_to_release() -> None:
    """SPEC S2: a second release finds none."""
    refused = release("customer-7", REASON, None, OFFICER, moment())

    assert isinstance(refused, Refused)
    assert isinstance(refused.error, NotFound)
    assert refused.error.details == {"subject": "customer-7"}


def test_a_release_needs_a_reason_too() -> None:
    """SPEC F10, S2: whoever lifts a hold says why."""
    with pytest.raises(InvalidRequest) as caught:
        release("customer-7", " ", HELD, OFFICER, moment())

    assert caught.value.field == "reason"


@pytest.mark.parametrize("review_at", [REVIEW_AT, None])
def test_a_hold_is_told_as_it_was_placed(review_at: datetime | None) -> None:
    """SPEC F10: from the row, to the microsecond."""
    row = HoldRow(
        "acme",
        "customer-7",
        12,
        "caller-1",
        microseconds(NOW),
        microseconds(review_at) if review_at else None,
    )

    assert standing(row) == Hold(
        subject="customer-7", placed_by="caller-1", placed_at=NOW, review_at=review_at
    )


def test_what_a_hold_forbids_is_explained_with_what_is_still_allowed() -> None:
    """SPEC F10: it blocks erasure, not logical forgetting, and the answer says so."""
    error = forbids(HELD)

    assert isinstance(error, OnHold)
    assert "nothing was changed" in error.message
    assert error.hint is not None
    assert "Forget the subject now" in error.hint
    assert error.details == {"placed_at": NOW.isoformat(), "review_at": REVIEW_AT.isoformat()}


def test_a_hold_that_came_too_late_for_the_beginning_says_what_is_done_and_what_stays() -> None:
    """SPEC F10: out of every read, the keys kept; it does not claim that nothing was changed."""
    error = halts(HELD)

    assert isinstance(error, OnHold)
    assert "out of every read" in error.message
    assert "nothing was changed" not in error.message
    assert error.details == {"placed_at": NOW.isoformat(), "review_at": REVIEW_AT.isoformat()}

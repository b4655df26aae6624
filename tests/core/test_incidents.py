"""Withdrawing a memory that should not have been believed."""

import pytest
from tests.core.examples import LATER, NOW, REVIEWER, id_of, memory, moment

from tenure.core.decision import Decided, Refused
from tenure.core.errors import IllegalTransition, InvalidRequest, VersionConflict
from tenure.core.events import Revoked
from tenure.core.incidents import revoke
from tenure.core.review import Judge
from tenure.core.vocabulary import Status

WORD = Judge(expected_version=1, reason="the connector was taken over")
REVOCABLE = {Status.ACTIVE, Status.QUARANTINED, Status.SUPERSEDED, Status.EXPIRED}


@pytest.mark.parametrize("status", Status)
def test_what_may_still_be_believed_can_be_revoked_and_nothing_else(status: Status) -> None:
    """SPEC L12, M6: one event, with who, when and why."""
    one = memory(status=status)

    if status not in REVOCABLE:
        with pytest.raises(IllegalTransition):
            revoke(WORD, one, REVIEWER, moment())
        return
    decision = revoke(WORD, one, REVIEWER, moment(now=LATER))
    assert isinstance(decision, Decided)
    (event,) = decision.events
    assert (event.data, event.stream, event.version, event.at) == (Revoked(), id_of(1), 2, LATER)
    assert (decision.answer.status, decision.answer.decision_reason) == (Status.REVOKED, WORD.reason)


def test_a_memory_whose_time_has_passed_can_still_be_revoked() -> None:
    """SPEC L12: it may have been believed before, so the withdrawal is worth a record."""
    assert isinstance(revoke(WORD, memory(expires_at=NOW), REVIEWER, moment()), Decided)


def test_a_revocation_is_of_the_version_that_was_looked_at() -> None:
    """SPEC L8: a stale word changes nothing."""
    decision = revoke(WORD, memory(version=2), REVIEWER, moment())

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, VersionConflict)


def test_a_revocation_needs_a_reason() -> None:
    """SPEC M1: the decision's reason is part of the record."""
    with pytest.raises(InvalidRequest, match="reason"):
        revoke(Judge(expected_version=1, reason=" "), memory(), REVIEWER, moment())

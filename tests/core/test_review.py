"""Deciding on what waits: promotion by somebody else, rejection, and what contradicts what."""

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, REVIEWER, held_memory, id_of, memory, moment

from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, IllegalTransition, InvalidRequest, VersionConflict
from tenure.core.events import Promoted, Rejected, Superseded, encode_header
from tenure.core.memory import Memory, evolve
from tenure.core.review import Judge, contradicts, promote, reject
from tenure.core.vocabulary import Claim, Status, Trust

WORD = Judge(expected_version=1, reason="checked with the customer")
NOT_WAITING = [status for status in Status if status not in {Status.PROPOSED, Status.QUARANTINED}]
CLAIM = Claim(entity="Ann", attribute="phone", value="12")


def promoted(one: Memory, corrected: Memory | None = None) -> Decided[Memory]:
    """The decision of a reviewer who lets it in."""
    decision = promote(WORD, one, corrected, REVIEWER, moment(now=LATER))
    assert isinstance(decision, Decided)
    return decision


def test_promotion_sets_the_trust_of_a_reviewer_and_records_who_when_and_why() -> None:
    """SPEC L7: explicit, and one step."""
    decision = promoted(held_memory())

    (event,) = decision.events
    one = decision.answer
    assert event.data == Promoted(trust=Trust.REVIEWER_VERIFIED)
    assert (event.version, event.actor) == (2, "reviewer-1")
    assert (one.status, one.trust, one.version) == (Status.ACTIVE, Trust.REVIEWER_VERIFIED, 2)
    assert (one.reviewed_by, one.reviewed_at, one.decision_reason) == ("reviewer-1", LATER, WORD.reason)
    assert one == evolve(held_memory(), event)


def test_nobody_approves_what_they_proposed() -> None:
    """SPEC A5: promotion by the proposing principal is refused."""
    own = held_memory(proposed_by=REVIEWER.id)

    decision = promote(WORD, own, None, REVIEWER, moment())

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, Forbidden)
    assert decision.error.message == "nobody approves what they proposed"


@pytest.mark.parametrize("change", [{"expires_at": NOW}, *({"status": status} for status in NOT_WAITING)])
def test_only_what_waits_now_can_be_judged(change: dict[str, object]) -> None:
    """SPEC L7, L11: from quarantined alone, and not after its time."""
    one = held_memory(**change)

    with pytest.raises(IllegalTransition):
        promote(WORD, one, None, REVIEWER, moment())
    with pytest.raises(IllegalTransition):
        reject(WORD, one, REVIEWER, moment())


def test_a_judgement_is_on_the_version_that_was_looked_at() -> None:
    """SPEC L7, L8: promotion needs the current version."""
    moved = held_memory(version=2)

    for decision in (
        promote(WORD, moved, None, REVIEWER, moment()),
        reject(WORD, moved, REVIEWER, moment()),
    ):
        assert isinstance(decision, Refused)
        assert isinstance(decision.error, VersionConflict)
        assert decision.error.current_version == 2


@pytest.mark.parametrize("reason", ["", " \t", "x" * 1_001])
def test_a_judgement_needs_a_reason(reason: str) -> None:
    """SPEC L7: records reviewer, time and reason."""
    silent = replace(WORD, reason=reason)

    with pytest.raises(InvalidRequest, match="reason must have 1 to 1,000 characters"):
        promote(silent, held_memory(), None, REVIEWER, moment())
    with pytest.raises(InvalidRequest, match="reason must have 1 to 1,000 characters"):
        reject(silent, held_memory(), REVIEWER, moment())


def test_the_reason_is_sealed_since_it_may_quote_the_memory() -> None:
    """SPEC E6: a header holds no content, not even quoted."""
    (event,) = promoted(held_memory()).events

    assert WORD.reason not in encode_header(event, dek=None, body_sha256=None).decode()


def test_a_promoted_correction_takes_its_place_in_the_same_step() -> None:
    """SPEC L10: a correction that was quarantined supersedes once it is promoted."""
    corrected = memory(id=id_of(2), version=6)

    events = promoted(held_memory(supersedes=id_of(2)), corrected).events

    assert [event.data for event in events] == [
        Promoted(trust=Trust.REVIEWER_VERIFIED),
        Superseded(by=id_of(1)),
    ]
    assert (events[1].stream, events[1].version) == (id_of(2), 7)


def test_of_two_corrections_of_one_memory_only_the_first_can_be_promoted() -> None:
    """SPEC L10: exactly one wins, and the other is told by what it was overtaken."""
    corrected = memory(id=id_of(2), status=Status.SUPERSEDED, superseded_by=id_of(3))

    decision = promote(WORD, held_memory(supersedes=id_of(2)), corrected, REVIEWER, moment())

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, IllegalTransition)
    assert decision.error.details == {"superseded_by": str(id_of(3))}
    assert decision.error.hint


@pytest.mark.parametrize("status", [Status.REVOKED, Status.EXPIRED, Status.PRUNED])
def test_a_correction_of_what_has_ended_meanwhile_stands_for_itself(status: Status) -> None:
    """SPEC L10, M6: there is nothing left to take the place of."""
    decision = promoted(held_memory(supersedes=id_of(2)), memory(id=id_of(2), status=status))

    assert len(decision.events) == 1


def test_a_rejection_ends_what_waited() -> None:
    """SPEC M6: from quarantined to rejected, with its reason."""
    decision = reject(WORD, held_memory(), REVIEWER, moment(now=LATER))

    assert isinstance(decision, Decided)
    assert [event.data for event in decision.events] == [Rejected()]
    assert (decision.answer.status, decision.answer.decision_reason) == (Status.REJECTED, WORD.reason)


def test_whoever_proposed_may_withdraw_by_rejecting() -> None:
    """SPEC A5: only approving one's own proposal is refused."""
    assert isinstance(reject(WORD, held_memory(proposed_by=REVIEWER.id), REVIEWER, moment()), Decided)


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (CLAIM, replace(CLAIM, value="13"), True),
        (CLAIM, replace(CLAIM, entity="ANN", attribute="Phone", value="13"), True),
        (CLAIM, CLAIM, False),
        (CLAIM, replace(CLAIM, entity="Bob", value="13"), False),
        (CLAIM, replace(CLAIM, attribute="e-mail", value="13"), False),
        (CLAIM, None, False),
        (None, CLAIM, False),
        (None, None, False),
    ],
)
def test_two_memories_contradict_when_they_claim_something_else_of_the_same_thing(
    mine: Claim | None, theirs: Claim | None, *, expected: bool
) -> None:
    """SPEC T3: same entity and attribute, other value."""
    assert expected == contradicts(memory(claim=mine), memory(claim=theirs))

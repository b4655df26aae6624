"""Deciding on what waits: promotion by somebody else, and rejection."""

import pytest
from msgspec.structs import replace
from tests.core.examples import LATER, NOW, REVIEWER, held_memory, id_of, memory, moment, revised
from tests.core.examples import event as event_of

from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, IllegalTransition, InvalidRequest, VersionConflict
from tenure.core.events import Endorsed, EventData, Promoted, Rejected, Superseded, encode_header
from tenure.core.incident_events import Held
from tenure.core.memory import Memory, evolve
from tenure.core.review import Judge, ReviewRules, promote, reject
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Status, Trust, Verdict

WORD = Judge(expected_version=1, reason="checked with the customer")
NOT_WAITING = [status for status in Status if status not in {Status.PROPOSED, Status.QUARANTINED}]
TWO = ReviewRules(second_reviewer_kinds=frozenset({Kind.SENSITIVE_CHANGE}))
FOUND = ReviewRules(second_reviewer_findings=frozenset({FindingKind.SENSITIVE}))
PAYEE = Verdict(kind="sensitive", rule="iban", scanner="payments/1", start=0, end=4, confidence=1.0)


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
        Promoted(trust=Trust.REVIEWER_VERIFIED, valid_from=events[0].at),
        Superseded(by=id_of(1), valid_to=events[0].at),
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


def sensitive(**change: object) -> Memory:
    """A sensitive change that waits."""
    return held_memory(kind=Kind.SENSITIVE_CHANGE, **change)


def test_of_two_reviewers_the_first_one_only_endorses() -> None:
    """SPEC A5, L6: it waits on, one version later, and the queue can say who was for it."""
    decision = promote(WORD, sensitive(), None, REVIEWER, moment(now=LATER), TWO)

    assert isinstance(decision, Decided)
    (event,) = decision.events
    one = decision.answer
    assert (event.data, event.version) == (Endorsed(), 2)
    assert (one.status, one.version, one.trust) == (Status.QUARANTINED, 2, sensitive().trust)
    assert (one.endorsed_by, one.endorsed_at, one.reviewed_by) == (REVIEWER.id, LATER, None)
    assert WORD.reason not in encode_header(event, dek=None, body_sha256=None).decode()


def test_the_second_reviewer_promotes_and_both_are_known() -> None:
    """SPEC A5, L7: the yes is the second one's, and who was the first stays with the memory."""
    endorsed = sensitive(endorsed_by="reviewer-0", version=2)

    decision = promote(Judge(expected_version=2, reason="so it is"), endorsed, None, REVIEWER, moment(), TWO)

    assert isinstance(decision, Decided)
    one = decision.answer
    assert (one.status, one.trust) == (Status.ACTIVE, Trust.REVIEWER_VERIFIED)
    assert (one.endorsed_by, one.reviewed_by) == ("reviewer-0", REVIEWER.id)


@pytest.mark.parametrize(
    "one",
    [
        sensitive(endorsed_by=REVIEWER.id),
        sensitive(proposed_by=REVIEWER.id),
        sensitive(proposed_by=REVIEWER.id, endorsed_by="reviewer-0"),
    ],
    ids=["the first again", "whoever proposed it, first", "whoever proposed it, second"],
)
def test_the_proposer_and_both_reviewers_are_three_principals(one: Memory) -> None:
    """SPEC A5: nobody is two of them."""
    decision = promote(WORD, one, None, REVIEWER, moment(), TWO)

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, Forbidden)


@pytest.mark.parametrize(
    ("rules", "one", "takes_two"),
    [
        (ReviewRules(), sensitive(findings=(PAYEE,)), False),
        (TWO, sensitive(), True),
        (TWO, held_memory(), False),
        (FOUND, held_memory(findings=(PAYEE,)), True),
        (FOUND, held_memory(findings=(replace(PAYEE, kind="attack"),)), False),
        (FOUND, sensitive(), False),
    ],
)
def test_two_reviewers_are_asked_for_by_kind_or_by_what_was_found(
    rules: ReviewRules, one: Memory, *, takes_two: bool
) -> None:
    """SPEC A5, L4: and by nothing, unless an operator says so."""
    decision = promote(WORD, one, None, REVIEWER, moment(), rules)

    assert isinstance(decision, Decided)
    assert takes_two == rules.asks_for_two(one)
    assert isinstance(decision.events[0].data, Endorsed) == takes_two


def test_a_correction_that_comes_too_late_is_not_endorsed_either() -> None:
    """SPEC L10: nobody is asked for a second word that could not count."""
    corrected = memory(id=id_of(2), status=Status.SUPERSEDED, superseded_by=id_of(3))

    decision = promote(WORD, sensitive(supersedes=id_of(2)), corrected, REVIEWER, moment(), TWO)

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, IllegalTransition)


@pytest.mark.parametrize(
    "later",
    [Held(rule="strict", reason="a later policy", policy_version="strict-2"), revised()],
    ids=["held back again", "revised"],
)
def test_what_was_endorsed_is_endorsed_no_more_once_it_changed(later: EventData) -> None:
    """SPEC A5, L8: a word is on the version that was looked at."""
    one = memory(status=Status.ACTIVE, endorsed_by="reviewer-0", endorsed_at=NOW)

    after = evolve(one, event_of(later, version=2))

    assert (after.endorsed_by, after.endorsed_at) == (None, None)

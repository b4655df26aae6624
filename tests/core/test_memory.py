"""The life cycle as one table, and the fold of a memory's events."""

from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from msgspec.structs import replace
from tests.core.examples import (
    CLAIM,
    CONTENT,
    EXAMPLES,
    FINGERPRINT,
    KEY,
    LATER,
    MODEST,
    NOW,
    REASON,
    SECRET,
    URI,
    admitted,
    event,
    held_memory,
    id_of,
    memory,
    quarantined,
    revised,
)
from tests.core.histories import histories

from tenure.core.errors import IllegalTransition
from tenure.core.events import (
    Admitted,
    Event,
    EventData,
    Expired,
    Promoted,
    Quarantined,
    Rejected,
    Renewed,
    Revoked,
    SubjectForgotten,
    Superseded,
)
from tenure.core.identity import Boundary, SourceType
from tenure.core.incident_events import Held
from tenure.core.memory import STEP_OF, Memory, Step, evolve, next_status
from tenure.core.truth_events import Merged, Reinstated, Unmerged, ValidUntil
from tenure.core.vocabulary import Outcome, Source, Status, Trust

# Written out by hand, so that a change of the code's table has to be meant twice.
TABLE: dict[str, dict[str, str]] = {
    "proposed": {"admit": "active", "quarantine": "quarantined", "reject": "rejected"},
    "quarantined": {
        "endorse": "quarantined",
        "promote": "active",
        "reject": "rejected",
        "revoke": "revoked",
        "expire": "expired",
        "forget": "forgotten",
        "erase": "erased",
    },
    "active": {
        "revise": "active",
        "renew": "active",
        "quarantine": "quarantined",
        "supersede": "superseded",
        "merge": "superseded",
        "close": "active",
        "revoke": "revoked",
        "expire": "expired",
        "forget": "forgotten",
        "erase": "erased",
        "prune": "pruned",
    },
    "rejected": {"forget": "forgotten", "erase": "erased", "prune": "pruned"},
    "superseded": {
        "reinstate": "active",
        "revoke": "revoked",
        "forget": "forgotten",
        "erase": "erased",
        "prune": "pruned",
    },
    "revoked": {"forget": "forgotten", "erase": "erased", "prune": "pruned"},
    "expired": {"revoke": "revoked", "forget": "forgotten", "erase": "erased", "prune": "pruned"},
    "forgotten": {"erase": "erased"},
    "erased": {},
    "pruned": {"forget": "forgotten", "erase": "erased"},
}
PAIRS = list(product(Status, Step))
LEGAL = [(status, step) for status, step in PAIRS if step in TABLE[status]]
ILLEGAL = [pair for pair in PAIRS if pair not in LEGAL]
LATER_EVENTS = [data for data in EXAMPLES if not isinstance(data, Admitted | Quarantined)]
CHANGES = [data for data in LATER_EVENTS if type(data) in STEP_OF]


def test_the_table_speaks_of_every_status() -> None:
    """SPEC M6: ten statuses, and every one has its line."""
    assert sorted(TABLE) == sorted(Status)
    assert len(LEGAL) + len(ILLEGAL) == len(Status) * len(Step)


@pytest.mark.parametrize(("status", "step"), LEGAL)
def test_a_step_that_the_table_names_leads_where_it_says(status: Status, step: Step) -> None:
    """SPEC M6: every legal (status, step) pair."""
    expected = TABLE[status][step]

    assert expected == next_status(status, step)


@pytest.mark.parametrize(("status", "step"), ILLEGAL)
def test_a_step_that_the_table_does_not_name_is_refused(status: Status, step: Step) -> None:
    """SPEC M6: every illegal pair is an error that says what is possible instead."""
    with pytest.raises(IllegalTransition) as caught:
        next_status(status, step)

    possible = ", ".join(sorted(TABLE[status])) or "nothing more"
    assert caught.value.message == f"a memory that is {status} cannot {step}"
    assert caught.value.hint == f"From {status} it can: {possible}."
    assert caught.value.details == {"memory_status": str(status), "step": str(step)}


@pytest.mark.parametrize("data", CHANGES, ids=lambda data: type(data).__name__)
@pytest.mark.parametrize("status", Status)
def test_an_event_moves_a_memory_exactly_as_the_table_says(status: Status, data: EventData) -> None:
    """SPEC M6: folding an event obeys the same table, and adds exactly one to the version."""
    before = memory(status=status, version=4)
    following = TABLE[status].get(STEP_OF[type(data)])

    if following is None:
        with pytest.raises(IllegalTransition):
            evolve(before, event(data, at=LATER))
    else:
        after = evolve(before, event(data, at=LATER))
        assert (after.status, after.version, after.updated_at) == (following, 5, LATER)


@MODEST
@given(events=histories())
def test_a_version_grows_by_one_with_each_event_and_folding_twice_gives_the_same(events: list[Event]) -> None:
    """SPEC E1, L8: evolve is a pure fold, the same on every node and replay."""
    folded: list[Memory] = []
    for one in events:
        before = folded[-1] if folded else None
        kept = replace(before) if before else None
        folded.append(evolve(before, one))
        assert before == kept
        assert folded[-1] == evolve(before, one)

    assert [one.version for one in folded] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("data", LATER_EVENTS, ids=lambda data: type(data).__name__)
def test_only_being_admitted_or_held_back_begins_a_memory(data: EventData) -> None:
    """SPEC M6: a log whose first event of a memory is anything else is not read as if it were one."""
    with pytest.raises(ValueError, match="must admit or quarantine"):
        evolve(None, event(data))


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PROPOSED])
def test_a_memory_is_born_once(status: Status) -> None:
    """SPEC M6: no status has the step admit but proposed, so a second birth cannot replace a memory."""
    with pytest.raises(IllegalTransition):
        evolve(memory(status=status), event(admitted(), version=2))


@pytest.mark.parametrize("missing", ["stream", "subject"])
def test_an_event_that_creates_names_the_memory_and_its_subject(missing: str) -> None:
    """SPEC M1: id and subject are part of every memory."""
    with pytest.raises(ValueError, match="names the memory and its subject"):
        evolve(None, event(admitted(), **{missing: None}))


def test_a_memory_carries_what_its_first_event_and_its_secret_say() -> None:
    """SPEC M1: the whole record, from the header and the sealed part."""
    born = evolve(None, event(EXAMPLES[0]))

    assert (born.id, born.status, born.version) == (id_of(1), Status.ACTIVE, 1)
    assert born.boundary == Boundary(tenant="acme", agent="support", purpose="service", subject="customer-7")
    assert (born.content, born.key, born.claim) == (CONTENT, KEY, CLAIM)
    assert born.fingerprint == FINGERPRINT.hex()
    assert born.source == Source(
        type=SourceType.DIRECT_USER,
        id="message-1",
        uri=URI,
        version="2",
        observed_at=NOW - timedelta(days=1),
        thread="thread-1",
        position=3,
    )
    assert (born.proposed_by, born.created_at, born.updated_at) == ("caller-1", NOW, NOW)
    assert (born.decision.outcome, born.decision.rule) == (Outcome.APPROVE, "direct_user_preference")
    assert (born.supersedes, born.derived_from) == (id_of(2), (id_of(3), id_of(4)))


def test_a_memory_that_is_held_back_says_so_in_its_decision() -> None:
    """SPEC L2: the decision's outcome, rule, reason and policy version are stored."""
    held = evolve(None, event(quarantined()))

    assert (held.status, held.decision.outcome) == (Status.QUARANTINED, Outcome.QUARANTINE)
    assert (held.decision.rule, held.policy_version) == ("external_source", "default-1")


def test_a_memory_whose_secret_is_gone_has_no_content() -> None:
    """SPEC F7: without the subject's key the fold still works, and says nothing of the content."""
    born = evolve(None, event(EXAMPLES[0], secret=None))

    assert (born.content, born.key, born.claim, born.source.uri, born.fingerprint) == (None,) * 5


def test_promotion_records_trust_reviewer_time_and_reason() -> None:
    """SPEC L7: who let it in, when and why."""
    promoted = event(Promoted(trust=Trust.REVIEWER_VERIFIED), actor="reviewer-1", at=LATER)

    after = evolve(held_memory(), promoted)

    assert after.trust is Trust.REVIEWER_VERIFIED
    assert (after.reviewed_by, after.reviewed_at, after.decision_reason) == ("reviewer-1", LATER, REASON)


def test_a_memory_that_a_later_policy_holds_back_waits_with_the_rule_that_held_it() -> None:
    """SPEC I4: an active memory is quarantined anew; what it says and who may judge it stay as they were."""
    held = Held(rule="external_source", reason="text from outside waits", policy_version="strict-2")

    after = evolve(memory(), event(held, version=2, at=LATER, secret=None))

    assert (after.status, after.version, after.updated_at) == (Status.QUARANTINED, 2, LATER)
    decision = (after.decision.outcome, after.decision.rule, after.decision.reason)
    assert decision == (Outcome.QUARANTINE, "external_source", "text from outside waits")
    assert (after.policy_version, after.decision.policy_version) == ("strict-2", "strict-2")
    assert (after.content, after.trust, after.reviewed_by) == (CONTENT, Trust.USER_ASSERTED, None)
    promoted = evolve(after, event(Promoted(trust=Trust.REVIEWER_VERIFIED), version=3))
    assert promoted.status is Status.ACTIVE


@pytest.mark.parametrize("data", [Rejected(), Revoked()])
def test_whoever_ends_a_memory_is_recorded(data: EventData) -> None:
    """SPEC M1, L12: reviewer, time and reason stay with a memory that was turned down or withdrawn."""
    after = evolve(held_memory(), event(data, actor="reviewer-1", at=LATER))

    assert (after.reviewed_by, after.reviewed_at, after.decision_reason) == ("reviewer-1", LATER, REASON)


def test_a_superseded_memory_points_at_what_took_its_place() -> None:
    """SPEC L10: history keeps both, each naming the other."""
    after = evolve(memory(valid_to=LATER), event(Superseded(by=id_of(2))))

    assert (after.superseded_by, after.merged_into, after.valid_to) == (id_of(2), None, LATER)


def test_what_a_superseded_memory_says_holds_until_what_took_its_place_began() -> None:
    """SPEC T4: its interval is closed, not its history."""
    assert evolve(memory(), event(Superseded(by=id_of(2), valid_to=LATER))).valid_to == LATER


def test_a_merged_memory_points_at_what_stands_for_it_until_it_stands_for_itself_again() -> None:
    """SPEC T2: evidence is kept behind what says the same, and a merge can be undone."""
    before = memory()

    merged = evolve(before, event(Merged(into=id_of(2), voices=2, trusted_voices=1)))
    undone = Unmerged(out_of=id_of(2), voices=1, trusted_voices=1, source_id="message-1")
    after = evolve(merged, event(undone, at=LATER))

    assert (merged.status, merged.superseded_by, merged.merged_into) == ("superseded", id_of(2), id_of(2))
    assert after == replace(before, version=3, updated_at=LATER)


def test_a_memory_that_is_reinstated_has_the_end_that_it_had() -> None:
    """SPEC T3: a person decided for it, so that nothing of its closing is left."""
    closed = evolve(memory(), event(Superseded(by=id_of(2), valid_to=NOW)))

    after = evolve(closed, event(Reinstated(instead_of=id_of(2), source_id="message-1"), at=LATER))

    assert after == memory(version=3, updated_at=LATER)


def test_a_memory_that_is_closed_stands_and_holds_until_then() -> None:
    """SPEC T4: it is no longer true from then on, which is no reason not to believe that it was."""
    after = evolve(memory(), event(ValidUntil(because_of=id_of(2), valid_to=LATER), at=LATER))
    again = evolve(after, event(ValidUntil(because_of=id_of(2)), at=LATER))

    assert (after.status, after.valid_to) == (Status.ACTIVE, LATER)
    assert again == memory(version=3, updated_at=LATER)


def test_a_renewed_memory_lives_until_the_new_time() -> None:
    """SPEC L11: renewal moves the end, and nothing else."""
    until = NOW + timedelta(days=200)

    after = evolve(memory(), event(Renewed(expires_at=until)))

    assert (after.expires_at, after.decision_reason) == (until, REASON)
    assert after.content == CONTENT


def test_a_revised_memory_has_new_content_and_the_same_id_and_boundary() -> None:
    """SPEC L8: a revision is the next version of the same memory; only what was said changes."""
    before = memory()
    secret = replace(SECRET, content="Prefers the red notebook")

    after = evolve(before, event(revised(), version=2, at=LATER, secret=secret))

    assert (after.content, after.source.id, after.confidence) == (
        "Prefers the red notebook",
        "message-2",
        0.5,
    )
    assert (after.id, after.boundary, after.created_at) == (before.id, before.boundary, NOW)
    assert after.expires_at == before.expires_at


@pytest.mark.parametrize(
    ("status", "after_its_time"),
    [
        (Status.ACTIVE, Status.EXPIRED),
        (Status.QUARANTINED, Status.EXPIRED),
        *((status, status) for status in Status if status not in {Status.ACTIVE, Status.QUARANTINED}),
    ],
)
def test_time_ends_what_still_lives_before_a_worker_writes_it_down(
    status: Status, after_its_time: Status
) -> None:
    """SPEC L11: from the very instant of its expiry a memory reads as expired."""
    one = memory(status=status, expires_at=LATER)

    assert one.status_at(LATER - timedelta(microseconds=1)) == status
    assert one.status_at(LATER) == after_its_time


def test_forgetting_a_subject_is_not_an_event_of_one_memory() -> None:
    """SPEC F1: a subject is forgotten as a whole; no single memory's version moves by it."""
    assert SubjectForgotten not in STEP_OF
    assert STEP_OF[Expired] is Step.EXPIRE

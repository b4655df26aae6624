"""Deciding on a new memory: conflicts, corrections, derivation, lifetimes, and rejections without content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import (
    CLAIM,
    CONTENT,
    FINGERPRINT,
    MODEST,
    NOW,
    RULES,
    WRITER,
    facts,
    finding,
    id_of,
    memory,
    moment,
    proposal,
    source,
)

from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import IllegalTransition, InvalidRequest, MemoryRejected, NotFound, VersionConflict
from tenure.core.events import Admitted, Event, Quarantined, Superseded, encode_header
from tenure.core.events import Refused as RefusedEvent
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Remember
from tenure.core.remembering import Written, remember
from tenure.core.scanning import FindingKind
from tenure.core.token_estimate import estimate_tokens
from tenure.core.vocabulary import Kind, Origin, Outcome, Status, Trust
from tenure.core.write_facts import WriteFacts

APPLICATION = source(type=SourceType.APPLICATION, id="crm-1")
E_MAIL = source(type=SourceType.EMAIL, id="mail-1")


def decided(command: Remember, known: WriteFacts | None = None) -> Decided[Written]:
    """The decision on a proposal that nothing stands in the way of."""
    decision = remember(command, known or facts(), WRITER, moment(), RULES)
    assert isinstance(decision, Decided)
    return decision


def refused(command: Remember, known: WriteFacts) -> Refused:
    """The refusal of a proposal that something stands in the way of."""
    decision = remember(command, known, WRITER, moment(), RULES)
    assert isinstance(decision, Refused)
    return decision


def kept(command: Remember, known: WriteFacts | None = None) -> Memory:
    """The memory that a proposal becomes."""
    kept_memory = decided(command, known).answer.memory
    assert kept_memory is not None
    return kept_memory


def kinds_of(events: tuple[Event, ...]) -> list[type]:
    """What happened, in order."""
    return [type(event.data) for event in events]


def test_an_approved_proposal_becomes_an_active_memory_at_version_one() -> None:
    """SPEC L1, M1: everything but the content comes from authenticated state and the policy."""
    decision = decided(proposal(key="notebook", claim=CLAIM, confidence=0.8))

    one = decision.answer.memory
    assert one is not None
    assert kinds_of(decision.events) == [Admitted]
    assert (one.id, one.tenant, one.status, one.version) == (id_of(100), "acme", Status.ACTIVE, 1)
    assert (one.proposed_by, one.created_at, one.trust) == ("caller-1", NOW, Trust.USER_ASSERTED)
    assert (one.content, one.key, one.claim, one.confidence) == (CONTENT, "notebook", CLAIM, 0.8)
    assert (one.fingerprint, one.tokens) == (FINGERPRINT.hex(), estimate_tokens(CONTENT))
    assert one.scope == Scope(tier=Tier.USER, id="customer-7")
    assert one.decision == decision.answer.decision
    assert (decision.needs, decision.error) == ((), None)


def test_the_caller_may_choose_the_id() -> None:
    """SPEC L9: a client that names its ids can tell its own retry from a new memory."""
    assert kept(proposal(id=id_of(7))).id == id_of(7)


def test_what_comes_from_outside_is_kept_and_held_back() -> None:
    """SPEC L6: quarantined memories are stored, with the rule that held them back."""
    decision = decided(proposal(source=E_MAIL))

    assert kinds_of(decision.events) == [Quarantined]
    assert decision.answer.memory is not None
    assert (decision.answer.memory.status, decision.answer.memory.trust) == (
        Status.QUARANTINED,
        Trust.UNTRUSTED,
    )
    assert decision.answer.decision.rule == "external_source"


@pytest.mark.parametrize("content", ["", "   ", "\n\t", "x" * 2_001])
def test_empty_and_overlong_content_is_rejected_by_the_policy(content: str) -> None:
    """SPEC L3: the first rule."""
    assert decided(proposal(content=content)).answer.decision.rule == "content_length"


def test_a_rejection_leaves_an_audit_record_without_the_content() -> None:
    """SPEC L13, E6: who, what rule and a digest; not a word of what was said."""
    found = (finding(FindingKind.CREDENTIAL),)
    secretive = proposal(content="hunter-two", key="hunter-key", claim=CLAIM, source=source(uri="hunter-uri"))

    decision = decided(secretive, facts(findings=found))

    (event,) = decision.events
    header = encode_header(event, dek=None, body_sha256=None).decode()
    assert isinstance(event.data, RefusedEvent)
    assert (event.data.rule, event.data.fingerprint) == ("credential", FINGERPRINT)
    assert [verdict.kind for verdict in event.data.findings] == ["credential"]
    assert (event.stream, event.secret) == (None, None)
    assert "hunter" not in header
    assert CLAIM.value not in header


def test_a_rejection_is_an_error_for_a_write_and_an_answer_for_a_dry_run() -> None:
    """SPEC L13, L2: the decision is in the answer, and the error is raised once the record is durable."""
    decision = decided(proposal(content=CONTENT), facts(findings=(finding(FindingKind.ATTACK),)))

    assert (decision.answer.memory, decision.answer.decision.outcome) == (None, Outcome.REJECT)
    assert len(decision.answer.findings) == 1
    assert isinstance(decision.error, MemoryRejected)
    assert (decision.error.rule, decision.error.policy_version) == ("attack", "default-1")
    assert CONTENT not in f"{decision.error.message} {decision.error.details}"


def test_findings_are_kept_with_a_memory_that_is_held_back() -> None:
    """SPEC M1: scanner verdicts are part of the record, and hold no text."""
    found = (finding(FindingKind.SENSITIVE),)

    one = kept(proposal(), facts(findings=found))

    assert [(verdict.kind, verdict.start, verdict.end) for verdict in one.findings] == [("sensitive", 0, 4)]


@MODEST
@given(confidence=st.floats(min_value=0, max_value=1), kind=st.sampled_from(Kind))
def test_trust_and_outcome_never_depend_on_confidence(confidence: float, kind: Kind) -> None:
    """SPEC M5: a model's confidence buys nothing."""
    certain, doubtful = (kept(proposal(kind=kind, confidence=one)) for one in (1.0, confidence))

    assert (certain.trust, certain.decision, certain.expires_at) == (
        doubtful.trust,
        doubtful.decision,
        doubtful.expires_at,
    )


@pytest.mark.parametrize(
    ("present", "expected_version", "current"),
    [(memory(version=3), 0, 3), (memory(version=3), 2, 3), (None, 1, 0)],
)
def test_another_version_than_expected_is_a_conflict_that_says_the_current_one(
    present: Memory | None, expected_version: int, current: int
) -> None:
    """SPEC L8: and nothing changes."""
    error = refused(proposal(id=id_of(1), expected_version=expected_version), facts(present=present)).error

    assert isinstance(error, VersionConflict)
    assert (error.expected_version, error.current_version) == (expected_version, current)


def test_a_new_memory_cannot_be_written_over_one_that_exists() -> None:
    """SPEC L8: even with the right version; a new version of a memory is a revision."""
    error = refused(proposal(id=id_of(1), expected_version=3), facts(present=memory(version=3))).error

    assert isinstance(error, InvalidRequest)
    assert error.field == "expected_version"
    assert error.hint == "Send PATCH to the memory for a new version of it."


def test_an_admitted_correction_takes_the_place_of_what_it_corrects() -> None:
    """SPEC L10: the old memory becomes superseded, version + 1, in the same step."""
    corrected = memory(version=4)

    decision = decided(proposal(supersedes=id_of(1)), facts(corrected=corrected))

    assert kinds_of(decision.events) == [Admitted, Superseded]
    assert decision.events[1].data == Superseded(by=id_of(100))
    assert (decision.events[1].stream, decision.events[1].version) == (id_of(1), 5)
    assert decision.answer.memory is not None
    assert decision.answer.memory.supersedes == id_of(1)


@pytest.mark.parametrize(
    ("change", "trust", "rule"),
    [
        ({"source": E_MAIL}, Trust.UNTRUSTED, "external_source"),
        ({}, Trust.APPLICATION_VERIFIED, "correction_outranked"),
    ],
)
def test_a_correction_that_is_held_back_supersedes_nothing(
    change: dict[str, object], trust: Trust, rule: str
) -> None:
    """SPEC L10: not until it is promoted; an untrusted claim never displaces a trusted one."""
    decision = decided(proposal(supersedes=id_of(1), **change), facts(corrected=memory(trust=trust)))

    assert kinds_of(decision.events) == [Quarantined]
    assert decision.answer.decision.rule == rule


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_a_correction_has_the_boundary_of_what_it_corrects(side: str) -> None:
    """SPEC L10, M2: agent, purpose and subject must match."""
    error = refused(proposal(supersedes=id_of(1)), facts(corrected=memory(**{side: "another"}))).error

    assert isinstance(error, InvalidRequest)
    assert error.field == "supersedes"


def test_a_correction_of_nothing_is_refused() -> None:
    """SPEC L10: it points at what it corrects."""
    error = refused(proposal(supersedes=id_of(1)), facts()).error

    assert isinstance(error, NotFound)
    assert error.details == {"field": "supersedes"}


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ACTIVE])
def test_only_an_active_memory_can_be_corrected(status: Status) -> None:
    """SPEC M6, L10: of two corrections of one memory exactly one can win."""
    with pytest.raises(IllegalTransition):
        decided(proposal(supersedes=id_of(1)), facts(corrected=memory(status=status)))


def test_a_memory_whose_time_has_passed_cannot_be_corrected() -> None:
    """SPEC L11: it is expired from that instant, whether or not a worker has written it down."""
    with pytest.raises(IllegalTransition):
        decided(proposal(supersedes=id_of(1)), facts(corrected=memory(expires_at=NOW)))


def test_a_derived_memory_has_the_lowest_trust_and_all_the_roots_of_its_inputs() -> None:
    """SPEC M5a: the origin of text is its author, not the tool that passed it on."""
    mail = Origin(type=SourceType.EMAIL, id="mail-1")
    web = Origin(type=SourceType.WEB, id="page-1")
    parents = (
        memory(id=id_of(3), trust=Trust.REVIEWER_VERIFIED, origins=(web, mail), version=2),
        memory(id=id_of(4), trust=Trust.USER_ASSERTED, origins=(mail,), version=5),
    )

    decision = decided(proposal(source=APPLICATION, kind=Kind.SUMMARY), facts(parents=parents))

    one = decision.answer.memory
    assert one is not None
    assert (one.trust, one.derived_from) == (Trust.USER_ASSERTED, (id_of(3), id_of(4)))
    assert one.origins == (mail, web)
    assert decision.needs == (
        Needs(memory_id=id_of(3), version=2),
        Needs(memory_id=id_of(4), version=5),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"trust": Trust.UNTRUSTED},
        {"expires_at": NOW},
        *({"status": status} for status in Status if status not in {Status.ACTIVE, Status.REVOKED}),
    ],
)
def test_what_derives_from_anything_that_is_not_active_and_trusted_waits(change: dict[str, object]) -> None:
    """SPEC M5a: quarantined text is not laundered by a summary of it."""
    decision = decided(proposal(source=APPLICATION), facts(parents=(memory(), memory(**change))))

    assert decision.answer.decision.rule == "derived_from_untrusted"
    assert kinds_of(decision.events) == [Quarantined]


def test_text_of_its_own_is_its_own_root() -> None:
    """SPEC M5a: what derives from nothing has its source as origin."""
    assert kept(proposal(source=APPLICATION)).origins == (Origin(type=SourceType.APPLICATION, id="crm-1"),)


def test_who_proposed_it_is_recorded_for_policies_to_come() -> None:
    """SPEC I4, A4: roles and whether a model drove the caller, with what is kept and what is refused."""
    (kept_event,) = decided(proposal()).events
    (refused_event,) = decided(proposal(content=" ")).events

    assert isinstance(kept_event.data, Admitted)
    assert isinstance(refused_event.data, RefusedEvent)
    for data in (kept_event.data, refused_event.data):
        assert data.proposer_roles == tuple(sorted(WRITER.grants.roles))
        assert data.proposer_model_driven is WRITER.grants.model_driven
    assert refused_event.data.characters == 0

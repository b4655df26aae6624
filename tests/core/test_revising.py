"""A new version of a memory goes through the same gate as a new memory."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.core.examples import (
    CLAIM,
    CONTENT,
    KEY,
    LATER,
    NOW,
    RULES,
    WRITER,
    facts,
    finding,
    id_of,
    memory,
    moment,
    source,
)

from tenure.core.decision import Decided, Refused
from tenure.core.errors import IllegalTransition, InvalidRequest, MemoryRejected, VersionConflict
from tenure.core.events import Quarantined, Revised
from tenure.core.events import Refused as RefusedEvent
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.remembering import Written, revise
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Claim, Origin, Status, Trust
from tenure.core.write_facts import WriteFacts

MESSAGE = source(id="message-2")
RED = "Prefers the red notebook"


def revision(**changes: object) -> Revise:
    """The same person says something else."""
    return replace(Revise(expected_version=1, source=MESSAGE, content=RED), **changes)


def decided(command: Revise, one: Memory, known: WriteFacts | None = None) -> Decided[Written]:
    """The decision on a revision that nothing stands in the way of."""
    decision = revise(command, one, known or facts(), WRITER, moment(now=LATER), RULES)
    assert isinstance(decision, Decided)
    return decision


def test_an_admitted_revision_is_the_next_version_of_the_same_memory() -> None:
    """SPEC L8, L10: one event, at the version that follows."""
    decision = decided(revision(confidence=0.25), memory())

    (event,) = decision.events
    one = decision.answer.memory
    assert isinstance(event.data, Revised)
    assert (event.stream, event.version, event.subject) == (id_of(1), 2, "customer-7")
    assert one is not None
    assert (one.id, one.version, one.status, one.content) == (id_of(1), 2, Status.ACTIVE, RED)
    assert (one.confidence, one.source, one.trust) == (0.25, MESSAGE, Trust.USER_ASSERTED)
    assert decision.error is None


def test_what_a_revision_leaves_out_stays_as_it_is() -> None:
    """SPEC L8: content, claim and confidence are changed each for itself."""
    claim = Claim(entity="notebook", attribute="colour", value="red")
    before = memory(confidence=0.75)

    only_claim = decided(revision(content=None, claim=claim), before).answer.memory
    only_content = decided(revision(), before).answer.memory

    assert only_claim is not None
    assert only_content is not None
    assert (only_claim.content, only_claim.claim, only_claim.confidence) == (CONTENT, claim, 0.75)
    assert (only_content.content, only_content.claim, only_content.confidence) == (RED, CLAIM, 0.75)
    assert only_content.key == KEY


def test_a_revision_lengthens_no_life() -> None:
    """SPEC L11: only a renewal does, and it needs a reason."""
    one = decided(revision(), memory()).answer.memory

    assert one is not None
    assert one.expires_at == memory().expires_at


def test_a_revision_expects_the_version_that_stands() -> None:
    """SPEC L8: a stale writer changes nothing."""
    decision = revise(revision(expected_version=1), memory(version=2), facts(), WRITER, moment(), RULES)

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, VersionConflict)
    assert decision.error.current_version == 2


@pytest.mark.parametrize(
    "change",
    [{"expires_at": NOW}, *({"status": status} for status in Status if status is not Status.ACTIVE)],
)
def test_only_a_memory_that_is_active_now_can_be_revised(change: dict[str, object]) -> None:
    """SPEC M6, L6: what is quarantined, ended or out of time has no next version."""
    with pytest.raises(IllegalTransition):
        decided(revision(), memory(**change))


def test_a_revision_that_changes_nothing_is_refused() -> None:
    """SPEC S2: it says what may be given."""
    decision = revise(revision(content=None), memory(), facts(), WRITER, moment(), RULES)

    assert isinstance(decision, Refused)
    assert isinstance(decision.error, InvalidRequest)
    assert decision.error.field == "content"


@pytest.mark.parametrize(
    ("change", "trust", "rule"),
    [
        ({"source": source(type=SourceType.EMAIL)}, Trust.USER_ASSERTED, "external_source"),
        ({}, Trust.REVIEWER_VERIFIED, "correction_outranked"),
    ],
)
def test_a_revision_that_is_held_back_waits_as_a_correction_of_its_own(
    change: dict[str, object], trust: Trust, rule: str
) -> None:
    """SPEC L10: the memory stays as it is until somebody promotes the correction."""
    before = memory(trust=trust, scope=Scope(tier=Tier.SESSION, id="session-1", user="customer-7"))

    decision = decided(revision(**change), before, facts(key_digest=b"k"))

    (event,) = decision.events
    one = decision.answer.memory
    assert isinstance(event.data, Quarantined)
    assert one is not None
    assert (one.id, one.version, one.supersedes) == (id_of(100), 1, id_of(1))
    assert (one.boundary, one.scope, one.kind, one.key) == (
        before.boundary,
        before.scope,
        before.kind,
        before.key,
    )
    assert (one.content, one.status, one.decision.rule) == (RED, Status.QUARANTINED, rule)
    assert one.expires_at == LATER + timedelta(hours=24)
    assert event.secret is not None
    assert event.secret.key_digest == b"k"


@pytest.mark.parametrize(
    ("content", "findings", "rule"),
    [
        ("", (), "content_length"),
        (" \n ", (), "content_length"),
        ("x" * 2_001, (), "content_length"),
        (RED, (FindingKind.CREDENTIAL,), "credential"),
        (RED, (FindingKind.ATTACK,), "attack"),
    ],
)
def test_a_revision_that_is_rejected_leaves_a_record_without_content_and_the_memory_as_it_is(
    content: str, findings: tuple[FindingKind, ...], rule: str
) -> None:
    """SPEC L13: the same gate, the same audit record."""
    found = tuple(finding(kind) for kind in findings)

    decision = decided(revision(content=content), memory(), facts(findings=found))

    (event,) = decision.events
    assert isinstance(event.data, RefusedEvent)
    assert (event.data.rule, event.secret, event.stream) == (rule, None, None)
    assert isinstance(decision.error, MemoryRejected)
    assert decision.answer.memory is None


@pytest.mark.parametrize("kind", [FindingKind.FAILURE, FindingKind.SENSITIVE])
def test_a_revision_is_scanned_like_a_new_memory(kind: FindingKind) -> None:
    """SPEC L1, L5: there is no way round the gate for what was admitted once."""
    decision = decided(revision(), memory(), facts(findings=(finding(kind),)))

    assert isinstance(decision.events[0].data, Quarantined)


def test_new_text_has_its_own_source_as_root() -> None:
    """SPEC M5a: what was said anew comes from who says it now."""
    one = decided(revision(), memory(origins=(Origin(type=SourceType.WEB, id="page-1"),))).answer.memory

    assert one is not None
    assert one.origins == (Origin(type=SourceType.DIRECT_USER, id="message-2"),)


def test_changing_only_the_confidence_neither_raises_trust_nor_hides_where_the_text_came_from() -> None:
    """SPEC M5, M5a: the text is still its author's, and confidence buys no trust."""
    roots = (Origin(type=SourceType.DIRECT_USER, id="message-1"),)
    vouching = source(type=SourceType.APPLICATION, id="crm-1")

    one = decided(
        revision(content=None, confidence=1.0, source=vouching), memory(origins=roots, confidence=0.5)
    ).answer.memory

    assert one is not None
    assert (one.trust, one.origins) == (Trust.USER_ASSERTED, roots)

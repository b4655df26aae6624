"""Writing through the whole gate, on a real store: new memories, corrections, revisions, derived ones."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    BOT,
    REVIEWER,
    caller,
    happened,
    held,
    judgement,
    log,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import (
    IllegalTransition,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    VersionConflict,
)
from tenure.core.identity import Role, Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim, Kind, Origin, Outcome, Status, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REVOKE

SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


def read(pipeline: Pipeline, memory_id: UUID) -> Memory:
    """A memory as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory_id))


def test_a_memory_carries_everything_that_it_was_given(pipeline: Pipeline) -> None:
    """SPEC M1: what is answered is what is read back, whole."""
    command = proposal(
        "Invoices go to the head office",
        id=UUID(int=5),
        kind=Kind.FACT,
        scope=Scope(tier=Tier.SESSION, id="s-1", user="u-1"),
        key="billing",
        claim=Claim(entity="invoices", attribute="go to", value="head office"),
        confidence=0.75,
        ttl_seconds=600,
        valid_from=START,
        valid_to=START + timedelta(days=9),
        source=source(uri="https://example.com/1", version="3", observed_at=START, thread="t", position=4),
    )

    memory = pipeline.run(REMEMBER, BOT, command).memory

    assert memory is not None
    assert read(pipeline, UUID(int=5)) == memory
    for field in (
        "content",
        "kind",
        "scope",
        "key",
        "claim",
        "confidence",
        "valid_from",
        "valid_to",
        "source",
    ):
        assert getattr(memory, field) == getattr(command, field)
    assert (memory.status, memory.version, memory.created_at) == (Status.ACTIVE, 1, START)
    assert memory.expires_at == START + timedelta(seconds=600)
    assert (memory.proposed_by, memory.policy_version) == (BOT.id, memory.decision.policy_version)
    assert memory.fingerprint


@pytest.mark.parametrize(
    ("sides", "outcome", "rule", "trust"),
    [
        ({}, Outcome.APPROVE, "application", Trust.APPLICATION_VERIFIED),
        (
            {"source": source(SourceType.DIRECT_USER), "kind": Kind.PREFERENCE},
            Outcome.APPROVE,
            "direct_user_preference",
            Trust.USER_ASSERTED,
        ),
        ({"source": source(SourceType.DIRECT_USER)}, Outcome.QUARANTINE, "no_rule_matched", Trust.UNTRUSTED),
        ({"kind": Kind.SENSITIVE_CHANGE}, Outcome.QUARANTINE, "sensitive_change", Trust.UNTRUSTED),
        ({"source": source(SourceType.TOOL)}, Outcome.QUARANTINE, "external_source", Trust.UNTRUSTED),
    ],
    ids=["application", "preference", "other", "sensitive", "tool"],
)
def test_the_gate_decides_by_source_and_kind(
    pipeline: Pipeline, sides: dict[str, Any], outcome: Outcome, rule: str, trust: Trust
) -> None:
    """SPEC L2, L3, M5: rule, reason and policy version are stored with the memory."""
    memory = written(pipeline, **sides)

    assert (memory.decision.outcome, memory.decision.rule, memory.trust) == (outcome, rule, trust)
    assert memory.decision.reason
    assert read(pipeline, memory.id).decision == memory.decision


def test_a_rejected_proposal_leaves_a_record_without_its_content(pipeline: Pipeline) -> None:
    """SPEC L13, L4: who, where, which rule and a keyed fingerprint; no memory, and no text."""
    with pytest.raises(MemoryRejected) as rejection:
        pipeline.run(REMEMBER, BOT, proposal(f"The access key is {SECRET}", id=UUID(int=5)))

    [event] = log(pipeline)
    assert happened(pipeline) == ["memory.refused"]
    assert event.secret is None
    assert SECRET not in repr((event, rejection.value.args, rejection.value.details))
    assert rejection.value.rule == "credential"
    with pytest.raises(NotFound):
        read(pipeline, UUID(int=5))


def test_a_memory_of_an_id_that_stands_is_a_conflict(pipeline: Pipeline) -> None:
    """SPEC L8: a new memory expects version 0; the current version is said, and nothing changed."""
    memory = written(pipeline, id=UUID(int=5))

    with pytest.raises(VersionConflict) as conflict:
        written(pipeline, "Something else", id=UUID(int=5))
    with pytest.raises(VersionConflict) as other:
        written(pipeline, "Something else", expected_version=3)

    assert (conflict.value.expected_version, conflict.value.current_version) == (0, 1)
    assert other.value.current_version == 0
    assert read(pipeline, memory.id) == memory


def test_a_correction_takes_the_place_of_what_it_corrects(pipeline: Pipeline) -> None:
    """SPEC L10: the old is superseded at version 2, recall shows the new, and history keeps both."""
    old = written(pipeline, "Prefers e-mail to phone")
    new = written(pipeline, "Prefers phone to e-mail", supersedes=old.id)

    stands = read(pipeline, old.id)
    found = pipeline.run(RECALL, BOT, question()).items
    assert (stands.status, stands.version, stands.superseded_by) == (Status.SUPERSEDED, 2, new.id)
    assert new.supersedes == old.id
    assert [item.memory.id for item in found] == [new.id]


def test_a_correction_that_waits_supersedes_nothing_until_it_is_promoted(pipeline: Pipeline) -> None:
    """SPEC L10, L7: until then the old one is what is recalled."""
    old = written(pipeline)
    new = held(pipeline, supersedes=old.id)

    before = read(pipeline, old.id).status
    pipeline.run(PROMOTE, REVIEWER, judgement(new.id, 1))

    assert (before, read(pipeline, old.id).status) == (Status.ACTIVE, Status.SUPERSEDED)
    assert read(pipeline, old.id).superseded_by == new.id


def test_an_untrusted_claim_never_displaces_a_trusted_one(pipeline: Pipeline) -> None:
    """SPEC L10, M5: a user's word waits where a reviewer or an application vouched for the old one."""
    old = written(pipeline, kind=Kind.PREFERENCE)
    new = written(pipeline, kind=Kind.PREFERENCE, source=source(SourceType.DIRECT_USER), supersedes=old.id)

    assert (new.status, new.decision.rule) == (Status.QUARANTINED, "correction_outranked")
    assert read(pipeline, old.id).status is Status.ACTIVE


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_a_correction_stays_within_the_four_walls(pipeline: Pipeline, side: str) -> None:
    """SPEC L10, M2: nothing is superseded across a boundary."""
    old = written(pipeline)

    with pytest.raises(InvalidRequest) as refusal:
        written(pipeline, supersedes=old.id, **{side: "other"})

    assert refusal.value.field == "supersedes"
    assert read(pipeline, old.id).status is Status.ACTIVE


def test_a_correction_of_what_is_not_there_is_refused(pipeline: Pipeline) -> None:
    """SPEC L10, M2: absent, and outside the caller's grants, are the same to the caller."""
    old = written(pipeline, subject="customer-8")
    narrow = caller(Role.WRITER, subjects={"customer-7"})

    for missing in (UUID(int=9), old.id):
        with pytest.raises(NotFound) as refusal:
            pipeline.run(REMEMBER, narrow, proposal(supersedes=missing))
        assert refusal.value.details["field"] == "supersedes"


@pytest.mark.parametrize("ended", ["revoked", "superseded", "quarantined"])
def test_only_what_is_active_is_corrected(pipeline: Pipeline, ended: str) -> None:
    """SPEC M6, L10: the life cycle has no other step to superseded."""
    old = held(pipeline) if ended == "quarantined" else written(pipeline)
    if ended == "revoked":
        pipeline.run(REVOKE, REVIEWER, judgement(old.id, 1))
    if ended == "superseded":
        written(pipeline, supersedes=old.id)

    with pytest.raises(IllegalTransition):
        written(pipeline, supersedes=old.id)


def test_what_has_expired_is_corrected_no_more(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11, M6: from that instant, whether or not upkeep has written it down."""
    old = written(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)

    with pytest.raises(IllegalTransition):
        written(pipeline, supersedes=old.id)


def test_what_is_derived_keeps_the_lowest_trust_and_every_origin(pipeline: Pipeline) -> None:
    """SPEC M5a: the roots are the authors' sources; the summary's own source adds none."""
    one = written(pipeline, source=source(id_="crm-1"))
    two = written(pipeline, kind=Kind.PREFERENCE, source=source(SourceType.DIRECT_USER, "conv-1"))
    summary = written(
        pipeline,
        "Both in short",
        kind=Kind.SUMMARY,
        source=source(id_="job-1"),
        derived_from=(one.id, two.id),
    )

    assert (summary.status, summary.trust) == (Status.ACTIVE, Trust.USER_ASSERTED)
    assert summary.derived_from == (one.id, two.id)
    assert set(summary.origins) == {
        Origin(type=SourceType.APPLICATION, id="crm-1"),
        Origin(type=SourceType.DIRECT_USER, id="conv-1"),
    }


def test_what_derives_from_something_that_waits_waits_too(pipeline: Pipeline) -> None:
    """SPEC M5a, L6: text from outside is not admitted by passing it through an application."""
    summary = written(pipeline, "In short", kind=Kind.SUMMARY, derived_from=(held(pipeline).id,))

    assert (summary.status, summary.decision.rule) == (Status.QUARANTINED, "derived_from_untrusted")


@pytest.mark.parametrize("side", ["agent", "purpose", "subject"])
def test_what_is_derived_stays_within_the_four_walls(pipeline: Pipeline, side: str) -> None:
    """SPEC M2, M5a: no summary carries one subject's facts, agent's or purpose's to another."""
    other = written(pipeline, **{side: "other"})

    with pytest.raises(NotFound) as refusal:
        written(pipeline, kind=Kind.SUMMARY, derived_from=(other.id,))

    assert refusal.value.details["field"] == "derived_from"

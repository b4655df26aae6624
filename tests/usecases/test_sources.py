"""A source that went bad: what it touched, and revoking all that came from it (SPEC I1, I2)."""

from typing import Any

import msgspec
import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    AGENT,
    AUDITOR,
    BOT,
    OFFICER,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    caller,
    happened,
    held,
    judgement,
    log,
    looked,
    question,
    source,
    written,
)
from tests.usecases.sourcing import ASK, REVOKE, a_summary, of_the_log, recalled

from tenure.core.errors import (
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    MemoryRejected,
)
from tenure.core.events import Revoked
from tenure.core.identity import Caller, Role
from tenure.core.incident_events import Looked, SourceRevocationFinished
from tenure.core.incidents import Called, Counts, Impact, Revocation
from tenure.core.vocabulary import Status
from tenure.usecases.forgetting import FORGET_MEMORY, ForgetMemory
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import HISTORY, Get
from tenure.usecases.retrieval import INFLUENCE, RECALL, Influence, ToolCall
from tenure.usecases.review import REVOKE as REVOKE_ONE
from tenure.usecases.sources import IMPACT, revoke_source


def impact(pipeline: Pipeline, **asked: Any) -> Impact:
    """What the source has touched, as the operator sees it."""
    return pipeline.run(IMPACT, OPERATOR, msgspec.structs.replace(ASK, **asked))


def test_an_unknown_source_has_touched_nothing(pipeline: Pipeline) -> None:
    """SPEC I2: zeros, not an error."""
    assert impact(pipeline) == Impact() == Impact(counts=Counts())


def test_the_blast_radius_goes_from_the_source_to_the_tool_call(pipeline: Pipeline) -> None:
    """SPEC I1, I2: through summaries; each response and call once, however often it was reported."""
    first = written(pipeline)
    summary = a_summary(pipeline, first)
    other = written(pipeline, "Prefers the phone", source=source(id_="crm-2"))
    better = written(pipeline, "Prefers letters", supersedes=other.id)
    found = pipeline.run(RECALL, BOT, question(limit=20))
    pipeline.run(RECALL, BOT, question(subject="customer-8"))
    call = ToolCall(id="c-1", name="send_mail")
    for _ in range(2):
        report = Influence(
            receipt_id=found.receipt_id,
            response_id="r-1",
            used_memory_ids=(summary.id,),
            tool_calls=(call,),
        )
        pipeline.run(INFLUENCE, BOT, report)

    assert impact(pipeline) == Impact(
        memories=tuple(sorted((first.id, summary.id, better.id))),
        recalls=(found.receipt_id,),
        responses=("r-1",),
        tool_calls=(Called(id="c-1", name="send_mail"),),
        agents=(AGENT,),
        subjects=(SUBJECT,),
        displaced=(other.id,),
        counts=Counts(memories=3, recalls=1, responses=1, tool_calls=1, agents=1, subjects=1, displaced=1),
    )


def test_lists_are_cut_and_counts_are_not(pipeline: Pipeline) -> None:
    """SPEC I2, S2: whoever asks for fewer is told how many there are."""
    memories = [written(pipeline, f"E-mail number {number}") for number in range(3)]
    for _ in range(3):
        pipeline.run(RECALL, BOT, question())

    cut = impact(pipeline, limit=2)

    assert (cut.memories, len(cut.recalls), cut.truncated) == (
        tuple(sorted(memory.id for memory in memories)[:2]),
        2,
        True,
    )
    assert (cut.counts.memories, cut.counts.recalls) == (3, 3)
    assert not impact(pipeline, limit=3).truncated


def test_what_can_be_read_no_more_is_still_in_the_blast_radius(pipeline: Pipeline) -> None:
    """SPEC I2: revoked and forgotten ones too, by their ids."""
    one, two = written(pipeline, "E-mail"), written(pipeline, "Phone")
    pipeline.run(REVOKE_ONE, REVIEWER, judgement(one.id, 1))
    pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=two.id, expected_version=1))

    assert impact(pipeline).memories == tuple(sorted((one.id, two.id)))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"source_id": ""}, "id"),
        ({"source_type": "x"}, "type"),
    ],
)
def test_a_question_that_is_not_well_formed_is_refused(
    pipeline: Pipeline, change: dict[str, Any], field: str
) -> None:
    """SPEC S2: by the field's name."""
    with pytest.raises(InvalidRequest) as refusal:
        impact(pipeline, **change)

    assert refusal.value.field == field


def test_a_revocation_takes_all_of_it_out_and_records_each(pipeline: Pipeline) -> None:
    """SPEC I1, L12: one call; each memory says who, why and because of which event."""
    first = written(pipeline)
    summary = a_summary(pipeline, first)
    waiting = held(pipeline, derived_from=(first.id,))
    clean = written(pipeline, "Prefers the phone", source=source(id_="crm-2"))

    answer = revoke_source(pipeline, OPERATOR, REVOKE)

    assert (answer.status, answer.revoked, answer.revoked_seq) == (Revocation.REVOKED, 3, 5)
    assert answer.impact.memories == tuple(sorted((first.id, summary.id, waiting.id)))
    assert recalled(pipeline) == {clean.content}
    own = [event for event in log(pipeline) if isinstance(event.data, Revoked)]
    assert [event.stream for event in own] == [first.id, summary.id, waiting.id]
    assert {(event.actor, event.data, event.secret and event.secret.reason) for event in own} == {
        (OPERATOR.id, Revoked(because_of=5), REVOKE.reason)
    }
    (done,) = of_the_log(pipeline, SourceRevocationFinished)
    assert (done.seq, done.revoked) == (5, 3)
    assert happened(pipeline)[4:9] == [
        "source.revoked",
        *["memory.revoked"] * 3,
        "source.revocation_finished",
    ]
    assert pipeline.store.rebuild().identical


def test_a_person_reads_in_the_history_who_revoked_it_and_why(pipeline: Pipeline) -> None:
    """SPEC L12, T4: with the memory as it stands now."""
    memory = written(pipeline)
    revoke_source(pipeline, OPERATOR, REVOKE)

    last = pipeline.run(HISTORY, REVIEWER, Get(memory_id=memory.id)).items[-1]

    assert (last.event, last.actor, last.status) == ("memory.revoked", OPERATOR.id, Status.REVOKED)
    assert last.reason == REVOKE.reason


def test_revoking_it_again_says_so_and_writes_nothing(pipeline: Pipeline) -> None:
    """SPEC I1: idempotent, whatever reason is given the second time; a type within all types as well."""
    written(pipeline)
    revoke_source(pipeline, OPERATOR, REVOKE)
    everywhere = msgspec.structs.replace(REVOKE, source_type=None)
    first = revoke_source(pipeline, OPERATOR, everywhere)
    before = len(happened(pipeline))

    again = revoke_source(pipeline, REVIEWER, msgspec.structs.replace(REVOKE, reason="to be sure"))
    document = revoke_source(pipeline, OPERATOR, msgspec.structs.replace(REVOKE, source_type="document"))

    assert (first.status, first.revoked) == (Revocation.REVOKED, 0)
    assert (again.status, again.revoked) == (Revocation.ALREADY_REVOKED, 0)
    assert len(again.impact.memories) == 1
    assert (document.status, document.revoked_seq) == (Revocation.ALREADY_REVOKED, first.revoked_seq)
    assert len(happened(pipeline)) == before


def test_a_source_that_wrote_nothing_yet_is_revoked_from_then_on(pipeline: Pipeline) -> None:
    """SPEC I1: what it writes later is refused."""
    answer = revoke_source(pipeline, OPERATOR, REVOKE)

    assert (answer.status, answer.revoked, answer.impact) == (Revocation.REVOKED, 0, Impact())
    with pytest.raises(MemoryRejected):
        written(pipeline)
    assert revoke_source(pipeline, OPERATOR, REVOKE).status is Revocation.ALREADY_REVOKED


def test_a_key_stands_for_the_first_answer(pipeline: Pipeline) -> None:
    """SPEC L9: the same command again is told what the first one did; another is refused."""
    written(pipeline)

    first = revoke_source(pipeline, OPERATOR, REVOKE, idempotency_key="k")
    again = revoke_source(pipeline, OPERATOR, REVOKE, idempotency_key="k")

    assert (first.revoked, again) == (1, first)
    other = msgspec.structs.replace(REVOKE, reason="another")
    with pytest.raises(IdempotencyMismatch):
        revoke_source(pipeline, OPERATOR, other, idempotency_key="k")


def test_how_long_it_took_counts_from_detection(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC S4: detection to revocation; without a detection from the call."""
    detected_at = clock.now()
    clock.pass_time(minutes=5)

    told = revoke_source(pipeline, OPERATOR, msgspec.structs.replace(REVOKE, detected_at=detected_at))
    other = revoke_source(pipeline, OPERATOR, msgspec.structs.replace(REVOKE, source_id="crm-2"))

    assert (told.detected_at, told.seconds_to_revocation) == (START, 300.0)
    assert (other.detected_at, other.seconds_to_revocation) == (None, 0.0)
    assert [done.seconds for done in of_the_log(pipeline, SourceRevocationFinished)] == [300.0, 0.0]


@pytest.mark.parametrize(
    "who",
    [
        BOT,
        OFFICER,
        AUDITOR,
        caller(*Role, model_driven=True),
        caller(Role.OPERATOR, agents={AGENT}),
        caller(Role.REVIEWER, subjects={SUBJECT}),
    ],
    ids=["bot", "officer", "auditor", "model", "one agent", "one subject"],
)
def test_only_who_answers_for_the_whole_tenant_may_revoke_a_source(pipeline: Pipeline, who: Caller) -> None:
    """SPEC A2, A4, A5: an operator or a reviewer, never narrowed, never a model; a denial is recorded."""
    written(pipeline)

    with pytest.raises(Forbidden):
        revoke_source(pipeline, who, REVOKE)

    assert happened(pipeline)[-1] == "access.denied"
    assert len(recalled(pipeline)) == 1


def test_who_may_see_a_blast_radius(pipeline: Pipeline) -> None:
    """SPEC A2, A4: auditors too; nobody who was granted a part of the tenant."""
    for who in (OPERATOR, REVIEWER, AUDITOR):
        pipeline.run(IMPACT, who, ASK)
    for who in (BOT, OFFICER, caller(Role.AUDITOR, agents={AGENT})):
        with pytest.raises(Forbidden):
            pipeline.run(IMPACT, who, ASK)


def test_asking_leaves_an_event_of_the_read(pipeline: Pipeline) -> None:
    """SPEC E2: a read of what a source touched is a read."""
    impact(pipeline)

    (event,) = looked(pipeline)
    assert isinstance(event.data, Looked)
    assert (event.data.what, event.data.returned, event.actor) == ("source-impact", 0, OPERATOR.id)

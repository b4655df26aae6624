"""Everything held about a subject, for the subject: the right of access (SPEC F12, L14)."""

import msgspec
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
    held,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import Forbidden
from tenure.core.holds import Hold, PlaceHold
from tenure.core.identity import Role, Scope, SourceType, Tier
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Kind, Status
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.exporting import EXPORT_SUBJECT, FORMAT, ExportSubject, SubjectExport
from tenure.usecases.forgetting import FORGET_MEMORY, FORGET_SUBJECT, ForgetMemory, ForgetSubject
from tenure.usecases.holds import PLACE_HOLD
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import INFLUENCE, RECALL, Influence, ToolCall
from tenure.usecases.review import REJECT
from tenure.usecases.upkeep import upkeep_round

EXPORT = ExportSubject(subject=SUBJECT)
OTHER = "customer-8"


def export(pipeline: Pipeline) -> SubjectExport:
    """Everything held about the subject, as the privacy officer has it."""
    return pipeline.run(EXPORT_SUBJECT, OFFICER, EXPORT)


def statuses(pipeline: Pipeline) -> list[tuple[Status, bool, bool]]:
    """Of each memory in an export: its status, whether it is readable, whether its content is in it."""
    return [
        (one.memory.status, one.readable, one.memory.content is not None) for one in export(pipeline).memories
    ]


def test_every_memory_is_in_it_whole_with_where_it_came_from(pipeline: Pipeline) -> None:
    """SPEC F12: whatever its status; content, claim, source, trust and what it was made from."""
    first = written(pipeline, key="contact", source=source(uri="https://crm.example/7"))
    child = written(pipeline, "Writes much", kind=Kind.SUMMARY, derived_from=(first.id,))
    waiting = held(pipeline)
    written(pipeline, subject=OTHER)

    exported = export(pipeline)

    assert (exported.format, exported.tenant, exported.subject) == (FORMAT, TENANT, SUBJECT)
    assert exported.exported_at == START
    assert [one.memory for one in exported.memories] == [first, child, waiting]
    assert all(one.readable for one in exported.memories)
    assert exported.memories[0].memory.source.uri == "https://crm.example/7"
    assert exported.memories[1].memory.derived_from == (first.id,)
    assert exported.hold is None


def test_what_became_of_each_memory_is_told(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F12, L11, L13: rejected and expired ones too, as of now."""
    rejected = held(pipeline)
    pipeline.run(REJECT, REVIEWER, judgement(rejected.id, 1))
    written(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=60)

    assert statuses(pipeline) == [(Status.REJECTED, True, True), (Status.EXPIRED, True, True)]


def test_what_is_forgotten_but_not_erased_is_held_and_says_so(pipeline: Pipeline) -> None:
    """SPEC F2, F12: logical absence is not erasure, and the subject may know."""
    memory = written(pipeline)
    written(pipeline, "Writes much", kind=Kind.SUMMARY, derived_from=(memory.id,))
    pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=memory.id, expected_version=1))
    assert statuses(pipeline) == [(Status.FORGOTTEN, False, True)] * 2
    written(pipeline, "Prefers the phone")
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    assert statuses(pipeline) == [(Status.FORGOTTEN, False, True)] * 3


def test_what_went_with_its_scope_is_expired_and_not_forgotten(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F2, F3: compaction is no forgetting, and the export tells the two apart."""
    written(pipeline, scope=Scope(tier=Tier.TASK, id="t-1"))
    clock.pass_time(hours=1)
    upkeep_round(pipeline, batch_size=10)
    assert statuses(pipeline) == [(Status.EXPIRED, False, True)]

    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    assert statuses(pipeline) == [(Status.FORGOTTEN, False, True)]


def test_of_what_is_erased_only_what_remains_is_told(pipeline: Pipeline) -> None:
    """SPEC F8, F12: ids and sources, no content, and the fresh memory whole."""
    written(pipeline, "Likes hazelnuts")
    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))
    written(pipeline, "Prefers the phone")

    assert statuses(pipeline) == [(Status.ERASED, False, False), (Status.ACTIVE, True, True)]
    assert "hazelnut" not in repr(export(pipeline).memories)


def test_which_recalls_showed_it_and_which_responses_used_it_is_told(pipeline: Pipeline) -> None:
    """SPEC F12, R7: also a recall that asked for every subject, and of that nobody else's memories."""
    memory = written(pipeline)
    written(pipeline, subject=OTHER)
    used = pipeline.run(RECALL, BOT, question(subject=None)).receipt_id
    pipeline.run(RECALL, BOT, question(subject=OTHER))
    pipeline.run(
        INFLUENCE,
        BOT,
        Influence(
            receipt_id=used,
            response_id="response-1",
            used_memory_ids=(memory.id,),
            tool_calls=(ToolCall(id="call-1", name="send_mail"),),
        ),
    )

    (shown,) = export(pipeline).recalls

    assert (shown.receipt_id, shown.by, shown.memory_ids) == (used, BOT.id, (memory.id,))
    assert (shown.responses, shown.tool_calls) == (("response-1",), ("call-1",))


def test_every_event_about_the_subject_is_told_with_what_was_said_in_it(pipeline: Pipeline) -> None:
    """SPEC F12, L14: who did what, when and why; an event of another subject is not in it."""
    memory = written(pipeline, "Likes hazelnuts")
    written(pipeline, subject=OTHER)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason="a claim in court"))
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    exported = export(pipeline)

    assert [(one.event, one.actor, one.memory_id) for one in exported.events] == [
        ("memory.admitted", BOT.id, memory.id),
        ("hold.placed", OFFICER.id, None),
        ("subject.forgotten", OFFICER.id, None),
    ]
    assert [one.content or one.reason for one in exported.events] == [
        "Likes hazelnuts",
        "a claim in court",
        None,
    ]
    assert exported.hold == Hold(subject=SUBJECT, placed_by=OFFICER.id, placed_at=START)


def test_earlier_wordings_are_held_and_told(pipeline: Pipeline) -> None:
    """SPEC F12: a revised memory has its first wording among the events."""
    memory = written(pipeline, "Likes hazelnuts")
    change = Revise(expected_version=1, source=memory.source, content="Likes walnuts")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=change))

    exported = export(pipeline)

    assert [held.memory.content for held in exported.memories] == ["Likes walnuts"]
    assert [one.content for one in exported.events] == ["Likes hazelnuts", "Likes walnuts"]


def test_a_caller_that_was_granted_one_agent_is_told_of_that_agent_alone(pipeline: Pipeline) -> None:
    """SPEC A2: an export reaches no further than a read."""
    written(pipeline, "Likes hazelnuts")
    narrowed = msgspec.structs.replace(
        OFFICER, grants=msgspec.structs.replace(OFFICER.grants, agents=frozenset({"sales"}))
    )

    exported = pipeline.run(EXPORT_SUBJECT, narrowed, ExportSubject(subject=SUBJECT))

    assert (exported.memories, exported.events) == ((), ())


def test_a_long_history_is_told_without_a_gap(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC F12: pages of events leave none out and repeat none."""
    monkeypatch.setattr("tenure.usecases.exporting.PAGE", 2)
    monkeypatch.setattr("tenure.usecases.paging.EVENTS_AT_ONCE", 2)
    for number in range(5):
        written(pipeline, f"E-mail number {number}")
    pipeline.run(RECALL, BOT, question("number"))

    exported = export(pipeline)

    assert [one.seq for one in exported.events if one.event == "memory.admitted"] == [1, 2, 3, 4, 5]
    assert len(exported.recalls) == 1


def test_a_subject_of_whom_nothing_is_held_is_told_so(pipeline: Pipeline) -> None:
    """SPEC F12: an answer, not an error; asking leaves nothing of theirs behind but that it was asked."""
    exported = export(pipeline)

    assert (exported.memories, exported.recalls, exported.events) == ((), (), ())
    assert happened(pipeline) == []
    assert [one.event for one in export(pipeline).events] == ["read.answered"]


def test_a_person_has_their_own_export_and_nobody_elses(pipeline: Pipeline) -> None:
    """SPEC L14, A2, A5: no other role but the privacy officer, and nothing that a model drives."""
    memory = written(pipeline)
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})

    exported = pipeline.run(EXPORT_SUBJECT, person, EXPORT)

    assert [one.memory.id for one in exported.memories] == [memory.id]
    stranger = caller(Role.SUBJECT, subjects={OTHER})
    for who in (BOT, REVIEWER, OPERATOR, caller(*Role, model_driven=True), stranger):
        with pytest.raises(Forbidden):
            pipeline.run(EXPORT_SUBJECT, who, EXPORT)


def test_another_tenants_subject_of_the_same_name_is_somebody_else(pipeline: Pipeline) -> None:
    """SPEC M2, F12: an export crosses no tenant."""
    pipeline.run(REMEMBER, caller(tenant="globex"), proposal(source=source(SourceType.APPLICATION)))

    assert export(pipeline).memories == ()

"""What a response made of a recall: tied to its receipt, and to nothing that it did not return (SPEC R7)."""

from typing import Any
from uuid import UUID

import pytest
from tests.clock import START
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    SUBJECT,
    caller,
    happened,
    log,
    question,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.identity import Caller, Role
from tenure.core.incident_events import CalledTool, Influenced
from tenure.core.retrieval import Found
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import INFLUENCE, RECALL, Influence, ToolCall


def recalled(pipeline: Pipeline) -> Found:
    """What a question finds."""
    return pipeline.run(RECALL, BOT, question())


def report(found: Found, *used: UUID, **more: Any) -> Influence:
    """What a response made of a recall."""
    return Influence(receipt_id=found.receipt_id, response_id="r-1", used_memory_ids=used, **more)


def test_what_a_response_used_is_recorded_with_the_receipt(pipeline: Pipeline) -> None:
    """SPEC R7: the ids, and the tool calls that followed; also right after the recall."""
    memory = written(pipeline)
    found = recalled(pipeline)
    call = ToolCall(id="c-1", name="send_mail", arguments_fingerprint="0f1e")

    noted = pipeline.run(INFLUENCE, BOT, report(found, memory.id, tool_calls=(call,)))

    event = log(pipeline)[-1]
    assert (noted.receipt_id, noted.response_id, noted.recorded_at) == (found.receipt_id, "r-1", START)
    assert (event.stream, event.subject) == (found.receipt_id, SUBJECT)
    assert event.data == Influenced(
        response_id="r-1",
        used_memory_ids=(memory.id,),
        tool_calls=(CalledTool(id="c-1", name="send_mail", arguments_fingerprint="0f1e"),),
    )


def test_ids_that_the_recall_did_not_return_are_refused(pipeline: Pipeline) -> None:
    """SPEC R7: a report cannot tie a response to memories that it was never shown."""
    memory = written(pipeline)
    found = recalled(pipeline)
    foreign = written(pipeline, subject="customer-8")

    with pytest.raises(InvalidRequest) as refusal:
        pipeline.run(INFLUENCE, BOT, report(found, memory.id, foreign.id))

    assert refusal.value.field == "used_memory_ids"
    assert str(foreign.id) in refusal.value.message
    assert str(memory.id) not in refusal.value.message
    assert "recall.influenced" not in happened(pipeline)


def test_of_many_foreign_ids_some_are_named_and_the_others_counted(pipeline: Pipeline) -> None:
    """SPEC R7, S2: an error says what is wrong, and stays short."""
    found = recalled(pipeline)
    foreign = [UUID(int=number) for number in range(1, 9)]

    with pytest.raises(InvalidRequest, match="and 3 more") as refusal:
        pipeline.run(INFLUENCE, BOT, report(found, *foreign))

    assert [str(one) in refusal.value.message for one in foreign] == [True] * 5 + [False] * 3


def test_a_memory_that_stands_twice_in_a_report_is_refused(pipeline: Pipeline) -> None:
    """SPEC R7, S2: each memory is named once; nothing is recorded."""
    memory = written(pipeline)
    found = recalled(pipeline)

    with pytest.raises(InvalidRequest, match=f"{memory.id} stands twice"):
        pipeline.run(INFLUENCE, BOT, report(found, memory.id, memory.id))

    assert "recall.influenced" not in happened(pipeline)


@pytest.mark.parametrize(
    "more",
    [
        {"response_id": "two\nlines"},
        {"tool_calls": (ToolCall(id="", name="x"),)},
        {"tool_calls": (ToolCall(id="c", name="two\nlines"),)},
        {"tool_calls": (ToolCall(id="c", name="x", arguments_fingerprint="two\nlines"),)},
        {"tool_calls": (ToolCall(id="c", name="x"),) * 101},
    ],
    ids=["response", "call id", "call name", "fingerprint", "too many"],
)
def test_a_report_that_cannot_be_kept_is_refused(pipeline: Pipeline, more: dict[str, Any]) -> None:
    """SPEC S2, S3: names are names, and there is a limit."""
    found = recalled(pipeline)
    whole: dict[str, Any] = {"receipt_id": found.receipt_id, "response_id": "r-1", "used_memory_ids": ()}

    with pytest.raises(InvalidRequest):
        pipeline.run(INFLUENCE, BOT, Influence(**(whole | more)))


@pytest.mark.parametrize(
    "who",
    [caller(name="other"), caller(tenant="globex")],
    ids=["another caller", "another tenant"],
)
def test_a_receipt_belongs_to_who_asked(pipeline: Pipeline, who: Caller) -> None:
    """SPEC A2, R7: for anybody else it is absent, as is one that never was."""
    found = recalled(pipeline)

    for receipt_id in (found.receipt_id, UUID(int=9)):
        command = Influence(receipt_id=receipt_id, response_id="r-1", used_memory_ids=())
        with pytest.raises(NotFound):
            pipeline.run(INFLUENCE, who, command)


def test_a_memory_is_no_receipt(pipeline: Pipeline) -> None:
    """SPEC R7: ids of the two are not mixed up."""
    memory = written(pipeline)

    with pytest.raises(NotFound):
        pipeline.run(INFLUENCE, BOT, Influence(receipt_id=memory.id, response_id="r-1", used_memory_ids=()))


def test_reporting_needs_the_role(pipeline: Pipeline) -> None:
    """SPEC A4: only who may recall may say what came of it."""
    found = recalled(pipeline)

    for who in (AUDITOR, caller(Role.WRITER)):
        with pytest.raises(Forbidden):
            pipeline.run(INFLUENCE, who, report(found))

"""Authorising tool calls over a store: which memories are looked through, what is recorded (SPEC X1, X2)."""

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    OFFICER,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
    log,
    question,
    written,
)

from tenure.config import Settings
from tenure.config.tools import ToolParameter, ToolSettings
from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.identity import Caller, Role
from tenure.core.incident_events import ToolAuthorized, ToolRefused
from tenure.core.proposals import Revise
from tenure.core.refused_parameters import RefusedParameter
from tenure.core.toolguard import Authorization, AuthorizeTool, Because
from tenure.core.vocabulary import Claim
from tenure.usecases import toolguard
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REVOKE
from tenure.usecases.toolguard import AUTHORIZE

PLACE: Final = "Dock 4711 at Harbour Road"
SETTINGS: Final = Settings(
    tools={"deliver": ToolSettings(parameters={"place": ToolParameter(resolver="address-book")})}
)


@pytest.fixture
def node(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store whose operator declared one tool."""
    opened = engine.open(clock, SETTINGS)
    yield opened
    opened.close()


def shown(pipeline: Pipeline, who: Caller = BOT, query: str = "harbour road dock") -> UUID:
    """The receipt of a recall."""
    return pipeline.run(RECALL, who, question(query)).receipt_id


def asked(
    pipeline: Pipeline, *receipt_ids: UUID, who: Caller = BOT, tool: str = "deliver", **arguments: Any
) -> Authorization:
    """What the guard answers to a call."""
    command = AuthorizeTool(tool=tool, arguments=arguments, receipt_ids=receipt_ids)
    return pipeline.run(AUTHORIZE, who, command)


def test_a_value_that_a_recall_returned_is_refused_with_its_memory(pipeline: Pipeline) -> None:
    """SPEC X2: the memory is named in the answer and in the log, and the value in neither."""
    memory = written(pipeline, f"Deliveries go to {PLACE}")
    written(pipeline, "Harbour views are nice")
    receipt = shown(pipeline)

    answer = asked(pipeline, receipt, place=PLACE.upper(), parcel="p-1")

    (refused,) = answer.refused
    assert (answer.allowed, refused.because, refused.memory_ids) == (
        False,
        Because.FOUND_IN_MEMORY,
        (memory.id,),
    )
    event = log(pipeline)[-1]
    assert (event.actor, event.subject) == (BOT.id, SUBJECT)
    assert event.data == ToolRefused(
        tool="deliver",
        refused=(RefusedParameter(parameter="place", because="found_in_memory", memory_ids=(memory.id,)),),
        receipt_ids=(receipt,),
    )


def test_a_call_that_leaves_the_value_to_its_resolver_is_allowed(pipeline: Pipeline) -> None:
    """SPEC X1, X2: whatever the recall returned."""
    written(pipeline, f"Deliveries go to {PLACE}")
    receipt = shown(pipeline)

    answers = [
        asked(pipeline, receipt, parcel="p-1"),
        asked(pipeline, receipt, parcel="p-1", place={"$resolved_by": "address-book"}),
    ]

    assert [(one.allowed, one.resolvers) for one in answers] == [(True, {"place": "address-book"})] * 2
    assert [event.data for event in log(pipeline)[-2:]] == [
        ToolAuthorized(tool="deliver", resolved=("place",), receipt_ids=(receipt,))
    ] * 2


def test_a_tool_that_nobody_declared_is_allowed_and_recorded(pipeline: Pipeline) -> None:
    """SPEC X2: not declared is not sensitive; the log shows what an operator might want to declare."""
    written(pipeline, f"Deliveries go to {PLACE}")
    receipt = shown(pipeline)

    answer = asked(pipeline, receipt, tool="send_mail", place=PLACE)

    assert (answer.allowed, answer.refused, answer.resolvers) == (True, (), {})
    assert log(pipeline)[-1].data == ToolAuthorized(tool="send_mail", receipt_ids=(receipt,))


def test_without_receipts_the_callers_last_recalls_are_looked_through(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X2: its own and nobody else's, as far back as is cheap."""
    memory = written(pipeline, f"Deliveries go to {PLACE}")
    other = caller(name="other")
    shown(pipeline)

    mine, theirs = asked(pipeline, place=PLACE), asked(pipeline, place=PLACE, who=other)
    monkeypatch.setattr(toolguard, "RECENT_EVENTS_MAX", 1)
    late = asked(pipeline, place=PLACE)

    assert mine.refused[0].memory_ids == (memory.id,)
    assert [one.refused[0].because for one in (theirs, late)] == [Because.SUPPLIED_BY_MODEL] * 2


def test_a_named_receipt_narrows_the_search(pipeline: Pipeline) -> None:
    """SPEC X2: only what that recall returned is named."""
    memory = written(pipeline, f"Deliveries go to {PLACE}")
    shown(pipeline)
    elsewhere = pipeline.run(RECALL, BOT, question("harbour", subject="customer-8")).receipt_id

    answer = asked(pipeline, elsewhere, place=PLACE)

    assert memory.id not in answer.refused[0].memory_ids
    assert answer.refused[0].because is Because.SUPPLIED_BY_MODEL
    assert log(pipeline)[-1].subject == "customer-8"


def test_receipts_of_several_subjects_leave_the_event_with_none(pipeline: Pipeline) -> None:
    """SPEC M2: what is about two people is recorded as about neither."""
    receipts = [
        pipeline.run(RECALL, BOT, question("x", subject=subject)).receipt_id for subject in ("a", "b")
    ]

    asked(pipeline, *receipts)

    assert log(pipeline)[-1].subject is None


@pytest.mark.parametrize("arguments", [{}, {"place": PLACE}], ids=["nothing to look for", "a value"])
@pytest.mark.parametrize(
    "who", [BOT, caller(name="other"), caller(tenant="globex")], ids=["never", "another", "another tenant"]
)
def test_a_receipt_that_is_not_the_callers_is_absent(
    pipeline: Pipeline, who: Caller, arguments: dict[str, Any]
) -> None:
    """SPEC A2, R7: named in the refusal, and nothing is recorded of the call."""
    receipt = shown(pipeline) if who is not BOT else UUID(int=9)

    with pytest.raises(NotFound) as refusal:
        asked(pipeline, receipt, who=who, **arguments)

    assert refusal.value.details == {"receipt_id": str(receipt)}
    assert not any(isinstance(event.data, ToolRefused | ToolAuthorized) for event in log(pipeline))


def test_a_claim_counts_as_the_content_does(pipeline: Pipeline) -> None:
    """SPEC X2, M1: its value is part of what was shown."""
    claim = Claim(entity="customer", attribute="dock", value="Pier 99-44")
    memory = written(pipeline, "Has a dock at the harbour", claim=claim)
    receipt = shown(pipeline)

    assert asked(pipeline, receipt, place="pier9944").refused[0].memory_ids == (memory.id,)


def test_an_earlier_wording_counts(pipeline: Pipeline) -> None:
    """SPEC X2: a revision does not wash a value clean that was shown before."""
    memory = written(pipeline, f"Deliveries go to {PLACE}")
    receipt = shown(pipeline)
    change = Revise(expected_version=1, source=memory.source, content="Deliveries go to the shop")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=change))

    assert asked(pipeline, receipt, place=PLACE).refused[0].memory_ids == (memory.id,)


def test_a_memory_that_a_reviewer_was_fooled_by_is_named_after_its_revocation(pipeline: Pipeline) -> None:
    """SPEC X2, L12: promotion makes no value good, and revocation hides no trace."""
    memory = held(pipeline, f"Deliveries go to {PLACE}")
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1))
    receipt = shown(pipeline)

    before = asked(pipeline, receipt, place=PLACE)
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 2))
    after = asked(pipeline, receipt, place=PLACE)

    assert [one.refused[0].memory_ids for one in (before, after)] == [(memory.id,)] * 2


def test_what_was_forgotten_is_not_opened_again(pipeline: Pipeline) -> None:
    """SPEC F1: the value is refused as before, and no longer traced to a memory that is out of every read."""
    written(pipeline, f"Deliveries go to {PLACE}")
    receipt = shown(pipeline)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    (refused,) = asked(pipeline, receipt, place=PLACE).refused

    assert (refused.because, refused.memory_ids) == (Because.SUPPLIED_BY_MODEL, ())


def test_more_memories_than_anybody_is_shown_are_refused(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: named receipts have a limit; without them the newest are looked through."""
    written(pipeline, f"Deliveries go to {PLACE}")
    written(pipeline, f"Parcels go to {PLACE}")
    receipt = shown(pipeline)
    monkeypatch.setattr(toolguard, "MEMORIES_MAX", 1)

    with pytest.raises(InvalidRequest) as refusal:
        asked(pipeline, receipt, place=PLACE)
    recent = asked(pipeline, place=PLACE)

    assert refusal.value.field == "receipt_ids"
    assert len(recent.refused[0].memory_ids) == 1


@pytest.mark.parametrize(
    ("who", "is_allowed"),
    [
        (caller(Role.WRITER), True),
        (caller(Role.READER), True),
        (caller(model_driven=True), True),
        (AUDITOR, False),
        (REVIEWER, False),
    ],
)
def test_asking_needs_the_role(pipeline: Pipeline, who: Caller, is_allowed: bool) -> None:  # noqa: FBT001 -- from the table
    """SPEC A4: whoever writes or reads for an agent."""
    if is_allowed:
        assert asked(pipeline, who=who).allowed
    else:
        with pytest.raises(Forbidden):
            asked(pipeline, who=who)


def test_the_log_still_replays_to_the_same_views(pipeline: Pipeline) -> None:
    """SPEC E1: the guard's events change no view."""
    written(pipeline, f"Deliveries go to {PLACE}")
    asked(pipeline, shown(pipeline), place=PLACE)
    asked(pipeline)

    assert pipeline.store.rebuild().identical

"""Recall over a real store: what is found, how it is packed, and the receipt that stays (SPEC R1-R7)."""

import json
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    SUBJECT,
    caller,
    happened,
    held,
    log,
    question,
    source,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.events import Recalled
from tenure.core.identity import Caller, Role, Scope, SourceType, Tier
from tenure.core.retrieval import Found
from tenure.core.token_estimate import estimate_tokens
from tenure.core.vocabulary import Kind, Trust
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL


def recalled(pipeline: Pipeline, query: str = "phone", who: Caller = BOT, **sides: Any) -> Found:
    """What a question finds."""
    return pipeline.run(RECALL, who, question(query, **sides))


def ids(found: Found) -> list[UUID]:
    """The ids that were shown, best first."""
    return [item.memory.id for item in found.items]


def test_what_shares_the_most_words_comes_first(pipeline: Pipeline) -> None:
    """SPEC R2: and each score is shown in its parts, which add up to it."""
    for number in range(20):
        written(pipeline, f"Ticket {number} was closed without a word")
    best = written(pipeline, "The giraffe is called Melman")
    found = recalled(pipeline, "What is the giraffe called?", limit=20, explain=True)

    assert ids(found)[0] == best.id
    assert len(found.items) == 20
    for item in found.items:
        assert item.why is not None
        assert set(item.why) >= {"words", "trust", "freshness", "confidence"}
        assert sum(item.why.values()) == pytest.approx(item.score)
    scores = [item.score for item in found.items]
    assert scores == sorted(scores, reverse=True)


def test_an_old_memory_is_found_by_its_words_among_many_newer_ones(pipeline: Pipeline) -> None:
    """SPEC R1, R2: the index reaches further back than the newest rows."""
    best = written(pipeline, "The giraffe is called Melman")
    for number in range(120):
        written(pipeline, f"Ticket {number} was closed without a word")

    assert ids(recalled(pipeline, "giraffe", limit=1)) == [best.id]


def test_equal_questions_get_equal_answers(pipeline: Pipeline) -> None:
    """SPEC R2: but for the receipt and its nonce."""
    for number in range(30):
        written(pipeline, f"Printer {number % 5} was repaired")

    first, second = (recalled(pipeline, "printer 3", explain=True) for _ in range(2))

    assert first.items == second.items
    assert first.receipt_id != second.receipt_id


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ({}, ["active", "skill", "trusted less", "task"]),
        ({"kinds": (Kind.SKILL,)}, ["skill"]),
        ({"kinds": (Kind.SKILL, Kind.WORKING_NOTE)}, ["skill", "task"]),
        ({"min_trust": Trust.APPLICATION_VERIFIED}, ["active", "skill", "task"]),
        ({"scope": Scope(tier=Tier.TASK, id="t-1")}, ["active", "skill", "trusted less", "task"]),
        ({"scope": Scope(tier=Tier.TASK, id="t-1", user="customer-8")}, ["task"]),
        ({"scope": Scope(tier=Tier.TASK, id="t-2")}, ["active", "skill", "trusted less"]),
        ({"scope": Scope(tier=Tier.USER, id=SUBJECT)}, ["active", "skill", "trusted less"]),
        ({"subject": None}, ["active", "skill", "trusted less", "task", "another subject"]),
        ({"agent": "sales"}, ["another agent"]),
        ({"purpose": "selling"}, ["another purpose"]),
        ({"subject": "nobody"}, []),
    ],
    ids=str,
)
def test_hard_filters_come_first(pipeline: Pipeline, sides: dict[str, Any], expected: list[str]) -> None:
    """SPEC R1: agent, purpose, subject, status, kinds, trust, scope; what waits is never found (L6)."""
    text = "Prefers the phone"
    names = {
        written(pipeline, text).id: "active",
        written(pipeline, text, kind=Kind.SKILL).id: "skill",
        written(
            pipeline, text, kind=Kind.PREFERENCE, source=source(SourceType.DIRECT_USER)
        ).id: "trusted less",
        written(
            pipeline, text, kind=Kind.WORKING_NOTE, scope=Scope(tier=Tier.TASK, id="t-1", user=SUBJECT)
        ).id: "task",
        written(pipeline, text, subject="customer-8").id: "another subject",
        written(pipeline, text, agent="sales").id: "another agent",
        written(pipeline, text, purpose="selling").id: "another purpose",
        held(pipeline, text).id: "held back",
    }

    assert sorted(names[one] for one in ids(recalled(pipeline, **sides))) == sorted(expected)


def test_scores_of_one_boundary_do_not_depend_on_any_other(pipeline: Pipeline) -> None:
    """SPEC R1: no frequency, length or count crosses a tenant, an agent, a purpose or a subject."""
    written(pipeline, "Prefers the phone")
    written(pipeline, "Likes long letters about nothing in particular")
    before = recalled(pipeline, explain=True).items
    for side in ("agent", "purpose", "subject"):
        for number in range(20):
            written(pipeline, f"The phone {number} rang and rang", **{side: "other"})
    held(pipeline, "The phone rang and rang")

    assert recalled(pipeline, explain=True).items == before


def test_a_caller_with_granted_subjects_asks_those_alone(pipeline: Pipeline) -> None:
    """SPEC A2: a question that names no subject is narrowed to what was granted."""
    granted = [written(pipeline, subject=subject).id for subject in ("ann", "bob")]
    written(pipeline, subject="eve")
    narrow = caller(subjects={"ann", "bob", "nobody"})

    assert sorted(ids(recalled(pipeline, who=narrow, subject=None))) == sorted(granted)


def test_nothing_found_is_an_answer_with_a_receipt(pipeline: Pipeline) -> None:
    """SPEC R7, R6: no context at all rather than an empty block."""
    found = recalled(pipeline)

    assert (found.items, found.context, found.tokens) == ((), "", 0)
    assert happened(pipeline) == ["recall.answered"]


def test_the_context_is_one_block_of_data(pipeline: Pipeline) -> None:
    """SPEC R6: JSON of what was found, behind a nonce, out of which content cannot break."""
    text = 'Likes </memory-data> & "quotes" <b>phones</b>'
    memory = written(pipeline, text)
    found = recalled(pipeline)

    first, *lines, last = found.context.splitlines()
    items = json.loads("\n".join(lines))
    assert first.startswith("<memory-data nonce=")
    assert last == f"</{first[1:]}"
    assert [(item["id"], item["content"]) for item in items] == [(str(memory.id), text)]
    assert found.context.count("<") == 2
    assert found.tokens == estimate_tokens(found.context)


def test_what_does_not_fit_the_budget_is_skipped_and_smaller_ones_enter(pipeline: Pipeline) -> None:
    """SPEC R4: the budget holds for the whole block, and how many were left out is said."""
    long = written(pipeline, "The giraffe rang the phone. " * 60)
    short = written(pipeline, "Prefers letters to the phone")
    found = recalled(pipeline, "a giraffe on the phone", budget_tokens=250)

    assert ids(recalled(pipeline, "a giraffe on the phone")) == [long.id, short.id]
    assert ids(found) == [short.id]
    assert found.tokens <= 250
    assert found.skipped.budget == 1


def test_age_makes_an_item_stale_and_says_so(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T5: a banner with age, date and source; the memory is still shown."""
    written(pipeline)
    fresh = recalled(pipeline).items[0]
    clock.pass_time(days=8)
    stale = recalled(pipeline).items[0]

    assert (fresh.stale, fresh.banner) == (False, None)
    assert stale.stale
    assert all(word in (stale.banner or "") for word in ("2031-05-04", "8 days", "application"))


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": "nul \x00"}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 21}, "limit"),
        ({"budget_tokens": 0}, "budget_tokens"),
        ({"agent": "two\nlines"}, "agent"),
        ({"subject": ""}, "subject"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_question_that_cannot_be_asked_is_refused(
    pipeline: Pipeline, sides: dict[str, Any], field: str
) -> None:
    """SPEC S2, R4: the field is named, and no receipt is left."""
    with pytest.raises(InvalidRequest) as refusal:
        recalled(pipeline, **sides)

    assert refusal.value.field == field
    assert happened(pipeline) == []


def test_the_receipt_says_who_asked_what_of_where_and_what_was_shown(pipeline: Pipeline) -> None:
    """SPEC R7: with a keyed fingerprint of the question, never its text (E6)."""
    memory = written(pipeline)
    asked: dict[str, Any] = {
        "limit": 5,
        "kinds": (Kind.FACT,),
        "min_trust": Trust.USER_ASSERTED,
        "budget_tokens": 900,
    }
    found = recalled(pipeline, "phone or Okapi?", **asked)

    receipt = log(pipeline)[-1]
    assert (receipt.stream, receipt.actor, receipt.at, receipt.subject) == (
        found.receipt_id,
        BOT.id,
        START,
        SUBJECT,
    )
    assert receipt.data == Recalled(
        agent="support",
        purpose="answering",
        query_fingerprint=pipeline.keyring.digest("acme", "query", "phone or Okapi?"),
        memory_ids=(memory.id,),
        **asked,
    )
    assert "Okapi" not in repr(receipt)


def test_recall_needs_the_role(pipeline: Pipeline) -> None:
    """SPEC A4: a writer or an auditor recalls nothing."""
    for who in (AUDITOR, caller(Role.WRITER)):
        with pytest.raises(Forbidden):
            recalled(pipeline, who=who)

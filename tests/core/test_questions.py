"""What a recall may ask: one question, several, or none where something narrows (SPEC R1, S2)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tenure.core.errors import InvalidRequest
from tenure.core.retrieval import QUERIES_MAX, QUERY_CHARACTERS_MAX, Recall, check_recall
from tenure.core.vocabulary import Kind, Trust

ID_CHARACTERS_MAX = 200
NOON = datetime(2031, 5, 4, 12, tzinfo=UTC)


def asked(**sides: Any) -> Recall:
    """A recall of one boundary."""
    return Recall(agent="support", purpose="answering", **sides)


def _named(value: object) -> str:
    """A case by its beginning and its end."""
    text = ascii(value)
    return text if len(text) <= ID_CHARACTERS_MAX else f"{text[:40]}...{text[-40:]}"


@pytest.mark.parametrize(
    ("sides", "questions"),
    [
        ({"query": "where?"}, ("where?",)),
        ({"queries": ("where?",)}, ("where?",)),
        ({"queries": ("where?", "when?")}, ("where?", "when?")),
        ({"queries": ("where?",) * QUERIES_MAX}, ("where?",) * QUERIES_MAX),
        ({"query": "q" * QUERY_CHARACTERS_MAX}, ("q" * QUERY_CHARACTERS_MAX,)),
        ({"query": "\U0001f600"}, ("\U0001f600",)),
        ({"query": "NEAR(a b) OR *"}, ("NEAR(a b) OR *",)),
        ({"kinds": (Kind.PREFERENCE,)}, ()),
        ({"key_prefix": "address."}, ()),
        ({"key_prefix": "home "}, ()),
        ({"since": NOON}, ()),
        ({"until": NOON}, ()),
        ({"since": NOON, "until": NOON + timedelta(microseconds=1)}, ()),
        ({"query": "last May?", "time_zone": "Asia/Tokyo"}, ("last May?",)),
    ],
    ids=_named,
)
def test_a_question_that_can_be_asked_is(sides: dict[str, Any], questions: tuple[str, ...]) -> None:
    """SPEC R1: one, several, or none of a narrowed boundary."""
    check_recall(asked(**sides), items_max=20)

    assert asked(**sides).questions == questions


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({}, "query"),
        ({"subject": "customer-7"}, "query"),
        ({"min_trust": Trust.UNTRUSTED}, "query"),
        ({"time_zone": "UTC"}, "query"),
        ({"valid_at": NOON, "as_of": NOON}, "query"),
        ({"query": ""}, "query"),
        ({"query": "", "kinds": (Kind.FACT,)}, "query"),
        ({"query": "\n", "since": NOON}, "query"),
        ({"query": "q" * (QUERY_CHARACTERS_MAX + 1)}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"query": "a", "queries": ("b",)}, "queries"),
        ({"query": "", "queries": ("b",)}, "queries"),
        ({"queries": ("a",) * (QUERIES_MAX + 1)}, "queries"),
        ({"queries": ("a", "")}, "queries"),
        ({"queries": ("\x00",)}, "queries"),
        ({"query": "a", "key_prefix": ""}, "key_prefix"),
        ({"query": "a", "key_prefix": " a"}, "key_prefix"),
        ({"query": "a", "key_prefix": "a" + " " * 200}, "key_prefix"),
        ({"query": "a", "key_prefix": "a%"}, "key_prefix"),
        ({"query": "a", "since": NOON.replace(tzinfo=None)}, "since"),
        ({"query": "a", "until": NOON.replace(tzinfo=None)}, "until"),
        ({"since": NOON, "until": NOON}, "until"),
        ({"since": NOON, "until": NOON - timedelta(days=1)}, "until"),
        ({"query": "a", "time_zone": "Atlantis"}, "time_zone"),
        ({"kinds": (Kind.FACT,), "limit": 21}, "limit"),
    ],
    ids=_named,
)
def test_a_question_that_cannot_be_asked_is_refused_by_its_field(sides: dict[str, Any], field: str) -> None:
    """SPEC S2: a question that went missing never becomes a list of everything."""
    with pytest.raises(InvalidRequest) as refused:
        check_recall(asked(**sides), items_max=20)

    assert refused.value.details["field"] == field

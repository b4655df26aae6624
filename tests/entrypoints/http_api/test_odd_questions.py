"""Odd questions over HTTP: an answer or a problem that names the field, and never a fault of the server."""

import pytest
from tests.entrypoints.http_api.acme import Acme, Json, problem_code

ODD = (
    "window AND (seats OR NEAR/3",
    '"unclosed * ^ : phrase',
    "who is it?",
    "\N{GRINNING FACE}\N{GRINNING FACE}",
    "\u200b\u200d\ufeff?",
    "mixed Ωμέγα Москва 東京 ไทย قهوة",
    "(a+)+$" * 1_000,
    "aB" * 5_000,
    "\u0301" * 10_000,
    "last May or two weeks before 8/5/2030 " * 200,
    "' OR 1=1; --",
    "%s %n {0} ${jndi:x}",
)
REFUSED: tuple[tuple[Json, str], ...] = (
    ({"query": ""}, "query"),
    ({"query": "   "}, "query"),
    ({"query": "a" * 10_001}, "query"),
    ({"query": 7}, "query"),
    ({"query": ["a"]}, "query"),
    ({"query": "q", "tokenizer": "o200k"}, "tokenizer"),
    ({"query": "q", "tokenizer": "x" * 2_000}, "tokenizer"),
    ({"query": "q", "time_zone": "Mars/Olympus"}, "time_zone"),
    ({"query": "q", "time_zone": "../../etc/localtime"}, "time_zone"),
)


@pytest.mark.parametrize("asked", ODD, ids=lambda one: ascii(one)[:30])
def test_an_odd_question_is_answered(shared: Acme, asked: str) -> None:
    """SPEC R2, R7: with a receipt, whether or not anything was found."""
    answer = shared.call("POST", "/v1/recall", {"query": asked})

    assert answer.status_code == 200, answer.text
    assert answer.json()["receipt_id"]


@pytest.mark.parametrize(("body", "field"), REFUSED, ids=lambda one: ascii(one)[:40])
def test_what_is_no_question_names_its_field(shared: Acme, body: Json, field: str) -> None:
    """SPEC S2: a problem, not a fault."""
    answer = shared.call("POST", "/v1/recall", body)

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")
    assert answer.json()["field"].split("[")[0] == field


def test_a_question_of_a_million_characters_is_refused(shared: Acme) -> None:
    """Before it is read for anything."""
    answer = shared.call("POST", "/v1/recall", {"query": "window " * 150_000})

    assert answer.status_code in {413, 422}
    assert problem_code(answer)


def test_an_unknown_tokenizer_is_answered_with_those_there_are(shared: Acme) -> None:
    """SPEC R4: what may be named is in the answer; the estimate always is."""
    answer = shared.call("POST", "/v1/recall", {"query": "q", "tokenizer": "words"})

    assert "estimate" in answer.json()["detail"]
    assert shared.call("POST", "/v1/recall", {"query": "q", "tokenizer": "estimate"}).status_code == 200

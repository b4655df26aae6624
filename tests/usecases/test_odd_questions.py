"""Odd questions: each has a clear answer, the same on every engine, or a refusal that names the field."""

from datetime import timedelta
from time import process_time
from typing import Any

import pytest
from tests.clock import START
from tests.usecases.asking import BOT, happened, question, source, written

from tenure.core.errors import InvalidRequest
from tenure.core.retrieval import QUERY_CHARACTERS_MAX
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL

TEXTS = (
    "Prefers window seats on long flights",
    "The parser crashed in /srv/app/api_server.py with error E-4711",
    "Teams are written in C++ and in C#",
    "我养了一只橘猫名字叫年糕",
    "毎朝コーヒーを飲む",
    "물을 하루에 두 잔 마신다",
    "เขาชอบกินข้าวผัด",
    "Живёт в Москве на улице Арбат",
    "يحب القهوة بدون سكر",
    "उसे चाय पसंद है",
    "Celebrated with \N{BIRTHDAY CAKE} at the Café Zürich",
    "Paid 1,250.00 for the license on 2031-05-01",
)
ODD = (
    ("windows seat", 0),
    ("\uff37\uff29\uff2e\uff24\uff2f\uff37 seats", 0),
    ("win\u200bdow se\u00adats", 0),
    ('window AND "seats" OR (NEAR/3 NOT *)', 0),
    ("seats* window: content:seats ^2", 0),
    ("'; DROP TABLE memory; -- window seats", 0),
    ("window %s {0} ${seats} <b>seats</b>", 0),
    ("api_server.py", 1),
    ("app api server", 1),
    ("e-4711", 1),
    ("C++?", 2),
    ("猫", 3),
    ("我的猫叫什么名字", 3),
    ("年糕 window", 3),
    ("コーヒー", 4),
    ("ｺｰﾋｰ", 4),
    ("물", 5),
    ("ข้าวผัด", 6),
    ("москве, улица?", 7),
    ("القَهْوة", 8),
    ("चाय", 9),
    ("\N{BIRTHDAY CAKE}", 10),
    ("\N{BIRTHDAY CAKE}\ufe0f\u200d", 10),
    ("zurich cafe", 10),
    ("1250", 11),
    ("Zu\u0308rich caf\u00e9", 10),
)
WITHOUT_WORDS = (
    "who is it?",
    "the of and",
    "?!",
    "...",
    "\u200b\u200d x\u0301",
    "\N{GRINNING FACE}",
    "*",
    '"',
    "\\",
    "(a+)+$",
    "' OR 1=1 --",
    "\u202eabc",
    "\u0e33" * 50,
)
REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"query": ""}, "query"),
    ({"query": " \n\t "}, "query"),
    ({"query": "a\ud800"}, "query"),
    ({"query": "a\0b"}, "query"),
    ({"query": "w" * (QUERY_CHARACTERS_MAX + 1)}, "query"),
    ({"query": "window " * 150_000}, "query"),
    ({"queries": ("window", " "), "query": None}, "queries"),
    ({"tokenizer": "o200k"}, "tokenizer"),
    ({"tokenizer": "../../etc/passwd"}, "tokenizer"),
    ({"time_zone": "Mars/Olympus"}, "time_zone"),
    ({"time_zone": "../UTC"}, "time_zone"),
)


def first(pipeline: Pipeline, asked: str, **sides: Any) -> str | None:
    """The text that comes first."""
    found = pipeline.run(RECALL, BOT, question(asked, limit=3, **sides))
    return found.items[0].memory.content if found.items else None


def test_odd_questions_find_what_they_mean(pipeline: Pipeline) -> None:
    """SPEC R2: operators are words; every script is found, in whatever width, case or marks it is asked."""
    for text in TEXTS:
        written(pipeline, text)

    found = {asked: first(pipeline, asked) for asked, _ in ODD}

    assert found == {asked: TEXTS[number] for asked, number in ODD}


def test_questions_without_a_word_have_an_answer(pipeline: Pipeline) -> None:
    """SPEC R2: nothing to go by is not an error; what is shown then is in order of what else counts."""
    for text in TEXTS[:4]:
        written(pipeline, text)

    for asked in WITHOUT_WORDS:
        found = pipeline.run(RECALL, BOT, question(asked))
        assert len(found.items) == 4, asked
        again = pipeline.run(RECALL, BOT, question(asked))
        assert again.items == found.items, asked


@pytest.mark.parametrize(("sides", "field"), REFUSED, ids=lambda one: str(one)[:40])
def test_what_is_no_question_is_refused(pipeline: Pipeline, sides: dict[str, Any], field: str) -> None:
    """A refusal names the field, quickly, and leaves no receipt."""
    begun = process_time()

    with pytest.raises(InvalidRequest) as refused:
        pipeline.run(RECALL, BOT, question(**sides))

    assert refused.value.details["field"] == field
    assert process_time() - begun < 1
    assert happened(pipeline) == []


@pytest.mark.parametrize(
    "part", ["a", "aB", "(a*)*", "8 may ", "last ", "中", "\N{BIRTHDAY CAKE}", "a.", "\u0301"], ids=ascii
)
def test_the_longest_question_is_answered_in_time(pipeline: Pipeline, part: str) -> None:
    """Attack: a question made to keep a processor busy, as an expression or as a date."""
    written(pipeline, TEXTS[0])
    asked = (part * QUERY_CHARACTERS_MAX)[:QUERY_CHARACTERS_MAX].strip()
    begun = process_time()

    pipeline.run(RECALL, BOT, question(asked))

    assert process_time() - begun < 2


def test_a_date_in_a_question_finds_what_was_seen_then(pipeline: Pipeline) -> None:
    """SPEC R2: yesterday and last month, in the asker's own days."""
    seen = {
        "A walk by the river": START - timedelta(days=1),
        "A walk in the hills": START - timedelta(days=2),
        "A walk along the beach": START - timedelta(days=34),
        "A walk to the castle": START - timedelta(days=400),
    }
    for text, moment in seen.items():
        written(pipeline, text, source=source(observed_at=moment))

    assert first(pipeline, "Which walk was yesterday?") == "A walk by the river"
    assert first(pipeline, "Which walk was two days ago?") == "A walk in the hills"
    assert first(pipeline, "Which walk was in March?") == "A walk along the beach"
    assert first(pipeline, "Which walk was last year?") == "A walk to the castle"
    assert first(pipeline, "Which walk was today?", time_zone="Pacific/Honolulu") == "A walk by the river"

"""Claims: what a content says plainly is found, what it does not is not, and which of them contradict."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.claim_grammar import PHRASES
from tenure.core.claim_values import Differs, ValueType
from tenure.core.claims import (
    FOUND_MAX,
    READ_CHARACTERS_MAX,
    extracted,
    found_opposed,
    thing,
    value_of,
)
from tenure.core.statements import as_found
from tenure.core.vocabulary import Claim


def claim(entity: str, attribute: str, value: str) -> Claim:
    """A claim as a caller gives it."""
    return Claim(entity=entity, attribute=attribute, value=value)


def verdict(one: str, other: str) -> Differs:
    """Whether the only claims of two contents contradict each other, asked both ways."""
    (mine,), (theirs,) = extracted(one), extracted(other)
    assert found_opposed(mine, theirs) is found_opposed(theirs, mine)
    return found_opposed(mine, theirs)


def test_a_claim_says_where_it_stands() -> None:
    """SPEC T3: whoever reviews a contradiction is shown the sentence."""
    content = "Rolled out last week.\n  The API listens on port 8080.  Thanks!"

    (found,) = extracted(content)

    assert content[found.start : found.end] == "The API listens on port 8080"


def test_several_sentences_give_several_claims() -> None:
    """SPEC T3: one memory may say more than one thing."""
    found = extracted(
        "- The API listens on port 8080.\n- The API does not use Redis; the docs are at https://d.example"
    )

    assert [(one.entity, one.attribute, one.value.text, one.negated) for one in found] == [
        ("api", "port", "8080", False),
        ("api", "uses", "redis", True),
        ("docs", "url", "https://d.example/", False),
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The API listens on port 8080", "The API listens on port 9090", Differs.YES),
        ("The API listens on port 8080", "The API's port is 8080", Differs.NO),
        ("The API listens on port 8080", "The API also listens on port 9090", Differs.UNKNOWN),
        ("nginx listens on port 80", "nginx listens on port 443", Differs.UNKNOWN),
        ("The API listens on port 8080", "The worker listens on port 9090", Differs.NO),
        ("The API uses Redis", "The API uses PostgreSQL", Differs.UNKNOWN),
        ("The API uses Redis", "The API does not use Redis", Differs.YES),
        ("The API uses Redis", "The API does not use Kafka", Differs.UNKNOWN),
        ("The API does not use Redis", "The API does not use Kafka", Differs.UNKNOWN),
        ("The API does not use Redis", "The API no longer uses Redis", Differs.NO),
        ("The proxy is nginx", "The proxy is Envoy", Differs.YES),
        ("Kim prefers window seats", "Kim prefers aisle seats", Differs.YES),
        ("Kim prefers tea", "Kim prefers coffee", Differs.UNKNOWN),
        ("Kim lives in Berlin", "Kim moved to Munich", Differs.YES),
        ("Kim lives in Berlin", "Kim lives in Kreuzberg", Differs.UNKNOWN),
        ("Dark mode is enabled", "Dark mode is turned off", Differs.YES),
        ("Dark mode is enabled", "Dark mode is not enabled", Differs.YES),
        ("The licence costs EUR 5", "The licence costs USD 5", Differs.UNKNOWN),
        ("The cluster runs Kubernetes 1.29", "The cluster runs Kubernetes 1.30", Differs.YES),
        ("port = 80", "port = 81", Differs.UNKNOWN),
    ],
)
def test_extracted_claims_contradict_only_where_one_excludes_the_other(
    one: str, other: str, expected: Differs
) -> None:
    """SPEC T3: same entity and attribute, other value, of which there is one at a time."""
    assert verdict(one, other) is expected


@pytest.mark.parametrize(
    ("entity", "attribute"),
    [
        ("the API", "Port"),
        ("API's port", ""),
        ("The API’s Port", "value"),
        ("port of the API", "is"),
        ("API port", ""),
    ],
)
def test_a_thing_is_the_same_however_it_is_written(entity: str, attribute: str) -> None:
    """SPEC T3: entities and attributes are compared in one form."""
    assert thing(entity, attribute) == ("api", "port")


def test_given_claims_are_opposed_by_their_values() -> None:
    """SPEC T3: what a caller claims is taken as given, whatever the attribute."""
    mine = claim("The API", "port", "8080")

    def opposed(other: Claim) -> Differs:
        return found_opposed(as_found(mine), as_found(other))

    assert opposed(claim("api", "Port", "port 8080")) is Differs.NO
    assert opposed(claim("api", "port", "9090")) is Differs.YES
    assert opposed(claim("worker", "port", "9090")) is Differs.NO
    assert value_of(mine).type is ValueType.PORT


@pytest.mark.parametrize(
    "content",
    [
        "The API listens on port 8080.\n```\nThe worker listens on port 80\n```",
        "He wrote “all is well. The API listens on port 8080. Good night” to us.",
        "As the template has it. The API listens on port 8080.",
        "Old runbook:\nThe API listens on port 8080.",
        "The API listens on port 8080. Correction. The worker is fine.",
        "The API listens on port 8080. No.",
        "The API listens on port 8080.\nEDIT: moved.",
        "The API listens on port 8080. Kim is not sure about it.",
        "The answer is yes.",
        "Kim is 42.",
        "The disk has 5 GB.",
        "The cluster has 3 failed nodes.",
        "For billing, the API listens on port 8080.",
        "The API that Kim runs listens on port 8080.",
        "In May the API moved to port 8080.",
        "The API may listen on port 8080.",
        "The API is not yet on port 8080.",
        "Ignore that the API is on port 8080.",
        "The API is at (maybe) db.example.com.",
        "The API isn’t, as far as Kim knows, on port 80.",
        "The API listens on 'port 8080'.",
        "a" * (READ_CHARACTERS_MAX + 1),
        "",
    ],
)
def test_what_is_unsure_gives_none(content: str) -> None:
    """SPEC T3: nothing is superseded on the strength of a guess."""
    assert extracted(content) == ()


def test_the_month_of_may_is_no_hedge() -> None:
    """SPEC T3: a date is read although its month is also a verb."""
    assert len(extracted("The meeting is on 3 May 2026")) == 1
    assert len(extracted("The meeting is on May 3, 2026")) == 1


def test_a_content_with_too_many_claims_gives_none() -> None:
    """SPEC T3: a list of settings is a document."""
    assert extracted("\n".join(f"key_{number} = {number}" for number in range(FOUND_MAX + 1))) == ()


def test_every_phrase_of_the_grammar_can_be_read() -> None:
    """No phrase hides behind another, nor behind a word that makes all unsure."""
    values = ["port 8080", "Alpha", "https://x.example/", "on", "3 May 2026", "EUR 5", "/srv/x", "3 nodes"]

    unread = [
        " ".join(phrase)
        for phrase in PHRASES
        if not any(extracted(f"The gateway {' '.join(phrase)} {value}") for value in values)
    ]

    assert unread == []


WORDS = st.sampled_from(
    [
        *(
            "the",
            "API",
            "listens",
            "on",
            "port",
            "8080",
            "is",
            "not",
            "uses",
            "Redis",
            "Kim's",
            "of",
            "moved",
            "to",
        ),
        *("3", "May", "2026", "=", ":", '"', "'", "`", ".", ";", "\n", "?", "maybe"),
    ]
)


@MODEST
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=60).map(" ".join)))
def test_any_content_gives_claims_that_stand_in_it(content: str) -> None:
    """SPEC T3: no text breaks the reading, and reading twice gives the same."""
    found = extracted(content)

    assert found == extracted(content)
    assert all(0 <= one.start < one.end <= len(content) for one in found)
    assert all(one.entity and one.attribute for one in found)
    assert not any(one.negated and one.is_single for one in found)


@pytest.mark.parametrize(
    "unit",
    [
        "the API is ",
        "is ",
        "a",
        "1,",
        "'",
        "x=1\n",
        "the a an ",
        "a@",
        "1.1.",
        "port 1 ",
        "9 ",
        "http://",
        "/",
        "-- ",
        "The API listens on port 80. ",
        "The API is Kim's Kim's Kim's. ",
        "of the of the. ",
    ],
)
def test_hostile_contents_take_little_time(unit: str) -> None:
    """A content made to waste time wastes none, and twice as much takes about twice as long."""
    content = (unit * READ_CHARACTERS_MAX)[:READ_CHARACTERS_MAX]
    began = process_time()
    extracted(content)

    assert process_time() - began < 1.0

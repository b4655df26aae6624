"""What tells two contents apart: the gravest reason, the same from both sides, and none for one thing."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.claim_differences import COMPARED_WORDS_MAX, Apart, mentions, told_apart


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8080", "the API is listening on port 8080."),
        ("The API's port is 8080", "The API listens on `8080/tcp`"),
        ("Kim prefers window seats", "Kim prefers a window seat."),
        ("The invoice is due on 3 May 2026", "The invoice is due on 2026-05-03"),
        ("Send invoices by 3 May 2026 please", "Send invoices by 2026-05-03 please"),
        ("Refunds take 14 days", "Refunds take 2 weeks"),
        ("The plan costs EUR 1,200.50", "The plan costs 1200.50 €"),
        ("Restart the worker after a deploy", "restart worker after deploy!"),
        ("We use Postgres", "We use PostgreSQL"),
    ],
)
def test_the_same_in_other_words_is_not_told_apart(one: str, other: str) -> None:
    """SPEC T2: what says the same may be merged."""
    assert told_apart(one, other) is None
    assert told_apart(other, one) is None


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("nginx listens on port 80", "nginx listens on port 8080", Apart.VALUE),
        ("Backups run at 02:00", "Backups run at 03:00", Apart.VALUE),
        ("Refunds take 5 days", "Refunds take 5 business days", Apart.VALUE),
        ("The limit is 512 MB", "The limit is 512 MiB", Apart.VALUE),
        ("Mail kim@a.example first", "Mail kim@b.example first", Apart.VALUE),
        ("The API uses Redis", "The API does not use Redis", Apart.NEGATION),
        ("Refunds are paid out", "Refunds are paid out except on sale items", Apart.NEGATION),
        ("The API uses Redis", "The API used to use Redis", Apart.MOOD),
        ("The API is on port 80", "Is the API on port 80?", Apart.MOOD),
        ("Kim likes long walks", "Tim likes long walks", Apart.NAME),
        ("Backups run daily", "Backups run weekly", Apart.CHOICE),
        ("The staging cluster is small", "The production cluster is small", Apart.CHOICE),
        ("Call him in the morning", "Call him in the evening", Apart.CHOICE),
        ("Ada manages Kim", "Kim manages Ada", Apart.ORDER),
        ("kim likes tea", "kim likes coffee", Apart.WORDS),
        ("Alert at load >5", "Alert at load <5", Apart.VALUE),
        ("Open UDP port 53", "Open TCP port 53", Apart.NAME),
        ("Open 53/udp", "Open 53/tcp", Apart.VALUE),
        ("The link has 100 Mb/s", "The link has 100 MB/s", Apart.VALUE),
        ("call getUser first", "call getuser first", Apart.WORDS),
        ("Allow *.example.com", "Allow example.com", Apart.VALUE),
        ("skip when x != y", "skip when x = y", Apart.WORDS),
        ("Is it up? Yes", "Is it up, yes", Apart.MOOD),
        ("nginx on port 80", "nginx terminates TLS", Apart.VALUE),
        ("all of it " * COMPARED_WORDS_MAX, "all of this " * COMPARED_WORDS_MAX, Apart.LENGTH),
    ],
)
def test_another_meaning_is_told_apart_by_its_gravest_reason(one: str, other: str, reason: Apart) -> None:
    """SPEC T2: "nginx on port 80" and "nginx terminates TLS" stay two memories."""
    assert told_apart(one, other) is reason
    assert told_apart(other, one) is reason


def test_mentions_are_the_values_of_a_content_in_order() -> None:
    """SPEC T2, T6: hosts, ports, amounts and dates are found wherever they stand."""
    found = mentions(
        "Since 3 May 2026 the mirror at mirror.example.com:8443 allows 500 req/s, see https://x.example."
    )

    assert [(one.type.value, one.text) for one in found] == [
        ("date", "2026-05-03"),
        ("address", "mirror.example.com:8443"),
        ("amount", "500"),
        ("url", "https://x.example/"),
    ]


@MODEST
@given(st.text(max_size=200), st.text(max_size=200))
def test_telling_apart_is_symmetric_and_never_parts_a_content_from_itself(one: str, other: str) -> None:
    """SPEC T2: the order of writes does not matter."""
    assert told_apart(one, one) is None
    assert told_apart(one, other) is told_apart(other, one)


@pytest.mark.parametrize(
    "unit", ["9 ", "1 000 ", "a.b ", "x=1\n", "http://", "1.", "'", "/ ", "@ ", "3 May "]
)
def test_hostile_contents_take_little_time(unit: str) -> None:
    """A content made to waste time wastes none."""
    content = (unit * 20_000)[:20_000]
    began = process_time()
    told_apart(content, content + " x")
    mentions(content)

    assert process_time() - began < 1.0

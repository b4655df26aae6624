"""The hash chain: any damage is found where it was done, and nothing legitimate is ever flagged."""

import hashlib
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import EXAMPLES, MODEST, event, id_of

from tenure.core.events import EventData, Promoted, encode_header
from tenure.core.ledger import GENESIS, Break, ChainedEvent, body_digest, link, verify
from tenure.core.vocabulary import Trust

LENGTH = 5
Rows = list[ChainedEvent]
Content = tuple[EventData, bytes | None]
SMALL: list[Content] = [(data, b"sealed %d" % at) for at, data in enumerate(EXAMPLES[:LENGTH])]


def header_of(data: EventData, body: bytes | None, *, tenant: str = "acme") -> bytes:
    """The stored text of an event whose sealed body is this."""
    digest = body_digest(body) if body is not None else None
    return encode_header(event(data, tenant=tenant), dek=id_of(9), body_sha256=digest)


def chained(content: Sequence[tuple[bytes, bytes | None]]) -> Rows:
    """A log of these headers and bodies, as it is written."""
    rows: Rows = []
    previous = GENESIS
    for seq, (header, body) in enumerate(content, start=1):
        previous = link(previous, seq, header)
        rows.append(ChainedEvent(seq, header, body, previous))
    return rows


def log_of(content: Sequence[Content]) -> Rows:
    """A log of these events."""
    return chained([(header_of(data, body), body) for data, body in content])


def head_of(rows: Rows) -> tuple[int, bytes]:
    """Where a log ends."""
    return (rows[-1].seq, rows[-1].link) if rows else (0, GENESIS)


def flipped(data: bytes) -> bytes:
    """The same bytes but for one bit."""
    return data[:-1] + bytes([data[-1] ^ 1])


def replaced(rows: Rows, at: int, row: ChainedEvent) -> Rows:
    """The log with another row in one place and no other change."""
    return [*rows[:at], row, *rows[at + 1 :]]


def renumbered(rows: Rows) -> Rows:
    """The log with its positions closed up, links untouched."""
    return [row._replace(seq=seq) for seq, row in enumerate(rows, start=1)]


def forged_from(rows: Rows, at: int, header: bytes) -> Rows:
    """The log with another header at a place, and every link from there on computed anew."""
    return chained([(header if row == rows[at] else row.header, row.body) for row in rows])


def inserted(rows: Rows, at: int) -> Rows:
    """The log with an event more, linked to the one before it, and the rest moved up."""
    header = header_of(Promoted(trust=Trust.REVIEWER_VERIFIED), None)
    before = rows[at - 1].link if at else GENESIS
    return renumbered([*rows[:at], ChainedEvent(0, header, None, link(before, at + 1, header)), *rows[at:]])


# What was done to the row at a place, and how far behind that place the first wrong event stands.
DAMAGE: list[tuple[str, Callable[[Rows, int], Rows], int]] = [
    (
        "header altered",
        lambda rows, at: replaced(rows, at, rows[at]._replace(header=flipped(rows[at].header))),
        0,
    ),
    (
        "body altered",
        lambda rows, at: replaced(rows, at, rows[at]._replace(body=flipped(rows[at].body or b"-"))),
        0,
    ),
    ("link altered", lambda rows, at: replaced(rows, at, rows[at]._replace(link=flipped(rows[at].link))), 0),
    (
        "header of a neighbour",
        lambda rows, at: replaced(rows, at, rows[at]._replace(header=rows[at - 1].header)),
        0,
    ),
    (
        "body of a neighbour",
        lambda rows, at: replaced(rows, at, rows[at]._replace(body=rows[at - 1].body)),
        0,
    ),
    ("position altered", lambda rows, at: replaced(rows, at, rows[at]._replace(seq=rows[at].seq + 7)), 0),
    ("dropped", lambda rows, at: [*rows[:at], *rows[at + 1 :]], 0),
    ("dropped and closed up", lambda rows, at: renumbered([*rows[:at], *rows[at + 1 :]]), 0),
    ("swapped with the next", lambda rows, at: [*rows[:at], *rows[at : at + 2][::-1], *rows[at + 2 :]], 0),
    ("repeated", lambda rows, at: [*rows[: at + 1], *rows[at:]], 1),
    ("repeated and moved up", lambda rows, at: renumbered([*rows[: at + 1], *rows[at:]]), 1),
    ("inserted before", inserted, 1),
    ("cut off from here", lambda rows, at: rows[:at], 0),
]


@pytest.mark.parametrize(
    ("damage", "behind", "at"),
    [
        pytest.param(damage, behind, at, id=f"{name} at {at + 1}")
        for name, damage, behind in DAMAGE
        for at in range(LENGTH)
        if not (name.startswith("swapped") and at == LENGTH - 1)
    ],
)
def test_damage_is_found_at_the_first_event_that_is_not_what_was_written(
    damage: Callable[[Rows, int], Rows], behind: int, at: int
) -> None:
    """SPEC E2: changing, dropping, inserting or reordering any event is detected and located."""
    rows = log_of(SMALL)

    result = verify("acme", damage(rows, at), head=head_of(rows))

    assert isinstance(result, Break)
    assert result.seq == at + 1 + behind
    assert result.because


@MODEST
@given(
    content=st.lists(st.tuples(st.sampled_from(EXAMPLES), st.none() | st.binary(max_size=40)), max_size=8),
    destroyed=st.sets(st.integers(min_value=0, max_value=7)),
)
def test_a_log_that_was_written_as_it_stands_holds_whatever_bodies_were_destroyed(
    content: list[Content], destroyed: set[int]
) -> None:
    """SPEC E2, F7: a sealed body can be nulled later, and the chain still holds."""
    rows = log_of(content)
    erased = [row._replace(body=None) if at in destroyed else row for at, row in enumerate(rows)]

    assert verify("acme", rows, head=head_of(rows)) == len(rows)
    assert verify("acme", erased, head=head_of(rows)) == len(rows)
    assert verify("acme", iter(rows)) == len(rows)


@MODEST
@given(
    data=st.data(), content=st.lists(st.tuples(st.sampled_from(EXAMPLES), st.binary(max_size=9)), min_size=1)
)
def test_any_flipped_bit_of_any_header_is_found_where_it_is(
    data: st.DataObject, content: list[Content]
) -> None:
    """SPEC E2: the chain covers every byte."""
    rows = log_of(content)
    at = data.draw(st.integers(min_value=0, max_value=len(rows) - 1))
    header = bytearray(rows[at].header)
    header[data.draw(st.integers(min_value=0, max_value=len(header) - 1))] ^= 1 << data.draw(
        st.integers(0, 7)
    )

    result = verify("acme", replaced(rows, at, rows[at]._replace(header=bytes(header))))

    assert isinstance(result, Break)
    assert result.seq == at + 1


def test_without_its_head_a_shortened_log_cannot_be_told_from_a_young_one() -> None:
    """SPEC E2: this is what the head, and later a checkpoint kept outside, is for."""
    rows = log_of(SMALL)

    assert verify("acme", rows[:3]) == 3
    assert verify("acme", rows[:3], head=head_of(rows)) == Break(
        4, "the log should end at position 5, but ends at 3"
    )


def test_events_behind_the_head_are_found_at_the_first_of_them() -> None:
    """SPEC E2: an event that was appended past the head was not written by us."""
    rows = log_of(SMALL)

    result = verify("acme", rows, head=head_of(rows[:3]))

    assert result == Break(4, "the log should end at position 3, but ends at 5")
    assert verify("acme", rows, head=(0, GENESIS)) == Break(
        1, "the log should end at position 0, but ends at 5"
    )


def test_a_log_that_was_written_anew_from_the_start_does_not_end_where_it_should() -> None:
    """SPEC E2: whoever recomputes every link still cannot produce the head."""
    rows = log_of(SMALL)
    forged = forged_from(rows, 0, header_of(Promoted(trust=Trust.REVIEWER_VERIFIED), rows[0].body))

    result = verify("acme", forged, head=head_of(rows))

    assert verify("acme", forged) == 5
    assert result == Break(5, "the log ends at its position, but with another link: it was written anew")


@pytest.mark.parametrize("at", range(LENGTH))
def test_an_event_of_another_tenant_is_found_even_with_links_that_fit(at: int) -> None:
    """SPEC M2, E2: one log for each tenant."""
    rows = log_of(SMALL)
    data, body = SMALL[at]

    result = verify("acme", forged_from(rows, at, header_of(data, body, tenant="other")))

    assert result == Break(at + 1, "the event belongs to another tenant")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b"\xff\xfe",
        b'{"type":"memory.revoked"}',
        header_of(*SMALL[2])[:-1],
        header_of(*SMALL[2]).replace(b'"v":1', b'"v":"one"'),
        header_of(*SMALL[2]).replace(b"acme", b"\xff\xfe"),
    ],
)
def test_a_header_that_cannot_be_read_is_a_break_and_not_a_failure(header: bytes) -> None:
    """SPEC E2, E5: verification names the first bad event whatever stands there."""
    forged = forged_from(log_of(SMALL), 2, header)

    assert verify("acme", forged) == Break(3, "the header cannot be read")
    assert verify("acme", forged, head=head_of(forged)) == Break(3, "the header cannot be read")


@MODEST
@given(header=st.binary(max_size=80), body=st.none() | st.binary(max_size=9))
def test_no_bytes_whatever_make_verifying_fail(header: bytes, body: bytes | None) -> None:
    """SPEC E2, E5: an answer for every log, also with links that fit."""
    rows = chained([(header_of(*SMALL[0]), SMALL[0][1]), (header, body)])

    result = verify("acme", rows)

    assert isinstance(result, Break)
    assert result.seq == 2


def test_a_body_where_none_was_sealed_is_found() -> None:
    """SPEC E2: nothing can be slipped in beside an event that had no secret."""
    rows = log_of([(EXAMPLES[0], None), (EXAMPLES[3], None)])

    assert verify("acme", rows) == 2
    assert verify("acme", replaced(rows, 1, rows[1]._replace(body=b"slipped in"))) == Break(
        2, "the sealed body is not the one that was written"
    )


def test_an_empty_log_holds() -> None:
    """SPEC E2: a new tenant's log ends before its first event."""
    assert verify("acme", [], head=(0, GENESIS)) == 0
    assert verify("acme", []) == 0


def test_a_link_covers_the_one_before_it_the_position_and_the_exact_header() -> None:
    """SPEC E2, E3: the stored format; it can never change for events that exist."""
    previous, header = bytes(range(32)), b'{"type":"memory.revoked"}'

    expected = hashlib.sha256(previous + b"\x00\x00\x00\x00\x00\x00\x00\x07" + header).digest()

    assert expected == link(previous, 7, header)
    assert bytes(32) == GENESIS
    assert hashlib.sha256(b"sealed").digest() == body_digest(b"sealed")

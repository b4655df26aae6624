"""Logs made by hand, and everything that somebody may do to one behind its back (SPEC E2).

A tampering takes the rows of a log and a position, and gives the rows as they stand afterwards. Beside it
stand the kind of damage and the first bad position that must be named for it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from tests.core.examples import EXAMPLES, event, id_of

from tenure.core.events import EventData, Promoted, encode_header
from tenure.core.ledger import GENESIS, ChainedEvent, body_digest, link
from tenure.core.merkle import leaf_hash, root_of
from tenure.core.tampering import Damage, KnownRoot
from tenure.core.vocabulary import Trust

Rows = list[ChainedEvent]
Content = tuple[EventData, bytes | None]
LENGTH: Final = 13
WHOLE: Final[list[Content]] = [(data, b"sealed %d" % at) for at, data in enumerate(EXAMPLES[:LENGTH])]
FORGED: Final = Promoted(trust=Trust.APPLICATION_VERIFIED)


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


def log_of(content: Sequence[Content], *, tenant: str = "acme") -> Rows:
    """A log of these events."""
    return chained([(header_of(data, body, tenant=tenant), body) for data, body in content])


def head_of(rows: Sequence[ChainedEvent]) -> tuple[int, bytes]:
    """Where a log ends."""
    return (rows[-1].seq, rows[-1].link) if rows else (0, GENESIS)


def root_at(rows: Sequence[ChainedEvent], size: int) -> KnownRoot:
    """What a checkpoint of this size says of a log."""
    return KnownRoot(size, root_of([leaf_hash(row.link) for row in rows[:size]]))


def flipped(data: bytes) -> bytes:
    """The same bytes but for one bit."""
    return data[:-1] + bytes([data[-1] ^ 1])


def renumbered(rows: Sequence[ChainedEvent]) -> Rows:
    """The log with its positions closed up, links untouched."""
    return [row._replace(seq=seq) for seq, row in enumerate(rows, start=1)]


def rewritten(rows: Rows, at: int) -> Rows:
    """The log with another event at a position, and every link from there on computed anew."""
    header = header_of(FORGED, rows[at - 1].body)
    return chained([(header if row.seq == at else row.header, row.body) for row in rows])


def forged(rows: Rows, behind: int, count: int = 1) -> Rows:
    """Events that nobody wrote, linked to the one at a position and to one another."""
    previous, made = rows[behind - 1].link if behind else GENESIS, []
    for seq in range(behind + 1, behind + 1 + count):
        header = header_of(FORGED, b"forged %d" % seq)
        previous = link(previous, seq, header)
        made.append(ChainedEvent(seq, header, b"forged %d" % seq, previous))
    return made


def moved(rows: Rows, at: int, to: int) -> Rows:
    """The log with one row taken out and put in at another place."""
    rest = [row for row in rows if row.seq != at]
    return [*rest[: to - 1], rows[at - 1], *rest[to - 1 :]]


def swapped(rows: Rows, first: int, second: int) -> Rows:
    """The log with two rows in each other's place."""
    there = list(rows)
    there[first - 1], there[second - 1] = there[second - 1], there[first - 1]
    return there


class Tampering(NamedTuple):
    """One thing done to a log, and what must be said of it."""

    name: str
    do: Callable[[Rows], Rows]
    damage: Damage
    seq: int

    def __repr__(self) -> str:
        """Its name, for a failure."""
        return self.name


def _changed(at: int, **changes: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [row._replace(**changes) if row.seq == at else row for row in rows]


def _altered(rows: Rows, at: int) -> Iterator[Tampering]:
    row, other = rows[at - 1], rows[at % len(rows)]
    for name, changes in (
        ("header altered", {"header": flipped(row.header)}),
        ("body altered", {"body": flipped(row.body or b"-")}),
        ("link altered", {"link": flipped(row.link)}),
        ("header of another", {"header": other.header}),
        ("body of another", {"body": other.body}),
        ("link of another", {"link": other.link}),
        ("all of another", {"header": other.header, "body": other.body, "link": other.link}),
        ("position altered", {"seq": row.seq + 70}),
    ):
        yield Tampering(f"{name} at {at}", _changed(at, **changes), Damage.ALTERED, at)
    own = rewritten(rows, at)[at - 1]
    if at < len(rows):
        yield Tampering(
            f"event and link rewritten at {at}",
            lambda rows: [own if row.seq == at else row for row in rows],
            Damage.ALTERED,
            at + 1,
        )


def _without(gone: range) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if row.seq not in gone]


def _with(put: Rows, behind: int) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[:behind], *put, *rows[behind:]]


def _closed_up(do: Callable[[Rows], Rows]) -> Callable[[Rows], Rows]:
    return lambda rows: renumbered(do(rows))


def _missing(rows: Rows, at: int) -> Iterator[Tampering]:
    for count in (1, 2, 5):
        if at + count > len(rows):
            continue
        do = _without(range(at, at + count))
        yield Tampering(f"{count} dropped at {at}", do, Damage.MISSING, at)
        yield Tampering(f"{count} dropped at {at} and closed up", _closed_up(do), Damage.MISSING, at)


def _inserted(rows: Rows, at: int) -> Iterator[Tampering]:
    """Rows behind a position, which may be 0."""
    wild = [ChainedEvent(at + 1, header_of(FORGED, None), None, bytes([7]) * 32)]
    # A copy of the next one is left out: of two equal rows the second is the one too many.
    copied = {of for of in (1, at, at + 2, len(rows)) if 0 < of <= len(rows) and of != at + 1}
    for name, put in {
        "forged": forged(rows, at),
        "two forged": forged(rows, at, 2),
        "unlinked": wild,
        **{f"copy of {of}": [rows[of - 1]] for of in sorted(copied)},
    }.items():
        do = _with(put, at)
        yield Tampering(f"{name} behind {at}, moved up", _closed_up(do), Damage.INSERTED, at + 1)
        yield Tampering(f"{name} behind {at}", do, Damage.INSERTED, at + 1)


def _reordered(rows: Rows, at: int) -> Iterator[Tampering]:
    for other in range(at + 1, len(rows) + 1):
        for name, do in (
            ("swapped with", partial(swapped, first=at, second=other)),
            ("moved to", partial(moved, at=at, to=other)),
            ("in the place before it:", partial(moved, at=other, to=at)),
        ):
            yield Tampering(f"{at} {name} {other}", _closed_up(do), Damage.REORDERED, at)
            yield Tampering(f"{at} {name} {other}, positions kept", do, Damage.REORDERED, at)


def _cut(_rows: Rows, at: int) -> Iterator[Tampering]:
    yield Tampering(f"cut off from {at} on", lambda rows: rows[: at - 1], Damage.TRUNCATED, at)


def in_a_file(tampering: Tampering, whole: Rows, rows: Rows) -> list[tuple[Damage, int] | None]:
    """What may be said of a tampered log of which no head is known but the root over all of it."""
    if "closed up" in tampering.name and len(rows) == tampering.seq:
        # The last event and no other moved up: that looks like an altered one.
        return [(Damage.ALTERED, tampering.seq)]
    if tampering.seq > len(whole) and "forged" in tampering.name:
        # Without a head, what is linked behind the end is what an append is.
        return [None]
    if tampering.seq > len(whole):
        return [(Damage.INSERTED, tampering.seq), (Damage.ALTERED, tampering.seq)]
    return [(tampering.damage, tampering.seq)]


def tamperings(rows: Rows) -> list[Tampering]:
    """Every kind of damage at every position, as a log with its head shows it."""
    places = range(1, len(rows) + 1)
    kinds = (_altered, _missing, _reordered, _cut)
    return [
        *(each for kind in kinds for at in places for each in kind(rows, at)),
        *(each for at in (0, *places) for each in _inserted(rows, at)),
    ]

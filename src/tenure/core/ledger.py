"""The hash chain over a tenant's log (SPEC E2).

Each event's link is SHA-256 over the link before it, its position, and the exact bytes of its header; the
header carries the hash of the sealed body. So altering, dropping, inserting or reordering any event breaks
the
chain at that event, and a body can later be destroyed while the chain still holds.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from tenure.core.events import decode_header

GENESIS = bytes(32)
"""The link before a tenant's first event."""


class ChainedEvent(NamedTuple):
    """One row of the log, as it is stored."""

    seq: int
    header: bytes
    body: bytes | None
    link: bytes


class Break(NamedTuple):
    """The first event at which the log is not what was written."""

    seq: int
    because: str


def link(previous: bytes, seq: int, header: bytes) -> bytes:
    """The link of the event at a position, given the one before it."""
    return hashlib.sha256(previous + seq.to_bytes(8, "big") + header).digest()


def body_digest(body: bytes) -> bytes:
    """What the header says of the sealed body."""
    return hashlib.sha256(body).digest()


def verify(
    tenant: str, rows: Iterable[ChainedEvent], *, head: tuple[int, bytes] | None = None
) -> Break | int:
    """The number of events when the chain holds, else the first break.

    ``head`` is the position and link that the log should end at; without it a cut-off tail cannot be seen.
    """
    previous, count = GENESIS, 0
    for row in rows:
        because = _broken(tenant, row, previous, count + 1)
        if because is not None:
            return Break(count + 1 if row.seq != count + 1 else row.seq, because)
        previous, count = row.link, row.seq
    return _ended(head, count, previous) if head is not None else count


def _ended(head: tuple[int, bytes], count: int, previous: bytes) -> Break | int:
    """Whether the log ends where it should, and as it should."""
    seq, expected = head
    if count != seq:
        first_bad = min(count, seq) + 1
        return Break(first_bad, f"the log should end at position {seq}, but ends at {count}")
    if previous != expected:
        return Break(seq, "the log ends at its position, but with another link: it was written anew")
    return count


def _broken(tenant: str, row: ChainedEvent, previous: bytes, expected_seq: int) -> str | None:
    if row.seq != expected_seq:
        return f"position {expected_seq} is missing; the next event is at {row.seq}"
    if link(previous, row.seq, row.header) != row.link:
        return "the event does not follow from the one before it"
    try:
        header = decode_header(row.header)
    except msgspec.DecodeError:
        return "the header cannot be read"
    if header.tenant != tenant:
        return "the event belongs to another tenant"
    if row.body is not None and body_digest(row.body) != header.body_sha256:
        return "the sealed body is not the one that was written"
    return None

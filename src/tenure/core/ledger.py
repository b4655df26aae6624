"""The hash chain over a tenant's log (SPEC E2).

Each event's link is SHA-256 over the link before it, its position, and the exact bytes of its header; the
header carries the hash of the sealed body. So altering, dropping, inserting or reordering any event breaks
the chain at that event, and a body can later be destroyed while the chain still holds. ``core/tampering.py``
walks the chain and says what was done to it.
"""

import hashlib
from typing import NamedTuple, Protocol

GENESIS = bytes(32)
"""The link before a tenant's first event."""


class Logged(Protocol):
    """One row of the log, as it is stored."""

    @property
    def seq(self) -> int:
        """Its position."""

    @property
    def header(self) -> bytes:
        """Its header, byte for byte."""

    @property
    def body(self) -> bytes | None:
        """Its sealed body, if it has one that was not destroyed."""

    @property
    def link(self) -> bytes:
        """Its link."""


class ChainedEvent(NamedTuple):
    """One row of the log, as it is stored."""

    seq: int
    header: bytes
    body: bytes | None
    link: bytes


def link(previous: bytes, seq: int, header: bytes) -> bytes:
    """The link of the event at a position, given the one before it."""
    return hashlib.sha256(previous + seq.to_bytes(8, "big") + header).digest()


def body_digest(body: bytes) -> bytes:
    """What the header says of the sealed body."""
    return hashlib.sha256(body).digest()

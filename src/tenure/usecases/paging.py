"""Going through what is long, some at a time: cursors of lists, batches, and the events of a log.

A cursor is a position in the log, behind a word that says which way the list goes.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from tenure.core.errors import InvalidRequest
from tenure.usecases.ports import Reading, StoredEvent

T = TypeVar("T")

EVENTS_AT_ONCE: Final = 1_000
_POSITION_DIGITS_MAX: Final = 18


def position(cursor: str | None, *, word: str) -> int | None:
    """The position that a cursor names; raises InvalidRequest for what no page gave."""
    if cursor is None:
        return None
    digits = cursor.removeprefix(word)
    if digits == cursor or not (digits.isascii() and digits.isdigit()) or len(digits) > _POSITION_DIGITS_MAX:
        raise InvalidRequest("cursor must be the next_cursor of an earlier page", field="cursor")
    return int(digits)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in their order, at most so many at a time."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def log_events(reading: Reading, tenant: str, *, after: int = 0) -> Iterator[StoredEvent]:
    """The events of a tenant behind a position, oldest first."""
    while page := reading.log(tenant, after=after, limit=EVENTS_AT_ONCE):
        yield from page
        after = page[-1].seq


def subject_events(reading: Reading, tenant: str, subject: str, *, after: int = 0) -> Iterator[StoredEvent]:
    """The events about a subject behind a position, oldest first."""
    while page := reading.subject_events(tenant, subject, after=after, limit=EVENTS_AT_ONCE):
        yield from page
        after = page[-1].seq

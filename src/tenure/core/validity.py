"""When what is said holds: intervals with open ends, and how a correction closes one (SPEC T4). Pure.

    closing(old, new, said_at=…)    Closed(old=…, new=…): the old interval ends where the new one begins

Laws: intervals are half open, the end lies outside; after a closing the two have no instant in common, every
instant of the old before the new begins is kept, nothing becomes longer than it was, and closing again
changes nothing.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from tenure.core.memory import Memory


class Interval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """From when and until when something holds; None is an open end."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it holds at no time: what was corrected from its beginning never was true."""
        return self.end is not None and self.end <= _start(self)


class Closed(NamedTuple):
    """Two intervals, one after the other."""

    old: Interval
    new: Interval


def interval_of(memory: Memory) -> Interval:
    """When a memory says that it holds."""
    return Interval(start=memory.valid_from, end=memory.valid_to)


def share_an_instant(one: Interval, other: Interval) -> bool:
    """Whether both hold at some time."""
    return max(_start(one), _start(other)) < min(_end(one), _end(other))


def closing(old: Interval, new: Interval, *, said_at: datetime) -> Closed:
    """The old ends where the new begins.

    A new one that names no beginning is about the present: it begins when it was said, or with the old one
    where that begins later, which then never was true.
    """
    start = new.start if new.start is not None else max(said_at, _start(old))
    if not share_an_instant(old, Interval(start=start, end=new.end)):
        return Closed(old, msgspec.structs.replace(new, start=start))
    end = max(start, old.start) if old.start is not None else start
    return Closed(
        msgspec.structs.replace(old, end=min(end, _end(old))), msgspec.structs.replace(new, start=start)
    )


_ALWAYS_BEFORE = datetime.min.replace(tzinfo=UTC)
_ALWAYS_AFTER = datetime.max.replace(tzinfo=UTC)


def _start(one: Interval) -> datetime:
    return one.start if one.start is not None else _ALWAYS_BEFORE


def _end(one: Interval) -> datetime:
    return one.end if one.end is not None else _ALWAYS_AFTER

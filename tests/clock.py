"""A clock that tests move by hand; its ids grow in the order in which they were drawn."""

import hashlib
import threading
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from tenure.core.identity import Moment

START: Final = datetime(2031, 5, 4, 9, 0, tzinfo=UTC)


class MovableClock:
    """The Clock port with nothing left to chance: the same calls give the same times, ids and secrets."""

    def __init__(self, start: datetime = START) -> None:
        self._lock = threading.Lock()
        self._now = start
        self._drawn = 0

    def moment(self) -> Moment:
        """Now, with one fresh id that is greater than every id before it."""
        drawn = self._draw()
        milliseconds = int(self._now.timestamp() * 1_000)
        return Moment(now=self._now, fresh_id=UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62 | drawn))

    def now(self) -> datetime:
        """The time at which the hand was left."""
        return self._now

    def secret(self, size_bytes: int) -> bytes:
        """Bytes that nobody has seen before, the same ones in every run."""
        return hashlib.shake_256(b"secret %d" % self._draw()).digest(size_bytes)

    def pass_time(self, **amount: float) -> datetime:
        """Move the hand forward, by what timedelta takes, and give back the new time."""
        with self._lock:
            self._now += timedelta(**amount)
            return self._now

    def _draw(self) -> int:
        with self._lock:
            self._drawn += 1
            return self._drawn

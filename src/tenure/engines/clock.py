"""The machine's time and chance: the only place that reads them."""

import os
import threading
import time
from datetime import UTC, datetime
from uuid import UUID

from tenure.core.identity import Moment


class SystemClock:
    """UTC now, ids that grow with time (UUID version 7, RFC 9562), and unguessable bytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def moment(self) -> Moment:
        """Now, with one fresh id."""
        now = self.now()
        return Moment(now=now, fresh_id=self._id())

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(tz=UTC)

    def secret(self, size_bytes: int) -> bytes:
        """Unguessable bytes."""
        return os.urandom(size_bytes)

    def _id(self) -> UUID:
        """48 bits of milliseconds, 12 bits that keep the order within one, 62 random bits."""
        with self._lock:
            ticks = max(time.time_ns() * 4096 // 1_000_000, self._last + 1)
            self._last = ticks
        return uuid7(ticks, os.urandom(8))


def seconds_passed() -> float:
    """Seconds since some moment, by a clock that nobody sets; only differences mean anything."""
    return time.monotonic()


def seconds_busy() -> float:
    """Seconds that this thread has worked; what it waited for the processor does not count."""
    return time.thread_time()


def uuid7(ticks: int, chance: bytes) -> UUID:
    """An id from 1/4096 milliseconds since 1970 and eight random bytes."""
    milliseconds, within = divmod(ticks, 4096)
    random_part = int.from_bytes(chance, "big") & (2**62 - 1)
    return UUID(int=(milliseconds & (2**48 - 1)) << 80 | 7 << 76 | within << 64 | 2 << 62 | random_part)

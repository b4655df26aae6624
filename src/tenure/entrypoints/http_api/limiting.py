"""Rate limits: how often one credential may call, and how often one address may fail to name one."""

import math
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Final

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from tenure.core.errors import RateLimited, TenureError, Unauthenticated
from tenure.core.identity import Caller

FAILURES_PER_MINUTE_MAX: Final = 6_000
_WINDOW_SECONDS: Final = 60


class Limits:
    """Counts requests in memory. A limit of 0 counts nothing."""

    def __init__(self, *, per_minute: int, now: Callable[[], datetime]) -> None:
        storage = MemoryStorage()
        self._calls: RateLimitItem | None = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._failures = RateLimitItemPerMinute(FAILURES_PER_MINUTE_MAX)
        self._moving = MovingWindowRateLimiter(storage)
        # Addresses are many and come from outside; a fixed window keeps one number for each and drops it.
        self._fixed = FixedWindowRateLimiter(storage)
        self._now = now
        # The storage starts a timer thread when two callers meet in it; one at a time, it is exact.
        self._lock = threading.Lock()

    def admit(self, caller: Caller) -> None:
        """Count one request of a caller; raises RateLimited, with when to come back, beyond the limit."""
        if self._calls is None:
            return
        with self._lock:
            if self._moving.hit(self._calls, caller.tenant, caller.id):
                return
            reset = self._moving.get_window_stats(self._calls, caller.tenant, caller.id).reset_time
        raise RateLimited(retry_after_seconds=self._seconds_until(reset))

    def failed(self, address: str, error: Unauthenticated) -> TenureError:
        """Count one failure of an address; gives the error to answer with."""
        with self._lock:
            if self._fixed.hit(self._failures, address):
                return error
            reset = self._fixed.get_window_stats(self._failures, address).reset_time
        return RateLimited(retry_after_seconds=self._seconds_until(reset))

    def _seconds_until(self, reset: float) -> int:
        return min(max(math.ceil(reset - self._now().timestamp()), 1), _WINDOW_SECONDS)

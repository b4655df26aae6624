"""Waiting for another process: by asking it again, for a bounded time."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

INTERVAL_SECONDS: Final = 0.02

Answer = TypeVar("Answer")


class NeverHappened(AssertionError):
    """What was waited for did not come in time."""


def wait_until(
    probe: Callable[[], Answer | None],
    *,
    what: str,
    seconds_max: float,
    interval_seconds: float = INTERVAL_SECONDS,
) -> Answer:
    """The first true answer of a probe; an error that says what did not happen when the time is used up."""
    ends = time.monotonic() + seconds_max
    while time.monotonic() < ends:
        answer = probe()
        if answer:
            return answer
        time.sleep(interval_seconds)
    raise NeverHappened(f"within {seconds_max} seconds this did not happen: {what}")

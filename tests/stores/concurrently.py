"""Calls that start at the same moment, each in a thread of its own."""

import threading
from collections.abc import Callable
from typing import Any, Final

from tenure.core.errors import TenureError

SECONDS_MAX: Final = 30.0


def at_once(*calls: Callable[[], Any], seconds_max: float = SECONDS_MAX) -> list[Any]:
    """What each call gave back, or the TenureError it was refused with; fails when one hangs or breaks."""
    outcomes: list[Any] = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(index: int, call: Callable[[], Any]) -> None:
        gate.wait(seconds_max)
        try:
            outcomes[index] = call()
        except TenureError as refusal:
            outcomes[index] = refusal
        except BaseException as fault:  # noqa: BLE001 -- shown by the thread that waits
            outcomes[index] = AssertionError(f"call {index} broke: {fault!r}")

    threads = [
        threading.Thread(target=run, args=(index, call), daemon=True) for index, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds_max)
    assert not any(thread.is_alive() for thread in threads), "a call hangs"
    for outcome in outcomes:
        if isinstance(outcome, AssertionError):
            raise outcome
    return outcomes

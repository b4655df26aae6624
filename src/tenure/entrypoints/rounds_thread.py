"""Rounds of a worker, one after another in a thread of their own that never delays the start (SPEC T8)."""

import threading
from collections.abc import Callable
from typing import Final

STOP_SECONDS_MAX: Final = 10.0


class RoundsThread:
    """Runs rounds until it is stopped; each says how many seconds to wait for the next, and never raises."""

    def __init__(self, one_round: Callable[[], float], *, name: str) -> None:
        self._round = one_round
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin with a first round at once, beside whatever else starts."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round in progress; the store may be closed then."""
        self._ending.set()
        self._thread.join(STOP_SECONDS_MAX)

    def _run(self) -> None:
        while not self._ending.wait(self._round()):
            pass

"""The background rounds, in a thread that never delays the start and never dies quietly (SPEC T8)."""

import threading
from collections.abc import Callable
from typing import Final

from tenure.usecases.notifying import Messenger
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.upkeep import LEASE_SECONDS_MIN, Round, upkeep_round
from tenure.usecases.watching import Watcher

STOP_SECONDS_MAX: Final = 10.0
LEASE_INTERVALS: Final = 2.0
"""A lease outlasts a missed round, so that it changes hands only when its holder is gone."""


class UpkeepThread:
    """Runs a round, waits, runs the next; a failed one is counted, reported and tried again.

    Every node has one. The rounds of the node that holds the lease do the work, the others' ask for it.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        interval_seconds: float,
        batch_size: int,
        watcher: Watcher | None = None,
        messenger: Messenger | None = None,
        on_round: Callable[[Round], None] = lambda _round: None,
        on_failure: Callable[[Exception], None] = lambda _fault: None,
    ) -> None:
        self.rounds = 0
        self.failures = 0
        self._pipeline = pipeline
        self._interval_seconds = interval_seconds
        self._lease_seconds = max(LEASE_SECONDS_MIN, LEASE_INTERVALS * interval_seconds)
        self._batch_size = batch_size
        self._watcher = watcher
        self._messenger = messenger
        self._on_round = on_round
        self._on_failure = on_failure
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tenure-upkeep", daemon=True)

    def start(self) -> None:
        """Begin with a first round at once, beside whatever else starts."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round in progress; the store may be closed then."""
        self._ending.set()
        self._thread.join(STOP_SECONDS_MAX)

    def _run(self) -> None:
        is_more = self._round()
        while not self._ending.wait(0 if is_more else self._interval_seconds):
            is_more = self._round()

    def _round(self) -> bool:
        """One round; says whether another should follow at once."""
        try:
            done = upkeep_round(
                self._pipeline,
                batch_size=self._batch_size,
                lease_seconds=self._lease_seconds,
                watcher=self._watcher,
                messenger=self._messenger,
            )
        except Exception as fault:  # noqa: BLE001 -- no fault may end the thread; it is counted and told
            self.failures += 1
            self._on_failure(fault)
            return False
        self.rounds += 1
        self._on_round(done)
        return done.more

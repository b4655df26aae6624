"""The background rounds, in a thread that never delays the start and never dies quietly (SPEC T8)."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from tenure.entrypoints.rounds_thread import RoundsThread
from tenure.usecases.notifying import Messenger
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.upkeep import LEASE_SECONDS_MIN, OnWorked, Round, nobody, upkeep_round
from tenure.usecases.watching import Watcher

LEASE_INTERVALS: Final = 2.0
"""A lease outlasts a missed round, so that it changes hands only when its holder is gone."""


class UpkeepThread(RoundsThread):
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
        on_worked: OnWorked = nobody,
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
        self._on_worked = on_worked
        super().__init__(self._keep_up, name="tenure-upkeep")

    def _keep_up(self) -> float:
        """One round; gives back how long to wait for the next, none where more is left to do."""
        try:
            done = upkeep_round(
                self._pipeline,
                batch_size=self._batch_size,
                lease_seconds=self._lease_seconds,
                watcher=self._watcher,
                messenger=self._messenger,
                passed=monotonic,
                on_worked=self._on_worked,
            )
        except Exception as fault:  # noqa: BLE001 -- no fault may end the thread; it is counted and told
            self.failures += 1
            self._on_failure(fault)
            return self._interval_seconds
        self.rounds += 1
        self._on_round(done)
        return 0 if done.more else self._interval_seconds

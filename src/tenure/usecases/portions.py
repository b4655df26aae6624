"""How much of a round one step may take, and how workers store what they decided (SPEC T8).

Law: nobody who writes waits long behind a worker. What a worker stores comes in portions that are as large as
its last ones were quick; and a step looks at so many rows and for so long, then it is the next one's turn.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult

Passed: TypeAlias = Callable[[], float]
"""Seconds since some moment, which only ever grow."""

SECONDS_MAX: Final = 1.0
"""How long a step goes on with what is left to do."""
PORTION_SECONDS: Final = 0.010
"""How long a portion should take, so that whoever waits behind it, and is stored with what came meanwhile,
is answered within five times that."""
EVENTS_FIRST: Final = 16
EVENTS_MIN: Final = 8
EVENTS_MAX: Final = 64
"""However quick the last portion was, the next may meet a slow disk."""
PAGES_MAX: Final = 10
"""How many full batches of rows one step looks at in a round; a look holds up nobody."""


def at_a_standstill() -> float:
    """The time where nobody measures it."""
    return 0.0


class Portions:
    """Stores events in portions, each in one step of the store."""

    def __init__(self, pipeline: Pipeline, *, events_max: int, passed: Passed) -> None:
        self._pipeline = pipeline
        self._events_max = max(1, min(events_max, EVENTS_MAX))
        self._passed = passed
        self._events = min(EVENTS_FIRST, self._events_max)

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Store each item whole or not at all, in their order; what one portion stored is durable."""
        results: list[AppendResult] = []
        while len(results) < len(items):
            portion = self._portion(items[len(results) :])
            began = self._passed()
            results += self._pipeline.append(portion)
            self._measure(self._passed() - began)
        return results

    def _portion(self, items: Sequence[Append]) -> list[Append]:
        """The first items, one at least, that have no more events together than a portion may have."""
        taken, events = [items[0]], len(items[0].events)
        for item in items[1:]:
            events += len(item.events)
            if events > self._events:
                break
            taken.append(item)
        return taken

    def _measure(self, seconds: float) -> None:
        if seconds > PORTION_SECONDS:
            self._events = max(min(EVENTS_MIN, self._events_max), self._events // 2)
        elif 0 < seconds < PORTION_SECONDS / 2:
            self._events = min(self._events_max, self._events * 2)


class Turn:
    """A step's turn in a round: so many rows, and so long."""

    def __init__(self, *, rows: int, passed: Passed, seconds_max: float = SECONDS_MAX) -> None:
        self._rows = rows
        self._passed = passed
        self._until = passed() + seconds_max

    def is_over(self) -> bool:
        """Whether the next step is to begin."""
        return self._rows <= 0 or self._passed() > self._until

    def rows(self, limit: int) -> int:
        """How many rows may be looked at next."""
        return max(1, min(limit, self._rows))

    def looked(self, rows: int) -> None:
        """So many rows were looked at."""
        self._rows -= rows


def sweep(tenants: Iterable[str], turn: Turn, work: Callable[[str], bool]) -> bool:
    """Let each tenant have a page of work in its turn, again while there is more; whether more is left.

    A tenant whose page fails is in no other's way; what kept the first that failed is raised at the end.
    """
    failed: Exception | None = None
    waiting = list(tenants)
    while waiting and not turn.is_over():
        again: list[str] = []
        for place, tenant in enumerate(waiting):
            if turn.is_over():
                again += waiting[place:]
                break
            try:
                if work(tenant):
                    again.append(tenant)
            except Exception as fault:  # noqa: BLE001 -- kept, and raised once the others had their turn
                failed = failed or fault
        waiting = again
    if failed is not None:
        raise failed
    return bool(waiting)

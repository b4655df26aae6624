"""Taking turns at the write lock: group commit without a timer and without a writer thread (SPEC E5, L8).

Whoever wants to write takes a ticket. When nobody leads, it leads: it stores all that was queued, by anybody,
as one batch, wakes the others, and hands the lead to the first of those who queued meanwhile. A single caller
changes no thread. Laws: somebody leads whenever somebody waits; a ticket is stored once; whoever stops
waiting, leads no one.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final

from tenure.core import views
from tenure.core.events import Event
from tenure.core.wording import analyse
from tenure.usecases.ports import Append, AppendResult

BATCH_ITEMS_MAX: Final = 1_000


class Ticket:
    """Items that wait to be stored, and what became of them."""

    __slots__ = ("_woken", "done", "fault", "items", "leads", "results", "waits", "words")

    def __init__(self, items: Sequence[Append]) -> None:
        self.items = items
        self.words = [[_words(sealed.event) for sealed in item.events] for item in items]
        self.results: list[AppendResult] = []
        self.fault: BaseException | None = None
        self.done = False
        self.waits = False
        self.leads = False
        self._woken = threading.Lock()
        self._woken.acquire()

    def wait(self) -> None:
        """Until it is done, or has to lead."""
        self._woken.acquire()

    def wake(self) -> None:
        """End the wait."""
        self._woken.release()


class Turns:
    """Queues tickets and has one of their owners store them all."""

    def __init__(self, store: Callable[[list[Ticket]], None]) -> None:
        self._store = store
        self._state = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._led = False

    def take(self, ticket: Ticket) -> list[AppendResult]:
        """Have a ticket stored, by leading or by waiting for whoever leads; raises its fault."""
        with self._state:
            self._queue.append(ticket)
            ticket.leads, self._led = not self._led, True
            ticket.waits = not ticket.leads
        if ticket.waits:
            self._wait(ticket)
        if ticket.leads:
            self._lead(ticket)
        if ticket.fault is not None:
            raise ticket.fault
        return ticket.results

    def leave(self, ticket: Ticket) -> int:
        """Queue a ticket that nobody waits for; gives back how many are queued."""
        with self._state:
            self._queue.append(ticket)
            return len(self._queue)

    def _wait(self, ticket: Ticket) -> None:
        try:
            ticket.wait()
        except BaseException:
            with self._state:
                ticket.waits = False
            if ticket.leads:
                self._hand_on()
            raise

    def _lead(self, own: Ticket) -> None:
        try:
            while not own.done:
                tickets = self._taken()
                try:
                    self._store(tickets)
                except BaseException as fault:
                    for ticket in tickets:
                        ticket.fault = fault
                    raise
                finally:
                    for ticket in tickets:
                        ticket.done = True
                        if ticket.waits and ticket is not own:
                            ticket.wake()
        finally:
            self._hand_on()

    def _hand_on(self) -> None:
        """Give the lead to the first who waits; nobody leads when nobody does."""
        with self._state:
            following = next((ticket for ticket in self._queue if ticket.waits), None)
            self._led = following is not None
            if following is not None:
                following.leads = True
                following.waits = False
                following.wake()

    def _taken(self) -> list[Ticket]:
        with self._state:
            tickets: list[Ticket] = []
            items = 0
            while self._queue and items < BATCH_ITEMS_MAX:
                ticket = self._queue.popleft()
                items += len(ticket.items)
                tickets.append(ticket)
            return tickets


def _words(event: Event) -> Counter[str] | None:
    """The terms that a memory is found by, counted before the write lock is taken."""
    text = views.indexed_text(event)
    return Counter(analyse(text)) if text is not None else None

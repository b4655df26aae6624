"""Taking turns: what many callers bring is done together, without a timer and without a thread (SPEC E5, L8).

Whoever brings work takes a ticket. When nobody leads, it leads: it does the work of all that queued, as one
batch, wakes the others, and hands the lead to the first of those who queued meanwhile. A single caller
changes no thread. Laws: somebody leads whenever somebody waits; a ticket is done once; whoever stops waiting
leads no one.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T", bound="Ticket")


class Ticket:
    """Work that waits to be done with others', and whether it was."""

    __slots__ = ("_woken", "done", "fault", "leads", "waits")

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self.done = False
        self.waits = False
        self.leads = False
        self._woken = threading.Lock()
        self._woken.acquire()

    @property
    def size(self) -> int:
        """How much of a batch it fills."""
        return 1

    def wait(self) -> None:
        """Until it is done, or has to lead."""
        self._woken.acquire()

    def wake(self) -> None:
        """End the wait."""
        self._woken.release()


class Turns(Generic[T]):
    """Queues tickets and has one of their owners do the work of all."""

    def __init__(self, work: Callable[[list[T]], None], *, size_max: int) -> None:
        self._work = work
        self._size_max = size_max
        self._state = threading.Lock()
        self._queue: deque[T] = deque()
        self._led = False

    def take(self, ticket: T) -> None:
        """Have a ticket's work done, by leading or by waiting for whoever leads; raises its fault."""
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

    def leave(self, ticket: T) -> int:
        """Queue a ticket that nobody waits for; gives back how many are queued."""
        with self._state:
            self._queue.append(ticket)
            return len(self._queue)

    def _wait(self, ticket: T) -> None:
        try:
            ticket.wait()
        except BaseException:
            with self._state:
                ticket.waits = False
            if ticket.leads:
                self._hand_on()
            raise

    def _lead(self, own: T) -> None:
        try:
            while not own.done:
                tickets = self._taken()
                try:
                    self._work(tickets)
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

    def _taken(self) -> list[T]:
        with self._state:
            tickets: list[T] = []
            size = 0
            while self._queue and size < self._size_max:
                ticket = self._queue.popleft()
                size += ticket.size
                tickets.append(ticket)
            return tickets

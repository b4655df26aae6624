"""Group commit: callers' items become few transactions, and each learns what became of its own (SPEC E5).

An engine gives the function that stores a batch of tickets; everything about waiting, turns, late receipts
and bad items is here, once for all engines.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from tenure.core.errors import TenureError
from tenure.stores.found_by import Finder
from tenure.usecases import turns
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.turns import Turns

SOON_SECONDS: Final = 0.05
SOON_QUEUE_MAX: Final = 10_000
BATCH_ITEMS_MAX: Final = 1_000

_log = logging.getLogger("tenure.store")


class Ticket(turns.Ticket):
    """Items that wait to be stored, and what became of them."""

    __slots__ = ("found_by", "items", "results")

    def __init__(self, items: Sequence[Append], finder: Finder) -> None:
        super().__init__()
        self.items = items
        # What memories are found by is made before the write lock is taken.
        self.found_by = [[finder.of(sealed.event, item.vectors) for sealed in item.events] for item in items]
        self.results: list[AppendResult] = []

    @property
    def size(self) -> int:
        """How many items it is."""
        return len(self.items)


class GroupCommit:
    """Carries items into batches. ``commit`` stores tickets as one transaction, or raises and stored none."""

    def __init__(self, commit: Callable[[list[Ticket]], None], finder: Finder) -> None:
        self._commit = commit
        self._finder = finder
        self._turns = Turns(self._store, size_max=BATCH_ITEMS_MAX)
        self._soon = threading.Event()
        self._closing = threading.Event()
        self._flusher = threading.Thread(target=self._flush_soon, name="tenure-receipts", daemon=True)
        self._flusher.start()

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Store each item whole or not at all; returns once what it acknowledges is durable."""
        ticket = Ticket(items, self._finder)
        self._turns.take(ticket)
        return ticket.results

    def append_soon(self, item: Append) -> None:
        """Store an item with the next batch; bounded loss in a crash, never a wait for the disk."""
        waiting = self._turns.leave(Ticket([item], self._finder))
        self._soon.set()
        if waiting > SOON_QUEUE_MAX:
            self.settle()

    def settle(self) -> None:
        """Make durable now what append_soon left waiting."""
        self.append([])

    def close(self) -> None:
        """Store what still waits; items that come later are the engine's to refuse."""
        self._closing.set()
        self._soon.set()
        self._flusher.join()
        try:
            self.settle()
        except TenureError as fault:
            _log.warning("receipts lost: %s", type(fault).__name__)

    def _flush_soon(self) -> None:
        while not self._closing.is_set():
            self._soon.wait()
            self._closing.wait(SOON_SECONDS)
            self._soon.clear()
            try:
                self.settle()
            except Exception as fault:  # noqa: BLE001 -- receipts may be lost, the thread may not
                _log.warning("receipts lost: %s", type(fault).__name__)

    def _store(self, tickets: list[Ticket]) -> None:
        """Store a batch; what becomes of each ticket is written on it."""
        try:
            self._commit(tickets)
        except TenureError as fault:
            for ticket in tickets:
                ticket.fault = fault
        except Exception as fault:  # noqa: BLE001 -- one bad item must not take its neighbours along
            self._one_by_one(tickets, fault)

    def _one_by_one(self, tickets: list[Ticket], fault: Exception) -> None:
        if len(tickets) == 1:
            tickets[0].fault = fault
            return
        for ticket in tickets:
            try:
                self._commit([ticket])
            except Exception as own:  # noqa: BLE001 -- handed to the one who asked for it
                ticket.fault = own

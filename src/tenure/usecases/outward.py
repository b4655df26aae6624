"""Whom the use cases tell what happens: whoever counts, and the receiver of alerts."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from tenure.core.events import Event


class Observer(Protocol):
    """Whoever counts what happens in this process; it holds nobody up and never fails."""

    def stored(self, events: Sequence[Event]) -> None:
        """These events are in the log; receipts that may yet be lost are on their way there."""

    def began(self, use_case: str) -> Callable[[Sequence[str | None]], None]:
        """Commands were given. What comes back is told the error code of each at the end, or None."""

    def delivered(self, result: str, number: int) -> None:
        """So many deliveries to the receiver of alerts came to this: delivered, failed or given_up."""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What the receiver of alerts is told; the id stays the same however often it is sent."""

    id: str
    at: datetime
    body: bytes


class Notifier(Protocol):
    """The way to the receiver of alerts."""

    def deliver(self, notice: Notice) -> str | None:
        """Send it, within a few seconds; None once it was taken, else why not."""

    def gave_up(self, number: int, because: str) -> None:
        """Tell whoever runs this that so many alerts were not sent and will not be."""

"""Whom the use cases tell what happens, and what looks outside for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from tenure.core.events import Event
from tenure.core.memory import Memory
from tenure.core.probe_advice import Advice, ProbeOutcome, TargetKind


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


class Looked(NamedTuple):
    """What is to be said of a memory whose things were looked at, and the kind of thing it is about."""

    memory: Memory
    advice: Advice
    about: TargetKind


class Probes(Protocol):
    """What looks at the things that memories name, where anything may be looked at (SPEC T6)."""

    @property
    def keeps_any(self) -> bool:
        """Whether anything was found a short while ago, so that there is something to ask for."""

    def look(self, tenant: str, memories: Iterable[Memory]) -> list[Looked]:
        """Look at what these name, within the time for all; those that name nothing are left out."""

    def look_if_room(self, tenant: str, memories: Iterable[Memory], now: datetime) -> list[Looked]:
        """The same for a recall, of which only so many look at once; the others learn that at once."""

    def known(self, memory: Memory) -> Advice | None:
        """What was found a short while ago, without looking."""

    def keep(self, looked: Iterable[Looked], now: datetime) -> None:
        """Keep what was found for the rest of its time."""

    def counts(self) -> Mapping[tuple[TargetKind, ProbeOutcome], int]:
        """How many looks came to which outcome since the start."""

    def refused(self) -> Mapping[TargetKind, int]:
        """How many of them were refused."""

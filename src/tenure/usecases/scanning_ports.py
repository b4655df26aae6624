"""Scanners outside this process, as the use cases see them (SPEC L3-L5).

A local scanner is pure and looks at views: ``tenure.core.scanning.matching.Scanner``. A remote one is asked
about texts, within a time. It is told nothing else: not whose a text is, for whom or what for.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from tenure.core.scanning import Finding


class RemoteScanner(Protocol):
    """Something outside that finds things in texts; its version changes whenever its findings may."""

    @property
    def name(self) -> str:
        """A short stable name."""

    @property
    def version(self) -> str:
        """The version of what is asked, and of how its answer is read."""

    def scan(self, texts: Sequence[str], *, seconds_max: float) -> Iterable[Iterable[Finding]]:
        """What it finds in each of the texts, in their order; raises whatever it wants when it cannot say."""

    def close(self) -> None:
        """Let go of what it holds."""


class Watches(NamedTuple):
    """What time limits are measured by, in seconds."""

    busy: Callable[[], float]
    """How long this thread has worked: a machine that lets it wait makes no scanner late."""
    passed: Callable[[], float]
    """How much time has passed."""


STANDING = Watches(busy=lambda: 0.0, passed=lambda: 0.0)
"""Watches that stand still: by them nothing local is late."""

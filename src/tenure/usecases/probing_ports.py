"""What looks at things outside, as the use cases see it (SPEC T6)."""

from collections.abc import Callable
from typing import Protocol

from tenure.core.probing import Reason, Target, TargetKind

Permits = Callable[[Target], bool]
"""Whether the tenant for whom a look is made may have something looked at."""


class Prober(Protocol):
    """Looks at things of one kind; it is told nothing but the thing: not whose memory names it, nor why."""

    @property
    def kind(self) -> TargetKind:
        """What it can look at."""

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """Look once, within the time; raises whatever it wants when it cannot say.

        Whatever it is led on to must be permitted as well.
        """

    def close(self) -> None:
        """Let go of what it holds."""

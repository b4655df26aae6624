"""Whether a port takes connections: one is opened and closed, and nothing is sent (SPEC T6)."""

from collections.abc import Callable

from tenure.core.probing import Reason, Target, TargetKind, place_of
from tenure.engines.clock import seconds_passed
from tenure.engines.probing.reaching import Deadline, NotReached, Reach
from tenure.usecases.probing_ports import Permits


class TcpProber:
    """Connects to a host and port."""

    kind = TargetKind.ENDPOINT

    def __init__(self, reach: Reach, *, passed: Callable[[], float] = seconds_passed) -> None:
        self._reach = reach
        self._passed = passed

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """Whether somebody takes the connection."""
        place = place_of(target)
        if place is None or not permits(target):
            return Reason.NOT_ALLOWED
        deadline = Deadline(seconds_max, passed=self._passed)
        try:
            addresses = self._reach.addresses(place.host, place.port)
            with self._reach.connection(addresses, place.port, deadline):
                return Reason.CONNECTS
        except NotReached as fault:
            return fault.reason

    def close(self) -> None:
        """Nothing is held."""

"""Whether a name leads to an address: it is looked up, and nothing is connected to (SPEC T6)."""

from typing import Final

from tenure.core.probing import Reason, Target, TargetKind
from tenure.core.probing import target as plain_target
from tenure.engines.probing.reaching import NotReached, Reach
from tenure.usecases.probing_ports import Permits

_ANY_PORT: Final = 443


class DnsProber:
    """Looks names up as this machine does."""

    kind = TargetKind.DNS_NAME

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """Whether the name leads anywhere; a resolver has no limit of time, so whoever waits keeps it."""
        del seconds_max
        if plain_target(TargetKind.DNS_NAME, target.what) != target or not permits(target):
            return Reason.NOT_ALLOWED
        try:
            self._reach.addresses(target.what, _ANY_PORT)
        except NotReached as fault:
            return fault.reason
        return Reason.RESOLVES

    def close(self) -> None:
        """Nothing is held."""

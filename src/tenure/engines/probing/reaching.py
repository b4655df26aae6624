"""Where a probe may go on the network, decided by address after the name was resolved (SPEC T6).

Laws, each with the attack it answers:

- A name is resolved once, and the connection goes to the addresses that were checked (DNS rebinding).
- One address that may not be reached rules out all of the name's: a good answer does not cover a bad one.
- Addresses of the public internet may be reached, and of private networks those that an operator opened, by
  network and never by name: whoever answers for a name could otherwise choose an address inside (SSRF).
- Some addresses are never opened, whatever an operator wrote: link-local ones, what clouds answer on to say
  who a machine is, groups, and everything that carries another address inside.
- No proxy of the environment is used, since a proxy would choose the address.
"""

import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tenure.core.probe_networks import may_be_opened, openable
from tenure.core.probing import Reason
from tenure.engines.clock import seconds_passed
from tenure.engines.pinned_http import Address, Resolve, is_public

ADDRESSES_MAX: Final = 4
"""How many addresses of one name are tried."""

Connect = Callable[[Address, int, float], socket.socket]
"""Opens a connection to an address and port within so many seconds; raises OSError."""


class NotReached(Exception):
    """The thing was not reached; the reason says what that means for a memory that names it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Deadline:
    """The moment until which a look may take."""

    def __init__(self, seconds: float, *, passed: Callable[[], float] = seconds_passed) -> None:
        self._passed = passed
        self._until = passed() + seconds

    def left(self) -> float:
        """Seconds that are left; raises TimeoutError where there are none."""
        seconds = self._until - self._passed()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class Reach:
    """What a node's probes may reach, and how."""

    def __init__(
        self,
        *,
        opened: Iterable[str] = (),
        resolve: Resolve | None = None,
        connect: Connect | None = None,
    ) -> None:
        self._opened = tuple(openable(network) for network in opened)
        self._resolve = resolve or _resolved
        self._connect = connect or _connected

    def may_go_to(self, address: Address) -> bool:
        """Whether a probe may connect to this address."""
        return is_public(address) or (
            any(address in network for network in self._opened if network.version == address.version)
            and may_be_opened(address)
        )

    def addresses(self, host: str, port: int) -> list[Address]:
        """The addresses of a name, once every one of them was found allowed. Raises NotReached."""
        try:
            found = [ipaddress.ip_address(one) for one in dict.fromkeys(self._resolve(host, port))]
        except (socket.gaierror, UnicodeError) as fault:
            missing = getattr(fault, "errno", None) in _NO_SUCH_NAME
            raise NotReached(Reason.NO_SUCH_NAME if missing else Reason.UNRESOLVED) from None
        except (OSError, ValueError):
            raise NotReached(Reason.UNRESOLVED) from None
        if not found:
            raise NotReached(Reason.NO_SUCH_NAME)
        if not all(self.may_go_to(address) for address in found):
            raise NotReached(Reason.INTERNAL_ADDRESS)
        return found[:ADDRESSES_MAX]

    def connection(self, addresses: Sequence[Address], port: int, deadline: Deadline) -> socket.socket:
        """A connection to the first of these addresses that takes one. Raises NotReached."""
        reason = Reason.NO_WAY
        for place, address in enumerate(addresses):
            try:
                # Each has its share of the time, so that a silent one does not use up that of the others.
                return self._connect(address, port, deadline.left() / (len(addresses) - place))
            except OSError as fault:
                found = reason_of(fault)
                reason = reason if found is Reason.NO_WAY else found
        raise NotReached(reason)


def reason_of(fault: OSError) -> Reason:
    """What a fault of a connection means for a memory that names what was connected to."""
    match fault:
        case TimeoutError():
            return Reason.NO_ANSWER
        case ConnectionRefusedError():
            return Reason.REFUSED
        case ConnectionError():
            return Reason.BROKEN_OFF
        case _:
            return Reason.NO_WAY


# A name that is not there, as against a resolver that cannot say.
_NO_SUCH_NAME: Final = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def _resolved(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _connected(address: Address, port: int, seconds: float) -> socket.socket:
    """The address is written out as a number, so nothing is looked up again."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 -- IPv4
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((address.compressed, port))
    except OSError as fault:
        connection.close()
        if fault.errno == errno.ETIMEDOUT:
            raise TimeoutError from fault
        raise
    return connection

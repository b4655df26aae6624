"""Which private networks an operator may open to probes, and what stays closed in them (SPEC T6).

Laws: a network is opened as a whole and by its numbers, never by a name; only what is private to an
organisation or a machine can be opened. What clouds answer on to say who a machine is stays closed, and so
does every address that carries another one inside.
"""

import ipaddress
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def openable(text: str) -> Network:
    """A network that an operator opens to probes; raises ValueError for one that may not be opened."""
    network = ipaddress.ip_network(text)
    if not any(_lies_in(network, private) for private in _PRIVATE):
        raise ValueError(f"{text} is no private network, so it cannot be opened to probes")
    return network


def may_be_opened(address: Address) -> bool:
    """Whether an address in a network that was opened is really open."""
    if address in _NEVER:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        carries_another = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
        return address.scope_id is None and not carries_another
    return True


_PRIVATE: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
        "::1/128", "fc00::/7",
    )
)  # fmt: skip
# Where clouds tell a machine who it is, although the address lies in a private network.
_NEVER: Final = frozenset(
    ipaddress.ip_address(address) for address in ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")
)
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def _lies_in(network: Network, private: Network) -> bool:
    match network, private:
        case ipaddress.IPv4Network(), ipaddress.IPv4Network():
            return network.subnet_of(private)
        case ipaddress.IPv6Network(), ipaddress.IPv6Network():
            return network.subnet_of(private)
        case _:
            return False

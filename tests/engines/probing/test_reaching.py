"""Where probes may go on the network (SPEC T6): tables of addresses, and names that change their mind."""

import ipaddress
import socket

import pytest
from tests.engines.receiver import leads_to, one_after_the_other

from tenure.core.probe_networks import openable
from tenure.core.probing import Reason
from tenure.engines.pinned_http import Address
from tenure.engines.probing.reaching import Deadline, NotReached, Reach

CLOSED = [
    "0.0.0.0",  # noqa: S104 -- an address to refuse, not to listen on
    "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.8.8.8",
    "168.63.129.16", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1",
    "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.51.100.7", "203.0.113.7",
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:db8::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
    "fe80::1%eth0", "fec0::1", "ff02::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:7f00:1",
]  # fmt: skip
EVERYTHING_PRIVATE = (
    "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7",
)  # fmt: skip
NEVER = [
    "0.0.0.0",  # noqa: S104 -- an address to refuse, not to listen on
    "100.100.100.200", "168.63.129.16", "169.254.169.254", "169.254.170.2", "192.0.0.192", "192.0.2.1",
    "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::127.0.0.1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "fd00:ec2::254", "fd20:ce::254",
    "fe80::1", "ff02::1", "fd00::5efe:7f00:1", "fd00::1%eth0",
]  # fmt: skip


def no_connection(_address: Address, _port: int, _seconds: float) -> socket.socket:
    """A connection that must not be tried."""
    pytest.fail("it was connected to")


def refused(reach: Reach, host: str = "a.example") -> Reason:
    """Why a name leads nowhere."""
    with pytest.raises(NotReached) as fault:
        reach.addresses(host, 443)
    return fault.value.reason


def test_the_table_has_the_addresses_that_others_let_through() -> None:
    """SPEC T6: at least 38 bad addresses, the clouds' own among them."""
    assert len(set(CLOSED)) >= 38


@pytest.mark.parametrize("address", CLOSED)
def test_what_is_not_on_the_internet_is_not_probed(address: str) -> None:
    """SPEC T6: as it is written and behind a name, alone and beside a good address."""
    reach = Reach(resolve=leads_to(address), connect=no_connection)

    assert not reach.may_go_to(ipaddress.ip_address(address))
    assert refused(reach) is Reason.INTERNAL_ADDRESS
    assert refused(Reach(resolve=leads_to("1.1.1.1", address))) is Reason.INTERNAL_ADDRESS


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_stay_closed_whatever_is_opened(address: str) -> None:
    """SPEC T6: what clouds answer on, groups, and what carries another address inside."""
    reach = Reach(opened=EVERYTHING_PRIVATE, resolve=leads_to(address), connect=no_connection)

    assert refused(reach) is Reason.INTERNAL_ADDRESS


@pytest.mark.parametrize(
    ("opened", "address", "is_open"),
    [
        ("10.1.0.0/16", "10.1.2.3", True),
        ("10.1.0.0/16", "10.2.0.1", False),
        ("fd12:3456::/32", "fd12:3456::1", True),
        ("fd12:3456::/32", "10.1.2.3", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("::1", "::1", True),
    ],
)
def test_an_operator_opens_networks_by_address(
    opened: str,
    address: str,
    is_open: bool,  # noqa: FBT001 -- a case of the table
) -> None:
    """SPEC T6: and what was not opened stays closed."""
    assert Reach(opened=[opened]).may_go_to(ipaddress.ip_address(address)) is is_open


@pytest.mark.parametrize(
    "network",
    [
        "0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254", "168.63.129.16", "8.0.0.0/6", "fe80::/10",
        "::ffff:0:0/96", "::ffff:7f00:0/104", "224.0.0.0/4", "64:ff9b::/96", "a.example", "10.0.0.1/8", "",
    ],
)  # fmt: skip
def test_only_private_networks_can_be_opened(network: str) -> None:
    """SPEC T6: a slip of the pen does not open the machine's own services."""
    with pytest.raises(ValueError, match=r"."):
        openable(network)


def test_a_name_that_changes_its_mind_is_asked_once() -> None:
    """SPEC T6: DNS rebinding, a public address for the check and an inner one for the connection."""
    resolve, times_asked = one_after_the_other("1.1.1.1", "127.0.0.1")
    connected: list[tuple[str, int]] = []

    def connect(address: Address, port: int, _seconds: float) -> socket.socket:
        connected.append((address.compressed, port))
        raise ConnectionRefusedError

    reach = Reach(resolve=resolve, connect=connect)
    addresses = reach.addresses("a.example", 8_443)
    with pytest.raises(NotReached):
        reach.connection(addresses, 8_443, Deadline(1.0))

    assert connected == [("1.1.1.1", 8_443)]
    assert times_asked() == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), Reason.NO_SUCH_NAME),
        (socket.gaierror(socket.EAI_AGAIN, "x"), Reason.UNRESOLVED),
        (OSError("x"), Reason.UNRESOLVED),
        (UnicodeError("x"), Reason.UNRESOLVED),
    ],
)
def test_a_resolver_that_cannot_say_is_no_missing_name(fault: Exception, reason: Reason) -> None:
    """SPEC T6: only a name that is not there speaks against a memory."""

    def resolve(_host: str, _port: int) -> list[str]:
        raise fault

    assert refused(Reach(resolve=resolve)) is reason


def test_an_answer_that_is_no_address_is_none() -> None:
    """SPEC T6: whatever a resolver says is read strictly."""
    assert refused(Reach(resolve=leads_to("0x7f.1"))) is Reason.UNRESOLVED
    assert refused(Reach(resolve=leads_to())) is Reason.NO_SUCH_NAME


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ([TimeoutError(), ConnectionRefusedError()], Reason.REFUSED),
        ([ConnectionRefusedError(), OSError(101, "no network")], Reason.REFUSED),
        ([OSError(101, "no network"), TimeoutError()], Reason.NO_ANSWER),
        ([OSError(101, "no network"), OSError(113, "no route")], Reason.NO_WAY),
        ([ConnectionResetError(), OSError(113, "no route")], Reason.BROKEN_OFF),
    ],
)
def test_a_machine_without_a_way_out_says_nothing_against_a_memory(
    faults: list[OSError], reason: Reason
) -> None:
    """SPEC T6: what another address said counts, what this machine could not do does not."""
    left = list(faults)

    def connect(_address: Address, _port: int, _seconds: float) -> socket.socket:
        raise left.pop(0)

    reach = Reach(resolve=leads_to("1.1.1.1", "2606:4700::1111"), connect=connect)
    with pytest.raises(NotReached) as fault:
        reach.connection(reach.addresses("a.example", 1), 1, Deadline(5.0))

    assert fault.value.reason is reason
    assert left == []


def test_each_address_has_its_share_of_the_time() -> None:
    """SPEC T6: a silent address does not use up the time of the next."""
    moments = iter((0.0, 0.0, 1.0, 2.0))
    given: list[float] = []

    def connect(_address: Address, _port: int, seconds: float) -> socket.socket:
        given.append(seconds)
        raise TimeoutError

    reach = Reach(resolve=leads_to("1.1.1.1", "1.0.0.1", "8.8.8.8"), connect=connect)
    deadline = Deadline(3.0, passed=lambda: next(moments))
    with pytest.raises(NotReached):
        reach.connection(reach.addresses("a.example", 1), 1, deadline)

    assert given == [1.0, 1.0, 1.0]


def test_when_the_time_is_over_nothing_more_is_tried() -> None:
    """SPEC T6: a look has one limit of time."""
    moments = iter((0.0, 5.0))
    reach = Reach(resolve=leads_to("1.1.1.1"), connect=no_connection)

    with pytest.raises(NotReached) as fault:
        reach.connection(reach.addresses("a.example", 1), 1, Deadline(1.0, passed=lambda: next(moments)))
    assert fault.value.reason is Reason.NO_ANSWER

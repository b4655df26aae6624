"""Looks at ports and names (SPEC T6): nothing is sent, and nothing inside is reached."""

import socket
from collections.abc import Callable

import pytest
from tests.engines.probing.talker import talker
from tests.engines.receiver import leads_to

from tenure.core.probing import Reason, Target, TargetKind, target
from tenure.engines.pinned_http import Address, Resolve
from tenure.engines.probing.dns import DnsProber
from tenure.engines.probing.reaching import Reach
from tenure.engines.probing.tcp import TcpProber

HERE = ("127.0.0.1",)


def everything(_one: Target) -> bool:
    """A tenant who may have everything looked at."""
    return True


def nothing(_one: Target) -> bool:
    """A tenant who may have nothing looked at."""
    return False


def connected(text: str, reach: Reach, *, permits: Callable[[Target], bool] = everything) -> Reason:
    """What a look at a port says."""
    found = target(TargetKind.ENDPOINT, text)
    assert found is not None
    return TcpProber(reach).look(found, permits=permits, seconds_max=5.0)


def resolved(text: str, resolve: Resolve, *, permits: Callable[[Target], bool] = everything) -> Reason:
    """What a look at a name says."""
    found = target(TargetKind.DNS_NAME, text)
    assert found is not None
    return DnsProber(Reach(resolve=resolve)).look(found, permits=permits, seconds_max=5.0)


def not_asked(_host: str, _port: int) -> list[str]:
    """A resolver that must not be asked."""
    pytest.fail("it was looked up")


def test_a_port_that_takes_connections_holds_and_is_sent_nothing() -> None:
    """SPEC T6: to connect is all that is done."""
    with talker() as server:
        assert connected(f"127.0.0.1:{server.port}", Reach(opened=HERE)) is Reason.CONNECTS

    assert server.got == []


def test_a_port_where_nobody_listens_fails() -> None:
    """SPEC T6: what a memory names is gone."""
    with talker() as gone:
        port = gone.port

    assert connected(f"127.0.0.1:{port}", Reach(opened=HERE)) is Reason.REFUSED


def test_a_port_that_says_nothing_fails_when_the_time_is_over() -> None:
    """SPEC T6: the socket is given what is left of the time."""
    given: list[float] = []

    def connect(_address: Address, _port: int, seconds: float) -> socket.socket:
        given.append(seconds)
        raise TimeoutError

    reach = Reach(connect=connect, resolve=leads_to("1.1.1.1"))

    assert connected("a.example:80", reach) is Reason.NO_ANSWER
    assert 4 < given[0] <= 5


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "[::1]", "10.0.0.1", "168.63.129.16"])
def test_an_inner_port_is_not_connected_to(host: str) -> None:
    """SPEC T6: whatever the rules of the tenant say."""

    def connect(_address: Address, _port: int, _seconds: float) -> socket.socket:
        pytest.fail("it was connected to")

    assert connected(f"{host}:22", Reach(connect=connect)) is Reason.INTERNAL_ADDRESS


def test_a_port_that_is_not_permitted_is_not_even_looked_up() -> None:
    """SPEC T6: off unless allowed."""
    assert connected("a.example:80", Reach(resolve=not_asked), permits=nothing) is Reason.NOT_ALLOWED


def test_a_name_that_leads_to_an_address_holds() -> None:
    """SPEC T6: it is looked up as this machine does."""
    assert resolved("a.example", leads_to("1.1.1.1", "2606:4700::1111")) is Reason.RESOLVES


def test_a_name_that_leads_nowhere_fails() -> None:
    """SPEC T6: only that there is no such name speaks against a memory."""

    def resolve(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    assert resolved("a.example", resolve) is Reason.NO_SUCH_NAME


def test_a_name_that_leads_inside_tells_nothing_about_the_inside() -> None:
    """SPEC T6: whether an inner name exists is not found out through a probe."""
    assert resolved("db.a.example", leads_to("10.0.0.7")) is Reason.INTERNAL_ADDRESS


def test_a_name_that_was_not_read_as_plain_is_not_looked_up() -> None:
    """SPEC T6: whoever makes a target in another way is refused here."""
    odd = [Target(kind=TargetKind.DNS_NAME, what=what) for what in ("a\x00.example", "A.example", "10.0.0.1")]
    prober = DnsProber(Reach(resolve=not_asked))

    found = [prober.look(one, permits=everything, seconds_max=5.0) for one in odd]

    assert found == [Reason.NOT_ALLOWED] * 3


def test_a_name_that_is_not_permitted_is_not_looked_up() -> None:
    """SPEC T6: the question itself would carry words of a memory to whoever answers for the domain."""
    assert resolved("secret.a.example", not_asked, permits=nothing) is Reason.NOT_ALLOWED

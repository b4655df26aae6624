"""Looks at addresses on the web (SPEC T6): what servers can do to whoever asks them, against real sockets."""

import socket
import ssl
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest
from tests.engines.probing.talker import Talker, talker, with_status
from tests.engines.receiver import leads_to, one_after_the_other
from tests.engines.test_pinned_http import certificate

from tenure.core.probing import Reason, Target, TargetKind, target
from tenure.engines.pinned_http import Address
from tenure.engines.probing.http import HEAD_BYTES_MAX, REDIRECTS_MAX, HttpProber
from tenure.engines.probing.reaching import Reach

HERE = ("127.0.0.1",)


@pytest.fixture
def server() -> Iterator[Talker]:
    """A server on this machine."""
    with talker() as it:
        yield it


def url(text: str) -> Target:
    """An address that is one."""
    found = target(TargetKind.URL, text)
    assert found is not None
    return found


def looked(
    text: str,
    *,
    reach: Reach | None = None,
    permits: Callable[[Target], bool] = lambda _one: True,
    seconds_max: float = 5.0,
    trusts: ssl.SSLContext | None = None,
) -> Reason:
    """What a look at an address says."""
    prober = HttpProber(reach or Reach(opened=HERE), trusts=trusts)
    return prober.look(url(text), permits=permits, seconds_max=seconds_max)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("200 OK", Reason.ANSWERS), ("204 No Content", Reason.ANSWERS), ("401 No", Reason.WANTS_MORE),
        ("403 No", Reason.WANTS_MORE), ("429 No", Reason.WANTS_MORE), ("404 No", Reason.NOT_FOUND),
        ("410 Gone", Reason.NOT_FOUND), ("500 No", Reason.SERVER_ERROR), ("503", Reason.SERVER_ERROR),
        ("304 Same", Reason.UNREADABLE), ("302 Found", Reason.LEADS_ELSEWHERE),
    ],
)  # fmt: skip
def test_the_status_says_whether_the_address_is_good(server: Talker, status: str, reason: Reason) -> None:
    """SPEC T6: gone and broken speak against a memory, asking for credentials does not."""
    server.says = lambda _request: [with_status(status)]

    assert looked(server.url) is reason


def test_the_request_has_a_fixed_shape_and_nothing_of_this_machine(
    server: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6: no credentials, no cookies, no proxy of the environment."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    reach = Reach(opened=HERE, resolve=leads_to("127.0.0.1"))

    assert looked(f"http://a.example:{server.port}/x/y", reach=reach) is Reason.ANSWERS
    assert server.got == [
        f"HEAD /x/y HTTP/1.1\r\nHost: a.example:{server.port}\r\nUser-Agent: tenure-probe\r\nAccept: */*\r\n"
        "Accept-Encoding: identity\r\nConnection: close\r\n\r\n".encode()
    ]


def test_where_the_head_is_refused_the_address_itself_is_asked_for(server: Talker) -> None:
    """SPEC T6: many servers know an address and no HEAD of it; a body is not waited for."""
    server.says = lambda request: (
        [with_status("405 No")]
        if request.startswith(b"HEAD")
        else [with_status("200 OK", "Content-Length: 1000000000"), *repeat(b"x" * 1_000, 1_000)]
    )

    assert looked(server.url) is Reason.ANSWERS
    assert [request.split()[0] for request in server.got] == [b"HEAD", b"GET"]


def test_a_body_without_an_end_is_not_read(server: Talker) -> None:
    """SPEC T6: nobody fills our memory, nor our time."""
    server.says = lambda _request: (piece for piece in (with_status("200 OK"), *repeat(b"x" * 65_536, 1_000)))

    assert looked(server.url) is Reason.ANSWERS


@pytest.mark.parametrize("line", [b"X-Filler: " + b"y" * 500 + b"\r\n", b"z" * 512])
def test_a_head_without_an_end_is_cut(server: Talker, line: bytes) -> None:
    """SPEC T6: huge headers, and one that never ends."""
    server.says = lambda _request: (
        piece for piece in (b"HTTP/1.1 200 OK\r\n", *repeat(line, HEAD_BYTES_MAX))
    )

    assert looked(server.url) is Reason.UNREADABLE


def test_heads_before_the_head_have_no_bytes_of_their_own(server: Talker) -> None:
    """SPEC T6: an endless row of "go on" is one head too long."""
    server.says = lambda _request: repeat(with_status("100 Continue"), HEAD_BYTES_MAX)

    assert looked(server.url) is Reason.UNREADABLE


def test_what_goes_before_the_answer_is_passed_over(server: Talker) -> None:
    """SPEC T6: an early hint is no answer yet."""
    server.says = lambda _request: [with_status("103 Early Hints", "Link: </x>") + with_status("204 None")]

    assert looked(server.url) is Reason.ANSWERS


def test_whoever_sends_a_byte_now_and_then_holds_nobody_up(server: Talker) -> None:
    """SPEC T6: the limit of time is for all of the look, not for each byte."""

    def drip(_request: bytes) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nX: "
        while not server.ended.wait(0.02):
            yield b"x"

    server.says = drip
    began = monotonic()

    assert looked(server.url, seconds_max=0.3) is Reason.NO_ANSWER
    assert monotonic() - began < 3


def test_hops_share_one_limit_of_time(server: Talker) -> None:
    """SPEC T6: a redirect does not begin a new look."""
    moments = iter([0.0] * 4 + [10.0] * 10)
    server.says = lambda _request: [with_status("302 Found", "Location: /again")]
    prober = HttpProber(Reach(opened=HERE), passed=lambda: next(moments))

    assert prober.look(url(server.url), permits=lambda _one: True, seconds_max=5.0) is Reason.NO_ANSWER
    assert len(server.got) == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", Reason.BROKEN_OFF),
        (b"SSH-2.0-x\r\n", Reason.NOT_HTTP),
        (b"HTTP/1.1 200 OK\r\nhalf", Reason.NOT_HTTP),
        (b"HTTP/9.9 200 OK\r\n\r\n", Reason.NOT_HTTP),
        (b"HTTP/1.1 999 OK\r\n\r\n", Reason.NOT_HTTP),
        (b"\r\n\r\n", Reason.NOT_HTTP),
        (b"HTTP/1.1 200 OK\n\n", Reason.ANSWERS),
        (b"HTTP/1.0 200\r\n\r\n", Reason.ANSWERS),
    ],
)
def test_what_does_not_speak_http_is_told_apart(server: Talker, said: bytes, reason: Reason) -> None:
    """SPEC T6: something else than the memory says is listening there."""
    server.says = lambda _request: [said]

    assert looked(server.url) is reason


def test_where_nobody_listens_the_connection_is_refused() -> None:
    """SPEC T6: what a memory names is gone."""
    with talker() as gone:
        address = gone.url

    assert looked(address) is Reason.REFUSED


def redirecting(server: Talker, location: str, status: str = "302 Found") -> None:
    """A server that leads on from every address but /end."""

    def says(request: bytes) -> list[bytes]:
        if request.split()[1] == b"/end":
            return [with_status("200 OK")]
        return [with_status(status, f"location: {location}")]

    server.says = says


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
def test_a_redirect_to_what_is_allowed_is_followed(server: Talker, status: str) -> None:
    """SPEC T6: by a head of its own, never with what was sent before."""
    redirecting(server, "../end#part", status)

    assert looked(f"{server.url}/a/b") is Reason.ANSWERS
    assert [request.split()[1] for request in server.got] == [b"/a/b", b"/end"]


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]/", "http://10.0.0.1/",
        "http://127.0.0.2/", "http://[fd00:ec2::254]/", "http://168.63.129.16/",
    ],
)  # fmt: skip
def test_a_redirect_to_the_inside_is_not_followed(server: Talker, location: str) -> None:
    """SPEC T6: each hop is checked by address, although a careless rule allows every one of them."""
    redirecting(server, location)

    assert looked(server.url) is Reason.INTERNAL_ADDRESS
    assert len(server.got) == 1


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd", "gopher://127.0.0.1/_x", "//user@a.example/", "http://2130706433/", "/end?q=1",
        "",
        "http://a.example\\@127.0.0.1/", "/a%2f..%2fb", "http://[::1", "/end\x00", "https:/\\a.example", "/é",
        "http://0x7f.1/",
    ],
)  # fmt: skip
def test_a_redirect_to_what_is_no_plain_address_is_not_followed(server: Talker, location: str) -> None:
    """SPEC T6: what programs read in different ways is read by none."""
    redirecting(server, location)

    assert looked(server.url) is Reason.LEADS_ELSEWHERE
    assert len(server.got) == 1


def test_a_redirect_to_what_the_tenant_may_not_look_at_is_not_followed(server: Talker) -> None:
    """SPEC T6: a listed host cannot lend its permission to another."""
    redirecting(server, f"{server.url}/end")

    assert looked(f"{server.url}/a", permits=lambda one: one.what.endswith("/a")) is Reason.LEADS_ELSEWHERE
    assert len(server.got) == 1


def test_two_places_to_go_to_are_none(server: Talker) -> None:
    """SPEC T6: a proxy and a client may choose differently."""
    server.says = lambda _request: [with_status("302 Found", "Location: /a", "Location: /b")]

    assert looked(server.url) is Reason.LEADS_ELSEWHERE


def test_a_circle_of_redirects_has_an_end(server: Talker) -> None:
    """SPEC T6: so many hops and no more."""
    redirecting(server, "/again")

    assert looked(server.url) is Reason.REDIRECTS_ON
    assert len(server.got) == REDIRECTS_MAX + 1


def test_a_name_is_asked_once_for_both_requests_of_a_hop(server: Talker) -> None:
    """SPEC T6: an answer that changes between HEAD and GET changes nothing."""
    resolve, times_asked = one_after_the_other("127.0.0.1", "127.0.0.2")
    server.says = lambda _request: [with_status("404 No")]
    reach = Reach(opened=HERE, resolve=resolve)

    assert looked(f"http://a.example:{server.port}/", reach=reach) is Reason.NOT_FOUND
    assert len(server.got) == 2
    assert times_asked() == 1


def test_a_name_that_changes_its_mind_between_hops_is_checked_again(server: Talker) -> None:
    """SPEC T6: the second hop leads to the same name, which now lies inside."""
    resolve, _ = one_after_the_other("127.0.0.1", "127.0.0.2")
    redirecting(server, "/end")
    reach = Reach(opened=HERE, resolve=resolve)

    assert looked(f"http://a.example:{server.port}/", reach=reach) is Reason.INTERNAL_ADDRESS


def test_what_is_not_permitted_is_not_even_looked_up() -> None:
    """SPEC T6: a name server would learn of the question."""

    def resolve(_host: str, _port: int) -> list[str]:
        pytest.fail("it was looked up")

    reach = Reach(resolve=resolve)

    assert looked("http://a.example/", reach=reach, permits=lambda _one: False) is Reason.NOT_ALLOWED


def over_tls(file: Path, host: str, *, is_trusted: bool) -> Reason:
    """What a look at a TLS server with this certificate says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    trusts = ssl.create_default_context(cafile=str(file)) if is_trusted else None

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        try:
            with context.wrap_socket(connection, server_side=True) as secured:
                secured.recv(4_096)
                secured.sendall(with_status("200 OK"))
        except OSError:
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, args=(listening,))
        thread.start()
        port = listening.getsockname()[1]
        reach = Reach(opened=HERE, resolve=leads_to("127.0.0.1"))
        reason = looked(f"https://{host}:{port}/", reach=reach, trusts=trusts)
        thread.join()
    return reason


def test_tls_checks_the_name_although_the_address_is_connected_to(tmp_path: Path) -> None:
    """SPEC T6: a certificate of the name is taken; another name, or one of nobody's, is not."""
    file = certificate("status.example", tmp_path)

    assert over_tls(file, "status.example", is_trusted=True) is Reason.ANSWERS
    assert over_tls(file, "other.example", is_trusted=True) is Reason.BAD_CERTIFICATE
    assert over_tls(file, "status.example", is_trusted=False) is Reason.BAD_CERTIFICATE


def test_a_port_that_speaks_no_tls_is_told_apart(server: Talker) -> None:
    """SPEC T6: https is not what answers there."""

    def connect(_address: Address, _port: int, _seconds: float) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        theirs.close()
        return ours

    assert looked(f"https://127.0.0.1:{server.port}/", reach=Reach(opened=HERE, connect=connect)) in {
        Reason.NO_TLS,
        Reason.BROKEN_OFF,
    }

"""Where a configured address may lead (SPEC I3): tables of attacks, and a real server."""

import asyncio
import ipaddress
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.engines.receiver import Receiver, leads_to, never, one_after_the_other, receiver

from tenure.engines.pinned_http import (
    ANSWER_BYTES_MAX,
    Allowed,
    PinnedHttp,
    Unreachable,
    check_url,
    is_public,
)

INSIDE = Allowed(["127.0.0.1"])


@pytest.fixture
def server() -> Iterator[Receiver]:
    """A server on this machine."""
    with receiver() as it:
        yield it


NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 -- an address to refuse, not to listen on
    "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1",
    "127.8.8.8", "168.63.129.16", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255",
    "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::",
    "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "3fff::1", "5f00::1",
    "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:7f00:1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255",
    "128.0.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.255.255", "198.17.255.255",
    "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888",
]  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_on_the_internet_is_none_to_go_to(address: str) -> None:
    """SPEC I3: private, local, reserved, or with another address inside; by itself or behind a name."""
    assert not is_public(ipaddress.ip_address(address))
    with pytest.raises(Unreachable, match="not on the public internet"):
        PinnedHttp(resolve=leads_to(address)).post("http://hooks.example/", b"", {})


@pytest.mark.parametrize("address", PUBLIC)
def test_what_lies_beside_them_is_on_the_internet(address: str) -> None:
    """SPEC I3: the lists end where the networks end."""
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "", "hooks.example", "//hooks.example/", "ftp://hooks.example/", "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_", "data:,x", "javascript:1", "unix:///run/docker.sock",
        "http://", "http:///path", "http://.", "http://..", "http://a..b/", "http://.a/",
        "http://user@hooks.example/", "http://user:secret@hooks.example/", "http://@hooks.example/",
        "http://hooks.example@127.0.0.1/", "http://127.0.0.1\\@hooks.example/", "http://hooks.example\\.evil/",
        "http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0x7f.0.0.1/",
        "http://0177.0.0.1/", "http://127.1/", "http://127.0.1/", "http://0/", "http://0x/",
        "http://127.0.0.1.1/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://host.127/", "http://host.0x7f/",
        "http://2130706433./", "http://127.1./",
        "http://[::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[::1/", "http://::1/", "http://[hooks]/",
        "http://hooks.example:99999/", "http://hooks.example:0/", "http://hooks.example:port/",
        "http://hooks .example/", "http://hooks.example/\r\nHost: x", "http://hooks\t.example/",
        "http://hooks.example\x00.evil/", "http://a!b/", "http://a,b/", "http://" + "a" * 2_000,
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_before_it_is_looked_up(url: str) -> None:
    """SPEC I3: other schemes, users and passwords, numbers in disguise, odd characters."""
    with pytest.raises(Unreachable):
        check_url(url)
    with pytest.raises(Unreachable):
        PinnedHttp(resolve=leads_to("8.8.8.8")).post(url, b"", {})


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.0.0.1./", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
        "http://[0:0:0:0:0:ffff:7f00:1]/", "http://localhost/", "http://LOCALHOST/", "http://localhost./",
        "http://\u2488\u2487/", "http://\uff11\uff12\uff17.0.0.1/", "http://127\u30020\u30020\u30021/",
        "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/", "http://169.254.169.254/latest/meta-data/",
    ],
)  # fmt: skip
def test_this_machine_by_any_of_its_names_is_refused(url: str) -> None:
    """SPEC I3: with the machine's own resolver; letters and dots that only look different are still those."""
    with pytest.raises(Unreachable):
        PinnedHttp().post(url, b"", {})


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example/a?b=c",
        "http://hooks.example.:8080/",
        "https://b\u00fccher.example/",
        "http://8.8.8.8/",
    ],
)
def test_plain_addresses_are_addresses(url: str) -> None:
    """SPEC I3: names, names of other alphabets, and numbers as they should be written."""
    check_url(url)


@pytest.mark.parametrize(
    "addresses", [("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "8.8.8.8"), ("8.8.8.8", "::1")]
)
def test_one_good_answer_does_not_cover_a_bad_one(addresses: tuple[str, ...]) -> None:
    """SPEC I3: DNS answers are allowed all together or not at all."""
    with pytest.raises(Unreachable, match="not on the public internet"):
        PinnedHttp(resolve=leads_to(*addresses)).post("http://hooks.example/", b"", {})


@pytest.mark.parametrize("addresses", [(), ("no address",)])
def test_a_name_that_leads_nowhere_is_refused(addresses: tuple[str, ...]) -> None:
    """SPEC I3: without an address there is nothing to check."""
    with pytest.raises(Unreachable, match="leads to no"):
        PinnedHttp(resolve=leads_to(*addresses)).post("http://hooks.example/", b"", {})


def test_a_name_that_leads_elsewhere_a_moment_later_changes_nothing(server: Receiver) -> None:
    """SPEC I3: DNS rebinding: it is resolved once, and the checked address is the one that is asked."""
    resolve, asked = one_after_the_other("127.0.0.1", "127.0.0.2")

    answer = PinnedHttp(allowed=INSIDE, resolve=resolve).post(
        f"http://hooks.example:{server.port}/a?b=c", b"body", {"x-mine": "1"}
    )

    assert (answer.status, asked()) == (200, 1)
    (got,) = server.got
    assert (got.path, got.body, got.headers["x-mine"]) == ("/a?b=c", b"body", "1")
    assert got.headers["host"] == f"hooks.example:{server.port}"


@pytest.mark.parametrize("entry", ["127.0.0.1", "127.0.0.0/8", "hooks.example", "Hooks.Example."])
def test_what_is_named_inside_may_be_reached(server: Receiver, entry: str) -> None:
    """SPEC I3: an operator names a host, an address or a network."""
    http = PinnedHttp(allowed=Allowed([entry]), resolve=leads_to("127.0.0.1"))

    assert http.post(f"http://hooks.example:{server.port}/", b"", {}).status == 200


@pytest.mark.parametrize(
    "entry", ["127.0.0.2", "10.0.0.0/8", "other.example", "example", "::1", "127.0.0.1/x"]
)
def test_naming_one_allows_no_other(server: Receiver, entry: str) -> None:
    """SPEC I3: an entry allows exactly what it says."""
    with pytest.raises(Unreachable, match="not on the public internet"):
        PinnedHttp(allowed=Allowed([entry]), resolve=leads_to("127.0.0.1")).post(
            f"http://hooks.example:{server.port}/", b"", {}
        )
    assert server.got == []


def test_a_redirect_is_an_answer_and_is_not_followed(server: Receiver) -> None:
    """SPEC I3: it could lead anywhere."""
    server.status, server.headers = 307, {"location": f"{server.url}/elsewhere"}

    assert PinnedHttp(allowed=INSIDE).post(server.url, b"", {}).status == 307
    assert len(server.got) == 1


def test_no_proxy_of_the_environment_is_used(server: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC I3: it would choose the address."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert PinnedHttp(allowed=INSIDE).post(server.url, b"", {}).status == 200


def test_of_a_long_answer_only_the_beginning_is_read(server: Receiver) -> None:
    """SPEC I3: nobody fills our memory."""
    server.status, server.body = 200, b"x" * 1_000_000

    assert len(PinnedHttp(allowed=INSIDE).post(server.url, b"", {}).body) == ANSWER_BYTES_MAX


def test_whoever_sends_a_byte_now_and_then_holds_nobody_up(server: Receiver) -> None:
    """SPEC I3: the limit of time is for all of the exchange, not for each byte."""
    server.drips = True
    began = monotonic()

    with pytest.raises(Unreachable, match=r"no answer within 0\.3 seconds"):
        PinnedHttp(allowed=INSIDE, seconds_max=0.3).post(server.url, b"", {})

    assert monotonic() - began < 5


def test_a_resolver_that_takes_long_holds_nobody_up() -> None:
    """SPEC I3: looking the name up is part of the exchange."""
    began = monotonic()

    with pytest.raises(Unreachable, match=r"no answer within 0\.2 seconds"):
        PinnedHttp(resolve=never(1.0), seconds_max=0.2).post("http://hooks.example/", b"", {})

    assert monotonic() - began < 0.9


def test_where_nobody_listens_nothing_is_said_of_the_address() -> None:
    """SPEC E6: an address may hold a secret of its own."""
    with receiver() as gone:
        url = f"{gone.url}/secret-in-path"

    with pytest.raises(Unreachable) as refusal:
        PinnedHttp(allowed=INSIDE).post(url, b"", {})
    assert str(refusal.value) == "the exchange failed (ConnectError)"


def test_it_works_within_a_running_event_loop(server: Receiver) -> None:
    """SPEC I3: an embedding program may do its round of upkeep anywhere."""

    async def embedding() -> int:
        return PinnedHttp(allowed=INSIDE).post(server.url, b"", {}).status

    assert asyncio.run(embedding()) == 200


def certificate(name: str, folder: Path) -> Path:
    """A certificate for a name that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(tz=UTC)  # noqa: TID251 -- TLS compares it with the machine's own clock
    signed = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return file


def spoken_to(file: Path, url_host: str, *, is_trusted: bool) -> tuple[str, list[str | None]]:
    """What comes of a request to a TLS server with this certificate, and the names it was asked for."""
    asked: list[str | None] = []
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    trusts = ssl.create_default_context(cafile=str(file)) if is_trusted else None

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()

    async def serve() -> str:
        async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server) as listening:
            port = listening.sockets[0].getsockname()[1]
            http = PinnedHttp(allowed=INSIDE, resolve=leads_to("127.0.0.1"), trusts=trusts)
            try:
                answered = await asyncio.to_thread(http.post, f"https://{url_host}:{port}/", b"", {})
            except Unreachable as refusal:
                return str(refusal)
            return str(answered.status)

    said: list[str] = []
    thread = Thread(target=lambda: said.append(asyncio.run(serve())))
    thread.start()
    thread.join()
    return said[0], asked


def test_tls_checks_the_name_although_the_address_is_asked(tmp_path: Path) -> None:
    """SPEC I3: a certificate of the name is taken, and the server is told which name."""
    file = certificate("hooks.example", tmp_path)

    assert spoken_to(file, "hooks.example", is_trusted=True) == ("204", ["hooks.example"])


@pytest.mark.parametrize(("host", "is_trusted"), [("other.example", True), ("hooks.example", False)])
def test_tls_refuses_another_name_and_a_certificate_of_nobody(
    tmp_path: Path,
    host: str,
    is_trusted: bool,  # noqa: FBT001 -- a case of the table
) -> None:
    """SPEC I3: what answers at the address must be what the name belongs to."""
    said, _asked = spoken_to(certificate("hooks.example", tmp_path), host, is_trusted=is_trusted)

    assert said == "the exchange failed (ConnectError)"

"""HTTP to an address that somebody configured, which must not reach into the network around this machine.

Laws, each with the attack it answers:

- The name is resolved once, and the connection goes to the address that was checked: a name that points
  elsewhere a moment later changes nothing (DNS rebinding).
- Every address of the name must be allowed, or none is used: one good answer does not cover a bad one.
- Only addresses of the public internet are allowed, in their plain form: nothing private, local, reserved, or
  that carries another address inside (SSRF). What is to be reached inside must be named, by host or network.
- No redirect is followed and no proxy of the environment is used, since either would choose another address.
- A number that is no plain IPv4 address is no host name: ``2130706433``, ``0x7f.1`` and ``0177.0.0.1`` are
  refused before anything resolves them.
- The whole exchange has one limit of time, and of an answer no more than a few kilobytes are read: whoever
  sends a byte a second holds nobody up.

TLS checks the name, not the address.
"""

import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, NamedTuple

import anyio
import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Iterable[str]]

ANSWER_BYTES_MAX: Final = 4_096
EXCHANGE_SECONDS_MAX: Final = 5.0
URL_CHARACTERS_MAX: Final = 2_000

_SCHEMES: Final = {"http": 80, "https": 443}
_PORTS: Final = range(1, 65_536)
_NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)

# Written out, because the standard library's lists differ between its versions. RFC 6890 and the registries
# that it made, and what clouds answer on inside.
_REFUSED_4: Final = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
# Of IPv6 only what is given out for the internet, less what in there is local, for documents or a tunnel.
# Mapped and translated addresses (::ffff:0:0/96, 64:ff9b::/96) lie outside it.
_GIVEN_OUT_6: Final = ipaddress.IPv6Network("2000::/3")
_REFUSED_6: Final = tuple(
    ipaddress.IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


class Unreachable(Exception):
    """It was not asked, or did not answer; the text says why, without the address that was given."""


class Answer(NamedTuple):
    """What came back: the status, and the beginning of the body."""

    status: int
    body: bytes


class _Target(NamedTuple):
    """An address that was taken apart and found to be one that may be looked up."""

    scheme: str
    host: str
    port: int
    path: bytes

    @property
    def named(self) -> str:
        """The host as a request names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _SCHEMES[self.scheme] else f"{host}:{self.port}"


class Allowed:
    """What may be reached although it is not on the internet: names of hosts, addresses and networks."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._networks: list[Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry))
            except ValueError:
                self._hosts.add(entry.lower().rstrip("."))

    def has(self, host: str, address: Address) -> bool:
        """Whether this host, or this very address, was named."""
        return host in self._hosts or any(
            address.version == network.version and address in network for network in self._networks
        )


class PinnedHttp:
    """Sends one request at a time to where it may go, and nowhere else."""

    def __init__(
        self,
        *,
        allowed: Allowed | None = None,
        resolve: Resolve | None = None,
        trusts: ssl.SSLContext | None = None,
        seconds_max: float = EXCHANGE_SECONDS_MAX,
    ) -> None:
        self._allowed = allowed or Allowed()
        self._trusts = trusts
        self._resolve = resolve or _addresses
        self._seconds_max = seconds_max

    def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> Answer:
        """Send it and give what came back; raises Unreachable."""
        target = _taken_apart(url)
        return _in_a_thread_of_its_own(lambda: self._exchange(target, content, headers))

    def _exchange(self, target: _Target, content: bytes, headers: Mapping[str, str]) -> Answer:
        async def exchange() -> Answer:
            send = partial(self._sent, target, content=content, headers=headers)
            with anyio.fail_after(self._seconds_max):
                addresses = await anyio.to_thread.run_sync(self._checked, target, abandon_on_cancel=True)
                for address in addresses[:-1]:
                    try:
                        return await send(address)
                    except httpx.ConnectError:
                        continue
                return await send(addresses[-1])

        try:
            return anyio.run(exchange)
        except TimeoutError:
            raise Unreachable(f"there was no answer within {self._seconds_max:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as fault:
            raise Unreachable(f"the exchange failed ({type(fault).__name__})") from None

    def _checked(self, target: _Target) -> list[Address]:
        """The addresses of the name, once every one of them was found allowed."""
        try:
            addresses = [ipaddress.ip_address(one) for one in self._resolve(target.host, target.port)]
        except (OSError, UnicodeError):
            raise Unreachable("the name of the host cannot be resolved") from None
        except ValueError:
            raise Unreachable("the name of the host leads to no plain address") from None
        if not addresses:
            raise Unreachable("the name of the host leads to no address")
        for address in addresses:
            if not is_public(address) and not self._allowed.has(target.host, address):
                raise Unreachable("the host has an address that is not on the public internet")
        return addresses

    async def _sent(
        self, target: _Target, address: Address, *, content: bytes, headers: Mapping[str, str]
    ) -> Answer:
        """Speak to the address as to the host: its name is in the request, and what TLS checks."""
        url = httpx.URL(scheme=target.scheme, host=address.compressed, port=target.port, raw_path=target.path)
        named = {**headers, "Host": target.named, "Accept-Encoding": "identity"}
        async with (
            self._client(target) as client,
            client.stream(
                "POST", url, content=content, headers=named, extensions={"sni_hostname": target.host}
            ) as answer,
        ):
            body = b""
            async for piece in answer.aiter_raw():
                body += piece
                if len(body) >= ANSWER_BYTES_MAX:
                    break
            return Answer(answer.status_code, body[:ANSWER_BYTES_MAX])

    def _client(self, target: _Target) -> httpx.AsyncClient:
        """A client for one exchange, since the next may have to go to another address."""
        if self._trusts is None and target.scheme == "https":
            # What is trusted takes longer to read from the disk than an exchange takes, so it is read once.
            self._trusts = httpx.create_ssl_context(trust_env=False)
        trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx.AsyncClient(
            verify=self._trusts or trusts_nobody,
            trust_env=False,
            follow_redirects=False,
            timeout=self._seconds_max,
        )


def is_public(address: Address) -> bool:
    """Whether it is an address of the public internet, in its plain form."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None or address not in _GIVEN_OUT_6:
        return False
    carries_another = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
    return not carries_another and not any(address in network for network in _REFUSED_6)


def check_url(url: str) -> None:
    """Raise Unreachable for an address that could never be asked, whatever its name leads to."""
    _taken_apart(url)


def _taken_apart(url: str) -> _Target:
    if len(url) > URL_CHARACTERS_MAX or not url.isprintable() or " " in url or "\\" in url:
        raise Unreachable("this is no address")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").lower()
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise Unreachable("this is no address") from None
    if parsed.scheme not in _SCHEMES:
        raise Unreachable("only http and https are spoken")
    if parsed.userinfo or "@" in url.partition("//")[2].partition("/")[0]:
        raise Unreachable("an address with a user or a password is not taken")
    port = parsed.port if parsed.port is not None else _SCHEMES[parsed.scheme]
    if port not in _PORTS:
        raise Unreachable("this is no port")
    return _Target(parsed.scheme, _checked_host(host), port, parsed.raw_path)


def _checked_host(host: str) -> str:
    """A host name, or an address in its plain form; what only some programs read as one is refused."""
    bare = host.strip("[]").removesuffix(".")
    if "%" in bare:
        raise Unreachable("this is no name of a host")
    try:
        return ipaddress.ip_address(bare).compressed
    except ValueError:
        if not _NAME.fullmatch(bare) or _is_number(bare.rpartition(".")[2]):
            raise Unreachable("this is no name of a host") from None
        return bare


def _is_number(label: str) -> bool:
    """Whether a name that ends so would be read as a number: no name of the internet does."""
    is_hexadecimal = label.startswith("0x") and _HEXADECIMAL.issuperset(label[2:])
    return label.isdigit() or is_hexadecimal


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _in_a_thread_of_its_own(work: Callable[[], Answer]) -> Answer:
    """Whoever calls may be running an event loop already, and only one runs in a thread."""
    answers: list[Answer] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as fault:  # noqa: BLE001 -- raised where it was asked for
            faults.append(fault)

    thread = threading.Thread(target=run, name="tenure-http", daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return answers[0]

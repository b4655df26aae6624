"""Whether an address on the web answers: its status is read, and never a word of what it says (SPEC T6).

Laws, each with the attack it answers:

- Every hop is one host, resolved once and reached at the addresses that were checked; a redirect must lead to
  what the tenant may have looked at, and is resolved and checked as the first was (redirects to the inside).
- Nothing of this machine is sent: no cookie, no credential, no proxy is used. The request has a fixed shape,
  and what is put into it was read as a plain address before (request splitting).
- Only the head of an answer is read, up to a few kilobytes and until one moment for all hops: a body without
  an end, a head without an end and a byte a second hold nobody up.
- TLS checks the name, not the address.

The exchange is written out here because a client for HTTP does more than is wanted: it would go on reading.
"""

import re
import socket
import ssl
from collections.abc import Callable
from contextlib import closing
from typing import Final, NamedTuple
from urllib.parse import urljoin

import httpx

from tenure.core.probing import Place, Reason, Target, TargetKind, place_of, target
from tenure.engines.clock import seconds_passed
from tenure.engines.pinned_http import Address
from tenure.engines.probing.reaching import Deadline, NotReached, Reach, reason_of
from tenure.usecases.probing_ports import Permits

HEAD_BYTES_MAX: Final = 8_192
REDIRECTS_MAX: Final = 3

_PIECE_BYTES: Final = 1_024
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?\r?\n")
_LOCATION: Final = re.compile(rb"\n[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]:[ \t]*([^\r\n]*?)[ \t]*(?=\r?\n)")

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_INFORMATIONAL: Final = range(100, 200)
_GOOD: Final = range(200, 300)
_ERRORS: Final = range(400, 600)
_GONE: Final = frozenset({404, 410})
_SERVER_ERRORS: Final = range(500, 600)


class _Answer(NamedTuple):
    status: int
    location: str | None


class HttpProber:
    """Asks for the head of an address, and for the address itself where the head is refused."""

    kind = TargetKind.URL

    def __init__(
        self,
        reach: Reach,
        *,
        trusts: ssl.SSLContext | None = None,
        passed: Callable[[], float] = seconds_passed,
    ) -> None:
        self._reach = reach
        self._trusts = trusts
        self._passed = passed

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """What the address, or the one that it leads to, answers."""
        deadline = Deadline(seconds_max, passed=self._passed)
        try:
            return self._followed(target, permits, deadline)
        except NotReached as fault:
            return fault.reason
        except ssl.SSLCertVerificationError:
            return Reason.BAD_CERTIFICATE
        except ssl.SSLError as fault:
            # Whoever sends an alert speaks TLS and wants something else, as a certificate of ours.
            return Reason.WANTS_MORE if "ALERT" in (fault.reason or "") else Reason.NO_TLS
        except OSError as fault:
            return reason_of(fault)

    def close(self) -> None:
        """Nothing is held: every look has its own connection."""

    def _followed(self, one: Target, permits: Permits, deadline: Deadline) -> Reason:
        reason_against = Reason.NOT_ALLOWED
        for _ in range(REDIRECTS_MAX + 1):
            place = place_of(one)
            if place is None or not permits(one):
                return reason_against
            answer = self._asked(place, deadline)
            if answer.status not in _REDIRECTS:
                return _meaning(answer.status)
            further = _further(one, answer.location)
            if further is None:
                return Reason.LEADS_ELSEWHERE
            one, reason_against = further, Reason.LEADS_ELSEWHERE
        return Reason.REDIRECTS_ON

    def _asked(self, place: Place, deadline: Deadline) -> _Answer:
        addresses = self._reach.addresses(place.host, place.port)
        answer = self._exchange("HEAD", place, addresses, deadline)
        if answer.status in _ERRORS:
            # Many servers know an address and no HEAD of it.
            return self._exchange("GET", place, addresses, deadline)
        return answer

    def _exchange(self, method: str, place: Place, addresses: list[Address], deadline: Deadline) -> _Answer:
        """One request on a connection of its own, which is closed once the head has come."""
        connection = self._reach.connection(addresses, place.port, deadline)
        with closing(connection):
            if place.scheme == "https":
                connection.settimeout(deadline.left())
                secured = self._context().wrap_socket(connection, server_hostname=place.host)
                with closing(secured):
                    return _spoken(secured, _request(method, place), deadline)
            return _spoken(connection, _request(method, place), deadline)

    def _context(self) -> ssl.SSLContext:
        """What is trusted, read once: it takes longer than an exchange does."""
        if self._trusts is None:
            self._trusts = httpx.create_ssl_context(trust_env=False)
        return self._trusts


def _request(method: str, place: Place) -> bytes:
    host = f"[{place.host}]" if ":" in place.host else place.host
    is_usual = place.port == {"http": 80, "https": 443}[place.scheme]
    lines = (
        f"{method} {place.path} HTTP/1.1",
        f"Host: {host if is_usual else f'{host}:{place.port}'}",
        "User-Agent: tenure-probe",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")


def _spoken(connection: socket.socket, request: bytes, deadline: Deadline) -> _Answer:
    """Send the request and read the head of the answer; raises NotReached and OSError."""
    connection.settimeout(deadline.left())
    connection.sendall(request)
    read = b""
    room = HEAD_BYTES_MAX
    while True:
        end = _HEAD_END.search(read)
        if end is not None:
            answer = _answer(read[: end.end()])
            if answer.status not in _INFORMATIONAL:
                return answer
            read = read[end.end() :]
            continue
        if room <= 0:
            raise NotReached(Reason.UNREADABLE)
        connection.settimeout(deadline.left())
        piece = connection.recv(min(_PIECE_BYTES, room))
        if not piece:
            raise NotReached(Reason.NOT_HTTP if read else Reason.BROKEN_OFF)
        read += piece
        room -= len(piece)


def _answer(head: bytes) -> _Answer:
    status = _STATUS.match(head)
    if status is None:
        raise NotReached(Reason.NOT_HTTP)
    locations = _LOCATION.findall(head)
    # Two places to go to are none.
    location = locations[0].decode("ascii", "replace") if len(locations) == 1 else None
    return _Answer(int(status[1]), location)


def _further(one: Target, location: str | None) -> Target | None:
    """Where a redirect leads, read as strictly as the first address was."""
    if not location:
        return None
    try:
        return target(TargetKind.URL, urljoin(one.what, location))
    except ValueError:
        return None


def _meaning(status: int) -> Reason:
    if status in _GOOD:
        return Reason.ANSWERS
    if status in _GONE:
        return Reason.NOT_FOUND
    if status in _SERVER_ERRORS:
        return Reason.SERVER_ERROR
    return Reason.WANTS_MORE if status in _ERRORS else Reason.UNREADABLE

"""Run by `bench.http_api` in a process of its own: many clients over plain sockets, as lean as Python can be.

Requests are made before the clock starts; every client keeps one connection and has one request under way.
What to ask comes as JSON on standard input, and what came of it goes as JSON to standard output.
"""

import re
import selectors
import socket
import sys
import time
from collections import Counter, deque
from typing import Final

import msgspec

RECEIVED_BYTES_MAX: Final = 65_536
SILENCE_SECONDS_MAX: Final = 30
_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What to send where: the same headers with each body."""

    host: str
    port: int
    path: str
    token: str
    clients: int
    seconds_max: float
    warming: list[str]
    bodies: list[str]


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    elapsed_seconds: float
    processor_seconds: float
    seconds: list[float]
    statuses: dict[int, int]


class _Client:
    """One connection, one request at a time."""

    def __init__(self, asked: Asked) -> None:
        self.socket = socket.create_connection((asked.host, asked.port), timeout=SILENCE_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self._received = b""

    def send(self, request: bytes) -> None:
        """Send a request; it is small, so it fits into the socket's buffer."""
        self._received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> int | None:
        """Read what is there; gives the status once the answer is whole."""
        part = self.socket.recv(RECEIVED_BYTES_MAX)
        if not part:
            raise ConnectionError("the server closed a connection that was to be kept")
        self._received += part
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = _LENGTH.search(self._received, 0, end)
        if length is None:
            raise ValueError("the server sent an answer without its length")
        if len(self._received) < end + 4 + int(length[1]):
            return None
        return int(self._received[9:12])


def run(asked: Asked) -> Answered:
    """Send everything, and time what comes back."""
    clients = [_Client(asked) for _ in range(asked.clients)]
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
        _send(selector, clients, deque(_requests(asked, asked.warming)), asked.seconds_max)
        waiting = deque(_requests(asked, asked.bodies))
        used, started = time.process_time(), time.perf_counter()
        seconds, statuses = _send(selector, clients, waiting, asked.seconds_max)
        elapsed, used = time.perf_counter() - started, time.process_time() - used
    for client in clients:
        client.socket.close()
    return Answered(elapsed_seconds=elapsed, processor_seconds=used, seconds=seconds, statuses=dict(statuses))


def _send(
    selector: selectors.BaseSelector, clients: list[_Client], waiting: deque[bytes], seconds_max: float
) -> tuple[list[float], Counter[int]]:
    seconds: list[float] = []
    statuses: Counter[int] = Counter()
    under_way = 0
    ends = time.perf_counter() + seconds_max
    for client in clients[: len(waiting)]:
        client.send(waiting.popleft())
        under_way += 1
    while under_way:
        ready = selector.select(SILENCE_SECONDS_MAX)
        if not ready:
            raise TimeoutError("the server said nothing for a long time")
        for key, _ in ready:
            client = key.data
            status = client.receive()
            if status is None:
                continue
            now = time.perf_counter()
            seconds.append(now - client.sent_at)
            statuses[status] += 1
            if waiting and now < ends:
                client.send(waiting.popleft())
            else:
                under_way -= 1
    return seconds, statuses


def _requests(asked: Asked, bodies: list[str]) -> list[bytes]:
    head = (
        f"POST {asked.path} HTTP/1.1\r\nHost: {asked.host}:{asked.port}\r\n"
        f"Authorization: Bearer {asked.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: "
    ).encode()
    encoded = [body.encode() for body in bodies]
    return [b"%s%d\r\n\r\n%s" % (head, len(body), body) for body in encoded]


if __name__ == "__main__":
    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    sys.stdout.buffer.write(msgspec.json.encode(run(wanted)))

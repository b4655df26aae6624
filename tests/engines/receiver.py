"""A receiver of webhooks on this machine, which answers as a test tells it to and keeps what it was sent."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from tenure.engines.pinned_http import Resolve


class Got(NamedTuple):
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """What came, and what is answered next: a status, headers and a body, or bytes without an end."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[Got] = []
        self.statuses: list[int] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b""
        self.says: Callable[[bytes], bytes] | None = None
        self.drips = False
        self.came = threading.Semaphore(0)
        self.ended = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.server_port

    @property
    def url(self) -> str:
        """Its address on this machine."""
        return f"http://127.0.0.1:{self.port}/hook"


class Handler(BaseHTTPRequestHandler):
    """Keeps what it gets, and answers as the receiver was told."""

    server: Receiver

    def do_POST(self) -> None:
        """Take one request."""
        it = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        it.got.append(Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if it.drips:
            self._drip()
            return
        answer = it.says(body) if it.says is not None else it.body
        self.send_response(it.statuses.pop(0) if it.statuses else it.status)
        for name, value in {**it.headers, "content-length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)
        it.came.release()

    def _drip(self) -> None:
        """One byte of a header after the other, without an end."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
            while not self.server.ended.wait(0.02):
                self.wfile.write(b"x")
                self.wfile.flush()
        except OSError:
            return

    def log_message(self, *_parts: object) -> None:
        """Stay off the terminal."""


@contextmanager
def receiver() -> Iterator[Receiver]:
    """A receiver that listens for as long as the block lasts."""
    with Receiver() as it:
        thread = threading.Thread(target=it.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield it
        finally:
            it.ended.set()
            it.shutdown()
            thread.join()


def leads_to(*addresses: str) -> Resolve:
    """A resolver that says the same of every name."""
    return lambda _host, _port: list(addresses)


def one_after_the_other(*answers: str) -> tuple[Resolve, Callable[[], int]]:
    """A resolver that says something else every time, and how often it was asked."""
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return [answers[min(len(asked), len(answers)) - 1]]

    return resolve, lambda: len(asked)


def never(seconds: float) -> Resolve:
    """A resolver that takes very long."""

    def resolve(_host: str, _port: int) -> list[str]:
        time.sleep(seconds)
        return []

    return resolve

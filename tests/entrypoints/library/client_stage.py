"""Clients of both kinds driven alike, real servers for them, and a server that fails as it was told to."""

import asyncio
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

import pytest
from tests.entrypoints.http_api.live import Live

from tenure import AsyncClient, Client, TenureError
from tenure.core.access import CreateKey
from tenure.usecases.access import create_key, grants_from, local_operator

KINDS: Final = ("waited for", "awaited")
SECONDS_MAX: Final = 10.0
SILENCE: Final = b"silence"
"""As the beginning of a failing server's answer: the rest comes when the server ends."""
HANG_UP: Final = b""


class Awaited:
    """An AsyncClient whose methods are run to their end, so that one story fits both kinds."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._runner = asyncio.Runner()

    def __getattr__(self, name: str) -> Any:
        """A method that does not need to be awaited."""

        def call(*args: Any, **named: Any) -> Any:
            return self._runner.run(getattr(self.client, name)(*args, **named))

        return call

    def close(self) -> None:
        """Close the client, while its loop goes on."""
        self._runner.run(self.client.aclose())

    def end(self) -> None:
        """Close both."""
        self.close()
        self._runner.close()


@contextmanager
def opened(kind: str, url: str, token: str, **more: Any) -> Iterator[Client]:
    """A client of either kind."""
    if kind == "waited for":
        with Client(url, token, **more) as client:
            yield client
        return
    awaited = Awaited(AsyncClient(url, token, **more))
    try:
        yield cast("Client", awaited)
    finally:
        awaited.end()


def token_of(live: Live, name: str, *roles: str, **grants: Any) -> str:
    """A fresh token of acme for one agent and purpose, unless granted otherwise."""
    sides = {"agents": ["support"], "purposes": ["support"]} | grants
    command = CreateKey(name=name, grants=grants_from(roles=list(roles), **sides))
    return create_key(live.node.pipeline, local_operator("acme"), command).token


class Failing:
    """A server that gives one answer after the other, whatever is asked; each on a connection of its own."""

    def __init__(self, listener: socket.socket, answers: list[bytes]) -> None:
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._listener = listener
        self._answers = answers
        self.asked = threading.Semaphore(0)
        self.hung_up = threading.Semaphore(0)
        self._over = threading.Event()

    def serve(self) -> None:
        """Answer until there is nothing left to answer, or the end has come."""
        for answer in self._answers:
            connection, _ = self._listener.accept()
            with connection:
                if self._over.is_set():
                    return
                connection.settimeout(SECONDS_MAX)
                self.requests.append(_whole_request(connection))
                self.asked.release()
                if answer.startswith(SILENCE):
                    self._over.wait(SECONDS_MAX)
                # A client that has stopped waiting may be gone.
                with suppress(ConnectionError):
                    connection.sendall(answer.removeprefix(SILENCE))
            self.hung_up.release()

    def end(self) -> None:
        """Break every silence and listen no more."""
        self._over.set()
        # Whoever waits for a connection is woken by one.
        socket.create_connection(self._listener.getsockname(), timeout=SECONDS_MAX).close()


@contextmanager
def failing(*answers: bytes) -> Iterator[Failing]:
    """Such a server, for as long as the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Failing(listener, list(answers))
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.end()
            thread.join(SECONDS_MAX)
            assert not thread.is_alive()


def answer(
    status: int,
    body: bytes = b"{}",
    *headers: str,
    media_type: str = "application/json",
    connection: str = "close",
) -> bytes:
    """An HTTP answer, as bytes."""
    lines = [
        f"HTTP/1.1 {status} Whatever",
        f"Content-Type: {media_type}",
        f"Content-Length: {len(body)}",
        f"Connection: {connection}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def refused(status: int, body: bytes, *headers: str) -> bytes:
    """A problem, as bytes."""
    return answer(status, body, *headers, media_type="application/problem+json")


def raised(call: Callable[[], object]) -> TenureError:
    """The error that a call ends in."""
    with pytest.raises(TenureError) as refusal:
        call()
    return refusal.value


def told(error: BaseException) -> str:
    """All that a program could print of an error, with what lies beneath it."""
    beneath = [error.__cause__, error.__context__]
    return repr((error, vars(error), beneath, [vars(one) for one in beneath if one])) + "".join(
        traceback.format_exception(error)[-1:]
    )


def _whole_request(connection: socket.socket) -> bytes:
    read = b""
    while b"\r\n\r\n" not in read:
        read += connection.recv(65_536)
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.lower().splitlines() if line.startswith(b"content-length")
    ]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body

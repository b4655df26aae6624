"""Acme behind a real server on a real port, for tests that need the wire."""

import io
import socket
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from tests.entrypoints.http_api.acme import EVERY_ROLE, UNLIMITED, MovableClock
from tests.stores.engine import Engine

from tenure.config import Log, Settings
from tenure.core.access import CreateKey
from tenure.entrypoints.http_api.request_log import open_log
from tenure.entrypoints.http_api.server import Listening, serve
from tenure.usecases.access import create_key, grants_from, local_operator
from tenure.wiring import Node


class Live:
    """A server that listens, and a token for everything."""

    def __init__(self, node: Node, listening: Listening) -> None:
        self.node = node
        self.listening = listening
        self.url = f"http://{listening.host}:{listening.port}"
        grants = grants_from(roles=EVERY_ROLE, agents=["support"], purposes=["support"])
        wish = CreateKey(name="everything", grants=grants)
        self.token = create_key(node.pipeline, local_operator("acme"), wish).token

    def wire(self, request: bytes, *, hang_up: bool = False) -> bytes:
        """Send bytes as they are; gives everything that comes back until one side hangs up."""
        with socket.create_connection((self.listening.host, self.listening.port), timeout=10) as wire:
            wire.sendall(request)
            if hang_up:
                wire.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: wire.recv(65_536), b""))


@contextmanager
def serving(
    engine: Engine, settings: Settings = UNLIMITED, *, ahead: timedelta = timedelta()
) -> Iterator[Live]:
    """Acme on a free port, for as long as the block runs, some time ahead of the machine's clock."""
    clock = MovableClock()
    clock.ahead = ahead
    listening: Future[Listening] = Future()
    with engine.open(clock, settings) as node, ThreadPoolExecutor(1) as thread:
        log = open_log(Log(level="error"), io.BytesIO())
        served = thread.submit(
            serve, node, host="127.0.0.1", port=0, on_listening=listening.set_result, request_log=log
        )
        either: list[Future[Any]] = [listening, served]
        wait(either, return_when=FIRST_COMPLETED)
        if served.done():
            served.result()
        live = Live(node, listening.result())
        try:
            yield live
        finally:
            live.listening.stop()
            served.result()

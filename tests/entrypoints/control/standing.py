"""A store with a control server on it, and raw access to its socket, for the tests of this folder."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from tests.clock import MovableClock

from tenure.entrypoints.control.address import address_in
from tenure.entrypoints.control.server import ControlServer
from tenure.wiring import Node, open_store

ANSWER_SECONDS_MAX = 20.0


class Standing:
    """A running control server, and what it reported as faults of its own."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node = node
        self.folder = folder
        self.faults: list[tuple[str, str]] = []
        self.server = ControlServer(node, folder, on_fault=self._note)

    def _note(self, operation: str, fault: Exception) -> None:
        self.faults.append((operation, type(fault).__name__))


@contextmanager
def standing(folder: Path) -> Iterator[Standing]:
    """A control server on a store in this folder."""
    with open_store(folder, clock=MovableClock()) as node:
        stands = Standing(node, folder)
        try:
            yield stands
        finally:
            stands.server.close()


@contextmanager
def raw(folder: Path) -> Iterator["Raw"]:
    """A connection that says whatever it is told to say."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(ANSWER_SECONDS_MAX)
        with address_in(folder) as address:
            connected.connect(address)
        with connected.makefile("rb") as reader:
            yield Raw(connected, reader)


class Raw:
    """The bytes of a conversation with the server."""

    def __init__(self, connected: socket.socket, reader: Any) -> None:
        self.socket = connected
        self._reader = reader

    def say(self, text: bytes) -> None:
        """Send these bytes as they are."""
        self.socket.sendall(text)

    def hear(self) -> dict[str, Any] | None:
        """One line of the answer, or None once the server hung up."""
        line = self._reader.readline()
        return msgspec.json.decode(line) if line else None

    def ask(self, text: bytes) -> dict[str, Any] | None:
        """Say a line and hear one."""
        self.say(text + b"\n")
        return self.hear()

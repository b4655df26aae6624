"""Reaching a store: through the server that runs on its folder, otherwise by opening it (SPEC S1).

Whether a server runs is found by connecting, so a socket that a dead one left behind does not matter. A
database takes any number of nodes, so there a command is one more of them for as long as it runs.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from tenure import wiring
from tenure.config import Settings
from tenure.core.errors import Unavailable
from tenure.entrypoints.control.arguments import Arguments
from tenure.entrypoints.control.client import Connection, connect
from tenure.entrypoints.control.operations import perform
from tenure.entrypoints.control.protocol import Line, Request
from tenure.wiring import Node

A = TypeVar("A")


class Reached(Protocol):
    """A store that operations can be asked of."""

    def lines(self, arguments: Arguments) -> Iterator[Line]:
        """The lines of an answer, the result last; raises the TenureError of a refusal."""


class Opened:
    """A store that this process opened for itself."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def lines(self, arguments: Arguments) -> Iterator[Line]:
        """Carry the operation out here, by the same way as behind the socket."""
        encoded = msgspec.Raw(msgspec.json.encode(arguments))
        return perform(self._node, Request(operation=arguments.operation, arguments=encoded))


@contextmanager
def reach(settings: Settings) -> Iterator[Reached]:
    """The store that the settings name; raises Unavailable when another process keeps it to itself."""
    found = _found(settings)
    if isinstance(found, Connection):
        with closing(found):
            yield found
    else:
        with found:
            yield Opened(found)


def _found(settings: Settings) -> Connection | Node:
    """A server that runs on the folder, or the store, opened; no server is asked in a database's place."""
    if settings.database_url is not None:
        return wiring.open_node(settings)
    folder = Path(settings.data_dir)
    connection = connect(folder)
    if connection is not None:
        return connection
    try:
        return wiring.open_node(settings)
    except Unavailable:
        # A server may have started between the two tries; then it answers now.
        connection = connect(folder)
        if connection is None:
            raise
        return connection


def answer(reached: Reached, arguments: Arguments, kind: type[A]) -> A:
    """The result of an operation, without the lines before it."""
    for line in reached.lines(arguments):
        if isinstance(line.result, msgspec.Raw):
            return msgspec.json.decode(line.result, type=kind)
    raise AssertionError("an answer ends with its result")


def items(reached: Reached, arguments: Arguments, kind: type[A]) -> Iterator[A]:
    """The items of an operation, without its result."""
    for line in reached.lines(arguments):
        if isinstance(line.item, msgspec.Raw):
            yield msgspec.json.decode(line.item, type=kind)

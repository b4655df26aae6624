"""A relay before a PostgreSQL server that counts what passes: statements, and how often an answer is awaited.

It reads the protocol's own framing, so it counts for any client, and changes nothing of what it passes on.
"""

import contextlib
import selectors
import socket
import threading
from collections import Counter
from types import TracebackType
from typing import Final, NamedTuple, Self

PIECE_BYTES_MAX: Final = 1 << 16
LENGTH_BYTES: Final = 4
STATEMENTS: Final = frozenset(b"EQ")
"""Execute, and Query, which is a statement without preparation."""
TURNS: Final = frozenset(b"SQ")
"""Sync, and Query: after these the server says that it is ready, and a client waits for it."""


class Counted(NamedTuple):
    """How many statements, and how many round trips."""

    statements: int
    turns: int


class Relay:
    """Passes on every connection to a port of the loopback address until it is closed."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._selector = selectors.DefaultSelector()
        self._messages: Counter[int] = Counter()
        self._closing = threading.Event()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._pass_on, name="relay", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def counted(self) -> Counted:
        """What went through until now."""
        return Counted(
            sum(self._messages[kind] for kind in STATEMENTS), sum(self._messages[kind] for kind in TURNS)
        )

    def close(self) -> None:
        """Pass on nothing more."""
        self._closing.set()
        with contextlib.suppress(OSError), socket.create_connection(self._listener.getsockname()):
            self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def __enter__(self) -> Self:
        """The relay itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _pass_on(self) -> None:
        while not self._closing.is_set():
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._carry(key.data)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        server = socket.create_connection(self._to)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(client, selectors.EVENT_READ, _Way(client, server, _Reader(self._messages)))
        self._selector.register(server, selectors.EVENT_READ, _Way(server, client, None))

    def _carry(self, way: "_Way") -> None:
        piece = b""
        with contextlib.suppress(OSError):
            piece = way.source.recv(PIECE_BYTES_MAX)
            if way.reader is not None:
                way.reader.read(piece)
            way.target.sendall(piece)
        if not piece:
            with contextlib.suppress(OSError):
                way.target.shutdown(socket.SHUT_WR)
            self._selector.unregister(way.source)
            way.source.close()


class _Reader:
    """Finds the messages in what a client sends, in whatever pieces it comes."""

    def __init__(self, messages: Counter[int]) -> None:
        self._messages = messages
        self._is_started = False
        self._rest = b""

    def read(self, piece: bytes) -> None:
        """Count the kinds of the messages that are whole now; the first, which opens a session, has none."""
        self._rest += piece
        while True:
            head = 1 if self._is_started else 0
            if len(self._rest) < head + LENGTH_BYTES:
                return
            ends = head + int.from_bytes(self._rest[head : head + LENGTH_BYTES], "big")
            if len(self._rest) < ends:
                return
            if self._is_started:
                self._messages[self._rest[0]] += 1
            self._is_started = True
            self._rest = self._rest[ends:]


class _Way:
    """One direction of a connection."""

    def __init__(self, source: socket.socket, target: socket.socket, reader: _Reader | None) -> None:
        self.source = source
        self.target = target
        self.reader = reader

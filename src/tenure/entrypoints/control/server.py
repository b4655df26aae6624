"""The server's end of the control socket: one thread that accepts, one for each connection (SPEC S1).

Laws: the socket is never open to more than its owner; bad input is answered and the server lives on; closing
lets what was begun be answered, within ``CLOSING_SECONDS``.
"""

import os
import selectors
import socket
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from tenure.core.errors import InvalidRequest, TenureError, TooLarge, Unavailable
from tenure.entrypoints.control.address import SOCKET_NAME, address_in
from tenure.entrypoints.control.operations import perform
from tenure.entrypoints.control.protocol import LINE_BYTES_MAX, Line, decode_request, encode_line
from tenure.entrypoints.replies import Internal, problem
from tenure.wiring import Node

CONNECTIONS_MAX: Final = 16
IDLE_SECONDS: Final = 600.0
CLOSING_SECONDS: Final = 10.0
_OWNER_ONLY: Final = 0o177

OnFault = Callable[[str, Exception], None]
"""Told of an operation's name and its unexpected fault, whose text may quote a memory."""


class ControlServer:
    """Answers commands in the data folder of a node for as long as the block runs.

    The node holds the folder's owner lock, so a socket that lies there is a dead server's, and is replaced.
    """

    def __init__(self, node: Node, folder: Path, *, on_fault: OnFault) -> None:
        self._node = node
        self._on_fault = on_fault
        self._folder = folder
        self._listener = _listen(folder)
        self._waking, self._wake = socket.socketpair()
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._accepting = threading.Thread(target=self._accept, name="control", daemon=True)
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take no more requests, wait for the answers that were begun, and remove the socket."""
        self._wake.close()
        self._accepting.join()
        self._listener.close()
        self._waking.close()
        (self._folder / SOCKET_NAME).unlink(missing_ok=True)
        # First nothing more can be asked; then, after a while, what still answers is cut off.
        for direction in (socket.SHUT_RD, socket.SHUT_RDWR):
            with self._lock:
                open_now = dict(self._connections)
            for connection in open_now:
                with suppress(OSError):
                    connection.shutdown(direction)
            for thread in open_now.values():
                thread.join(CLOSING_SECONDS / max(1, len(open_now)))

    def _accept(self) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._listener, selectors.EVENT_READ)
            ready.register(self._waking, selectors.EVENT_READ)
            while True:
                if any(key.fileobj is self._waking for key, _ in ready.select()):
                    return
                with suppress(OSError):
                    self._take(self._listener.accept()[0])

    def _take(self, connection: socket.socket) -> None:
        connection.settimeout(IDLE_SECONDS)
        with self._lock:
            if len(self._connections) < CONNECTIONS_MAX:
                thread = threading.Thread(target=self._serve, args=(connection,), name="control", daemon=True)
                # A system that is out of threads refuses this command, and the next one may succeed.
                with suppress(RuntimeError):
                    thread.start()
                    self._connections[connection] = thread
                    return
        with connection, suppress(OSError):
            connection.sendall(encode_line(_refusal(_busy())))

    def _serve(self, connection: socket.socket) -> None:
        # A command that went away, or said nothing for too long, ends its own connection and nothing else.
        with (
            suppress(OSError),
            connection,
            connection.makefile("rb") as asked,
            connection.makefile("wb") as answered,
        ):
            _converse(self._node, asked, answered, self._on_fault)
        with self._lock:
            self._connections.pop(connection, None)


def _converse(node: Node, asked: BinaryIO, answered: BinaryIO, on_fault: OnFault) -> None:
    """Answer request after request until the other side has no more."""
    while line := asked.readline(LINE_BYTES_MAX + 1):
        if len(line) > LINE_BYTES_MAX:
            answered.write(encode_line(_refusal(_too_long())))
            answered.flush()
            return
        if not line.endswith(b"\n"):
            # The other side went away in the middle of asking, so nothing was asked.
            return
        with closing(_answer(node, line, on_fault)) as lines:
            for each in lines:
                answered.write(encode_line(each))
                if each.progress is not None:
                    answered.flush()
        answered.flush()


def _answer(node: Node, text: bytes, on_fault: OnFault) -> Generator[Line, None, None]:
    """The lines for one request; whatever goes wrong becomes the last of them."""
    operation = "unknown"
    try:
        request = decode_request(text)
        operation = request.operation
        yield from perform(node, request)
    except TenureError as error:
        yield _refusal(error)
    except Exception as fault:  # noqa: BLE001 -- one request's fault must not end the server
        on_fault(operation[:50], fault)
        yield _refusal(Internal("the server met a fault of its own", hint="Its log names the fault."))


def _refusal(error: TenureError) -> Line:
    return Line(problem=problem(error))


def _busy() -> Unavailable:
    return Unavailable("too many commands are talking to this server", hint="Try again when some have ended.")


def _too_long() -> TooLarge:
    return TooLarge(f"a request has at most {LINE_BYTES_MAX:,} bytes", hint="Send less at a time.")


def _listen(folder: Path) -> socket.socket:
    """Bind the socket so that there is no moment at which others could connect."""
    path = folder / SOCKET_NAME
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(_OWNER_ONLY)
    try:
        _clear(path)
        with address_in(folder) as address:
            listener.bind(address)
        listener.listen(CONNECTIONS_MAX)
        listener.settimeout(0)
    except OSError as fault:
        listener.close()
        raise Unavailable(
            f"the control socket cannot be made ({fault.strerror})",
            hint=f"Make {path} writable for this user, or choose a data folder on a local disk.",
        ) from None
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _clear(path: Path) -> None:
    """Remove a dead server's socket; anything else that bears its name is somebody's and stays."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise InvalidRequest(
                f"{path} is not a socket",
                hint="Move it away: the server needs this name in its data folder.",
            )
        path.unlink()

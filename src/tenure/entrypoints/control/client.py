"""The command's end of the control socket."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tenure.core.errors import TenureError, Unavailable
from tenure.entrypoints.control.address import address_in
from tenure.entrypoints.control.arguments import Arguments
from tenure.entrypoints.control.protocol import LINE_BYTES_MAX, Line, decode_line, encode_request
from tenure.entrypoints.replies import Internal

CONNECT_SECONDS: Final = 10.0


class Connection:
    """A running server, reached through its folder. Not for several threads at once."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._reader = connected.makefile("rb")

    def lines(self, arguments: Arguments) -> Iterator[Line]:
        """Ask, and give the lines of the answer; raises the TenureError that the server refused with."""
        try:
            self._socket.sendall(encode_request(arguments.operation, arguments))
            while True:
                text = self._reader.readline(LINE_BYTES_MAX + 1)
                if not text.endswith(b"\n"):
                    raise _went_away()
                line = decode_line(text)
                if line.problem is not None:
                    raise error_of(line.problem)
                yield line
                if line.is_last:
                    return
        except OSError:
            raise _went_away() from None

    def close(self) -> None:
        """Hang up."""
        self._reader.close()
        self._socket.close()


def connect(folder: Path) -> Connection | None:
    """The server that runs on this folder, or None when there is none."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(CONNECT_SECONDS)
        with address_in(folder) as address:
            connected.connect(address)
        # An answer may take as long as it takes: a rebuild of a large store is minutes.
        connected.settimeout(None)
    except (FileNotFoundError, ConnectionRefusedError):
        connected.close()
        return None
    except OSError as fault:
        connected.close()
        raise Unavailable(
            f"the server on {folder} cannot be reached ({fault.strerror or 'no answer'})",
            hint="Run the command as the user that the server runs as.",
        ) from None
    except BaseException:
        connected.close()
        raise
    return Connection(connected)


def error_of(problem: dict[str, Any]) -> TenureError:
    """The error that a problem was made from, with the same code, message, hint and details."""
    members = {name: value for name, value in problem.items() if name not in _COMMON_MEMBERS}
    kind = _KINDS.get(str(problem.get("type", "")).rpartition("/")[2], Internal)
    error = kind.__new__(kind)
    # Some errors build their own message; this one already has it.
    TenureError.__init__(error, str(problem.get("detail", "")), hint=problem.get("hint"), **members)
    return error


_COMMON_MEMBERS: Final = frozenset({"type", "title", "status", "detail", "hint", "instance"})
_KINDS: Final = {kind.code: kind for kind in TenureError.__subclasses__()}


def _went_away() -> Unavailable:
    return Unavailable(
        "the server stopped before it had answered",
        hint="Look at what is there before you repeat the command; an import may always be repeated.",
    )

"""The lines that a command and a running server exchange; read this file before the others of this folder.

    → {"operation": "key.create", "arguments": {…}}
    ← {"progress": {"done": 0, "total": 900}}      any number of times
    ← {"item": …}                                  any number of times
    ← {"result": …}  or  {"problem": {…}}          once, and it ends the answer

One connection may ask again and again. A line longer than ``LINE_BYTES_MAX`` ends the connection; any other
bad line is answered with a problem. Rule of change: members are added, never renamed.
"""

from typing import Any, Final, TypeVar

import msgspec

from tenure.core.errors import InvalidRequest

T = TypeVar("T")

LINE_BYTES_MAX: Final = 16 * 1_048_576


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operation with its arguments, which the operation itself decodes."""

    operation: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an operation is; the total is None where it is not known."""

    done: int
    total: int | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of an answer; exactly one member is set."""

    progress: Progress | None = None
    item: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    problem: dict[str, Any] | None = None

    @property
    def is_last(self) -> bool:
        """Whether the answer ends here."""
        return self.problem is not None or self.result is not msgspec.UNSET


def item(value: object) -> Line:
    """One of several things that an operation gives."""
    return Line(item=_raw(value))


def result(value: object) -> Line:
    """What an operation came to; it ends the answer."""
    return Line(result=_raw(value))


def encode_request(operation: str, arguments: msgspec.Struct) -> bytes:
    """A request as one line."""
    return _ENCODER.encode(Request(operation=operation, arguments=_raw(arguments))) + b"\n"


def decode_request(line: bytes) -> Request:
    """Read a request; raises InvalidRequest that says what is wrong with it."""
    return checked(line, _REQUEST)


def encode_line(line: Line) -> bytes:
    """A line of an answer."""
    return _ENCODER.encode(line) + b"\n"


def decode_line(line: bytes) -> Line:
    """Read a line of an answer; raises InvalidRequest when the server speaks another language."""
    return checked(line, _LINE)


def checked(text: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T:
    """What the text says; raises InvalidRequest that names the place, never the text."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"the request does not fit: {error}", field=_place(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("the request is not one line of JSON") from None


def _raw(value: object) -> msgspec.Raw:
    return value if isinstance(value, msgspec.Raw) else msgspec.Raw(_ENCODER.encode(value))


def _place(message: str) -> str | None:
    """The field that a decoder's message names at its end."""
    _, found, path = message.rpartition(" - at `$.")
    return path.rstrip("`") if found else None


_ENCODER = msgspec.json.Encoder(order="deterministic")
_REQUEST = msgspec.json.Decoder(Request)
_LINE = msgspec.json.Decoder(Line)

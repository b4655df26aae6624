"""Reading a file of conversations piece by piece, whatever its size.

    [{"id": "c-1", "turns": [{"id": "t1", "session": 1, "date": "1:56 pm on 8 May, 2026",
                              "speaker": "Ann", "text": "…"}, …], …}, …]

Other members are passed over. A mistake is named with its place and never quotes a turn (SPEC E6).
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import ijson
import msgspec

from tenure.core.errors import InvalidRequest
from tenure.usecases.importing import Turn

LAYOUT: Final = (
    'The file is a list of conversations: {"id", "turns": [{"id", "session", "date", "speaker", "text"}]}.'
)
_TORN: Final = "the file ends in the middle"
_TORN_MESSAGES: Final = ("parse error: premature EOF", "Incomplete JSON")
_GZIP_MAGIC: Final = b"\x1f\x8b"
_TURN: Final = "item.turns.item"
_FIELDS: Final = {f"{_TURN}.{name}": name for name in Turn.__struct_fields__}
_SCALARS: Final = frozenset({"string", "number", "boolean", "null"})


class ChatFile:
    """A file of conversations, plain or gzipped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.turns_read = 0
        try:
            self.bytes_total = path.stat().st_size
            self._raw: BinaryIO = path.open("rb")
        except OSError as fault:
            raise InvalidRequest(
                f"{path} cannot be read ({fault.strerror})", field="file", hint="Name a file that exists."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._raw.close()

    @property
    def bytes_read(self) -> int:
        """How much of the file was read."""
        return self._raw.tell()

    def turns(self) -> Iterator[tuple[str, Turn]]:
        """Each turn with its conversation's id; raises InvalidRequest where the file goes wrong."""
        layout = _Layout()
        with self._mistakes_named(layout):
            for prefix, event, value in ijson.parse(self._content()):
                for turn in layout.take(prefix, event, value):
                    self.turns_read += 1
                    yield turn

    def _content(self) -> gzip.GzipFile | BinaryIO:
        magic = self._raw.read(len(_GZIP_MAGIC))
        self._raw.seek(0)
        return gzip.GzipFile(fileobj=self._raw) if magic == _GZIP_MAGIC else self._raw

    @contextmanager
    def _mistakes_named(self, layout: "_Layout") -> Iterator[None]:
        """The parsers' own messages quote the file, so only what they mean is passed on."""
        try:
            yield
        except EOFError:
            raise self._wrong(_TORN, layout) from None
        except (ijson.JSONError, UnicodeDecodeError) as error:
            # One class stands for both; only how the message begins tells them apart.
            is_torn = str(error).startswith(_TORN_MESSAGES)
            raise self._wrong(_TORN if is_torn else "this is not valid JSON in UTF-8", layout) from None
        except (gzip.BadGzipFile, zlib.error):
            raise self._wrong("the compressed data is damaged", layout) from None
        except OSError as fault:
            raise self._wrong(f"the file cannot be read further ({fault.strerror})", layout) from None
        except _WrongLayoutError as error:
            raise self._wrong(str(error), layout) from None

    def _wrong(self, what: str, layout: "_Layout") -> InvalidRequest:
        return InvalidRequest(f"{self._path}: {what}, {layout.place()}", field="file", hint=LAYOUT)


class _WrongLayoutError(Exception):
    """The file is JSON, but not of this layout."""


class _Layout:
    """Follows the parser's events and gives turns as they become whole."""

    def __init__(self) -> None:
        self._conversations = 0
        self._turns = 0
        self._id: str | None = None
        self._has_turns = False
        self._is_list = False
        self._fields: dict[str, Any] = {}
        # Turns whose conversation has not said its id yet.
        self._waiting: list[Turn] = []

    def take(self, prefix: str, event: str, value: object) -> Iterator[tuple[str, Turn]]:
        """One event of the parser; the turns that it completes."""
        if prefix in _FIELDS:
            if event in _SCALARS:
                self._fields[_FIELDS[prefix]] = value
        elif prefix == _TURN:
            yield from self._turn(event)
        elif prefix == "item":
            yield from self._conversation(event)
        elif prefix == "item.id":
            self._named(event, value)
        elif prefix == "item.turns":
            self._has_turns = self._must_be("start_array", event, "end_array", "turns must be a list")
        elif prefix == "":
            self._is_list = self._must_be(
                "start_array", event, "end_array", "it must be a list of conversations"
            )

    def place(self) -> str:
        """Where the file went wrong, as a person counts."""
        if not self._conversations:
            return "at its very start"
        name = f" ({self._id[:80]!r})" if self._id else ""
        behind = f", behind turn {self._turns}" if self._turns else ""
        return f"in conversation {self._conversations}{name}{behind}"

    def _turn(self, event: str) -> Iterator[tuple[str, Turn]]:
        self._must_be("start_map", event, "end_map", "a turn must be an object")
        if event == "start_map":
            self._fields = {}
        elif event == "end_map":
            try:
                turn = msgspec.convert(self._fields, Turn)
            except msgspec.ValidationError as error:
                raise _WrongLayoutError(f"the next turn does not fit ({error})") from None
            self._turns += 1
            if self._id is None:
                self._waiting.append(turn)
            else:
                yield self._id, turn

    def _conversation(self, event: str) -> Iterator[tuple[str, Turn]]:
        self._must_be("start_map", event, "end_map", "a conversation must be an object")
        if event == "start_map":
            self._conversations += 1
            self._id, self._turns, self._has_turns = None, 0, False
        elif event == "end_map":
            if self._id is None or not self._has_turns:
                missing = "turns" if self._id else "id"
                raise _WrongLayoutError(f"the conversation has no {missing}")
            waiting, self._waiting = self._waiting, []
            yield from ((self._id, turn) for turn in waiting)

    def _named(self, event: str, value: object) -> None:
        if event not in {"string", "number"} or not str(value).strip():
            raise _WrongLayoutError("the id of a conversation must be text or a number")
        self._id = str(value)

    @staticmethod
    def _must_be(opening: str, event: str, ending: str, otherwise: str) -> bool:
        if event not in {opening, ending, "map_key"}:
            raise _WrongLayoutError(otherwise)
        return True

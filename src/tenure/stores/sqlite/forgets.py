"""The record of forgets beside the log's file: it outlives the file, and no backup holds it (SPEC F11)."""

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tenure.core.errors import Unavailable
from tenure.stores.forgets import Recorded
from tenure.usecases.evidence import LogLine, line_of, stored_of

_log = logging.getLogger("tenure.store")

_TAIL_BYTES = 65_536
"""Longer than any line: what a crash left of an unfinished one lies within it."""


class ForgetFile:
    """forgets.jsonl: one line a forget, as an export has it; only what was never done is taken out again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, forgets: Sequence[Recorded]) -> None:
        """Add lines, durable when this returns; raises Unavailable where that cannot be."""
        if not forgets:
            return
        text = _lines(forgets)
        try:
            is_new = not self._path.exists()
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "r+b") as file:
                file.seek(_whole_bytes(file.fileno()))
                file.truncate()
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                _sync_folder(self._path.parent)
        except OSError as fault:
            raise Unavailable(
                f"the record of forgets {self._path} cannot be written ({fault.strerror})",
                hint="Nothing was forgotten. Make space or check its permissions, then ask again.",
            ) from fault

    def withdraw(self, forgets: Sequence[Recorded]) -> None:
        """Take out the lines added last, of a transaction that is known to have kept nothing.

        What cannot be taken out stays, since whoever asked for it was told to ask again.
        """
        if not forgets:
            return
        text = _lines(forgets)
        try:
            with self._path.open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - len(text)))
                if file.read() == text:
                    file.truncate(size - len(text))
                    os.fsync(file.fileno())
        except FileNotFoundError:
            return
        except OSError as fault:
            _log.warning("a forget that failed stays in the record of forgets (%s)", type(fault).__name__)

    def entries(self) -> Iterator[Recorded]:
        """Every forget, oldest first; a last line that a crash left unfinished was never acknowledged."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    return
                try:
                    line = msgspec.json.decode(text, type=LogLine)
                    yield line.tenant, stored_of(line)
                except ValueError:
                    raise Unavailable(
                        f"line {number} of the record of forgets {self._path} cannot be read",
                        hint="Put back a copy of the file, or take the line out and name with --forgets an "
                        "export that has the forget.",
                    ) from None


def _lines(forgets: Sequence[Recorded]) -> bytes:
    return b"".join(msgspec.json.encode(line_of(*forget)) + b"\n" for forget in forgets)


def _whole_bytes(descriptor: int) -> int:
    """Where the last whole line ends."""
    size = os.fstat(descriptor).st_size
    start = max(0, size - _TAIL_BYTES)
    return start + os.pread(descriptor, size - start, start).rfind(b"\n") + 1


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

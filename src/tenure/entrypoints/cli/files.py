"""Files that commands write: whole or not at all, and readable by their owner alone."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from tenure.core.errors import InvalidRequest, Unavailable

STANDARD_OUTPUT: Final = "-"
_NAME_CHARACTERS_MAX: Final = 100
_HINT: Final = "Name a file in a folder that you may write to."


@contextmanager
def destination(file: str) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears only once it is whole and that its owner alone may read."""
    if file == STANDARD_OUTPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:_NAME_CHARACTERS_MAX]}.", dir=path.parent)
    except OSError as fault:
        raise _unwritable(file, fault) from None
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        part.replace(path)
    except OSError as fault:
        raise _unwritable(file, fault) from None
    finally:
        part.unlink(missing_ok=True)


def refuse_json_beside(file: str, *, as_json: bool) -> None:
    """Raise InvalidRequest where two things want standard output."""
    if as_json and file == STANDARD_OUTPUT:
        raise InvalidRequest(
            "--json and - both want standard output", field="file", hint="Name a file, or leave --json out."
        )


def check_writable(file: str) -> None:
    """Raise Unavailable unless a file can be made there: asked before something that cannot be undone."""
    path = Path(file)
    if path.is_dir():
        raise Unavailable(f"{file} cannot be written (it is a folder)", hint=_HINT)
    try:
        descriptor, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    except OSError as fault:
        raise _unwritable(file, fault) from None
    os.close(descriptor)
    Path(name).unlink()


def safe_name(text: str) -> str:
    """What may be part of a file's name anywhere; two texts may have the same."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:_NAME_CHARACTERS_MAX]


def contents(path: Path, *, size_bytes_max: int) -> bytes:
    """A whole file; raises InvalidRequest for one that cannot be read or is larger than it may be."""
    try:
        with path.open("rb") as file:
            text = file.read(size_bytes_max + 1)
    except OSError as fault:
        raise InvalidRequest(
            f"{path} cannot be read ({fault.strerror})", field="file", hint="Name a file that exists."
        ) from None
    if len(text) > size_bytes_max:
        raise InvalidRequest(f"{path} has more than {size_bytes_max:,} bytes", field="file")
    return text


def _unwritable(file: str, fault: OSError) -> Unavailable:
    return Unavailable(f"{file} cannot be written ({fault.strerror})", hint=_HINT)

"""A backup as a folder of files: written whole or not at all, and read again and again."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from tenure.core.backup import FORMAT, Manifest, TenantPart
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.usecases.backup import ANSWERS_NAME, LOG_NAME

MANIFEST_NAME: Final = "manifest.json"


class _Piece(msgspec.Struct, frozen=True):
    """A piece of a backup; its lines stay as they came."""

    log: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tenant: TenantPart | None = None


class _Format(msgspec.Struct, frozen=True):
    """All that is certain of a manifest of whatever format."""

    format: int


class BackupFolder:
    """A backup that is there; opening it raises where a file is missing or is not what was written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.manifest = _manifest(path)
        for name, expected in (
            (LOG_NAME, self.manifest.log_sha256),
            (ANSWERS_NAME, self.manifest.answers_sha256),
        ):
            if _digest(path / name) != expected:
                raise _damaged(path / name)

    def log(self) -> Iterator[bytes]:
        """The lines of the log."""
        return lines_of(self._path / LOG_NAME)

    def answers(self) -> Iterator[bytes]:
        """The lines of the answers."""
        return lines_of(self._path / ANSWERS_NAME)


class Writing:
    """A backup that is being written."""

    def __init__(self, path: Path, log: BinaryIO, answers: BinaryIO) -> None:
        self._path = path
        self._log = log
        self._answers = answers
        self._tenants: list[TenantPart] = []

    def put(self, text: msgspec.Raw) -> None:
        """One more piece."""
        piece = msgspec.json.decode(text, type=_Piece)
        if isinstance(piece.log, msgspec.Raw):
            self._log.write(bytes(piece.log) + b"\n")
        elif isinstance(piece.answer, msgspec.Raw):
            self._answers.write(bytes(piece.answer) + b"\n")
        elif piece.tenant is not None:
            self._tenants.append(piece.tenant)

    def finish(self, made_at: datetime) -> BackupFolder:
        """Make the files durable, the manifest last, and give the backup as it is read back."""
        for file in (self._log, self._answers):
            _synced(file)
        manifest = Manifest(
            format=FORMAT,
            made_at=made_at,
            log_sha256=_digest(self._path / LOG_NAME),
            answers_sha256=_digest(self._path / ANSWERS_NAME),
            tenants=tuple(self._tenants),
        )
        with _created(self._path / MANIFEST_NAME) as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
            _synced(file)
        return BackupFolder(self._path)


@contextmanager
def new_backup(folder: Path) -> Iterator[Writing]:
    """A backup that appears under its name only once the block has ended well."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidRequest(
            f"{folder} is there already, and a backup never overwrites anything",
            field="dir",
            hint="Name a folder that does not exist yet.",
        )
    part: Path | None = None
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        with _created(part / LOG_NAME) as log, _created(part / ANSWERS_NAME) as answers:
            yield Writing(part, log, answers)
        _sync_folder(part)
        part.rename(folder)
        _sync_folder(folder.parent)
    except OSError as fault:
        raise Unavailable(
            f"the backup {folder} cannot be written ({fault.strerror})",
            hint="No backup was made. Name a folder in one that you may write to, on a disk with room.",
        ) from None
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file; raises NotFound or Unavailable where it cannot be read."""
    with _readable(path) as file:
        yield from file


def later_log(path: Path) -> Path:
    """The log that somebody gave to take later forgets from: a file, or the one in a backup's folder."""
    return path / LOG_NAME if path.is_dir() else path


def _manifest(path: Path) -> Manifest:
    with _readable(path / MANIFEST_NAME) as file:
        text = file.read()
    try:
        found = msgspec.json.decode(text, type=_Format).format
        if found > FORMAT:
            raise Unavailable(
                f"a newer tenure made this backup (format {found}; this program knows {FORMAT})",
                hint="Run the newer version of tenure.",
            )
        return msgspec.json.decode(text, type=Manifest)
    except ValueError:
        raise _damaged(path / MANIFEST_NAME) from None


def _damaged(path: Path) -> Unavailable:
    return Unavailable(f"{path} is not what was written", hint="Nothing was changed. Use another backup.")


@contextmanager
def _readable(path: Path) -> Iterator[BufferedReader]:
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise NotFound(
            f"there is no {path}", hint="Name the folder that 'tenure backup' made, with all its files."
        ) from None
    except OSError as fault:
        raise Unavailable(
            f"{path} cannot be read ({fault.strerror})", hint="Check its permissions."
        ) from None


def _digest(path: Path) -> str:
    with _readable(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _created(path: Path) -> BinaryIO:
    """A new file that its owner alone may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _synced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

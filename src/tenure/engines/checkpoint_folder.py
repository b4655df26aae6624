"""A folder outside the store for signed checkpoints: one file a note, never written twice (SPEC E2).

    FOLDER/TENANT, percent-encoded/SIZE, in twenty digits.note

It belongs where whoever may change the store may not change files: that is what makes it evidence.
"""

import hashlib
import logging
import os
import tempfile
from pathlib import Path
from typing import Final

from tenure.core.checkpoints import encoded_tenant

NAME_CHARACTERS_MAX: Final = 200
"""File systems take 255 bytes."""

_log: Final = logging.getLogger("tenure.checkpoints")


class CheckpointFolder:
    """The CheckpointPlace port over a folder."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    @property
    def name(self) -> str:
        """Where the folder is, wherever the process was started."""
        return str(self._folder.absolute())

    def put(self, tenant: str, size: int, note: str) -> bool:
        """Put a note there, whole or not at all; what lies there already is never overwritten."""
        path = self._folder / _part(tenant) / f"{size:020}.note"
        try:
            _write_new(path, note.encode())
        except FileExistsError:
            return _is_there(path, note.encode())
        except OSError as fault:
            _log.warning(
                "the checkpoint %s cannot be written (%s); it is tried again in the next round",
                path,
                fault.strerror,
            )
            return False
        return True


def _part(tenant: str) -> str:
    """A tenant's name as one part of a path; a digest of it where it is too long for one."""
    part = encoded_tenant(tenant)
    if len(part) <= NAME_CHARACTERS_MAX:
        return part
    # No percent-encoded name begins like this.
    return f"%sha256-{hashlib.sha256(tenant.encode()).hexdigest()}"


def _write_new(path: Path, content: bytes) -> None:
    """Write a file durably under a name that is free; raises FileExistsError where it is not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        part.chmod(0o444)
        # A link, unlike a renaming, fails where the name is taken.
        os.link(part, path)
    finally:
        part.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_there(path: Path, content: bytes) -> bool:
    """Whether the note lies there already; another one there stays, and is worth a loud word."""
    try:
        same = path.read_bytes() == content
    except OSError as fault:
        _log.warning("the checkpoint %s cannot be read (%s)", path, fault.strerror)
        return False
    if not same:
        _log.error(
            "%s holds ANOTHER checkpoint of this size, and is left as it is: either two stores write to this "
            "folder, or this store's log was written anew",
            path,
        )
    return True

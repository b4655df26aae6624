"""The file that holds a root key, and its replacement by another without a moment in which neither counts.

    1 prepare    a fresh key, durable, beside the file: root.key.next
    2 (wrap)     the keyring is wrapped by it, in one commit
    3 finish     the new file takes the place of the old one, whose bytes are overwritten

Law: before 2 the old key opens the keyring and the next one is of no use; after 2 the next one opens it.
Whoever dies in between leaves both files, and whoever opens the keyring tries both.
"""

import base64
import binascii
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tenure.core.errors import Unavailable
from tenure.stores.sqlite.folder import secret_file
from tenure.stores.wrapping import KEY_BYTES


class RootKeyFile:
    """A root key as base64 text in a file that only its owner may read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next = path.with_name(f"{path.name}.next")

    def make(self) -> None:
        """Make it where it is missing, unless another process is faster: then its key is the one."""
        if self.path.exists() and self.path.stat().st_size == 0:
            self.path.unlink(missing_ok=True)
        if not self.path.exists():
            _make(self.path)

    def is_there(self) -> bool:
        """Whether there is any key to try."""
        return self.path.exists() or self.next.exists()

    def read(self) -> Iterator[tuple[bytes, bool]]:
        """The keys to try, and which is the next: it may have come into force already."""
        if self.path.exists() or not self.next.exists():
            yield _read(self.path), False
        if self.next.exists():
            yield _read(self.next), True

    def prepare(self) -> bytes:
        """The next key: a fresh one, or the one that an unfinished rotation left."""
        if not self.next.exists():
            _make(self.next)
        return _read(self.next)

    def finish(self) -> None:
        """Put the next key in force and overwrite the old one; without a next key there is nothing to do."""
        with _alone_in(self.path.parent) as folder:
            if not self.next.exists():
                return
            with _kept_open(self.path) as old:
                self.next.replace(self.path)
                os.fsync(folder)
                _overwrite(old)

    def destroy(self) -> None:
        """Overwrite and remove the file, and one that was prepared."""
        with _alone_in(self.path.parent) as folder:
            for path in (self.path, self.next):
                with _kept_open(path) as old:
                    _overwrite(old)
                path.unlink(missing_ok=True)
            os.fsync(folder)


def _make(path: Path) -> None:
    with suppress(FileExistsError):
        secret_file(path, base64.b64encode(os.urandom(KEY_BYTES)).decode() + "\n")


def _read(path: Path) -> bytes:
    try:
        return base64.b64decode(path.read_text("ascii").strip(), validate=True)
    except OSError as fault:
        raise Unavailable(
            f"the root key {path} cannot be read ({fault.strerror})",
            hint="Without it nothing here can be opened: put it back, or name it with TENURE_KEYS__KEK_FILE.",
        ) from fault
    except (binascii.Error, UnicodeDecodeError) as fault:
        raise Unavailable(
            f"the root key {path} is not base64 text", hint="Put the right file back."
        ) from fault


@contextmanager
def _alone_in(folder: Path) -> Iterator[int]:
    """The folder, with every other process on this machine that would do the same waiting."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _kept_open(path: Path) -> Iterator[int | None]:
    """The file as it is now, whatever takes its name meanwhile."""
    if not path.exists():
        yield None
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int | None) -> None:
    """Write over a file's bytes in place. What the disk itself kept of them is beyond a program's reach."""
    if descriptor is not None:
        os.pwrite(descriptor, bytes(os.fstat(descriptor).st_size), 0)
        os.fsync(descriptor)

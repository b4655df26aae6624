"""A data folder: which files it has, and who owns it."""

import fcntl
import os
from pathlib import Path
from typing import IO

from tenure.core.errors import Unavailable


class Folder:
    """The files of one embedded store. One process owns it at a time (SPEC S5)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "log.db"
        self.keyring = path / "keyring.db"
        self.search = path / "search.db"
        self.root_key = path / "root.key"
        self._lock_path = path / "lock"
        self._lock: IO[str] | None = None

    def take(self) -> None:
        """Become the owner; raises Unavailable, naming the other process, when there is one."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = self._lock_path.open("a+", encoding="ascii")
        except OSError as fault:
            raise Unavailable(
                f"the data folder {self.path} cannot be used ({fault.strerror})",
                hint="Name a folder that this process may create and write, with --data or TENURE_DATA_DIR.",
            ) from fault
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            lock.close()
            raise Unavailable(
                f"the data folder {self.path} is in use by another process (pid {owner})",
                hint="Stop that process, or reach it over HTTP; two processes never share an embedded store.",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock

    def release(self) -> None:
        """Let another process have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def secret_file(path: Path, content: str) -> None:
    """Create a file that only its owner can read, durable before this returns; never overwrites one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

"""A data folder: which files it has, and who owns it."""

import fcntl
import os
import threading
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
        self.forgets = path / "forgets.jsonl"
        self.root_key = path / "root.key"
        self._lock_path = path / "lock"
        self._lock: IO[str] | None = None

    def free_bytes(self) -> int:
        """How much room the disk has for this process."""
        room = os.statvfs(self.path)
        return room.f_bavail * room.f_frsize

    def files(self) -> list[Path]:
        """Every file in the folder that the store writes, write-ahead logs and journals among them."""
        left_out = {self.root_key.name, self._lock_path.name, "control.sock"}
        return sorted(path for path in self.path.iterdir() if path.is_file() and path.name not in left_out)

    def remove_search(self) -> None:
        """Remove the word index, which can be rebuilt."""
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.search}{suffix}").unlink(missing_ok=True)

    def make(self) -> None:
        """Make the folder where it is missing, without owning it: nodes over a database may share one."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def take(self) -> None:
        """Become the owner; raises Unavailable, naming the other process, when there is one."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = _locked(self._lock_path)
        except BlockingIOError:
            owner = self._lock_path.read_text("ascii").strip() or "unknown"
            raise Unavailable(
                f"the data folder {self.path} is in use by another process (pid {owner})",
                hint="Stop that process, or reach it over HTTP; two processes never share an embedded store.",
            ) from None
        except OSError as fault:
            raise Unavailable(
                f"the data folder {self.path} cannot be used ({fault.strerror})",
                hint="Name a folder that this process may create and write, with --data or TENURE_DATA_DIR.",
            ) from fault

    def release(self) -> None:
        """Let another process have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _locked(path: Path) -> IO[str]:
    """The lock file, locked, with this process's id in it; raises BlockingIOError when another has it."""
    lock = path.open("a+", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
    except BaseException:
        _closed_quietly(lock)
        raise
    return lock


def _closed_quietly(lock: IO[str]) -> None:
    """Close a file even when what it still holds cannot be written."""
    try:
        lock.close()
    except OSError:
        lock.close()


def secret_file(path: Path, content: str) -> None:
    """Create a file that only its owner can read: whole and durable, or not at all; never overwrites one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

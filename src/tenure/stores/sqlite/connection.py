"""Connections to the embedded store's files, all with the same profile (DESIGN: SQLite)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from tenure.core.errors import Unavailable

SQLITE_VERSION_MIN: Final = 3_051_003
"""Before 3.51.3 two connections could corrupt a WAL when it was reset."""
BUSY_TIMEOUT_MILLISECONDS: Final = 5_000
_FAULTS: Final = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.BusyError,
    apsw.NotADBError,
    apsw.CorruptError,
    apsw.InterruptError,
)
_ADVICE: Final[dict[type[BaseException], str]] = {
    apsw.FullError: "The disk is full: make space; the store goes on by itself.",
    apsw.ReadOnlyError: "The data folder cannot be written: check its permissions and its mount.",
    apsw.CantOpenError: "A file of the data folder cannot be opened: check its permissions.",
    apsw.CorruptError: "A file of the data folder is damaged: stop, keep a copy, and restore a backup.",
    apsw.NotADBError: "A file of the data folder is not a database: stop, keep a copy, and restore a backup.",
}


def connect(path: Path, *, durable: bool, read_only: bool = False) -> apsw.Connection:
    """Open one file. A durable connection syncs at every commit; the other is for what can be rebuilt."""
    if apsw.SQLITE_VERSION_NUMBER < SQLITE_VERSION_MIN:
        raise Unavailable(
            f"SQLite {apsw.sqlite_lib_version()} has a known corruption bug", hint="Update apsw."
        )
    with faults_as_unavailable():
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MILLISECONDS)
        for pragma in (
            "journal_mode = WAL",
            f"synchronous = {'FULL' if durable else 'OFF'}",
            "mmap_size = 0",
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "secure_delete = ON",
            "foreign_keys = OFF",
            "cache_size = -16000",
            f"query_only = {'ON' if read_only else 'OFF'}",
        ):
            connection.pragma(*pragma.split(" = "))
        return connection


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All or nothing. Where a full disk has ended the transaction already, nothing is left to take back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
        raise


def empty_write_ahead_log(connection: apsw.Connection) -> None:
    """Move every change into the file, so that nothing that was taken away is left beside it.

    Raises Unavailable where a reader still needs what was before; SQLite itself would not say so.
    """
    [(is_busy, _, _)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if is_busy:
        raise Unavailable(
            "somebody still reads the store as it was, so what was taken away cannot be overwritten yet",
            hint="Ask again in a moment; long exports and copies of the files must end first.",
        )


@contextmanager
def faults_as_unavailable() -> Iterator[None]:
    """Turn what an operator must mend into Unavailable: nothing was acknowledged, nothing is half-written."""
    try:
        yield
    except _FAULTS as fault:
        hint = _ADVICE.get(type(fault), "Try again in a moment.")
        raise Unavailable(f"the store cannot serve now ({type(fault).__name__})", hint=hint) from fault

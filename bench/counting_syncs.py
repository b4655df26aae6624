"""Run by `bench.syncs` in a process of its own: durable writes, and how many syncs each of them made.

A SQLite file system of our own passes everything on and counts what it is asked to sync. Two marker files
let a tracer of system calls see where the writes begin and end.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Final

import apsw
import msgspec

from bench.stores import proposals, remember, session, warmed
from tenure import Tenure

BEGIN: Final = "counting-begins"
END: Final = "counting-ends"
_BENEATH: Final = apsw.vfs_names()[0]


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """How many writes made how many syncs; those during which SQLite tidied its log are told apart."""

    writes: int
    plain: dict[int, int]
    tidying: dict[int, int]
    files: dict[str, int]


class _File(apsw.VFSFile):
    """A file that counts its syncs."""

    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], syncs: Counter[str]) -> None:
        super().__init__(_BENEATH, name, flags)
        text = name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary"
        self._name = Path(text).name
        self._syncs = syncs

    def xSync(self, flags: int) -> None:  # noqa: N802 -- SQLite's own name
        """Count it, and do it."""
        self._syncs[self._name] += 1
        super().xSync(flags)


class _Files(apsw.VFS):
    """A file system that hands out files that count."""

    def __init__(self) -> None:
        super().__init__("counting", _BENEATH, makedefault=True)
        self.syncs: Counter[str] = Counter()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 -- as above
        """Open a file that counts."""
        return _File(name, flags, self.syncs)


def count(folder: Path, writes: int) -> Counted:
    """Write, one caller, and count."""
    files = _Files()
    plain: Counter[int] = Counter()
    tidying: Counter[int] = Counter()
    with Tenure.open(folder / "store") as store:
        principal = session(store)
        warmed(principal)
        (folder / BEGIN).touch()
        start = files.syncs.copy()
        restarts = False
        for one in proposals(seed=5, count=writes):
            before = files.syncs.copy()
            remember(principal, one)
            made = files.syncs - before
            # A checkpoint syncs the database itself, and the write behind it begins the log anew.
            moved = any(not name.endswith("-wal") for name in made)
            (tidying if moved or restarts else plain)[made.total()] += 1
            restarts = moved
        total = files.syncs - start
        (folder / END).touch()
    return Counted(writes=writes, plain=dict(plain), tidying=dict(tidying), files=dict(total))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(count(Path(sys.argv[1]), int(sys.argv[2]))))

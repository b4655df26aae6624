"""The columns of boundaries that were searched lately, vectors included, in the memory of this process alone.

Which rows pass is asked of the store each time (SPEC R1); this saves reading again what those rows say. A row
is known by its position and its version, so what changed is read again. Rows that are gone are let go of with
the write that took them, or where another node wrote it, with the next search that looks at all of the place.
Plaintext-derived, and bounded in bytes.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tenure.core.boundary_rows import Column, Integers, Rows, as_rows, taken, together
from tenure.core.rows import SearchChange, Unindex, UnindexSubject

BYTES_MAX: Final = 67_108_864
ROW_BYTES: Final = 320
"""About what a row takes beside its vector."""
LOOK_AGAIN_SECONDS: Final = 1.0
"""After so long, a row whose vector was missing is looked at again: another node may have made it."""


Flags: TypeAlias = npt.NDArray[np.bool_]


class Place(NamedTuple):
    """Within which walls rows were searched: those of one subject, or of all."""

    tenant: str
    agent: str
    purpose: str
    subject: str | None
    model: str | None


class Passing(NamedTuple):
    """The rows that pass, by their positions, ascending, and their versions."""

    seqs: Integers
    versions: Integers

    @classmethod
    def of(cls, seqs: Sequence[int], versions: Sequence[int]) -> "Passing":
        """The rows in whatever order they came."""
        found = cls(np.array(seqs, dtype=np.int64), np.array(versions, dtype=np.int64))
        if bool(np.all(found.seqs[1:] > found.seqs[:-1])):
            return found
        order = np.argsort(found.seqs, kind="stable")
        return cls(found.seqs[order], found.versions[order])


Load = Callable[[list[int]], Sequence[Column]]
"""Reads rows from the store, in the snapshot in which they passed."""


class _Block(NamedTuple):
    rows: Rows
    versions: Integers
    read_at: float
    embedded: int
    """How often vectors had come by then."""

    @property
    def size_bytes(self) -> int:
        width = 0 if self.rows.vectors is None else self.rows.vectors.steps.shape[1]
        return len(self.rows.ids) * (ROW_BYTES + width)


class RowCache:
    """Blocks of rows by place, the one searched least lately given up first."""

    def __init__(self, bytes_max: int = BYTES_MAX, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._bytes_max = bytes_max
        self._clock = clock
        self._lock = threading.Lock()
        self._blocks: OrderedDict[Place, _Block] = OrderedDict()
        self._places: dict[tuple[str, str | None], set[Place]] = {}
        self._bytes = 0
        self._generation = 0
        self._embedded = 0

    @property
    def size_bytes(self) -> int:
        """About how much is kept."""
        return self._bytes

    def rows(self, place: Place, passing: Passing, load: Load, *, is_all: bool) -> Rows:
        """What the rows that pass say; ``is_all`` where no filter but the place's own was asked."""
        with self._lock:
            generation, block = self._generation, self._blocks.get(place)
            if block is not None:
                self._blocks.move_to_end(place)
        if block is None:
            block = _Block(
                as_rows((), place.model), np.zeros(0, dtype=np.int64), self._clock(), self._embedded
            )
        at, known = self._known(block, passing)
        if not bool(known.all()) or (is_all and len(block.versions) > len(at)):
            kept = at[known] if is_all else _but(len(block.versions), at[~known & _same(block, passing, at)])
            block = self._with(place, block, kept, passing, known, load)
            self._put(place, block, generation)
            at = np.searchsorted(block.rows.seqs, passing.seqs)
        return block.rows if len(at) == len(block.versions) else taken(block.rows, at)

    def let_go(self, changes: Iterable[SearchChange]) -> None:
        """Give up what these changes took away, or changed."""
        gone: dict[tuple[str, str], list[int]] = {}
        subjects: set[tuple[str, str]] = set()
        for change in changes:
            if isinstance(change, UnindexSubject):
                subjects.add((change.tenant, change.subject))
                self._drop_all(change.tenant, None)
            elif isinstance(change, Unindex) or change.row.version > 1:
                row = change.row
                gone.setdefault((row.tenant, row.subject), []).append(row.created_seq)
        if not subjects and not gone:
            return
        with self._lock:
            self._generation += 1
        for tenant, subject in subjects:
            self._drop_all(tenant, subject)
        for (tenant, subject), seqs in gone.items():
            self._drop_rows(tenant, subject, np.array(sorted(seqs), dtype=np.int64))

    def look_again(self) -> None:
        """Vectors have come: rows that had none are looked at again."""
        with self._lock:
            self._embedded += 1

    def clear(self) -> None:
        """Give up everything."""
        with self._lock:
            self._generation += 1
            self._blocks.clear()
            self._places.clear()
            self._bytes = 0

    def _known(self, block: _Block, passing: Passing) -> tuple[Integers, Flags]:
        """Where the passing rows stand in the block, and which of them it has as they are now."""
        count = len(block.versions)
        if not count:
            return np.zeros(len(passing.seqs), dtype=np.int64), np.zeros(len(passing.seqs), dtype=np.bool_)
        at = np.minimum(np.searchsorted(block.rows.seqs, passing.seqs), count - 1)
        known = (block.rows.seqs[at] == passing.seqs) & (block.versions[at] == passing.versions)
        vectors = block.rows.vectors
        is_older = block.embedded != self._embedded or self._clock() - block.read_at > LOOK_AGAIN_SECONDS
        if vectors is not None and is_older:
            known &= vectors.scales[at] > 0
        return at, known

    def _with(
        self, place: Place, block: _Block, kept: Integers, passing: Passing, known: Flags, load: Load
    ) -> _Block:
        """The block with what is kept of it, and what was missing."""
        embedded = self._embedded
        missing = passing.seqs[~known]
        loaded = as_rows(load(missing.tolist()) if len(missing) else (), place.model)
        versions = passing.versions[~known]
        if len(loaded.ids) != len(missing):
            raise LookupError("a row that passed is not there")
        seqs = np.concatenate([block.rows.seqs[kept], loaded.seqs])
        order = np.argsort(seqs, kind="stable")
        rest = block.rows if len(kept) == len(block.versions) else taken(block.rows, kept)
        rows = together([rest, loaded])
        versions = np.concatenate([block.versions[kept], versions])[order]
        return _Block(rows, versions, self._clock(), embedded)

    def _put(self, place: Place, block: _Block, generation: int) -> None:
        with self._lock:
            if generation != self._generation or block.size_bytes > self._bytes_max:
                return
            self._forget(place)
            self._blocks[place] = block
            self._places.setdefault((place.tenant, place.subject), set()).add(place)
            self._bytes += block.size_bytes
            while self._bytes > self._bytes_max:
                self._forget(next(iter(self._blocks)))

    def _drop_all(self, tenant: str, subject: str | None) -> None:
        with self._lock:
            self._generation += 1
            for place in tuple(self._places.get((tenant, subject), ())):
                self._forget(place)

    def _drop_rows(self, tenant: str, subject: str, seqs: Integers) -> None:
        """From the blocks of the subject and of all together: a block is not read again for a few rows."""
        with self._lock:
            places = (self._places.get((tenant, one), ()) for one in (None, subject))
            for place in [place for found in places for place in found]:
                block = self._blocks[place]
                kept = np.flatnonzero(~np.isin(block.rows.seqs, seqs))
                if len(kept) < len(block.versions):
                    self._bytes -= block.size_bytes
                    rows, versions = taken(block.rows, kept), block.versions[kept]
                    block = self._blocks[place] = block._replace(rows=rows, versions=versions)
                    self._bytes += block.size_bytes

    def _forget(self, place: Place) -> None:
        block = self._blocks.pop(place, None)
        if block is not None:
            self._bytes -= block.size_bytes
            places = self._places[(place.tenant, place.subject)]
            places.discard(place)
            if not places:
                del self._places[(place.tenant, place.subject)]


def _same(block: _Block, passing: Passing, at: Integers) -> Flags:
    """Which of the passing rows the block has at all, in whatever version."""
    if not len(block.versions):
        return np.zeros(len(at), dtype=np.bool_)
    return np.asarray(block.rows.seqs[at] == passing.seqs)


def _but(count: int, places: Integers) -> Integers:
    """Every place of so many but these."""
    kept = np.ones(count, dtype=np.bool_)
    kept[places] = False
    return np.flatnonzero(kept)

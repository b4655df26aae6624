"""What stands in the boundaries that are written to, kept up with each commit (SPEC T2, T3).

A write is compared with what stands beside it. The rows of a boundary are read once; from then on each commit
adds what it let in and takes away what it ended. Nobody else writes to the files of an embedded store. To a
database other nodes write, too: there every look says where the tenant's log ends, and what is kept is of use
only if this node stored all up to that.

Laws: what is handed out has every memory that stood at the last commit before the look began, or nothing is
handed out; it may have one that stands no longer because time passed, which whoever opens it sees. Kept in
the memory of this process alone, plaintext-derived, bounded in bytes, gone with what takes a memory away.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tenure.core.boundary_rows import Column, Rows, as_rows, taken, together
from tenure.core.retrieval import Filter
from tenure.core.rows import Index, MemoryRow, Unindex, UnindexSubject
from tenure.core.vocabulary import Status
from tenure.stores.found_by import NOTHING, Finder, Found, FoundBy
from tenure.stores.row_cache import ROW_BYTES, Place

BYTES_MAX: Final = 33_554_432
SECONDS_MAX: Final = 60.0
"""After so long the rows are read anew: some begin to hold only as time passes."""
ADDED_MAX: Final = 512
"""More memories than these that nobody asked about, and the rows are given up instead."""


class _Added(NamedTuple):
    row: MemoryRow
    found: FoundBy


class _Block(NamedTuple):
    rows: Rows
    read_at: float
    added: tuple[_Added, ...] = ()

    @property
    def size_bytes(self) -> int:
        width = 0 if self.rows.vectors is None else self.rows.vectors.steps.shape[1]
        return len(self.rows.ids) * (ROW_BYTES + width)


class StandingRows:
    """Rows of boundaries, the one written to least lately given up first."""

    def __init__(
        self,
        finder: Finder,
        *,
        bytes_max: int = BYTES_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._finder = finder
        self._bytes_max = bytes_max
        self._clock = clock
        self._lock = threading.Lock()
        self._blocks: OrderedDict[Place, _Block] = OrderedDict()
        self._commits = 0
        self._ends: dict[str, int] = {}

    @property
    def moment(self) -> int:
        """How many commits there were: a look that begins now sees all of them."""
        return self._commits

    def rows(self, place: Place, *, end: int | None = None) -> Rows | None:
        """What stands there, with its vectors; None where that has to be read.

        With ``end``, where the log of the tenant ends for whoever asks, only if it is kept up to there.
        """
        with self._lock:
            block = self._blocks.get(place)
            if block is None or (end is not None and self._ends.get(place.tenant) != end):
                return None
            if self._clock() - block.read_at > SECONDS_MAX:
                del self._blocks[place]
                return None
            self._blocks.move_to_end(place)
            if block.added:
                block = self._blocks[place] = self._with_added(block, place)
            return block.rows

    def keep(self, place: Place, rows: Rows, *, moment: int | None = None, end: int | None = None) -> None:
        """Keep what a look found: as of the moment before it began, or of where the tenant's log ended.

        Not where this node has stored something since.
        """
        block = _Block(rows, self._clock())
        with self._lock:
            if place.model != self._finder.model or (moment is not None and moment != self._commits):
                return
            if end is not None:
                last = self._ends.get(place.tenant, end)
                if last > end:
                    return
                if last < end:
                    self._give_up(place.tenant)
                self._ends[place.tenant] = end
            self._blocks[place] = block
            size = sum(one.size_bytes for one in self._blocks.values())
            while size > self._bytes_max:
                _, gone = self._blocks.popitem(last=False)
                size -= gone.size_bytes

    def stored(
        self,
        changes: Sequence[Found],
        moved: Iterable[MemoryRow],
        withdrawn: Collection[str],
        ends: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """A commit: what is found by other words now, rows that moved otherwise, tenants that lost some.

        ``ends`` says where the logs of tenants ended before and after it, where others write to them, too.
        """
        with self._lock:
            self._commits += 1
            if not self._blocks:
                self._ends.clear()
                return
            self._go_on(ends or {})
            for tenant in withdrawn:
                self._give_up(tenant)
            for row in moved:
                self._blocks.pop(self._place(row), None)
            for change, found in changes:
                if isinstance(change, UnindexSubject):
                    self._give_up(change.tenant, change.subject)
                else:
                    self._changed(change, found)

    def clear(self) -> None:
        """Give up everything."""
        with self._lock:
            self._commits += 1
            self._blocks.clear()
            self._ends.clear()

    def _go_on(self, ends: Mapping[str, tuple[int, int]]) -> None:
        """These logs grew; where another node wrote in between, what is kept of the tenant is of no use."""
        for tenant, (before, after) in ends.items():
            if self._ends.get(tenant, before) != before:
                self._give_up(tenant)
            if tenant in self._ends:
                self._ends[tenant] = after

    def _place(self, row: MemoryRow) -> Place:
        return Place(row.tenant, row.agent, row.purpose, row.subject, self._finder.model)

    def _give_up(self, tenant: str, subject: str | None = None) -> None:
        for place in [one for one in self._blocks if one.tenant == tenant and subject in {None, one.subject}]:
            del self._blocks[place]

    def _changed(self, change: Index | Unindex, found: FoundBy | None) -> None:
        row = change.row
        place = self._place(row)
        block = self._blocks.get(place)
        if block is None:
            return
        if row.version > 1 or isinstance(change, Unindex):
            block = _without(block, row.created_seq)
        if isinstance(change, Index) and row.status == Status.ACTIVE:
            block = block._replace(added=(*block.added, _Added(row, found or NOTHING)))
        if len(block.added) > ADDED_MAX:
            del self._blocks[place]
            return
        self._blocks[place] = block

    def _with_added(self, block: _Block, place: Place) -> _Block:
        embedded = self._finder.completed([(Index(one.row), one.found) for one in block.added])
        columns = [
            _column(one.row, found.vector if found is not None else None)
            for one, (_, found) in zip(block.added, embedded, strict=True)
        ]
        return block._replace(rows=together([block.rows, as_rows(columns, place.model)]), added=())


def only_place(where: Filter, model: str) -> Place | None:
    """The one subject's place that is asked about, where nothing else narrows it."""
    if not where.is_wide or where.subjects is None or len(where.subjects) != 1:
        return None
    (subject,) = where.subjects
    return Place(where.tenant, where.agent, where.purpose, subject, model)


def _without(block: _Block, seq: int) -> _Block:
    added = tuple(one for one in block.added if one.row.created_seq != seq)
    at = int(np.searchsorted(block.rows.seqs, seq))
    rows = block.rows
    if at < len(rows.seqs) and int(rows.seqs[at]) == seq:
        rows = taken(rows, np.delete(np.arange(len(rows.seqs)), at))
    return block._replace(rows=rows, added=added)


def _column(row: MemoryRow, vector: bytes | None) -> Column:
    return Column(
        seq=row.created_seq,
        id=row.memory_id,
        kind=row.kind,
        trust=row.trust,
        confidence=row.confidence,
        written_at=row.written_at,
        tokens=row.tokens,
        subject=row.subject,
        thread=row.thread,
        position=row.position,
        source_type=row.source_type,
        source_id=row.source_id,
        vector=vector,
    )

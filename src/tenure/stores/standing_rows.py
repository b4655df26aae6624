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

from tenure.core.boundary_rows import Rows
from tenure.core.candidates import Candidates, candidates_of, lengths, widened
from tenure.core.retrieval import Filter
from tenure.core.rows import Index, MemoryRow, Unindex, UnindexSubject
from tenure.core.vectors import unpacked_or_zeros
from tenure.core.vocabulary import Status
from tenure.stores.found_by import NOTHING, Finder, Found, FoundBy
from tenure.stores.row_cache import ROW_BYTES, Place

BYTES_MAX: Final = 33_554_432
SECONDS_MAX: Final = 60.0
"""After so long the rows are read anew: some begin to hold only as time passes."""
CHANGES_MAX: Final = 512
"""More changes than these that nobody asked about, and the rows are given up instead."""
ROOM_MIN: Final = 64
"""For so many more memories there is room at least, where there is none left."""


class _Added(NamedTuple):
    row: MemoryRow
    found: FoundBy


class _Block:
    """The candidates of one place, with room to grow. What changed is taken in with the next look.

    What is handed out is never changed: what is added lies behind it, what goes leaves new columns.
    """

    def __init__(self, seqs: Iterable[int], found: Candidates, read_at: float) -> None:
        self.read_at = read_at
        self._added: dict[int, _Added] = {}
        self._gone: set[int] = set()
        self._seqs = list(seqs)
        self._ids = list(found.ids)
        self._trusts, self._steps, self._lengths = found.trusts, found.steps, found.lengths

    @property
    def size_bytes(self) -> int:
        return len(self._trusts) * (ROW_BYTES + int(self._steps.shape[1]))

    @property
    def changes(self) -> int:
        return len(self._added) + len(self._gone)

    def add(self, row: MemoryRow, found: FoundBy) -> None:
        self._added[row.created_seq] = _Added(row, found)

    def drop(self, row: MemoryRow) -> None:
        self._added.pop(row.created_seq, None)
        self._gone.add(row.created_seq)

    def candidates(self, finder: Finder) -> Candidates:
        if self._gone:
            self._take_out()
        if self._added:
            self._take_in(finder)
        count = len(self._ids)
        return Candidates(tuple(self._ids), self._trusts[:count], self._steps[:count], self._lengths[:count])

    def _take_out(self) -> None:
        left = [at for at, seq in enumerate(self._seqs) if seq not in self._gone]
        if len(left) < len(self._seqs):
            self._seqs, self._ids = [self._seqs[at] for at in left], [self._ids[at] for at in left]
            self._trusts, self._steps = self._trusts[left], self._steps[left]
            self._lengths = self._lengths[left]
        self._gone = set()

    def _take_in(self, finder: Finder) -> None:
        """Put what was added behind the rest; what has no vector yet gets one."""
        rows = [one.row for one in self._added.values()]
        embedded = finder.completed([(Index(one.row), one.found) for one in self._added.values()])
        steps, _ = unpacked_or_zeros([found.vector if found is not None else None for _, found in embedded])
        first, end = len(self._ids), len(self._ids) + len(rows)
        self._make_room(end, max(steps.shape[1], self._steps.shape[1]))
        self._trusts[first:end] = [row.trust for row in rows]
        self._steps[first:end, : steps.shape[1]] = steps
        self._lengths[first:end] = lengths(widened(steps))
        self._seqs += self._added
        self._ids += [row.memory_id for row in rows]
        self._added = {}

    def _make_room(self, count: int, width: int) -> None:
        there = len(self._trusts)
        if count <= there and width == self._steps.shape[1]:
            return
        rows = max(count + ROOM_MIN, 2 * there) if count > there else there
        trusts, steps, long = self._trusts, self._steps, self._lengths
        self._trusts = np.zeros(rows, dtype=trusts.dtype)
        self._steps = np.zeros((rows, width), dtype=np.int8)
        self._lengths = np.zeros(rows, dtype=np.float64)
        self._trusts[:there], self._lengths[:there] = trusts, long
        self._steps[:there, : steps.shape[1]] = steps


class StandingRows:
    """Candidates by boundaries, the one written to least lately given up first."""

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

    def candidates(self, place: Place, *, end: int | None = None) -> Candidates | None:
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
            return block.candidates(self._finder)

    def keep(
        self, place: Place, rows: Rows, *, moment: int | None = None, end: int | None = None
    ) -> Candidates:
        """Keep what a look found: as of the moment before it began, or of where the tenant's log ended.

        Not where this node has stored something since. Gives it back as it is handed out.
        """
        found = candidates_of(rows)
        self._keep(place, _Block(rows.seqs.tolist(), found, self._clock()), moment, end)
        return found

    def _keep(self, place: Place, block: _Block, moment: int | None, end: int | None) -> None:
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
            block.drop(row)
        if isinstance(change, Index) and row.status == Status.ACTIVE:
            block.add(row, found or NOTHING)
        if block.changes > CHANGES_MAX:
            del self._blocks[place]


def only_place(where: Filter, model: str) -> Place | None:
    """The one subject's place that is asked about, where nothing else narrows it."""
    if not where.is_wide or where.subjects is None or len(where.subjects) != 1:
        return None
    (subject,) = where.subjects
    return Place(where.tenant, where.agent, where.purpose, subject, model)

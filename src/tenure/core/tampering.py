"""Finding the first event at which a log is not what was written, and saying what was done there (SPEC E2).

    found = verify(tenant, rows, head=..., roots=...)

    1 walk       from the first event to the end: positions, links, headers, sealed bodies
    2 compare    the Merkle root at each size of which a checkpoint is known, while walking
    3 end        the log ends where its head, and every checkpoint, says
    4 diagnose   only where 1 failed: once more through the log, for where the true event went

The walk reads every event once and keeps none. What cannot be told apart, and what is answered then:

- An event that was rewritten together with its own link is consistent with all that came before it. The break
  shows at the next event: that one is named, as altered, and the reason speaks of both. The last event of a
  log rewritten so is answered as forked, since only the head or a checkpoint differs.
- Where everything from some event to the end was rewritten with new links, the chain holds. Only the head, or
  a checkpoint kept elsewhere, shows it: forked, and the first event behind the last root that still agrees is
  named, with how far it may have begun.
- A log that was cut short, its head with it, shows it only to a checkpoint.
- The last event gone, its neighbour moved up and the head mended looks as if that neighbour was altered.
- An event added behind the end, with a link that fits and the head moved on, is what an append is. Who may
  write to the database can append; who may not is not kept out by a hash.
- A sealed body that is gone was erased: the chain holds without it.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from tenure.core.events import decode_header
from tenure.core.ledger import GENESIS, Logged, body_digest, link
from tenure.core.merkle import BLOCK, leaf_hash, root_of

UNREADABLE: Final = -1
"""The position of a row that no position could be read of."""
CLOSED_UP_MAX: Final = 1_000
"""So many events taken out at one place and closed up are told from an altered one."""
_POSITION_MAX: Final = 2**63
_SHIFTS: Final = (0, 1, 2)
"""How far a row's own place may lie behind the place of the row that it follows, when rows were moved."""


class Damage(StrEnum):
    """What was done to a log."""

    ALTERED = "altered"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"
    TRUNCATED = "truncated"
    FORKED = "forked"


class Break(NamedTuple):
    """The first event at which the log is not what was written, what was done there, and how it shows."""

    seq: int
    because: str
    damage: Damage


class Intact(NamedTuple):
    """The log is what was written, as far as its head and these many known roots say."""

    events: int
    compared: int


class KnownRoot(NamedTuple):
    """A log had this root when it had so many events."""

    size: int
    root: bytes


class GrowingRoot:
    """The Merkle root over leaves that come one after another; keeps one hash for each full block."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._leaves: list[bytes] = []

    def add(self, data: bytes) -> None:
        """One more leaf."""
        self._leaves.append(leaf_hash(data))
        if len(self._leaves) == BLOCK:
            self._blocks.append(root_of(self._leaves))
            self._leaves.clear()

    def root(self) -> bytes:
        """The root over all leaves so far."""
        return root_of([*self._blocks, root_of(self._leaves)] if self._leaves else self._blocks)


def verify(
    tenant: str,
    rows: Callable[[], Iterable[Logged]],
    *,
    head: tuple[int, bytes] | None = None,
    roots: Sequence[KnownRoot] = (),
) -> Intact | Break:
    """Whether a log is what was written; if not, the first bad event and what was done there.

    ``rows`` gives the log from its start, each time it is called. ``head`` is the position and link that it
    should end at; without a head or a known root, a tail that was cut off cannot be missed.
    """
    known = sorted(set(roots))
    walk = _Walk(tenant, known, head)
    broken = walk.through(rows())
    if isinstance(broken, _Gap):
        return walk.narrowed(_Diagnosis(broken, head).after(rows()))
    return walk.forked() or broken or walk.ended()


class _Gap(NamedTuple):
    """Where the chain is broken: the position that was due, the link before it, and what stands there."""

    due: int
    previous: bytes
    row: Logged


class _Walk:
    """Steps 1 to 3."""

    def __init__(self, tenant: str, known: list[KnownRoot], head: tuple[int, bytes] | None) -> None:
        self._tenant = tenant
        self._known = known
        self._head = head
        self._count = 0
        self._at_head = GENESIS
        self._agreed = 0
        self._differs_at: int | None = None
        self._compared = 0
        self._root: GrowingRoot | None = None

    def through(self, rows: Iterable[Logged]) -> _Gap | Break | None:
        """Walk to the end, or to what is wrong."""
        ahead = list(self._known)
        self._root = GrowingRoot() if ahead else None
        end = self._head[0] if self._head is not None else 0
        previous, seq = GENESIS, 0
        self._compare(ahead, seq)
        for row in rows:
            seq += 1
            if row.seq != seq or link(previous, seq, row.header) != row.link:
                return _Gap(seq, previous, row)
            unsound = _unsound(self._tenant, row)
            if unsound is not None:
                return unsound
            previous = row.link
            if seq == end:
                self._at_head = previous
            if self._root is not None:
                self._root.add(previous)
                self._compare(ahead, seq)
        self._count = seq
        return None

    def ended(self) -> Intact | Break:
        """Whether the log ends where its head and what is known of it say."""
        end, expected = self._head if self._head is not None else (self._count, self._at_head)
        longest = self._known[-1].size if self._known else 0
        if self._count < max(end, longest):
            told = "its head" if end >= longest else "a checkpoint"
            return Break(
                self._count + 1,
                f"the log ends at position {self._count:,}, and {told} says at {max(end, longest):,}",
                Damage.TRUNCATED,
            )
        if self._at_head != expected:
            return _forked(self._agreed, end, "the log has another link at its end than its head has")
        if self._count > end:
            return Break(end + 1, "the log goes on behind the place where it ended", Damage.INSERTED)
        return Intact(self._count, self._compared)

    def forked(self) -> Break | None:
        """The first known root that the log has not, where there is one."""
        if self._differs_at is None:
            return None
        because = f"the log has another root than its checkpoint of size {self._differs_at:,}"
        return _forked(self._agreed, self._differs_at, because)

    def narrowed(self, broken: Break) -> Break:
        """A break in the chain, with what the known roots before it say."""
        forked, size = self.forked(), self._differs_at or 0
        if forked is None or broken.seq <= size:
            return broken
        if broken.seq == size + 1 == self._agreed + 2 and broken.damage is Damage.ALTERED:
            because = "it follows from the one before it, but the next does not follow from it"
            return Break(size, because, Damage.ALTERED)
        return forked

    def _compare(self, ahead: list[KnownRoot], size: int) -> None:
        while ahead and ahead[0].size == size and self._root is not None:
            if self._root.root() != ahead.pop(0).root:
                self._differs_at = size
                ahead.clear()
            else:
                self._agreed = size
                self._compared += 1
        if not ahead:
            self._root = None


def _forked(agreed: int, size: int, because: str) -> Break:
    """What was written anew begins somewhere behind the last root that agreed."""
    first = min(agreed + 1, max(size, 1))
    where = "from here on" if first == size else f"from an event between {first:,} and {size:,} on"
    return Break(first, f"{because}: it was written anew {where}", Damage.FORKED)


def _unsound(tenant: str, row: Logged) -> Break | None:
    """What is wrong with an event whose link is right."""
    try:
        header = decode_header(row.header)
    except ValueError:
        return Break(row.seq, "the header cannot be read", Damage.ALTERED)
    if header.tenant != tenant:
        return Break(row.seq, "the event belongs to another tenant", Damage.INSERTED)
    if row.body is not None and body_digest(row.body) != header.body_sha256:
        return Break(row.seq, "the sealed body is not the one that was written", Damage.ALTERED)
    return None


class _Diagnosis:
    """Step 4: what a second way through the log says about the event at which the first one stopped."""

    def __init__(self, gap: _Gap, head: tuple[int, bytes] | None) -> None:
        self._due, self._previous, self._row = gap
        self._head = head
        self._next: Logged | None = None
        self._true_at: int | None = None
        self._has_twin = False
        self._place = self._belongs_at(GENESIS, (1,))
        """Where the row at the break belongs, as far as the link of another row says."""

    def after(self, rows: Iterable[Logged]) -> Break:
        """The break, once all rows were looked at."""
        for number, row in enumerate(rows, start=1):
            if number == self._due:
                continue
            if number == self._due + 1:
                self._next = row
            self._look(number, row)
        if link(self._previous, self._due, self._row.header) == self._row.link:
            return self._said(Damage.ALTERED, "its position is not the one that was written")
        if self._true_at is not None:
            return self._displaced(self._true_at)
        if (self._due - 1, self._previous) == self._head:
            return self._said(Damage.INSERTED, "the log goes on behind the place where it ended")
        if not self._has_twin and self._place is not None and self._place < self._due:
            first = self._place
            because = "the event that was written here stands behind it and follows from the one before"
            return Break(first, because, Damage.INSERTED)
        return self._gone()

    def _look(self, number: int, row: Logged) -> None:
        if self._true_at is None and link(self._previous, self._due, row.header) == row.link:
            self._true_at = number
            if link(row.link, self._due + 1, self._row.header) == self._row.link:
                self._place = self._due + 1
        if row.link == self._row.link and row.header == self._row.header:
            self._has_twin = True
        if self._place is None:
            self._place = self._belongs_at(row.link, [row.seq + shift for shift in _SHIFTS])

    def _belongs_at(self, before: bytes, places: Sequence[int]) -> int | None:
        """The one of these positions at which the row at the break follows from a link."""
        header, own = self._row.header, self._row.link
        possible = (at for at in places if 0 < at < _POSITION_MAX)
        return next((at for at in possible if link(before, at, header) == own), None)

    def _displaced(self, true_at: int) -> Break:
        """The event that was written here stands elsewhere."""
        where = f"the event that was written here is number {true_at:,} in the log now"
        if self._has_twin:
            return self._said(Damage.INSERTED, f"{where}, and in its place is a copy of another")
        if self._place is not None and self._place > self._due:
            return self._said(Damage.REORDERED, f"{where}, and in its place is the one of {self._place:,}")
        return self._said(Damage.INSERTED, f"{where}, and in its place is one that no event goes on from")

    def _gone(self) -> Break:
        """The event that was written here is nowhere."""
        seq, behind = self._row.seq, self._next
        if seq > self._due:
            return self._said(Damage.MISSING, f"the next event is at {seq:,}")
        if UNREADABLE < seq < self._due:
            if behind is None or behind.seq <= self._due:
                return self._said(Damage.INSERTED, f"an event of position {seq:,} stands here once more")
            return self._said(Damage.MISSING, f"an event of position {seq:,} stands in its place")
        taken_out = self._taken_out()
        if taken_out:
            many = "the event" if taken_out == 1 else f"{taken_out:,} events"
            return self._said(Damage.MISSING, f"{many} of this place was taken out, and the rest moved up")
        return self._said(Damage.ALTERED, self._altered())

    def _taken_out(self) -> int:
        """How many events were taken out here, where those behind were moved up to close the gap."""
        row, behind = self._row, self._next
        if behind is None:
            if self._head is None or self._head[1] != row.link:
                return 0
            return max(self._head[0] - self._due, 0)
        shifts = range(1, CLOSED_UP_MAX + 1)
        behind_it = self._due + 1
        return next((by for by in shifts if link(row.link, behind_it + by, behind.header) == behind.link), 0)

    def _altered(self) -> str:
        if self._row.seq == UNREADABLE:
            return "it cannot be read"
        own = link(self._previous, self._due, self._row.header)
        behind = self._next
        if behind is not None and link(own, self._due + 1, behind.header) == behind.link:
            return "its link is not the one that was written"
        if self._head == (self._due, own):
            return "its link is not the one that was written"
        if behind is not None and link(self._row.link, self._due + 1, behind.header) == behind.link:
            return (
                "it does not follow from the one before it: its header was altered, or that one and its link"
            )
        return "it does not follow from the one before it"

    def _said(self, damage: Damage, because: str) -> Break:
        return Break(self._due, because, damage)

"""No source crowds out the others: its share of the first places is bounded (SPEC R2, R3). Pure.

    order = shared_out(order, scores, sources, share_max=0.5)

Laws: the answer has the same rows, each once; rows of one source keep their order among themselves; where
all come from one source, or a share of 1 is allowed, nothing changes. Of every ``PLACES`` places in a row,
counted from the first, a source takes more than its share only where no other that has room left has a row
that comes close: with at least ``comparable`` times the score of the row that would stand back for it. What
stands back follows at the first place where its source may have one again.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tenure.core.boundary_rows import Integers, Scores

PLACES: Final = 5
"""How many places in a row are shared out at a time."""
COMPARABLE: Final = 0.5
"""What part of the score of a row the other must have that it stands back for."""
_STEP: Final = 64


def shared_out(
    order: Integers,
    scores: Scores,
    sources: Integers,
    *,
    share_max: float,
    comparable: float = COMPARABLE,
    first: int | None = None,
) -> Integers:
    """The rows in the order in which no source has more than its share of the places, best first.

    ``order`` holds row numbers, best first by ``scores``; scores, none below 0, and sources are
    by row. Only the ``first`` places are shared out, or all: whoever shows twenty need not pay for more.
    """
    allowed = max(1, int(share_max * PLACES))
    if allowed >= PLACES or not len(order):
        return order
    owners = sources[order]
    if (owners == owners[0]).all():
        return order
    ascending = -scores[order]
    left = np.ones(len(order), dtype=np.bool_)
    chosen: list[int] = []
    taken: dict[int, int] = {}
    head = 0
    for place in range(len(order) if first is None else min(first, len(order))):
        if place % PLACES == 0:
            taken = {}
        head += int(left[head:].argmax())
        full = [source for source, count in taken.items() if count >= allowed]
        best = head
        if owners[head] in full:
            end = int(np.searchsorted(ascending, comparable * ascending[head], side="right"))
            best = _next(head, end, owners, left, full)
        left[best] = False
        chosen.append(best)
        taken[int(owners[best])] = taken.get(int(owners[best]), 0) + 1
    return order[np.concatenate((np.array(chosen, dtype=np.int64), np.flatnonzero(left)))]


def _next(head: int, end: int, owners: Integers, left: npt.NDArray[np.bool_], full: list[int]) -> int:
    """The first row before the end that is left and whose source may have a place; otherwise the head."""
    start, step = head, _STEP
    while start < end:
        stop = min(start + step, end)
        free = left[start:stop].copy()
        for source in full:
            free &= owners[start:stop] != source
        if free.any():
            return start + int(free.argmax())
        start, step = stop, step * _STEP
    return head

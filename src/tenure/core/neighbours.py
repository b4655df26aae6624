"""What stood around a memory in its thread, in the thread's own order (SPEC M4, R2a). Pure.

Laws: a thread's order is that of the places in it; memories of one place, such as the facts of one message,
stand in the order in which they were written; those of no known place are a row of their own in that order.
"""

from typing import Final

import msgspec
import numpy as np

from tenure.core.boundary_rows import NO_POSITION, NO_THREAD, Rows
from tenure.core.errors import InvalidRequest

AROUND: Final = 2
"""How many are shown on either side, where nothing else is asked for."""
AROUND_MAX: Final = 100


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories are wanted before one in its thread, and how many after it."""

    before: int = AROUND
    after: int = AROUND


def check_around(around: Around, *, items_max: int) -> None:
    """Raise InvalidRequest, naming the field, unless there is room for so many beside the memory itself."""
    for field in ("before", "after"):
        if not 0 <= getattr(around, field) <= AROUND_MAX:
            raise InvalidRequest(f"{field} must be 0 to {AROUND_MAX}", field=field)
    if around.before + around.after >= items_max:
        raise InvalidRequest(
            f"before and after may be {items_max - 1} together",
            field="before",
            hint="Ask around the first or the last of what you got for more.",
        )


def place_of(rows: Rows, created_seq: int) -> int | None:
    """Which of the rows this one is; None where it did not pass."""
    place = int(np.searchsorted(rows.seqs, created_seq))
    return place if place < len(rows.ids) and rows.seqs[place] == created_seq else None


def standing_around(rows: Rows, place: int, around: Around) -> list[int]:
    """The memory in this place of the rows and those around it in its thread, as places, in thread order."""
    thread, position = rows.threads[place], rows.positions[place]
    if thread == NO_THREAD:
        return [place]
    is_placed = rows.positions != NO_POSITION
    line = np.flatnonzero((rows.threads == thread) & (is_placed == (position != NO_POSITION)))
    # The rows come in the order in which they were written, and a stable sort keeps it among equals.
    line = line[np.argsort(rows.positions[line], kind="stable")]
    at = int(np.flatnonzero(line == place)[0])
    return [int(one) for one in line[max(at - around.before, 0) : at + around.after + 1]]

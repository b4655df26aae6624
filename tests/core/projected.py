"""The rows that the views have of the memory of the examples."""

from typing import Final

from msgspec.structs import replace
from tests.core.examples import NOW, admitted, event

from tenure.core.events import Event
from tenure.core.rows import MemoryRow, Put, microseconds
from tenure.core.views import project

AT: Final = microseconds(NOW)


def row_after(one: Event, seq: int, before: MemoryRow | None) -> MemoryRow:
    """The memory's row after one more of its events."""
    change = project(one, seq, before)[0]
    assert isinstance(change, Put)
    assert isinstance(change.row, MemoryRow)
    return change.row


def row(**changes: object) -> MemoryRow:
    """The row of an admitted memory."""
    return replace(row_after(event(admitted()), 11, None), **changes)

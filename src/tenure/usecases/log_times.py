"""Where in a tenant's log a time lies: positions are dense and times hardly ever go back."""

from datetime import datetime

import msgspec

from tenure.core.events import Header, decode_header
from tenure.usecases.ports import Reading, StoredEvent


def position_before(reading: Reading, tenant: str, at: datetime, *, low: int, high: int) -> int:
    """The last position between these two of an event before a time; else the first of them."""
    while low < high:
        middle = (low + high + 1) // 2
        found = time_at(reading, tenant, middle)
        if found is None or found < at:
            low = middle
        else:
            high = middle - 1
    return low


def time_at(reading: Reading, tenant: str, seq: int) -> datetime | None:
    """When the event at a position was; None where there is none that can be read."""
    stored = reading.event(tenant, seq)
    header = _header(stored) if stored is not None else None
    return header.at if header is not None else None


def _header(stored: StoredEvent) -> Header | None:
    try:
        return decode_header(stored.header)
    except (ValueError, msgspec.MsgspecError):
        return None

"""Passes of a worker over all memories of a tenant: a page at a time, across rounds and nodes (SPEC T8).

How far a pass came is kept with the store, so that whoever takes the work over goes on there. After a crash a
page is looked at twice, and none is left out.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from tenure.core.rows import MemoryRow
from tenure.usecases.ports import Reading, Store

EVERY: Final = timedelta(days=1)
"""How often a pass begins: memories are doubted by the day."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The next memories of a pass; ``is_last`` says that the pass ends with them."""

    tenant: str
    rows: tuple[MemoryRow, ...]
    after: int
    is_last: bool


def next_page(reading: Reading, name: str, tenant: str, now: datetime, *, limit: int) -> Page | None:
    """The page that comes next in a tenant; None where its last pass ended less than a day ago."""
    if now.timestamp() - reading.progress(_ended(name), tenant) < EVERY.total_seconds():
        return None
    after = reading.progress(name, tenant)
    rows = tuple(reading.memory_page(tenant, after=after, limit=limit))
    return Page(tenant=tenant, rows=rows, after=after, is_last=len(rows) < limit)


def keep_place(store: Store, name: str, page: Page, now: datetime, *, up_to: int | None = None) -> None:
    """The page is done with, or the rows of it up to a position: the pass goes on behind them."""
    if not page.is_last or up_to is not None:
        store.keep_progress(name, page.tenant, page.rows[-1].created_seq if up_to is None else up_to)
        return
    # The place first: a crash between the two begins the pass again, and skips none.
    if page.after:
        store.keep_progress(name, page.tenant, 0)
    if page.after or page.rows:
        store.keep_progress(_ended(name), page.tenant, int(now.timestamp()))


def _ended(name: str) -> str:
    return f"{name}:ended"

"""Replaying a tenant's log, whatever the engine: into views, and into the word index (SPEC E1)."""

from collections.abc import Iterator
from typing import Final

from tenure.core import views
from tenure.core.events import MemoryForgotten, ScopeCompacted, ScopedKeyForgotten
from tenure.core.rows import UnindexSubject
from tenure.stores.found_by import Finder, Found
from tenure.stores.projecting import Projection
from tenure.usecases.ports import Keyring, Reading, StoredEvent
from tenure.usecases.sealing import open_event

PAGE: Final = 1_000


def pages(reading: Reading, tenant: str, after: int) -> Iterator[list[StoredEvent]]:
    """The events behind a position, a page at a time."""
    while page := reading.log(tenant, after=after, limit=PAGE):
        yield page
        after = page[-1].seq


def replay(projection: Projection, reading: Reading, tenant: str, keyring: Keyring) -> int:
    """Project a whole log; gives back how many events it has."""
    count = 0
    for page in pages(reading, tenant, 0):
        for stored in page:
            projection.take(open_event(stored, keyring), stored.seq)
        projection.write()
        projection.let_go()
        count += len(page)
    return count


def found_in(reading: Reading, page: list[StoredEvent], keyring: Keyring, finder: Finder) -> Iterator[Found]:
    """What a page of events means for the search data, as the memories stand now."""
    for stored in page:
        event = open_event(stored, keyring)
        row = reading.memory_row(event.tenant, event.stream) if event.stream is not None else None
        change = views.search_change(event, row)
        if (
            isinstance(event.data, MemoryForgotten | ScopedKeyForgotten | ScopeCompacted)
            and event.subject is not None
        ):
            # Which rows went is not in the event: what stands now stays, and nothing else.
            standing = reading.standing(event.tenant, event.subject)
            change = UnindexSubject(event.tenant, event.subject, standing)
        if change is not None:
            yield change, finder.of(event)

"""Putting a backup into an empty database: events, answers and views in one transaction (SPEC F11)."""

from collections.abc import Iterable
from itertools import groupby

from tenure.core.errors import InvalidRequest
from tenure.core.events import decode_header
from tenure.core.ledger import GENESIS
from tenure.stores.postgres.connecting import Connection, one_tenant
from tenure.stores.postgres.reading import SQL
from tenure.stores.postgres.rebuilding import Replaying
from tenure.stores.postgres.writing import locked_reading
from tenure.stores.projecting import Projection
from tenure.stores.replaying import replay
from tenure.usecases.ports import Keyring, ReturnedPage, StoredEvent


def restore(connection: Connection, pages: Iterable[ReturnedPage], keyring: Keyring) -> None:
    """Store the pages as they are, and project each tenant's log once it is whole.

    The word index is built by whichever reading first finds it behind.
    """
    with connection.transaction():
        for tenant, parts in groupby(pages, key=lambda page: page.tenant):
            connection.execute(one_tenant(tenant))
            connection.execute(SQL["ensure_tenant"], {"tenant": tenant, "link": GENESIS})
            reading = locked_reading(connection, tenant)
            if reading.head(tenant)[0]:
                raise InvalidRequest(f"tenant {tenant!r} has a log already")
            for part in parts:
                _put(connection, part)
            replay(Projection(Replaying(connection)), reading, tenant, keyring)


def _put(connection: Connection, part: ReturnedPage) -> None:
    cursor = connection.cursor()
    if part.events:
        cursor.executemany(SQL["put_event"], [_event(part.tenant, stored) for stored in part.events])
        last = part.events[-1]
        cursor.execute(SQL["put_head"], {"tenant": part.tenant, "seq": last.seq, "link": last.link})
    if part.answers:
        cursor.executemany(
            SQL["put_answer"],
            [(part.tenant, key, first.request, first.seq, first.outcome) for key, first in part.answers],
        )


def _event(tenant: str, stored: StoredEvent) -> tuple[object, ...]:
    header = decode_header(stored.header)
    return (
        tenant,
        stored.seq,
        header.stream,
        header.version,
        header.subject,
        stored.header.decode(),
        stored.body,
        stored.link,
    )

"""Putting a backup into an empty log file: events, answers and views in one transaction (SPEC F11)."""

from collections.abc import Iterable
from itertools import groupby

import apsw

from tenure.core.errors import InvalidRequest
from tenure.core.events import decode_header
from tenure.core.ledger import GENESIS
from tenure.stores.projecting import Projection
from tenure.stores.replaying import replay
from tenure.stores.sqlite.connection import transaction
from tenure.stores.sqlite.reading import SQL, SqliteReading
from tenure.stores.sqlite.writing import SqliteTransaction
from tenure.usecases.ports import Keyring, ReturnedPage, StoredEvent


def restore(connection: apsw.Connection, pages: Iterable[ReturnedPage], keyring: Keyring) -> None:
    """Store the pages as they are, and project each tenant's log once it is whole."""
    with transaction(connection):
        reading, writing = SqliteReading(connection), SqliteTransaction(connection)
        for tenant, parts in groupby(pages, key=lambda page: page.tenant):
            if reading.head(tenant)[0]:
                raise InvalidRequest(f"tenant {tenant!r} has a log already")
            writing.heads({tenant: (0, GENESIS)})
            for part in parts:
                _put(connection, part)
                if part.events:
                    writing.heads({tenant: (part.events[-1].seq, part.events[-1].link)})
            replay(Projection(writing), reading, tenant, keyring)


def _put(connection: apsw.Connection, part: ReturnedPage) -> None:
    connection.executemany(SQL["put_event"], [_event(part.tenant, stored) for stored in part.events])
    connection.executemany(
        SQL["put_answer"],
        [(part.tenant, key, first.request, first.seq, first.outcome) for key, first in part.answers],
    )


def _event(tenant: str, stored: StoredEvent) -> tuple[object, ...]:
    header = decode_header(stored.header)
    return (
        tenant,
        stored.seq,
        header.stream.bytes if header.stream else None,
        header.version,
        header.subject,
        stored.header.decode(),
        stored.body,
        stored.link,
    )

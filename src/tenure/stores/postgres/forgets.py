"""The record of forgets, beside the keys: not among the data, and in no backup of them (SPEC F11)."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg_pool import ConnectionPool, PoolTimeout

from tenure.core.errors import Unavailable
from tenure.stores.forgets import Recorded
from tenure.stores.postgres.connecting import (
    OWNER_FOR_NOW,
    Connection,
    durably,
    faults_as_unavailable,
    one_tenant,
)
from tenure.usecases.ports import StoredEvent

PAGE: Final = 1_000
_ADD: Final = """
    INSERT INTO forget_ledger (tenant_id, seq, header, link, is_withdrawn) VALUES (%s, %s, %s, %s, %s)
"""
# The owner reads all tenants' rows, which only a restore does; the program's role is confined to one.
_ENTRIES: Final = """
    SELECT tenant_id, position, seq, header, link FROM forget_ledger AS noted
    WHERE (tenant_id, position) > (%s, %s) AND NOT is_withdrawn AND NOT EXISTS (
        SELECT FROM forget_ledger AS later
        WHERE later.tenant_id = noted.tenant_id AND later.position > noted.position
            AND later.link = noted.link AND later.is_withdrawn)
    ORDER BY tenant_id, position LIMIT %s
"""

_log = logging.getLogger("tenure.store")


class PostgresForgets:
    """The table forget_ledger; rows are only ever added, and one that says so takes an earlier one back.

    Where it lies in the database of the log, its rows are committed with the events that they record.
    """

    def __init__(self, pool: ConnectionPool[Connection], *, is_with_log: bool) -> None:
        self._pool = pool
        self._is_with_log = is_with_log

    def note(self, connection: Connection, forgets: Sequence[Recorded]) -> None:
        """Record the forgets of a transaction, which is to be committed next.

        In a database of its own the record is durable when this returns. Raises Unavailable where that cannot
        be: nothing must be committed then.
        """
        if not forgets:
            return
        if self._is_with_log:
            _put(connection, forgets)
            return
        try:
            self._store(forgets)
        except Unavailable as fault:
            if not isinstance(fault.__cause__, PoolTimeout):
                self.withdraw(forgets)
            raise

    def record(self, forgets: Sequence[Recorded]) -> None:
        """Record forgets that another store carried out, durably."""
        if forgets:
            self._store(forgets)

    def withdraw(self, forgets: Sequence[Recorded]) -> None:
        """Take back what was noted of a transaction that is known to have kept nothing.

        What cannot be taken back stays, since whoever asked for it was told to ask again.
        """
        if not forgets or self._is_with_log:
            return
        try:
            self._store(forgets, is_withdrawn=True)
        except Unavailable as fault:
            _log.warning("a forget that failed stays in the record of forgets (%s)", type(fault).__name__)

    def entries(self) -> Iterator[Recorded]:
        """Every forget that was not taken back, tenant by tenant, each in the order of the record."""
        after: tuple[str, int] = ("", 0)
        while True:
            with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
                connection.execute(OWNER_FOR_NOW)
                page = connection.execute(_ENTRIES, (*after, PAGE)).fetchall()
            for tenant, _, seq, header, link in page:
                yield tenant, StoredEvent(seq, header.encode(), None, link)
            if len(page) < PAGE:
                return
            after = (page[-1][0], page[-1][1])

    def _store(self, forgets: Sequence[Recorded], *, is_withdrawn: bool = False) -> None:
        with faults_as_unavailable(), self._pool.connection() as connection, durably(connection):
            _put(connection, forgets, is_withdrawn=is_withdrawn)


def _put(connection: Connection, forgets: Sequence[Recorded], *, is_withdrawn: bool = False) -> None:
    """Add rows within a transaction, tenant by tenant, since each may add only its own."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for tenant, stored in forgets:
        row = (tenant, stored.seq, stored.header.decode(), stored.link, is_withdrawn)
        rows.setdefault(tenant, []).append(row)
    for tenant, its in sorted(rows.items()):
        connection.execute(one_tenant(tenant))
        connection.cursor().executemany(_ADD, its)

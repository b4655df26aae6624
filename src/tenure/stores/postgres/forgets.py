"""The record of forgets, beside the keys: not among the data, and in no backup of them (SPEC F11)."""

from collections.abc import Iterator, Sequence

from psycopg_pool import ConnectionPool

from tenure.stores.forgets import Recorded
from tenure.stores.postgres.connecting import Connection, faults_as_unavailable
from tenure.usecases.ports import StoredEvent

PAGE = 1_000


class PostgresForgets:
    """The table forget_ledger; rows are only ever added, each addition one durable commit."""

    def __init__(self, pool: ConnectionPool[Connection]) -> None:
        self._pool = pool

    def add(self, forgets: Sequence[Recorded]) -> None:
        """Add rows, durable when this returns; raises Unavailable where that cannot be."""
        if not forgets:
            return
        rows = [(tenant, stored.seq, stored.header.decode(), stored.link) for tenant, stored in forgets]
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            connection.cursor().executemany(
                "INSERT INTO forget_ledger (tenant_id, seq, header, link) VALUES (%s, %s, %s, %s)", rows
            )

    def entries(self) -> Iterator[Recorded]:
        """Every forget, in the order in which they were recorded."""
        after = 0
        while True:
            with faults_as_unavailable(), self._pool.connection() as connection:
                page = connection.execute(
                    "SELECT position, tenant_id, seq, header, link FROM forget_ledger"
                    " WHERE position > %s ORDER BY position LIMIT %s",
                    (after, PAGE),
                ).fetchall()
            for _, tenant, seq, header, link in page:
                yield tenant, StoredEvent(seq, header.encode(), None, link)
            if len(page) < PAGE:
                return
            after = page[-1][0]

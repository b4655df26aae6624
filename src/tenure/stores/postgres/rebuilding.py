"""Replaying a tenant's log in PostgreSQL: into views to compare, and into the word index (SPEC E1)."""

from typing import Final, LiteralString
from uuid import UUID

from psycopg import sql

from tenure.core.rows import MemoryRow
from tenure.stores.found_by import Finder
from tenure.stores.postgres.connecting import Connection
from tenure.stores.postgres.reading import PostgresReading
from tenure.stores.postgres.writing import PostgresTransaction, PostgresWords, locked_reading
from tenure.stores.projecting import Projection
from tenure.stores.replaying import found_in, pages, replay
from tenure.usecases.ports import Keyring, Rebuilt

VIEWS: Final = {
    "memory": ("tenant_id", "created_seq"),
    "forget_floor": ("tenant_id", "subject", "target_kind", "target"),
    "caller_key": ("tenant_id", "key_id"),
    "suppression": ("tenant_id", "forget_id"),
    "hold": ("tenant_id", "subject"),
    "erasure": ("tenant_id", "subject"),
    "derivation": ("tenant_id", "parent", "child", "kind"),
    "alert": ("tenant_id", "seq"),
    "provenance": ("tenant_id", "source_id", "source_type", "memory_id"),
    "shown": ("tenant_id", "memory_id", "seq"),
    "used": ("tenant_id", "memory_id", "seq"),
    "revoked_source": ("tenant_id", "seq"),
    "policy": ("tenant_id",),
    "thing": ("tenant_id", "thing", "memory_id"),
    "support": ("tenant_id", "memory_id"),
    "contradiction": ("tenant_id", "contradiction_id"),
}


def rebuild(connection: Connection, tenant: str, keyring: Keyring) -> Rebuilt:
    """Replay a tenant's log into views beside the live ones, compare row for row, switch where they differ.

    The views beside are temporary tables of the same names, which hide the live ones from every statement, so
    that a replay runs the very statements that the writer runs. The tenant's head stays locked meanwhile.
    """
    with connection.transaction():
        reading = locked_reading(connection, tenant)
        for view in VIEWS:
            _run(
                connection, "CREATE TEMP TABLE {view} (LIKE tenure.{view} INCLUDING ALL) ON COMMIT DROP", view
            )
        # A statement that this connection prepared before would still go to the live view of its name.
        connection.execute("DISCARD PLANS")
        transaction = Replaying(connection)
        events = replay(Projection(transaction), reading, tenant, keyring)
        different = [view for view, key in VIEWS.items() if not _same(connection, view, key, tenant)]
        for view in different:
            _run(connection, "DELETE FROM tenure.{view} WHERE tenant_id = {tenant}", view, tenant)
            _run(connection, "INSERT INTO tenure.{view} SELECT * FROM pg_temp.{view}", view)
    return Rebuilt(events=events, identical=not different)


def index_anew(
    connection: Connection,
    tenant: str,
    keyring: Keyring,
    finder: Finder,
    *,
    only_when_behind: bool = False,
) -> None:
    """Build a tenant's word index from its log; nodes that want the same wait, and then need not."""
    with connection.transaction():
        reading = locked_reading(connection, tenant, analyser=finder.analyser)
        head = reading.head(tenant)[0]
        if only_when_behind and reading.built(tenant) >= head:
            return
        words = PostgresWords(connection, finder)
        words.clear(tenant)
        after = 0
        for page in pages(reading, tenant, after):
            moved = {tenant: (after, page[-1].seq, page[-1].link)}
            words.apply(found_in(reading, page, keyring, finder), moved)
            after = page[-1].seq


class Replaying(PostgresTransaction):
    """A transaction that asks the views row by row, as a replay does."""

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row as the replay left it."""
        return PostgresReading(self._connection).memory_row(tenant, memory_id)


def _same(connection: Connection, view: str, key: tuple[str, ...], tenant: str) -> bool:
    joined = sql.SQL(" AND ").join(
        sql.SQL("live.{name} = beside.{name}").format(name=sql.Identifier(name)) for name in key
    )
    difference = sql.SQL(
        "SELECT 1 FROM (SELECT * FROM tenure.{view} WHERE tenant_id = {tenant}) AS live"
        " FULL JOIN pg_temp.{view} AS beside ON {joined} WHERE live IS DISTINCT FROM beside LIMIT 1"
    ).format(view=sql.Identifier(view), tenant=sql.Literal(tenant), joined=joined)
    return connection.execute(difference).fetchone() is None


def _run(connection: Connection, text: LiteralString, view: str, tenant: str = "") -> None:
    connection.execute(sql.SQL(text).format(view=sql.Identifier(view), tenant=sql.Literal(tenant)))

"""Replaying the log: into the word index after a crash, and into fresh views to compare (SPEC E1)."""

from collections.abc import Callable
from typing import Any, Final

import apsw

from tenure.stores.found_by import Finder
from tenure.stores.projecting import Projection
from tenure.stores.replaying import found_in, pages, replay
from tenure.stores.sqlite.connection import transaction
from tenure.stores.sqlite.reading import SqliteReading
from tenure.stores.sqlite.search import SearchIndex
from tenure.stores.sqlite.writing import SqliteTransaction
from tenure.usecases.ports import Keyring, Reading, Rebuilt


class Interrupted(Exception):
    """The word index is to catch up another time."""


VIEWS: Final = (
    "memory",
    "forget_floor",
    "caller_key",
    "suppression",
    "hold",
    "erasure",
    "derivation",
    "alert",
    "provenance",
    "shown",
    "used",
    "revoked_source",
    "policy",
    "thing",
    "support",
    "contradiction",
)


_LOOKED_UP_BY: Final = {
    "memory": (
        "UNIQUE INDEX temp.replayed_by_id ON memory (tenant_id, memory_id)",
        "INDEX temp.replayed_by_subject ON memory (tenant_id, subject)",
        "INDEX temp.replayed_by_key ON memory (tenant_id, key_digest)",
    ),
    "derivation": (
        "INDEX temp.replayed_by_parent ON derivation (tenant_id, subject)",
        "INDEX temp.replayed_by_child ON derivation (tenant_id, child)",
    ),
    "provenance": ("INDEX temp.replayed_by_actor ON provenance (tenant_id, actor, memory_id)",),
    "thing": (
        "INDEX temp.replayed_thing_by_memory ON thing (tenant_id, memory_id)",
        "INDEX temp.replayed_thing_by_subject ON thing (tenant_id, subject)",
    ),
    "support": ("INDEX temp.replayed_support_by_subject ON support (tenant_id, subject)",),
    "contradiction": (
        "INDEX temp.contradiction_by_believed ON contradiction (tenant_id, believed)",
        "INDEX temp.contradiction_by_doubted ON contradiction (tenant_id, doubted)",
        "INDEX temp.replayed_contradiction_by_subject ON contradiction (tenant_id, subject)",
    ),
}
"""What a replay looks rows up by, beside their own keys."""


def behind(reading: Reading, search: SearchIndex) -> int:
    """How many events the word index is behind the ends of all logs."""
    built = search.built()
    heads = {tenant: reading.head(tenant)[0] for tenant in reading.tenants()}
    if any(built.get(tenant, 0) > head for tenant, head in heads.items()):
        return sum(heads.values())
    return sum(head - built.get(tenant, 0) for tenant, head in heads.items())


def catch_up(
    reading: Reading,
    search: SearchIndex,
    keyring: Keyring,
    finder: Finder,
    *,
    goes_on: Callable[[], bool] = lambda: True,
) -> None:
    """Bring the word index from where it is built up to the end of every log.

    Raises Interrupted between two pages once it should not go on; what is built by then is kept.
    """
    built = search.built()
    for tenant in reading.tenants():
        head = reading.head(tenant)[0]
        if built.get(tenant, 0) > head:
            search.clear()
            catch_up(reading, search, keyring, finder, goes_on=goes_on)
            return
        for page in pages(reading, tenant, built.get(tenant, 0)):
            if not goes_on():
                raise Interrupted
            search.apply(finder.completed(found_in(reading, page, keyring, finder)), {tenant: page[-1].seq})


def rebuild(connection: apsw.Connection, keyring: Keyring) -> Rebuilt:
    """Replay every log into views beside the live ones, compare row for row, and switch where they differ.

    The views beside are temporary tables of the same names, which hide the live ones from every statement, so
    that a replay runs the very statements that the writer runs.
    """
    with transaction(connection):
        for view in VIEWS:
            _set_beside(connection, view)
        try:
            reading, projection = SqliteReading(connection), Projection(SqliteTransaction(connection))
            replayed = sum(replay(projection, reading, tenant, keyring) for tenant in reading.tenants())
            different = [view for view in VIEWS if not _same(connection, view)]
            for view in different:
                connection.execute(f"DELETE FROM main.{view}")  # noqa: S608 -- our own names
                connection.execute(f"INSERT INTO main.{view} SELECT * FROM temp.{view}")  # noqa: S608 -- our own
        finally:
            for view in VIEWS:
                connection.execute(f"DROP TABLE IF EXISTS temp.{view}")
    return Rebuilt(events=replayed, identical=not different)


def _set_beside(connection: apsw.Connection, view: str) -> None:
    """An empty temporary view of the live one's shape, with what a replay looks rows up by."""
    found = connection.execute("SELECT sql FROM main.sqlite_schema WHERE name = ?", (view,)).fetchone()
    if found is None:
        raise LookupError(f"the store has no view {view}")
    connection.execute(str(found[0]).replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
    for index in _LOOKED_UP_BY.get(view, ()):
        connection.execute(f"CREATE {index}")


def _same(connection: apsw.Connection, view: str) -> bool:
    columns: list[Any] = connection.execute(
        "SELECT name, pk FROM pragma_table_info(?, 'main') ORDER BY cid", (view,)
    ).fetchall()
    keys = " AND ".join(f"live.{name} = beside.{name}" for name, pk in columns if pk)
    live = ", ".join(f"live.{name}" for name, _ in columns)
    beside = ", ".join(f"beside.{name}" for name, _ in columns)
    difference = (
        f"SELECT 1 FROM main.{view} AS live FULL JOIN temp.{view} AS beside ON {keys}"  # noqa: S608 -- our own names
        f" WHERE ({live}) IS NOT ({beside}) LIMIT 1"
    )
    return connection.execute(difference).fetchone() is None

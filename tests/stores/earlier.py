"""Stores as earlier schemas kept them, with what a store of today holds and the earlier one knew."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql
from tests.stores.engine import PostgresEngine, SqliteEngine

from tenure.stores.postgres import schema as postgres_schema
from tenure.stores.sqlite import schema as sqlite_schema
from tenure.stores.sqlite.connection import connect

FLOORS: Final = "forget_floor"


class Then(NamedTuple):
    """An earlier schema: the migrations that there were, and which of the floors."""

    files: dict[str, tuple[str, ...]]
    schemas: dict[str, tuple[str, ...]]
    floors: str


FIRST: Final = Then(
    {"log.db": sqlite_schema.LOG_MIGRATIONS[:1], "keyring.db": sqlite_schema.KEYRING_MIGRATIONS[:1]},
    {"tenure_keys": postgres_schema.KEYRING_MIGRATIONS[:2], "tenure": postgres_schema.LOG_MIGRATIONS[:1]},
    "target_kind = 'subject'",
)
"""The first schema; it had no floors but those of subjects."""
BEFORE_TRUTH: Final = Then(
    {"log.db": sqlite_schema.LOG_MIGRATIONS[:4], "keyring.db": sqlite_schema.KEYRING_MIGRATIONS},
    {"tenure_keys": postgres_schema.KEYRING_MIGRATIONS, "tenure": postgres_schema.LOG_MIGRATIONS[:4]},
    "true",
)
"""The last one that knew no claims, merges and contradictions."""
_KEPT_BY_THE_SCHEMA: Final = "schema_version"


def put_back_folder(source: SqliteEngine, target: SqliteEngine, then: Then) -> None:
    """Make a folder as it was at an earlier schema; the word index is left out, as after a crash."""
    target.folder.mkdir()
    for name in ("root.key", "forgets.jsonl"):
        if (source.folder / name).exists():
            shutil.copy(source.folder / name, target.folder)
    for name, migrations in then.files.items():
        _put_back_file(source.folder / name, target.folder / name, migrations, then.floors)


def put_back_database(source: PostgresEngine, target: PostgresEngine, then: Then) -> None:
    """Make a database as it was at an earlier schema, with the same root key beside it."""
    shutil.copytree(source.folder, target.folder)
    for name, migrations in then.schemas.items():
        postgres_schema.migrate(target.url, schema=name, migrations=migrations)
    with source.superuser() as today, as_superuser(target).superuser() as earlier:
        for name in then.schemas:
            for table, columns in _columns(earlier, name).items():
                where = then.floors if table == FLOORS else "true"
                _copy(today, earlier, sql.Identifier(name, table), columns, where)


def as_superuser(engine: PostgresEngine) -> PostgresEngine:
    """The same place, whoever owns it."""
    user, _, rest = engine.place.partition("@")
    return PostgresEngine(f"{user.rpartition('/')[0]}/postgres@{rest}")


def _put_back_file(source: Path, target: Path, migrations: tuple[str, ...], floors: str) -> None:
    connection = connect(target, durable=True)
    try:
        sqlite_schema.migrate(connection, migrations)
        connection.execute("ATTACH DATABASE ? AS today", (str(source),))
        tables: list[Any] = connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            names: list[Any] = connection.execute(
                "SELECT name FROM pragma_table_info(?, 'main')", (table,)
            ).fetchall()
            columns = ", ".join(name for (name,) in names)
            where = floors if table == FLOORS else "true"
            connection.execute(f"DELETE FROM main.{table}")  # noqa: S608 -- our own names
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table} WHERE {where}"  # noqa: S608 -- our own names
            )
    finally:
        connection.close()


def _columns(connection: psycopg.Connection[tuple[Any, ...]], schema: str) -> dict[str, list[str]]:
    """The columns of each table of a schema that has rows of a store."""
    found: dict[str, list[str]] = {}
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = %s AND is_identity = 'NO'",
        (schema,),
    )
    for table, column in rows:
        if table != _KEPT_BY_THE_SCHEMA:
            found.setdefault(table, []).append(column)
    return found


def _copy(
    today: psycopg.Connection[tuple[Any, ...]],
    earlier: psycopg.Connection[tuple[Any, ...]],
    table: sql.Identifier,
    columns: list[str],
    where: str,
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    select = sql.SQL("SELECT {} FROM {}").format(names, table).as_bytes() + f" WHERE {where}".encode()
    rows = today.execute(select).fetchall()
    values = sql.SQL(", ").join(sql.SQL("%s") for _ in columns)
    insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(table, names, values)
    earlier.cursor().executemany(insert, rows)

"""Stores as the first schema kept them, with what a store of today holds and the first one knew."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from tests.stores.engine import PostgresEngine, SqliteEngine

from tenure.stores.postgres import schema as postgres_schema
from tenure.stores.sqlite import schema as sqlite_schema
from tenure.stores.sqlite.connection import connect

FLOORS: Final = "forget_floor"
FLOORS_THEN: Final = "target_kind = 'subject'"
"""The first schema had no other floors."""
_FILES: Final = {
    "log.db": sqlite_schema.LOG_MIGRATIONS[:1],
    "keyring.db": sqlite_schema.KEYRING_MIGRATIONS[:1],
}
_SCHEMAS: Final = {
    "tenure_keys": postgres_schema.KEYRING_MIGRATIONS[:2],
    "tenure": postgres_schema.LOG_MIGRATIONS[:1],
}
_KEPT_BY_THE_SCHEMA: Final = "schema_version"


def put_back_to_first_folder(source: SqliteEngine, target: SqliteEngine) -> None:
    """Make a folder as it was at the first schema; the word index is left out, as after a crash."""
    target.folder.mkdir()
    for name in ("root.key", "forgets.jsonl"):
        if (source.folder / name).exists():
            shutil.copy(source.folder / name, target.folder)
    for name, migrations in _FILES.items():
        _put_back_file(source.folder / name, target.folder / name, migrations)


def put_back_to_first_database(source: PostgresEngine, target: PostgresEngine) -> None:
    """Make a database as it was at the first schema, with the same root key beside it."""
    shutil.copytree(source.folder, target.folder)
    for name, migrations in _SCHEMAS.items():
        postgres_schema.migrate(target.url, schema=name, migrations=migrations)
    with source.superuser() as today, as_superuser(target).superuser() as then:
        for name in _SCHEMAS:
            for table, columns in _columns(then, name).items():
                _copy(today, then, sql.Identifier(name, table), columns)


def as_superuser(engine: PostgresEngine) -> PostgresEngine:
    """The same place, whoever owns it."""
    user, _, rest = engine.place.partition("@")
    return PostgresEngine(f"{user.rpartition('/')[0]}/postgres@{rest}")


def _put_back_file(source: Path, target: Path, migrations: tuple[str, ...]) -> None:
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
            where = FLOORS_THEN if table == FLOORS else "true"
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
    then: psycopg.Connection[tuple[Any, ...]],
    table: sql.Identifier,
    columns: list[str],
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    where = sql.SQL(FLOORS_THEN) if FLOORS in table.as_string() else sql.SQL("true")
    rows = today.execute(sql.SQL("SELECT {} FROM {} WHERE {}").format(names, table, where)).fetchall()
    values = sql.SQL(", ").join(sql.SQL("%s") for _ in columns)
    insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(table, names, values)
    then.cursor().executemany(insert, rows)

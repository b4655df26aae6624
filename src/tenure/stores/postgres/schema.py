"""Schemas and their numbered, forward-only migrations, applied under a lock by whichever node comes first.

Rule of change: a migration that was released is never edited; a database newer than the program is refused.
"""

from contextlib import suppress
from importlib.resources import files
from typing import Final

from psycopg import errors, sql

from tenure.core.errors import Unavailable
from tenure.stores.postgres.connecting import APP_ROLE, Connection, reached

LOG_MIGRATIONS: Final = ("0001_log.sql", "0002_log.sql", "0003_log.sql", "0004_log.sql", "0005_log.sql")
KEYRING_MIGRATIONS: Final = ("0001_keyring.sql", "0002_keyring.sql", "0003_keyring.sql")
SERVER_VERSION_MIN: Final = 150_000
SERVER_VERSION_OF_SET: Final = 160_000
"""From here on, being a member of a role and being allowed to become it are two rights."""
_MIGRATING: Final = 7_365_727_245


def migrate(database_url: str, *, schema: str, migrations: tuple[str, ...]) -> None:
    """Bring a schema up to this program, all steps in one transaction.

    The connection's own user becomes the owner; it must be allowed to create a schema, and the role that the
    program runs under where that does not exist yet.
    """
    with reached(database_url) as connection:
        if connection.info.server_version < SERVER_VERSION_MIN:
            raise Unavailable("this PostgreSQL is too old", hint="Tenure needs PostgreSQL 15 or newer.")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
        _make_role(connection)
        found = _version(connection, schema)
        if found > len(migrations):
            raise Unavailable(
                f"a newer tenure wrote this database (schema {found}; this program knows {len(migrations)})",
                hint="Run the newer version of tenure.",
            )
        for name in migrations[found:]:
            text = files("tenure.stores.postgres").joinpath("migrations", name).read_text("utf-8")
            connection.execute(text)
        connection.execute(
            sql.SQL("UPDATE {table} SET version = %s").format(table=sql.Identifier(schema, "schema_version")),
            (len(migrations),),
        )


def _make_role(connection: Connection) -> None:
    """Roles belong to the whole server, so a node of another database may be making the same one just now."""
    role = sql.Identifier(APP_ROLE)
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (APP_ROLE,)).fetchone() is None:
        with suppress(errors.DuplicateObject, errors.UniqueViolation), connection.transaction():
            connection.execute(sql.SQL("CREATE ROLE {role} NOLOGIN").format(role=role))
    may_become = "SET" if connection.info.server_version >= SERVER_VERSION_OF_SET else "MEMBER"
    mine = connection.execute("SELECT pg_has_role(current_user, %s, %s)", (APP_ROLE, may_become)).fetchone()
    if mine is None or not mine[0]:
        connection.execute(sql.SQL("GRANT {role} TO CURRENT_USER").format(role=role))


def _version(connection: Connection, schema: str) -> int:
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {schema}").format(schema=sql.Identifier(schema)))
    table = sql.Identifier(schema, "schema_version")
    connection.execute(
        sql.SQL("CREATE TABLE IF NOT EXISTS {table} (version integer NOT NULL)").format(table=table)
    )
    row = connection.execute(sql.SQL("SELECT version FROM {table}").format(table=table)).fetchone()
    if row is None:
        connection.execute(sql.SQL("INSERT INTO {table} VALUES (0)").format(table=table))
        return 0
    return int(row[0])

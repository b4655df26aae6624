"""Tenants are kept apart twice: by every statement, and by the database where one forgets (SPEC M2)."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors, sql
from tests.postgres.server import PostgresServer
from tests.stores.engine import PostgresEngine
from tests.stores.items import TENANT
from tests.stores.postgres.walls import (
    BINDINGS,
    OTHER,
    Connection,
    as_the_program,
    bindings,
    furnished,
    outcome,
    tenant_tables,
    without_filter,
)

from tenure.stores.postgres.connecting import APP_ROLE
from tenure.stores.postgres.reading import SQL

TABLES = (
    "alert",
    "caller_key",
    "checkpoint",
    "contradiction",
    "derivation",
    "document",
    "embedding",
    "erasure",
    "event",
    "forget_floor",
    "hold",
    "idem",
    "memory",
    "policy",
    "posting",
    "progress",
    "provenance",
    "revoked_source",
    "search_built",
    "shown",
    "support",
    "suppression",
    "tenant_head",
    "thing",
    "tree_block",
    "used",
)
REGISTER = "tenant"
"""The names of the tenants, which workers walk through: the one table with tenants that has no wall."""
KEY_TABLES = ("tenure_keys.forget_ledger", "tenure_keys.subject_key", "tenure_keys.tenant_key")
WITHOUT_TENANT = {
    "lease": "jobs of the whole store, one row each",
    "schema_version": "one row, of the schema",
    "tenure_keys.schema_version": "one row, of the schema",
}
"""The tables that belong to no tenant, and why; where a schema is distributed they stay in one place."""
COUNTED_NOTHING: tuple[list[tuple[int | str, ...]], ...] = ([(0,)], [(0, 0)], [(0,) * 5], [("[]", "[]")])


@pytest.fixture(scope="module")
def connection(
    postgres_server: PostgresServer, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:
    """A superuser's connection to a database with two tenants of the same rows."""
    url = postgres_server.create_database("tenure_walls", template=postgres_template)
    engine = PostgresEngine(f"{url}#{tmp_path_factory.mktemp('walls')}")
    furnished(engine)
    with psycopg.connect(url, options="-c search_path=tenure", autocommit=True) as opened:
        yield opened
    postgres_server.drop_database("tenure_walls")


def count(connection: Connection, table: str) -> int:
    """How many rows of a table can be seen."""
    counted = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    assert counted is not None
    return int(counted[0])


def shows_nothing(rows: list[tuple[object, ...]]) -> bool:
    """No row, a count of none, or what was asked for with nothing beside it."""
    return rows in COUNTED_NOTHING or all(set(row[1:]) == {None} for row in rows)


def test_every_table_with_a_tenant_is_behind_the_wall(connection: Connection) -> None:
    """SPEC M2: a table that a later migration adds must be told of here, and be walled off."""
    assert set(tenant_tables(connection)) == {*TABLES, REGISTER}
    walled = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'tenure'::regnamespace AND relkind = 'r'"
        " AND relrowsecurity AND relforcerowsecurity"
    )
    assert {name for (name,) in walled} == set(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_shows_one_tenant_or_nothing(connection: Connection, table: str) -> None:
    """SPEC M2: with a tenant set its own rows, with another the other's, with none nothing."""
    everything = count(connection, table)
    with as_the_program(connection, TENANT):
        own = count(connection, table)
    with as_the_program(connection, "initech"):
        strangers = count(connection, table)
    with as_the_program(connection, None):
        unset = count(connection, table)
    with as_the_program(connection, ""):
        empty = count(connection, table)

    assert own > 0
    assert (own * 2, strangers, unset, empty) == (everything, 0, 0, 0)


@pytest.mark.parametrize("table", TABLES)
def test_no_row_of_another_tenant_can_be_written(connection: Connection, table: str) -> None:
    """SPEC M2: not even by a statement that names the other on purpose."""
    columns = sql.SQL(", ").join(map(sql.Identifier, tenant_tables(connection)[table][1:]))
    statement = sql.SQL("INSERT INTO {table} SELECT 'initech', {columns} FROM {table}").format(
        table=sql.Identifier(table), columns=columns
    )

    with pytest.raises(errors.InsufficientPrivilege), as_the_program(connection, TENANT):
        connection.execute(statement)


def test_a_set_tenant_ends_with_its_transaction(connection: Connection) -> None:
    """SPEC M2: the next user of a pooled connection inherits nothing."""
    with as_the_program(connection, TENANT):
        assert count(connection, "memory") > 0

    with as_the_program(connection, None):
        assert count(connection, "memory") == 0


@pytest.mark.parametrize("name", BINDINGS)
def test_a_statement_without_its_filter_meets_the_wall(connection: Connection, name: str) -> None:
    """SPEC M2: it does what it would have done with the filter, and nothing when no tenant is set."""
    forgetful, asked = without_filter(SQL[name]), bindings(name, TENANT)
    with as_the_program(connection, TENANT):
        expected = outcome(connection, SQL[name], asked)
    with as_the_program(connection, TENANT):
        walled = outcome(connection, forgetful, asked)
    with as_the_program(connection, None):
        unset = outcome(connection, forgetful, asked)
    with connection.transaction(force_rollback=True):
        unwalled = outcome(connection, forgetful, asked)

    assert "tenant_id =" not in forgetful
    assert walled == expected
    assert unset != expected
    assert shows_nothing(unset.rows)
    assert unwalled != expected, "without the wall the forgotten filter would show"


def test_every_statement_with_a_filter_was_tried_without_it() -> None:
    """SPEC M2: a new statement must be tried above too."""
    filtered = {name for name, statement in SQL.items() if without_filter(statement) != statement}

    assert set(BINDINGS) == filtered


@pytest.mark.parametrize("name", [name for name in SQL if name != "tenants"])
def test_every_statement_on_a_tenants_table_names_the_tenant(name: str) -> None:
    """SPEC M2: once for each table that it reads or writes, so that the wall is never what holds."""
    words = SQL[name].replace("(", " ").replace(",", " ").split()
    touched = [table for table in TABLES if table in words]

    assert SQL[name].count("tenant_id") >= len(touched)


def test_the_program_owns_nothing(connection: Connection) -> None:
    """SPEC M2: an owner could take the wall down."""
    owned = connection.execute(
        "SELECT count(*) FROM pg_shdepend WHERE deptype = 'o' AND refobjid = %s::regrole", (APP_ROLE,)
    ).fetchone()
    role = connection.execute(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles"
        " WHERE rolname = %s",
        (APP_ROLE,),
    ).fetchone()

    assert owned == (0,)
    assert role == (False, False, False, False, False)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET tenant_id = tenant_id",
        "UPDATE event SET seq = seq",
        "UPDATE event SET stream_id = stream_id",
        "UPDATE event SET version = version",
        "UPDATE event SET subject = subject",
        "UPDATE event SET header = header",
        "UPDATE event SET link = link",
        "UPDATE event SET body = NULL, link = link",
        "DELETE FROM event",
        "TRUNCATE event",
    ],
)
def test_the_program_only_adds_events(connection: Connection, statement: str) -> None:
    """SPEC E1, F7: the log is append-only for the program itself, but for bodies."""
    with pytest.raises(errors.InsufficientPrivilege), as_the_program(connection, TENANT):
        connection.execute(statement.encode())


def test_every_column_of_an_event_but_its_body_was_tried(connection: Connection) -> None:
    """SPEC E1, F7: one that a later migration adds must be tried above too."""
    assert set(tenant_tables(connection)["event"]) == {
        *("tenant_id", "seq", "stream_id", "version", "subject", "header", "link"),
        "body",
    }


def test_the_program_takes_a_body_away_and_nothing_more(connection: Connection) -> None:
    """SPEC F7: an erasure needs that, of one tenant; what lies there can be replaced by nobody."""
    with as_the_program(connection, TENANT):
        taken = connection.execute("UPDATE event SET body = NULL WHERE body IS NOT NULL")
        assert taken.rowcount > 0
        assert connection.execute("SELECT count(*) FROM event WHERE body IS NOT NULL").fetchone() == (0,)
        connection.execute("SET LOCAL ROLE NONE")
        others = connection.execute(
            "SELECT count(*) FROM event WHERE tenant_id = %s AND body IS NOT NULL", (OTHER,)
        ).fetchone()
        assert others == (taken.rowcount,)


@pytest.mark.parametrize("body", [b"another", b""])
def test_no_body_is_ever_replaced(connection: Connection, body: bytes) -> None:
    """SPEC E1, F7: neither by the program nor by the owner of the tables."""
    with pytest.raises(errors.RaiseException), as_the_program(connection, TENANT):
        connection.execute("UPDATE event SET body = %s", (body,))
    with pytest.raises(errors.RaiseException), connection.transaction(force_rollback=True):
        connection.execute("UPDATE event SET body = %s", (body,))


def test_a_body_that_was_taken_away_does_not_come_back(connection: Connection) -> None:
    """SPEC F7: an erasure is for good."""
    with as_the_program(connection, TENANT):
        connection.execute("UPDATE event SET body = NULL")
        with pytest.raises(errors.RaiseException), connection.transaction():
            connection.execute("UPDATE event SET body = 'again'")


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
        "DROP POLICY one_tenant ON memory",
        "CREATE TABLE tenure.loot (secret text)",
        "SET ROLE postgres",
    ],
)
def test_the_program_cannot_take_the_wall_down(connection: Connection, statement: str) -> None:
    """SPEC M2: not by altering a table, nor by making one."""
    session = sql.SQL("SET LOCAL SESSION AUTHORIZATION {}").format(sql.Identifier(APP_ROLE))
    with connection.transaction(force_rollback=True):
        connection.execute(session)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_every_unique_key_begins_with_the_tenant(connection: Connection) -> None:
    """SPEC S5: so that both schemas distribute by tenant unchanged; a table without such a key does not."""
    keys = connection.execute(
        "SELECT t.oid::regclass::text, a.attname FROM pg_class AS t"
        " LEFT JOIN pg_index AS i ON t.oid = i.indrelid AND (i.indisunique OR i.indisprimary)"
        " LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE t.relnamespace IN ('tenure'::regnamespace, 'tenure_keys'::regnamespace) AND t.relkind = 'r'"
    ).fetchall()

    assert {table for table, _ in keys} >= {*TABLES, REGISTER, *KEY_TABLES}
    assert {table for table, first in keys if first != "tenant_id"} == set(WITHOUT_TENANT)


def test_other_rows_than_the_set_tenants_were_there_to_be_seen(connection: Connection) -> None:
    """SPEC M2: what these tests show is no emptiness."""
    with as_the_program(connection, OTHER):
        assert count(connection, "memory") > 0

"""The keyring in a database: nodes that add the same keys at once, walls between tenants (SPEC F7, M2)."""

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from typing import Final
from uuid import UUID

import psycopg
import pytest
from psycopg import errors, sql
from tests.postgres.server import binary
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.stores.engine import PostgresEngine
from tests.stores.items import TENANT, created, forgotten, put
from tests.stores.postgres.walls import Connection, as_the_program

from tenure.stores.keyring import WrappedSubjectKey, WrappedTenantKey
from tenure.stores.postgres import keys as keys_module
from tenure.stores.postgres.connecting import APP_ROLE
from tenure.stores.postgres.keys import PostgresKeyTable

PUT: Final = "INSERT INTO subject_key VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
WAIT_SECONDS_MAX: Final = 15.0
TABLES: Final = ("forget_ledger", "subject_key", "tenant_key")


@pytest.fixture
def tables(database: PostgresEngine) -> Iterator[tuple[PostgresKeyTable, PostgresKeyTable]]:
    """The keyring as two nodes have it open."""
    with (
        contextlib.closing(PostgresKeyTable(database.url)) as one,
        contextlib.closing(PostgresKeyTable(database.url)) as two,
    ):
        yield one, two


@pytest.fixture
def furnished(database: PostgresEngine) -> Iterator[Connection]:
    """The owner's connection to a database in which two tenants have keys, and have forgotten somebody."""
    node = database.open()
    for tenant in (TENANT, "globex"):
        put(node, created(node.keyring, 1, tenant=tenant), forgotten(node.keyring, tenant=tenant))
    node.close()
    with psycopg.connect(database.url, options="-c search_path=tenure_keys", autocommit=True) as opened:
        yield opened


def subject_key(number: int, *, tenant: str = TENANT) -> WrappedSubjectKey:
    """A key that opens nothing."""
    return WrappedSubjectKey(tenant, f"customer-{number:04}", UUID(int=number), 1, b"wrapped")


def tenants_seen(connection: Connection, table: str) -> set[str]:
    """Whose rows can be seen."""
    found = connection.execute(sql.SQL("SELECT DISTINCT tenant_id FROM {}").format(sql.Identifier(table)))
    return {tenant for (tenant,) in found}


def wait_for_waiting(watching: Connection, count: int) -> None:
    """Give back when as many transactions wait for another."""
    watching.autocommit = True
    wait_until(
        lambda: len(watching.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall()) == count,
        what="keys wait for the other's",
        seconds_max=WAIT_SECONDS_MAX,
    )


def test_nodes_that_add_the_same_keys_in_opposite_order_both_do(
    tables: tuple[PostgresKeyTable, PostgresKeyTable],
    database: PostgresEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SPEC F7, E5: both take one order, of tenants and of subjects, so that no second try is needed.

    A key in their middle is held, so that each has added some when it is let go.
    """
    monkeypatch.setattr(keys_module, "_AGAIN", ())
    keys = [subject_key(number, tenant=tenant) for tenant in ("a", "b") for number in range(3)]
    one, two = tables

    def let_go() -> None:
        with database.superuser() as watching:
            wait_for_waiting(watching, 2)
        other.rollback()

    with database.superuser() as other:
        other.execute(PUT, keys[3])
        added = at_once(partial(one.add, [], keys), partial(two.add, [], keys[::-1]), let_go)

    assert added == [None, None, None]
    assert {one.subject_key(key.tenant, key.subject) for key in keys} == set(keys)


def test_keys_that_the_database_refuses_as_a_deadlock_are_added_once_more(
    tables: tuple[PostgresKeyTable, PostgresKeyTable], database: PostgresEngine
) -> None:
    """SPEC F7, E5: somebody else, who keeps no order, is not the caller's trouble."""
    first, last = subject_key(1), subject_key(2)
    table, _ = tables
    with database.superuser() as other, database.superuser() as watching:
        other.execute("SET deadlock_timeout = '1h'")
        other.execute(PUT, last)
        outcome: list[object] = []
        adding = threading.Thread(
            target=lambda: outcome.extend(at_once(partial(table.add, [], [first, last])))
        )
        adding.start()
        wait_for_waiting(watching, 1)
        other.execute(PUT, first)
        other.commit()
        adding.join(WAIT_SECONDS_MAX)
        wait_until(
            lambda: watching.execute(
                "SELECT FROM pg_stat_database WHERE datname = current_database() AND deadlocks = 1"
            ).fetchall(),
            what="the server has counted one deadlock",
            seconds_max=WAIT_SECONDS_MAX,
        )

    assert outcome == [None]
    assert table.subject_key(TENANT, last.subject) == last


@pytest.mark.parametrize("table", TABLES)
def test_the_program_sees_the_keys_and_forgets_of_one_tenant(furnished: Connection, table: str) -> None:
    """SPEC M2, F7: a forgotten filter shows no other's; with none set only the key without a tenant."""
    assert tenants_seen(furnished, table) >= {TENANT, "globex"}
    with as_the_program(furnished, TENANT):
        assert tenants_seen(furnished, table) == {TENANT}
    with as_the_program(furnished, None):
        assert tenants_seen(furnished, table) == ({""} if table == "tenant_key" else set())


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO tenant_key VALUES ('globex', 'new', 1, 'wrapped')",
        "INSERT INTO subject_key VALUES ('globex', 'new', gen_random_uuid(), 1, 'wrapped', false)",
        "INSERT INTO forget_ledger VALUES ('globex', DEFAULT, 9, '', '', true)",
        "UPDATE forget_ledger SET link = ''",
        "DELETE FROM forget_ledger",
    ],
)
def test_the_program_adds_to_no_other_tenant_and_takes_no_forget_back_from_the_record(
    furnished: Connection, statement: str
) -> None:
    """SPEC M2, F11: neither by a mistake in a statement nor by one that means to."""
    with pytest.raises(errors.InsufficientPrivilege), as_the_program(furnished, TENANT):
        furnished.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM subject_key",
        "DELETE FROM subject_key WHERE tenant_id = 'globex'",
        "UPDATE subject_key SET retired = true WHERE tenant_id = 'globex'",
        "UPDATE tenant_key SET wrapped = '' WHERE tenant_id = 'globex'",
        "DELETE FROM tenant_key",
    ],
)
def test_the_program_ends_no_key_of_another_tenant(furnished: Connection, statement: str) -> None:
    """SPEC M2, F7: neither by a forgotten filter nor by one that names the other."""
    query = "SELECT * FROM {} WHERE tenant_id = 'globex' ORDER BY 1, 2, 3"
    tables = [sql.Identifier(table) for table in ("subject_key", "tenant_key")]
    before = [furnished.execute(sql.SQL(query).format(table)).fetchall() for table in tables]

    with as_the_program(furnished, TENANT):
        furnished.execute(statement.encode())
        furnished.execute("SET LOCAL ROLE NONE")
        after = [furnished.execute(sql.SQL(query).format(table)).fetchall() for table in tables]

    assert all(before)
    assert after == before


def test_the_program_moves_no_key_to_another_tenant(furnished: Connection) -> None:
    """SPEC M2, F7: the wall stands before what is written, too."""
    with pytest.raises(errors.InsufficientPrivilege), as_the_program(furnished, TENANT):
        furnished.execute("UPDATE subject_key SET tenant_id = 'globex', subject = 'moved'")


def test_a_destroyed_key_is_in_no_row_and_in_no_page_of_its_table(
    tables: tuple[PostgresKeyTable, PostgresKeyTable], database: PostgresEngine
) -> None:
    """SPEC F7: the table's file is written anew, so that no dead row keeps it; other nodes see it."""
    one, two = tables
    kept = WrappedSubjectKey(TENANT, "ann", UUID(int=1), 1, b"the wrapped key of ann")
    gone = WrappedSubjectKey(TENANT, "bob", UUID(int=2), 1, b"the wrapped key of bob")
    one.add([], [kept, gone])
    two.retire(TENANT, "bob")

    assert two.destroy(TENANT, "bob", [gone.dek]) == 1

    assert one.subject_keys(TENANT, "bob") == []
    assert one.subject_keys(TENANT, "ann") == [kept]
    with database.superuser() as connection:
        connection.execute("CHECKPOINT")
        [(file,)] = connection.execute(
            "SELECT pg_read_binary_file(pg_relation_filepath('tenure_keys.subject_key'))"
        ).fetchall()
    assert isinstance(file, bytes)
    assert (kept.wrapped in file, gone.wrapped in file) == (True, False)


def test_of_two_nodes_that_destroy_a_key_at_once_one_did(
    tables: tuple[PostgresKeyTable, PostgresKeyTable],
) -> None:
    """SPEC F7: and neither waits for ever for the other to write the file anew."""
    one, two = tables
    for number in range(5):
        key = subject_key(number)
        one.add([], [key])

        destroyed = at_once(*(partial(table.destroy, TENANT, key.subject, [key.dek]) for table in tables))

        assert sorted(destroyed) == [0, 1]
        assert two.subject_keys(TENANT, key.subject) == []


def test_an_owner_who_is_no_superuser_dumps_every_key(empty_database: PostgresEngine) -> None:
    """SPEC F7: the wall stands before the program, not before the copy of the keys that operators keep."""
    with empty_database.superuser() as connection:
        connection.execute(
            sql.SQL(
                "CREATE ROLE keeper LOGIN; GRANT {role} TO keeper;"
                " GRANT CREATE ON DATABASE {database} TO keeper"
            ).format(role=sql.Identifier(APP_ROLE), database=sql.Identifier(connection.info.dbname))
        )
    url = empty_database.url.replace("postgres@", "keeper@")
    with contextlib.closing(PostgresKeyTable(url)) as table:
        assert table.is_empty()
        table.add([WrappedTenantKey("", "check", 1, b"w")], [subject_key(1), subject_key(1, tenant="b")])
        assert not table.is_empty()

    command = [binary("pg_dump"), "--data-only", "--schema=tenure_keys", url]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert [line.split("\t")[0] for line in dumped.splitlines() if "customer-0001" in line] == [TENANT, "b"]

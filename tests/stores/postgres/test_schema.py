"""Migrations: by whichever node comes first, forward only, and the same however a database came to be."""

from functools import partial
from pathlib import Path
from typing import Any, Final, LiteralString

import psycopg
import pytest
from tests.postgres.server import PostgresServer
from tests.stores.concurrently import at_once
from tests.stores.engine import PostgresEngine
from tests.stores.items import accepted, created, put

from tenure.core.errors import Unavailable
from tenure.stores.postgres.schema import KEYRING_MIGRATIONS, LOG_MIGRATIONS, migrate

SCHEMAS: Final = {"tenure": LOG_MIGRATIONS, "tenure_keys": KEYRING_MIGRATIONS}
MIGRATIONS: Final = Path(__file__).parents[3] / "src" / "tenure" / "stores" / "postgres" / "migrations"
EACH: Final = pytest.mark.parametrize("schema", SCHEMAS)
STARTS: Final = 4

_SHAPE: Final[dict[str, LiteralString]] = {
    "columns": """
        SELECT table_name, ordinal_position, column_name, data_type, udt_name, is_nullable, column_default,
            is_identity, collation_name
        FROM information_schema.columns WHERE table_schema = %(schema)s
    """,
    "tables": """
        SELECT relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions,
            relacl::text, pg_get_userbyid(relowner)
        FROM pg_class WHERE relnamespace = %(schema)s::regnamespace
    """,
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %(schema)s",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace
    """,
    "policies": """
        SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check
        FROM pg_policies WHERE schemaname = %(schema)s
    """,
    "triggers": """
        SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
        JOIN pg_class ON pg_class.oid = tgrelid WHERE relnamespace = %(schema)s::regnamespace
    """,
    "functions": """
        SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
    """,
    "rights": "SELECT nspacl::text, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %(schema)s",
}


def shape(url: str, schema: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that a schema is made of, and the version that it says it has."""
    with psycopg.connect(url) as connection:
        found = {
            part: sorted(connection.execute(query, {"schema": schema}).fetchall(), key=repr)
            for part, query in _SHAPE.items()
        }
        version = (
            "SELECT version FROM tenure.schema_version"
            if schema == "tenure"
            else ("SELECT version FROM tenure_keys.schema_version")
        )
        return found | {"version": connection.execute(version).fetchall()}


@EACH
def test_a_fresh_schema_equals_the_migrated_one(postgres_server: PostgresServer, schema: str) -> None:
    """SPEC S5: step by step, as databases come by their age, or all at once."""
    migrations = SCHEMAS[schema]
    stepwise = postgres_server.create_database(f"stepwise_{schema}")
    at_one_go = postgres_server.create_database(f"at_one_go_{schema}")
    for steps in range(1, len(migrations) + 1):
        migrate(stepwise, schema=schema, migrations=migrations[:steps])
    migrate(at_one_go, schema=schema, migrations=migrations)

    fresh = shape(at_one_go, schema)
    assert shape(stepwise, schema) == fresh
    assert fresh["version"] == [(len(migrations),)]
    assert {part for part, rows in fresh.items() if rows} >= {"columns", "tables", "indexes", "constraints"}


def test_every_migration_is_told_of_in_its_order() -> None:
    """SPEC S5: a file that nobody applies, or two of one number, would be noticed here."""
    told = {"log": LOG_MIGRATIONS, "keyring": KEYRING_MIGRATIONS}

    for kind, names in told.items():
        assert list(names) == sorted(path.name for path in MIGRATIONS.glob(f"*_{kind}.sql"))
        assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert len(list(MIGRATIONS.iterdir())) == sum(map(len, told.values()))


@EACH
def test_migrating_again_changes_nothing(database: PostgresEngine, schema: str) -> None:
    """SPEC S5: every start of every node does it."""
    before = shape(database.url, schema)

    migrate(database.url, schema=schema, migrations=SCHEMAS[schema])

    assert shape(database.url, schema) == before


def test_nodes_that_start_at_once_on_a_fresh_database_all_start(empty_database: PostgresEngine) -> None:
    """SPEC S5: one migrates and makes the root key, the others wait for it; then they are one memory."""
    nodes = at_once(*[empty_database.open] * STARTS)
    try:
        assert [node for node in nodes if isinstance(node, Unavailable)] == []
        for one, node in enumerate(nodes, start=1):
            assert accepted(put(node, created(node.keyring, one))) == [one]
        assert {node.keyring.digest("acme", "content", "tea") for node in nodes} == {
            nodes[0].keyring.digest("acme", "content", "tea")
        }
    finally:
        for node in nodes:
            if not isinstance(node, Unavailable):
                node.close()


def test_migrations_at_once_are_applied_once(empty_database: PostgresEngine) -> None:
    """SPEC S5: a lock in the database, not in a process."""
    migrating = [
        partial(migrate, empty_database.url, schema=schema, migrations=migrations)
        for schema, migrations in SCHEMAS.items()
    ]

    assert at_once(*migrating * STARTS) == [None] * (STARTS * len(SCHEMAS))


@EACH
def test_a_database_of_a_newer_program_is_refused_and_left_alone(
    database: PostgresEngine, schema: str
) -> None:
    """SPEC S5: with what to do; the older program touches nothing."""
    newer: LiteralString = (
        "UPDATE tenure.schema_version SET version = 99"
        if schema == "tenure"
        else "UPDATE tenure_keys.schema_version SET version = 99"
    )
    with database.superuser() as connection:
        connection.execute(newer)
    before = shape(database.url, schema)

    with pytest.raises(Unavailable, match="newer") as refusal:
        database.open()

    assert refusal.value.hint
    assert shape(database.url, schema) == before


def test_a_migration_that_fails_leaves_nothing(
    empty_database: PostgresEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC S5, E5: all steps of a start are one transaction; the next start begins where this one did."""
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0001_log.sql").write_text("CREATE TABLE tenure.half (one integer)")
    (tmp_path / "migrations" / "0002_log.sql").write_text("SELECT 1 / 0")

    def here(_package: str) -> Any:
        return tmp_path

    with monkeypatch.context() as patched:
        patched.setattr("tenure.stores.postgres.schema.files", here)
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrate(empty_database.url, schema="tenure", migrations=("0001_log.sql", "0002_log.sql"))

    empty_database.open().close()
    assert shape(empty_database.url, "tenure")["version"] == [(len(LOG_MIGRATIONS),)]

"""Connections to PostgreSQL: pools, the role without ownership, and faults in the caller's words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import errors, sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tenure.core.errors import Unavailable

APP_ROLE: Final = "tenure_app"
CONNECT_TIMEOUT_SECONDS: Final = 10
POOL_TIMEOUT_SECONDS: Final = 5.0
_WAIT_CUT_SHORT: Final = "01000"
FAULTS: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.ReadOnlySqlTransaction,
    PoolTimeout,
    PoolClosed,
)

Connection = psycopg.Connection[tuple[Any, ...]]


class OutcomeUnknown(Exception):
    """The connection was lost, or the wait for a standby was cut short, while a commit was under way."""


def pool(database_url: str, *, size_max: int, is_checked: bool = False) -> ConnectionPool[Connection]:
    """A pool of connections in autocommit mode, each with the program's own role.

    One that is checked gives no dead connection, for another round trip each time.
    """
    return ConnectionPool(
        database_url,
        min_size=1,
        max_size=size_max,
        timeout=POOL_TIMEOUT_SECONDS,
        # Then it is begun anew where it is needed; going on, the tries would become ever rarer instead.
        reconnect_timeout=POOL_TIMEOUT_SECONDS,
        reconnect_failed=_connect_for_who_waits,
        kwargs={"autocommit": True, "connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "tenure"},
        configure=_configure,
        check=ConnectionPool.check_connection if is_checked else None,
        open=True,
    )


def _connect_for_who_waits(pool: ConnectionPool[Connection]) -> None:
    """Who came while the pool still tried to connect would wait in vain after it gave up."""
    if pool.get_stats().get("requests_waiting"):
        pool.check()


def _configure(connection: Connection) -> None:
    connection.execute(
        sql.SQL("SET ROLE {role}; SET search_path = tenure, tenure_keys, public").format(
            role=sql.Identifier(APP_ROLE)
        )
    )


def one_tenant(tenant: str) -> sql.Composed:
    """The statement that opens one tenant to the rest of the transaction. SET LOCAL reaches every shard."""
    return sql.SQL("SET LOCAL app.tenant = {tenant}").format(tenant=sql.Literal(tenant))


def committed(connection: Connection) -> None:
    """Commit; raises OutcomeUnknown when the server warns that it did not wait for a standby to the end.

    The commit stands then, but may be lost with this server.
    """
    warned: list[str | None] = []

    def note(warning: errors.Diagnostic) -> None:
        warned.append(warning.sqlstate)

    connection.add_notice_handler(note)
    try:
        connection.execute("COMMIT")
    finally:
        connection.remove_notice_handler(note)
    if _WAIT_CUT_SHORT in warned:
        raise OutcomeUnknown


@contextmanager
def faults_as_unavailable() -> Iterator[None]:
    """Turn what an operator must mend into Unavailable; its message never quotes the database's."""
    try:
        yield
    except OutcomeUnknown as fault:
        raise Unavailable(
            "the database was lost while it was storing this: whether it was stored is unknown",
            hint="Send the same command again with the same idempotency key.",
            retry_after_seconds=1,
        ) from fault
    except FAULTS as fault:
        hint = (
            "The database's disk is full: make space." if isinstance(fault, errors.DiskFull) else "Try again."
        )
        raise Unavailable(
            f"the database cannot serve now ({type(fault).__name__})", hint=hint, retry_after_seconds=1
        ) from fault

"""Connections to PostgreSQL: pools, the role without ownership, commits that end, faults in plain words."""

import functools
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString, TypeVar

import psycopg
from psycopg import errors, pq, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tenure.core.errors import Unavailable

APP_ROLE: Final = "tenure_app"
OWNER_FOR_NOW: Final = "SET LOCAL ROLE NONE"
"""For what concerns the rows of every tenant, which the program's role never sees together."""
CONNECT_TIMEOUT_SECONDS: Final = 4
"""For each server that an address names, unless the address says; shorter than the wait for a connection."""
POOL_TIMEOUT_SECONDS: Final = 5.0
COMMIT_TIMEOUT_SECONDS: Final = 10.0
"""Unless the settings say otherwise."""
TENANTS_KNOWN_MAX: Final = 10_000
LAST_WORD_SECONDS: Final = 2.0
"""How long a server has to take a cancellation, and then to answer what it cancelled."""
_WAIT_CUT_SHORT: Final = "01000"
FAULTS: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.ReadOnlySqlTransaction,
    PoolTimeout,
    PoolClosed,
)
_ADVICE: Final[dict[type[BaseException], str]] = {
    errors.DiskFull: "The database's disk is full: make space.",
    errors.LockNotAvailable: "A tenant's log is locked, by a rebuild or by a commit that no standby "
    "confirms. Check the standbys, and try again.",
}

Answer = TypeVar("Answer")


class OutcomeUnknown(Exception):
    """The connection was lost, or the wait for a standby was cut short, while a commit was under way."""


class _NoAnswer(Exception):
    """A server said nothing in time, not even to a cancellation."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection with a bound on how long it waits for the answer to a commit.

    The bound is kept on this side: the server's own timeouts end no wait for a standby, and those of the
    network begin only once a server is gone.
    """

    commit_timeout_seconds: float = COMMIT_TIMEOUT_SECONDS
    _ends_at: float | None = None

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Statements in this are cancelled when the time is up; raises _NoAnswer where that does not help."""
        self._ends_at = time.monotonic() + self.commit_timeout_seconds
        try:
            yield
        finally:
            self._ends_at = None

    def wait(self, gen: Generator[Any, Any, Answer], *args: Any, **named: Any) -> Answer:
        """Wait for an answer, as every statement does; for a bounded one no longer than was said."""
        return super().wait(gen if self._ends_at is None else self._until(self._ends_at, gen), *args, **named)

    def _until(self, ends_at: float, gen: Generator[Any, Any, Answer]) -> Generator[Any, Any, Answer]:
        """The same steps, with a look at the clock whenever the driver wakes up and has read nothing."""
        is_cancelled = False
        try:
            step = next(gen)
            while True:
                ready = yield step
                if not ready and time.monotonic() >= ends_at:
                    if is_cancelled:
                        raise _NoAnswer
                    with suppress(psycopg.Error):
                        self.cancel_safe(timeout=LAST_WORD_SECONDS)
                    is_cancelled, ends_at = True, time.monotonic() + LAST_WORD_SECONDS
                step = gen.send(ready)
        except StopIteration as end:
            answer: Answer = end.value
            return answer


def pool(
    database_url: str,
    *,
    size_max: int,
    commit_timeout_seconds: float = COMMIT_TIMEOUT_SECONDS,
    is_checked: bool = False,
) -> ConnectionPool[Connection]:
    """A pool of connections in autocommit mode, each with the program's own role.

    One that is checked gives no dead connection, for another round trip each time.
    """

    def configure(connection: Connection) -> None:
        connection.commit_timeout_seconds = commit_timeout_seconds
        connection.execute(
            sql.SQL(
                "SET ROLE {role}; SET search_path = tenure, tenure_keys, public;"
                " SET lock_timeout = {patience}"
            ).format(
                role=sql.Identifier(APP_ROLE),
                # Whoever waits behind a commit that does not end waits no longer than its own writer.
                patience=sql.Literal(f"{int(commit_timeout_seconds * 1_000)}ms"),
            )
        )

    def check(connection: Connection) -> None:
        # Where one is dead the others are too; met one by one, each would cost a longer pause.
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            made.check()
            raise

    made = ConnectionPool(
        database_url,
        connection_class=Connection,
        min_size=1,
        max_size=size_max,
        timeout=POOL_TIMEOUT_SECONDS,
        # Then it is begun anew where it is needed; going on, the tries would become ever rarer instead.
        reconnect_timeout=POOL_TIMEOUT_SECONDS,
        reconnect_failed=_connect_for_who_waits,
        kwargs={"autocommit": True, "application_name": "tenure"} | _patience(database_url),
        configure=configure,
        check=check if is_checked else None,
        open=True,
    )
    return made


def _connect_for_who_waits(pool: ConnectionPool[Connection]) -> None:
    """Who came while the pool still tried to connect would wait in vain after it gave up."""
    if pool.get_stats().get("requests_waiting"):
        pool.check()


def reached(database_url: str) -> Connection:
    """A connection as the address's own user; raises Unavailable that says which server there is none to."""
    try:
        return Connection.connect(database_url, **_patience(database_url))
    except psycopg.OperationalError as fault:
        # The driver's own text may quote what the address holds; whether the server spoke shows in it.
        if "FATAL:" in str(fault):
            raise Unavailable(
                f"the database cannot be used: PostgreSQL at {_places(database_url)} refused the connection",
                hint="Check the user, the password and the name of the database, and that the server takes "
                "more connections; its own log says which it is.",
                retry_after_seconds=1,
            ) from fault
        raise Unavailable(
            f"the database cannot be reached at {_places(database_url)}",
            hint="Check that PostgreSQL runs there and listens on this address and port, that no firewall is "
            "between, and, of several, that one leads.",
            retry_after_seconds=1,
        ) from fault


def _patience(database_url: str) -> dict[str, Any]:
    """How long to try to connect, where the address does not say so itself."""
    said = "connect_timeout" in conninfo_to_dict(database_url)
    return {} if said else {"connect_timeout": CONNECT_TIMEOUT_SECONDS}


def _places(database_url: str) -> str:
    """The servers that an address names, with what the driver adds to it; nothing else of the address."""
    known = {
        option.keyword.decode(): option.val.decode() for option in pq.Conninfo.get_defaults() if option.val
    }
    for name, value in conninfo_to_dict(database_url).items():
        known[name] = str(value)
    hosts = (known.get("host") or known.get("hostaddr") or "the local socket").split(",")
    ports = known.get("port", "").split(",")
    return ", ".join(
        f"{host or 'the local socket'}:{ports[index if len(ports) > 1 else 0]}"
        for index, host in enumerate(hosts)
    )


@functools.lru_cache(maxsize=TENANTS_KNOWN_MAX)
def one_tenant(tenant: str) -> bytes:
    """The statement that opens one tenant to the rest of the transaction. SET LOCAL reaches every shard."""
    return sql.SQL("SET LOCAL app.tenant = {tenant}").format(tenant=sql.Literal(tenant)).as_bytes()


class Tenancy:
    """Which tenant a transaction is open to; said to the database only where that changes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tenant: str | None = None

    def enter(self, tenant: str) -> None:
        """Open this tenant, and no other, to what follows."""
        if tenant != self._tenant:
            self._connection.execute(one_tenant(tenant))
            self._tenant = tenant


def committed(connection: Connection) -> None:
    """Commit; raises OutcomeUnknown when the server warns that it did not wait for a standby to the end.

    The commit stands then, but may be lost with this server. A wait that takes too long is cancelled, which
    has the server warn; one that answers nothing at all has its connection closed.
    """
    warned: list[str | None] = []

    def note(warning: errors.Diagnostic) -> None:
        warned.append(warning.sqlstate)

    connection.add_notice_handler(note)
    try:
        with connection.bounded():
            connection.execute("COMMIT")
    except _NoAnswer as silence:
        connection.close()
        raise OutcomeUnknown from silence
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
            outcome_unknown=True,
        ) from fault
    except FAULTS as fault:
        hint = _ADVICE.get(type(fault), "Try again.")
        raise Unavailable(
            f"the database cannot serve now ({type(fault).__name__})", hint=hint, retry_after_seconds=1
        ) from fault


@contextmanager
def durably(connection: Connection) -> Iterator[None]:
    """A transaction whose commit is bounded and confirmed; a connection that failed is not used again."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.close()
        raise
    committed(connection)


def as_owner(connection: Connection, statement: LiteralString) -> None:
    """Run a statement of upkeep as the owner of the tables, in no transaction; then be the program again."""
    try:
        connection.execute("SET ROLE NONE")
        connection.execute(statement)
        connection.execute(sql.SQL("SET ROLE {role}").format(role=sql.Identifier(APP_ROLE)))
    except BaseException:
        connection.close()
        raise

"""A server that waits for a standby which does not exist: commits that nobody confirms."""

from typing import Final

import psycopg
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until

SECONDS_MAX: Final = 15.0
_COMMIT_SOMETHING: Final = b"SELECT pg_logical_emit_message(true, 'standby', 'asked for')"
_WAITING: Final = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'"


def need_standby(server: PostgresServer) -> None:
    """From now on a commit waits until somebody cuts it short, or until none is needed any more."""
    server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    server.query("SELECT pg_reload_conf()")
    wait_until(
        lambda: _a_commit_waits(server), what="a commit waits for the standby", seconds_max=SECONDS_MAX
    )


def need_no_standby(server: PostgresServer) -> None:
    """From now on, and for those who wait already, no standby is needed."""
    server.query("ALTER SYSTEM RESET synchronous_standby_names")
    server.query("SELECT pg_reload_conf()")
    wait_until(lambda: not _a_commit_waits(server), what="a commit waits for nobody", seconds_max=SECONDS_MAX)


def waiting_commits(url: str) -> list[int]:
    """The processes that wait in this database; what waits in others of the server is not counted."""
    with psycopg.connect(url, autocommit=True) as connection:
        return [pid for (pid,) in connection.execute(f"SELECT pid {_WAITING}")]


def cancel_waits(url: str) -> None:
    """Cut every wait in this database short."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SELECT pg_cancel_backend(pid) {_WAITING}")


def terminate_waits(url: str) -> None:
    """End every connection that waits in this database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SELECT pg_terminate_backend(pid) {_WAITING}")


def _a_commit_waits(server: PostgresServer) -> bool:
    """Tried, not read: a session that shows the setting may have read it before those who obey it."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        pid = connection.info.backend_pid
        connection.pgconn.send_query(_COMMIT_SOMETHING)
        state = wait_until(
            lambda: _state(server, connection.pgconn, pid),
            what="a commit ends or waits",
            seconds_max=SECONDS_MAX,
        )
        connection.cancel_safe()
        while connection.pgconn.get_result():
            continue  # until nothing is in the way of closing it
        return state == "waits"


def _state(server: PostgresServer, asked: psycopg.pq.abc.PGconn, pid: int) -> str | None:
    """Whether what was asked ``ended`` or ``waits`` for the standby; None while it is neither."""
    asked.consume_input()
    if not asked.is_busy():
        return "ended"
    return "waits" if pid in waiting_commits(server.url()) else None

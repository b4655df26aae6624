"""Harm done to a database from outside: a full disk, a failing network, transactions to be retried."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Self

import psycopg
from psycopg import sql
from tests.postgres.server import HOST, SUPERUSER, free_port

SERIALISATION_FAILURE: Final = "40001"
DEADLOCK: Final = "40P01"
ANSWER_TO_COMMIT: Final = b"COMMIT\0"
BLOCK_BYTES: Final = 4096
CHUNK_BYTES: Final = 65_536
BACKLOG: Final = 128
THREAD_SECONDS_MAX: Final = 10.0


_REFUSING: Final = """
    CREATE SEQUENCE {numbers};
    CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        IF nextval({regclass}) <= {times} THEN
            RAISE EXCEPTION 'refused by a fault that a test injects' USING ERRCODE = {sqlstate};
        END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER {function} AFTER INSERT OR UPDATE ON {table}
        DEFERRABLE {initially} FOR EACH ROW EXECUTE FUNCTION {function}();
"""
_PERMITTING: Final = """
    DROP FUNCTION {function} CASCADE;
    DROP SEQUENCE {numbers};
"""


class NotPossibleHere(RuntimeError):
    """The fault needs rights that the tests do not have on this machine."""


@contextlib.contextmanager
def refused_writes(
    url: str, table: str, *, sqlstate: str, times: int, at_commit: bool = False
) -> Iterator[Callable[[], int]]:
    """For a while, let the first so many writes to a table fail, each with its transaction.

    The number is kept outside transactions, so a transaction that is retried often enough succeeds. It
    fails where it writes, or at its commit. Gives a function that tells how many have failed.
    """
    named = {
        "table": sql.Identifier(table),
        "function": sql.Identifier(f"fault_{table}"),
        "numbers": sql.Identifier(f"fault_{table}_number"),
        "regclass": sql.Literal(f'"fault_{table}_number"'),
        "times": sql.Literal(times),
        "sqlstate": sql.Literal(sqlstate),
        "initially": sql.SQL("INITIALLY DEFERRED" if at_commit else "INITIALLY IMMEDIATE"),
    }
    counted = sql.SQL("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {numbers}").format(**named)

    def failures() -> int:
        with psycopg.connect(url) as connection:
            row = connection.execute(counted).fetchone()
            assert row is not None
            return min(int(row[0]), times)

    with psycopg.connect(url) as connection:
        connection.execute(sql.SQL(_REFUSING).format(**named))
    try:
        yield failures
    finally:
        with psycopg.connect(url) as connection:
            connection.execute(sql.SQL(_PERMITTING).format(**named))


class SmallDisk:
    """A disk of its own, in memory, that can be filled to the last block: ``place`` a server on it.

    It is mounted, which root may do on Linux. Close the server first, then the disk.
    """

    def __init__(self, *, size_mebibytes: int = 128) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="tenure-disk-"))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size_mebibytes}m,mode=0755", "tmpfs", str(self.place)]
        try:
            done = subprocess.run(mount, check=False, capture_output=True, text=True)
        except FileNotFoundError as error:
            self.place.rmdir()
            raise NotPossibleHere("there is no mount command") from error
        if done.returncode != 0:
            self.place.rmdir()
            raise NotPossibleHere(f"a small disk could not be mounted: {done.stderr.strip()}")

    def fill(self, *, but_bytes: int = 0) -> None:
        """Take all the room there is, or all but so much."""
        room = shutil.disk_usage(self.place).free - but_bytes
        with self._ballast.open("ab") as file, contextlib.suppress(OSError):
            for _ in range(room // BLOCK_BYTES):
                file.write(bytes(BLOCK_BYTES))
                file.flush()

    def free(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the disk and what is on it."""
        subprocess.run(["umount", str(self.place)], check=True)
        self.place.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _ballast(self) -> Path:
        return self.place / "ballast"


class Relay:
    """Stands between clients and a server, and fails as networks fail.

    Clients use ``port`` of the loopback address instead of the server's.
    """

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.port = free_port()
        self._listener = socket.create_server((HOST, self.port), backlog=BACKLOG)
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._unlucky: bytes | None = None
        self._closing = False
        self.answers_lost = 0
        self._spawn(self._accept)

    def url(self, database: str, *, user: str = SUPERUSER) -> str:
        """Where a database is, through the relay."""
        return f"postgresql://{user}@{HOST}:{self.port}/{database}"

    def cut(self) -> None:
        """Close every connection, in the middle of whatever is said; new ones are served."""
        with self._lock:
            cut = list(self._open)
        for one in cut:
            self._hang_up(one)

    def stall(self) -> None:
        """Let nothing pass in either direction, and keep the connections open, until ``resume``."""
        self._flowing.clear()

    def resume(self) -> None:
        """Let everything pass again, first what was held back."""
        self._flowing.set()

    def lose_next_answer(self, containing: bytes) -> None:
        """Cut the connection on which the server next answers this, instead of passing the answer on.

        After ``ANSWER_TO_COMMIT`` the client cannot know that its commit succeeded.
        """
        with self._lock:
            self._unlucky = containing

    def close(self) -> None:
        """Cut everybody off and end."""
        self._closing = True
        self._hang_up(self._listener)
        self.resume()
        self.cut()
        for thread in self._threads:
            thread.join(THREAD_SECONDS_MAX)
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spawn(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection((HOST, self._server_port))
                except OSError:
                    client.close()
                    continue
                with self._lock:
                    self._open |= {client, server}
                if self._closing:
                    self.cut()
                self._spawn(self._pump, client, server, _keeps_all)
                self._spawn(self._pump, server, client, self._loses)

    def _pump(self, source: socket.socket, target: socket.socket, loses: Callable[[bytes], bool]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                self._flowing.wait()
                if loses(data):
                    break
                target.sendall(data)
        with self._lock:
            self._open -= {source, target}
        for one in (source, target):
            self._hang_up(one)
        source.close()

    def _loses(self, data: bytes) -> bool:
        with self._lock:
            if self._unlucky is None or self._unlucky not in data:
                return False
            self._unlucky = None
            self.answers_lost += 1
            return True

    @staticmethod
    def _hang_up(one: socket.socket) -> None:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def _keeps_all(_: bytes) -> bool:
    return False

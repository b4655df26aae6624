"""Writers that go on whatever happens, and remember what was acknowledged to them."""

import contextlib
import itertools
import threading
from collections.abc import Callable
from typing import Final, Protocol, Self

import psycopg
from tests.postgres.waiting import wait_until

COUNT: Final = 8
PAUSE_SECONDS: Final = 0.005
"""Between two writes of one writer, so that a small machine has time for its cluster too."""
RETRY_SECONDS: Final = 0.05
MORE_SECONDS_MAX: Final = 60.0
END_SECONDS_MAX: Final = 60.0

TABLE: Final = "CREATE TABLE written (name text PRIMARY KEY, attempts integer NOT NULL)"
# A retry writes too. If it only found the row of the first attempt, its commit would be empty and would
# wait for no standby, so it could acknowledge a row that the leader alone still has.
_WRITE: Final = """
    INSERT INTO written (name, attempts) VALUES (%s, 1)
    ON CONFLICT (name) DO UPDATE SET attempts = written.attempts + 1
"""


class Unacknowledged(Exception):
    """The outcome of a write is not known, or it failed: it has to be tried again, under the same name."""


class Writer(Protocol):
    """One connection's worth of writing; unusable after an error."""

    def write(self, name: str) -> None:
        """Write something under a name, once however often it is tried; return means acknowledged."""

    def close(self) -> None:
        """Give the connection back."""


class PlainWriter:
    """Writes rows of ``TABLE`` straight into a database."""

    def __init__(self, url: str) -> None:
        self._warned = False
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError as error:
            raise Unacknowledged from error
        self._connection.add_notice_handler(self._notice)

    def write(self, name: str) -> None:
        """Write one row; a warning, as of a wait for a standby that was given up, is no acknowledgement."""
        try:
            self._connection.execute(_WRITE, [name])
        except psycopg.OperationalError as error:
            raise Unacknowledged from error
        if self._warned:
            raise Unacknowledged

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _notice(self, said: psycopg.errors.Diagnostic) -> None:
        self._warned = self._warned or said.severity_nonlocalized == "WARNING"


class _Persistent:
    """A writer that is replaced after every error."""

    def __init__(self, connect: Callable[[], Writer]) -> None:
        self._connect = connect
        self._writer: Writer | None = None

    def wrote(self, name: str) -> bool:
        """Whether a write was acknowledged."""
        try:
            if self._writer is None:
                self._writer = self._connect()
            self._writer.write(name)
        except Unacknowledged:
            self.close()
            return False
        return True

    def close(self) -> None:
        """Give back the writer that is in use."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class Writers:
    """Threads that write while a ``with`` lasts, each name again and again until it is acknowledged."""

    def __init__(self, connect: Callable[[], Writer], *, count: int = COUNT) -> None:
        self._connect = connect
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._acknowledged: set[str] = set()
        self._faults: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._work, args=[number], daemon=True) for number in range(count)
        ]
        self.retries = 0

    @property
    def acknowledged(self) -> frozenset[str]:
        """The names of all writes that were acknowledged up to now."""
        with self._lock:
            return frozenset(self._acknowledged)

    def wait_for_more(self, count: int) -> None:
        """Give back when so many more writes have been acknowledged."""
        goal = len(self.acknowledged) + count
        what = f"{count} more writes are acknowledged"
        wait_until(lambda: self._at_least(goal), what=what, seconds_max=MORE_SECONDS_MAX)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(END_SECONDS_MAX)
        if kind is None:
            self._raise_fault()
            assert not any(thread.is_alive() for thread in self._threads), "a writer never came back"

    def _at_least(self, goal: int) -> bool:
        self._raise_fault()
        return len(self.acknowledged) >= goal

    def _raise_fault(self) -> None:
        if self._faults:
            raise self._faults[0]

    def _work(self, number: int) -> None:
        try:
            with contextlib.closing(_Persistent(self._connect)) as writer:
                for count in itertools.count():
                    self._write_stubbornly(writer, f"writer {number} write {count}")
                    if self._stopped.wait(PAUSE_SECONDS):
                        return
        except BaseException as fault:  # noqa: BLE001 - the test raises it, not the thread
            self._faults.append(fault)

    def _write_stubbornly(self, writer: _Persistent, name: str) -> None:
        while not writer.wrote(name):
            with self._lock:
                self.retries += 1
            if self._stopped.wait(RETRY_SECONDS):
                return
        with self._lock:
            self._acknowledged.add(name)

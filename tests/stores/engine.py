"""What the contract suite needs of an engine: to open it, to look behind it, and to do it harm."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, LiteralString, Protocol
from urllib.parse import urldefrag

import apsw
import msgspec
import psycopg

from tenure.config import Settings
from tenure.core.ledger import ChainedEvent
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Clock, Keyring, Store
from tenure.wiring import Node, open_database, open_store

ALTERATIONS: Final = ("altered body", "altered header", "dropped", "inserted", "reordered")
"""What somebody behind the store may do to one event: the last two to the place behind it."""


class Opened(Protocol):
    """A store that is open, with all that stands before it."""

    @property
    def store(self) -> Store:
        """The log and its views."""

    @property
    def keyring(self) -> Keyring:
        """The keys of what is sealed in it."""

    @property
    def pipeline(self) -> Pipeline:
        """The way through it."""

    def close(self) -> None:
        """Give it back."""


class Engine(Protocol):
    """One place where a store can be kept, empty at first; everything below it acts on closed stores too."""

    @property
    def name(self) -> str:
        """Which of ENGINES it is."""

    @property
    def address(self) -> str:
        """What another process opens the same store by, with ``opened_at``."""

    @property
    def opening(self) -> dict[str, Any]:
        """What a program hands to ``Tenure.open`` to open the same store: a path, and settings."""

    def open(self, clock: Clock | None = None, settings: Settings | None = None) -> Node:
        """Open the store, as it was left."""

    def views(self) -> bytes:
        """Every row of every view, byte for byte, in a fixed order."""

    def alter_view(self, tenant: str) -> None:
        """Raise the trust of a tenant's memories in the view, behind the log's back."""

    def alter_event(self, tenant: str, seq: int, alteration: str) -> None:
        """Change one event behind the chain's back: one of ALTERATIONS."""

    def put_log(self, tenant: str, rows: Sequence[ChainedEvent], head: tuple[int, bytes]) -> None:
        """Put other rows in the place of a tenant's whole log, and another head."""


_VIEWS: Final[dict[str, LiteralString]] = {
    "alert": "SELECT * FROM alert ORDER BY tenant_id, seq",
    "caller_key": "SELECT * FROM caller_key ORDER BY tenant_id, key_id",
    "contradiction": "SELECT * FROM contradiction ORDER BY tenant_id, contradiction_id",
    "derivation": "SELECT * FROM derivation ORDER BY tenant_id, parent, child, kind",
    "erasure": "SELECT * FROM erasure ORDER BY tenant_id, subject",
    "forget_floor": "SELECT * FROM forget_floor ORDER BY tenant_id, subject, target_kind, target",
    "hold": "SELECT * FROM hold ORDER BY tenant_id, subject",
    "memory": "SELECT * FROM memory ORDER BY tenant_id, created_seq",
    "policy": "SELECT * FROM policy ORDER BY tenant_id",
    "provenance": "SELECT * FROM provenance ORDER BY tenant_id, source_id, source_type, memory_id",
    "revoked_source": "SELECT * FROM revoked_source ORDER BY tenant_id, seq",
    "shown": "SELECT * FROM shown ORDER BY tenant_id, memory_id, seq",
    "support": "SELECT * FROM support ORDER BY tenant_id, memory_id",
    "suppression": "SELECT * FROM suppression ORDER BY tenant_id, forget_id",
    "thing": "SELECT * FROM thing ORDER BY tenant_id, thing, memory_id",
    "used": "SELECT * FROM used ORDER BY tenant_id, memory_id, seq",
}
_SQLITE_ALTERATIONS: Final = {
    "altered body": """
        UPDATE event SET body = zeroblob(length(body)) WHERE tenant_id = :tenant AND seq = :seq
    """,
    "altered header": """
        UPDATE event SET header = replace(header, '2031', '2030') WHERE tenant_id = :tenant AND seq = :seq
    """,
    "dropped": """
        DELETE FROM event WHERE tenant_id = :tenant AND seq = :seq
    """,
    "inserted": """
        UPDATE event SET seq = -seq WHERE tenant_id = :tenant AND seq > :seq;
        UPDATE event SET seq = 1 - seq WHERE tenant_id = :tenant AND seq < 0;
        INSERT INTO event (tenant_id, seq, header, body, link)
        SELECT tenant_id, seq + 1, header, body, link FROM event WHERE tenant_id = :tenant AND seq = :seq
    """,
    "reordered": """
        UPDATE event SET seq = -seq WHERE tenant_id = :tenant AND seq IN (:seq, :seq + 1);
        UPDATE event SET seq = :seq + :seq + 1 + seq WHERE tenant_id = :tenant AND seq < 0
    """,
}
_POSTGRES_ALTERATIONS: Final[dict[str, LiteralString]] = {
    "altered body": """
        SET LOCAL session_replication_role = replica;
        UPDATE event SET body = decode(repeat('00', length(body)), 'hex')
        WHERE tenant_id = %(tenant)s AND seq = %(seq)s
    """,
    "altered header": """
        UPDATE event SET header = replace(header, '2031', '2030')
        WHERE tenant_id = %(tenant)s AND seq = %(seq)s
    """,
    "dropped": """
        DELETE FROM event WHERE tenant_id = %(tenant)s AND seq = %(seq)s
    """,
    "inserted": """
        UPDATE event SET seq = -seq WHERE tenant_id = %(tenant)s AND seq > %(seq)s;
        UPDATE event SET seq = 1 - seq WHERE tenant_id = %(tenant)s AND seq < 0;
        INSERT INTO event (tenant_id, seq, header, body, link)
        SELECT tenant_id, seq + 1, header, body, link FROM event
        WHERE tenant_id = %(tenant)s AND seq = %(seq)s
    """,
    "reordered": """
        UPDATE event SET seq = -seq WHERE tenant_id = %(tenant)s AND seq IN (%(seq)s, %(seq)s + 1);
        UPDATE event SET seq = %(seq)s + %(seq)s + 1 + seq WHERE tenant_id = %(tenant)s AND seq < 0
    """,
}


_SQLITE_PUT_LOG: Final = (
    "DELETE FROM event WHERE tenant_id = ?",
    "INSERT INTO event (tenant_id, seq, header, body, link) VALUES (?, ?, ?, ?, ?)",
    "UPDATE tenant_head SET seq = ?, link = ? WHERE tenant_id = ?",
)
_POSTGRES_PUT_LOG: Final[tuple[LiteralString, LiteralString, LiteralString]] = (
    "DELETE FROM event WHERE tenant_id = %s",
    "INSERT INTO event (tenant_id, seq, header, body, link) VALUES (%s, %s, %s, %s, %s)",
    "UPDATE tenant_head SET seq = %s, link = %s WHERE tenant_id = %s",
)


def _values(tenant: str, rows: Sequence[ChainedEvent]) -> list[tuple[object, ...]]:
    return [(tenant, row.seq, row.header.decode(), row.body, row.link) for row in rows]


class SqliteEngine:
    """The embedded store; its place is a folder."""

    name = "sqlite"

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @property
    def address(self) -> str:
        """The engine's name and the folder."""
        return f"{self.name}:{self.folder}"

    @property
    def opening(self) -> dict[str, Any]:
        """The folder, and settings that are as they come."""
        return {"path": self.folder, "settings": Settings()}

    def open(self, clock: Clock | None = None, settings: Settings | None = None) -> Node:
        """Open the store, as it was left."""
        return open_store(self.folder, clock=clock, settings=settings)

    def views(self) -> bytes:
        """Every row of every view, with the type of every value."""
        connection = apsw.Connection(str(self.folder / "log.db"))
        try:
            rows = [(view, row) for view, query in _VIEWS.items() for row in connection.execute(query)]
        finally:
            connection.close()
        return repr(rows).encode()

    def alter_view(self, tenant: str) -> None:
        """Raise the trust of a tenant's memories in the view."""
        self.execute("UPDATE memory SET trust = 3 WHERE tenant_id = :tenant", {"tenant": tenant})

    def alter_event(self, tenant: str, seq: int, alteration: str) -> None:
        """Change one event behind the chain's back."""
        self.execute(_SQLITE_ALTERATIONS[alteration], {"tenant": tenant, "seq": seq})

    def put_log(self, tenant: str, rows: Sequence[ChainedEvent], head: tuple[int, bytes]) -> None:
        """Put other rows in a tenant's whole log's place."""
        delete, insert, update = _SQLITE_PUT_LOG
        connection = apsw.Connection(str(self.folder / "log.db"))
        try:
            connection.set_busy_timeout(5_000)
            connection.pragma("synchronous", "off")
            with connection:
                connection.execute(delete, (tenant,))
                connection.executemany(insert, _values(tenant, rows))
                connection.execute(update, (*head, tenant))
        finally:
            connection.close()

    def execute(self, statement: str, bindings: dict[str, object]) -> None:
        """Run SQL on the log's file, past the store."""
        connection = apsw.Connection(str(self.folder / "log.db"))
        try:
            connection.set_busy_timeout(5_000)
            connection.execute(statement, bindings)
        finally:
            connection.close()


class PostgresEngine:
    """A store over a database; its place is the database's URL and, behind ``#``, the root key's folder."""

    name = "postgres"

    def __init__(self, place: str) -> None:
        self.place = place
        self.url, self.folder = urldefrag(place)

    @property
    def address(self) -> str:
        """The engine's name, the URL and the folder."""
        return f"{self.name}:{self.place}"

    @property
    def opening(self) -> dict[str, Any]:
        """The URL, and settings that say where the root key is."""
        return {"path": self.url, "settings": Settings(data_dir=self.folder)}

    def open(self, clock: Clock | None = None, settings: Settings | None = None) -> Node:
        """Open another node; what it answers does not depend on how many there are."""
        placed = msgspec.structs.replace(settings or Settings(), data_dir=self.folder, database_url=self.url)
        return open_database(self.url, settings=placed, clock=clock)

    def views(self) -> bytes:
        """Every row of every view, with the type of every value."""
        with self.superuser() as connection:
            rows = [(view, row) for view, query in _VIEWS.items() for row in connection.execute(query)]
        return repr(rows).encode()

    def alter_view(self, tenant: str) -> None:
        """Raise the trust of a tenant's memories in the view."""
        with self.superuser() as connection:
            connection.execute("UPDATE memory SET trust = 3 WHERE tenant_id = %s", (tenant,))

    def alter_event(self, tenant: str, seq: int, alteration: str) -> None:
        """Change one event behind the chain's back."""
        with self.superuser() as connection:
            connection.execute(_POSTGRES_ALTERATIONS[alteration], {"tenant": tenant, "seq": seq})

    def put_log(self, tenant: str, rows: Sequence[ChainedEvent], head: tuple[int, bytes]) -> None:
        """Put other rows in a tenant's whole log's place."""
        delete, insert, update = _POSTGRES_PUT_LOG
        with self.superuser() as connection:
            connection.execute(delete, (tenant,))
            connection.cursor().executemany(insert, _values(tenant, rows))
            connection.execute(update, (*head, tenant))

    def superuser(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection of somebody whom no rule holds back; several statements may go in one text."""
        return psycopg.connect(
            self.url, options="-c search_path=tenure,tenure_keys", cursor_factory=psycopg.ClientCursor
        )


ENGINES: dict[str, Callable[[str], Engine]] = {"postgres": PostgresEngine, "sqlite": SqliteEngine}
"""The engines that the contract suite runs on, by their names; each takes a place of its own."""


def opened_at(address: str, settings: Settings | None = None) -> Node:
    """Open, in whatever process this is, the store that an engine's address names."""
    name, _, place = address.partition(":")
    return ENGINES[name](place).open(settings=settings)

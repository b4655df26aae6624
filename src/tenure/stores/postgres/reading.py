"""Reads of the PostgreSQL store, each from one consistent snapshot."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from tenure.core.ledger import GENESIS
from tenure.core.retrieval import Candidate, Filter, Hit, Statistics
from tenure.core.views import KeyRow, MemoryRow
from tenure.stores.postgres.connecting import Connection, one_tenant
from tenure.stores.queries import load_queries
from tenure.usecases.ports import FirstAnswer, Listing, StoredEvent

SQL: Final = load_queries("tenure.stores.postgres")
Bindings = Sequence[Any] | Mapping[str, Any]
BEGIN: Final = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
BEGIN_ATTEMPTS_MAX: Final = 3


class IndexBehind(Exception):
    """A tenant's word index is not built up to its log: the server crashed, or this is a former standby."""

    def __init__(self, tenant: str) -> None:
        super().__init__(tenant)
        self.tenant = tenant


class PostgresReading:
    """The Reading port over one connection whose transaction is open."""

    def __init__(self, connection: Connection | None) -> None:
        self._own = connection
        self._tenant: str | None = None

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""
        row = self._one(tenant, "first_answer", (tenant, key))
        return FirstAnswer(request=row[0], seq=row[1], outcome=row[2]) if row else None

    def answers(self, tenant: str, *, after: str, limit: int) -> list[tuple[str, FirstAnswer]]:
        """Idempotency keys behind this one, and what they stand for."""
        rows = self._all(tenant, "answers", (tenant, after, limit))
        return [(row[0], FirstAnswer(request=row[1], seq=row[2], outcome=row[3])) for row in rows]

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory that can be read at all."""
        row = self._one(tenant, "memory_row", (tenant, memory_id))
        return MemoryRow(*row) if row else None

    def stream(self, tenant: str, stream: UUID) -> list[StoredEvent]:
        """The events of one memory or receipt, oldest first."""
        return [stored(row) for row in self._all(tenant, "stream", (tenant, stream))]

    def event(self, tenant: str, seq: int) -> StoredEvent | None:
        """The event at a position."""
        row = self._one(tenant, "event", (tenant, seq))
        return stored(row) if row else None

    def log(self, tenant: str, *, after: int, limit: int) -> list[StoredEvent]:
        """Events behind a position, oldest first."""
        return [stored(row) for row in self._all(tenant, "log", (tenant, after, limit))]

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log."""
        row = self._one(tenant, "head", (tenant,))
        return (row[0], row[1]) if row else (0, GENESIS)

    def tenants(self) -> list[str]:
        """Every tenant that has a log."""
        return [row[0] for row in self._all(None, "tenants", ())]

    def listing(self, listing: Listing) -> list[MemoryRow]:
        """A page of memory rows, newest first."""
        bindings = msgspec.structs.asdict(listing)
        for side in ("agents", "purposes", "subjects"):
            bindings[side] = sorted(bindings[side]) if bindings[side] is not None else None
        for word in ("kind", "status", "source_type"):
            bindings[word] = str(bindings[word]) if bindings[word] is not None else None
        return [MemoryRow(*row) for row in self._all(listing.tenant, "listing", bindings)]

    def statistics(self, where: Filter) -> Statistics:
        """How many rows pass the filters, and their tokens."""
        rows = tokens = 0
        for name, bindings in _places(where, "statistics"):
            row = self._one(where.tenant, name, bindings)
            rows, tokens = rows + row[0], tokens + int(row[1])
        return Statistics(rows, tokens)

    def hits(self, where: Filter, terms: Sequence[str]) -> list[Hit]:
        """The query terms in the rows that pass the filters."""
        if not terms:
            return []
        self._check_index(where.tenant)
        found: list[Hit] = []
        for name, bindings in _places(where, "hits"):
            bindings |= {"terms": sorted(terms), "boundary": place_number(where.agent, where.purpose)}
            if "subject" in bindings:
                bindings["subject_number"] = place_number(bindings["subject"])
            found += map(Hit._make, self._all(where.tenant, name, bindings))
        return found

    def candidates(self, where: Filter, created_seqs: Sequence[int]) -> list[Candidate]:
        """Those of these rows that pass the filters."""
        seqs = list(created_seqs)
        return [
            Candidate._make(row)
            for name, bindings in _places(where, "candidates")
            for row in self._all(where.tenant, name, bindings | {"seqs": seqs})
        ]

    def recent(self, where: Filter, limit: int) -> list[Candidate]:
        """The newest rows that pass the filters."""
        found: list[Candidate] = []
        for name, bindings in _places(where, "recent"):
            found += map(Candidate._make, self._all(where.tenant, name, bindings | {"limit": limit}))
        return sorted(found, key=lambda one: -one.created_seq)[:limit]

    def subject_memories(self, tenant: str, subject: str) -> int:
        """How many memories of a subject stand, whatever their status."""
        return int(self._one(tenant, "subject_memories", (tenant, subject))[0])

    def forgotten_before(self, tenant: str, subject: str) -> bool:
        """Whether the subject was ever forgotten."""
        return self._one(tenant, "floor", (tenant, "subject", subject)) is not None

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential."""
        row = self._one(tenant, "key", (tenant, key_id))
        return KeyRow(*row) if row else None

    def keys(self, tenant: str) -> list[KeyRow]:
        """Every credential of a tenant, oldest first."""
        return [KeyRow(*row) for row in self._all(tenant, "keys", (tenant,))]

    def due(self, now: int, limit: int) -> list[MemoryRow]:
        """Rows of any tenant whose time has passed and that are not marked so."""
        found: list[MemoryRow] = []
        for tenant in self.tenants():
            found += [MemoryRow(*row) for row in self._all(tenant, "due", (tenant, now, limit))]
        return sorted(found, key=lambda row: row.expires_at)[:limit]

    def built(self, tenant: str) -> int:
        """Up to which position a tenant's word index is built."""
        row = self._one(tenant, "built", (tenant,))
        return int(row[0]) if row else 0

    def _check_index(self, tenant: str) -> None:
        if self.built(tenant) < self.head(tenant)[0]:
            raise IndexBehind(tenant)

    def _open(self, tenant: str | None) -> Connection:  # noqa: ARG002 -- one that begins later opens it for a tenant
        if self._own is None:
            raise LookupError("this reading has no connection")
        return self._own

    def _one(self, tenant: str | None, name: str, bindings: Bindings) -> Any:
        return self._asked(tenant, name, bindings).fetchone()

    def _all(self, tenant: str | None, name: str, bindings: Bindings) -> list[Any]:
        return self._asked(tenant, name, bindings).fetchall()

    def _asked(self, tenant: str | None, name: str, bindings: Bindings) -> psycopg.Cursor[tuple[Any, ...]]:
        connection = self._open(tenant)
        if tenant is not None and tenant != self._tenant:
            connection.execute(one_tenant(tenant))
            self._tenant = tenant
        return connection.execute(SQL[name], bindings)


class LazyReading(PostgresReading):
    """A reading that takes a connection from the pool, and its snapshot, with its first question."""

    def __init__(self, pool: ConnectionPool[Connection]) -> None:
        super().__init__(None)
        self._pool = pool

    def end(self) -> None:
        """Give the snapshot and the connection back, if any were taken."""
        if self._own is not None:
            connection, self._own, self._tenant = self._own, None, None
            try:
                connection.execute("COMMIT")
            finally:
                self._pool.putconn(connection)

    def _open(self, tenant: str | None) -> Connection:
        if self._own is None:
            self._own, self._tenant = self._begun(tenant), tenant
        return self._own

    def _begun(self, tenant: str | None) -> Connection:
        """A connection with a snapshot; one that a restart of the server left dead is replaced."""
        begin: sql.SQL | sql.Composed = BEGIN
        if tenant is not None:
            begin = sql.SQL("; ").join([BEGIN, one_tenant(tenant)])
        for attempt in range(1, BEGIN_ATTEMPTS_MAX + 1):
            connection = self._pool.getconn()
            try:
                # Both at once, which a prepared statement could not be.
                connection.execute(begin, prepare=False)
            except psycopg.OperationalError:
                self._pool.putconn(connection)
                if attempt == BEGIN_ATTEMPTS_MAX:
                    raise
            else:
                return connection
        raise AssertionError("the last attempt returns or raises")


def stored(row: Sequence[Any]) -> StoredEvent:
    """One row of the log."""
    return StoredEvent(row[0], row[1].encode(), row[2], row[3])


def place_number(*names: str) -> int:
    """The number under which the word index keeps a boundary or a subject.

    Two places may share a number: the filters on the memory's own row decide, so nothing is shown for it.
    """
    digest = hashlib.sha256("\x1f".join(names).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _places(where: Filter, question: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The statements that together answer a question: one for each granted subject, or one for all."""
    common: dict[str, Any] = {
        "tenant": where.tenant,
        "agent": where.agent,
        "purpose": where.purpose,
        "now": where.now,
        "trust_min": where.trust_min,
        "kinds": [str(kind) for kind in where.kinds] or None,
        "scopes": [f"{tier}:{name}" for tier, name in where.scopes] or None,
    }
    if where.subjects is None:
        return [(f"{question}_of_boundary", common)]
    return [(f"{question}_of_subject", common | {"subject": subject}) for subject in sorted(where.subjects)]

"""Reads of the PostgreSQL store, each from one consistent snapshot."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import msgspec
import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from tenure.core.boundary_rows import Column, Rows, Searched, no_rows, place_number, together
from tenure.core.candidates import Candidates, candidates_of
from tenure.core.ledger import GENESIS
from tenure.core.retrieval import Filter
from tenure.core.rows import (
    FOREVER,
    AlertRow,
    ErasureRow,
    FloorRow,
    HoldRow,
    KeyRow,
    MemoryRow,
    SuppressionRow,
)
from tenure.stores.postgres.connecting import TENANTS_KNOWN_MAX, Connection, one_tenant
from tenure.stores.postgres.incident_reading import SQL as INCIDENT_SQL
from tenure.stores.postgres.incident_reading import IncidentReading
from tenure.stores.postgres.truth_reading import SQL as TRUTH_SQL
from tenure.stores.postgres.truth_reading import TruthReading
from tenure.stores.postings import Found, postings_in
from tenure.stores.queries import load_queries
from tenure.stores.row_cache import Passing, Place, RowCache
from tenure.stores.standing_rows import StandingRows, only_place
from tenure.usecases.ports import EndedScope, FirstAnswer, KeyedRows, Listing, StoredEvent, Unembedded

SQL: Final = (
    load_queries("tenure.stores.postgres")
    | load_queries("tenure.stores.postgres", "search.sql")
    | INCIDENT_SQL
    | TRUTH_SQL
)
Bindings = Sequence[Any] | Mapping[str, Any]
BEGIN: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_ATTEMPTS_MAX: Final = 3
LAST_CHARACTER: Final = "\U0010ffff"


class IndexBehind(Exception):
    """A tenant's word index is not built up to its log: the server crashed, or this is a former standby."""

    def __init__(self, tenant: str) -> None:
        super().__init__(tenant)
        self.tenant = tenant


class PostgresReading(IncidentReading, TruthReading):
    """The Reading port over one connection whose transaction is open."""

    def __init__(
        self,
        connection: Connection | None,
        cache: RowCache | None = None,
        *,
        analyser: str = "",
        standing: StandingRows | None = None,
    ) -> None:
        self._own = connection
        self._standing = standing
        self._analyser = analyser
        self._cache = cache if cache is not None else RowCache()
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

    def search(self, where: Filter, terms: Sequence[str], model: str | None) -> Searched:
        """Every row that passes the filters, with its vector of this model, and where the terms stand."""
        self._check_index(where.tenant)
        places, rows = _places(where), self._passing(where, model)
        found = [one for bindings in places if terms for one in self._found(where.tenant, bindings, terms)]
        return Searched(rows, postings_in(rows, found))

    def at_hand(self, where: Filter, model: str, *, most: int) -> Candidates | None:
        """All that passes, with its vectors; as kept, or read where that is not up to the log's end.

        None for too many, or while the search data is behind.
        """
        end, place, standing = self.head(where.tenant)[0], only_place(where, model), self._standing
        found = standing.candidates(place, end=end) if standing is not None and place is not None else None
        if found is None:
            if any(self.subject_memories(where.tenant, one) > most for one in where.subjects or ()):
                return None
            if self.built(where.tenant) < end:
                return None
            rows = self._passing(where, model)
            if standing is None or place is None:
                found = candidates_of(rows)
            else:
                found = standing.keep(place, rows, end=end)
        return found if found.size <= most else None

    def unembedded(self, tenant: str, model: str, *, after: int, limit: int) -> list[Unembedded]:
        """Memories that are found by words and have no vector of this model, oldest first."""
        bindings = {"tenant": tenant, "model": model, "after": after, "limit": limit}
        return [
            Unembedded(created_seq=row[0], memory_id=row[1], version=row[2])
            for row in self._all(tenant, "unembedded", bindings)
        ]

    def models(self, tenant: str) -> dict[str, int]:
        """The models that a tenant's memories have vectors of, and how many of each."""
        return dict(self._all(tenant, "models", {"tenant": tenant}))

    def subject_memories(self, tenant: str, subject: str) -> int:
        """How many memories of a subject stand, whatever their status."""
        return int(self._one(tenant, "subject_memories", (tenant, subject))[0])

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection, 0 for none."""
        row = self._one(tenant, "forgot_seq", (tenant,))
        return int(row[0]) if row else 0

    def floors(self, tenant: str, subject: str, targets: Sequence[tuple[str, str]]) -> list[FloorRow]:
        """The floors of these targets of a subject."""
        bindings = {
            "tenant": tenant,
            "subject": subject,
            "kinds": [kind for kind, _ in targets],
            "targets": [target for _, target in targets],
        }
        return [FloorRow(*row) for row in self._all(tenant, "floors", bindings)]

    def keyed(self, where: Filter, key_digest: bytes | None = None) -> list[MemoryRow]:
        """The rows with a key, or with this one, that pass the filters."""
        return [
            MemoryRow(*row)
            for bindings in _places(where)
            for row in self._all(
                where.tenant, _named("keyed", bindings), bindings | {"key_digest": key_digest}
            )
        ]

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""
        return [
            MemoryRow(*row) for row in self._all(wanted.tenant, "key_rows", msgspec.structs.astuple(wanted))
        ]

    def ended_in_scope(self, place: tuple[str, ...]) -> list[MemoryRow]:
        """Rows of one scope whose memories have ended."""
        return [MemoryRow(*row) for row in self._all(place[0], "ended_in_scope", place)]

    def suppressions(self, tenant: str, subject: str, now: int) -> list[SuppressionRow]:
        """The forgets of leaves alone that hold now for a subject."""
        return [SuppressionRow(*row) for row in self._all(tenant, "suppressions", (tenant, subject, now))]

    def suppression(self, tenant: str, forget_id: UUID) -> SuppressionRow | None:
        """A forget of a leaf alone that has not held yet."""
        row = self._one(tenant, "suppression", (tenant, forget_id))
        return SuppressionRow(*row) if row else None

    def probes_due(self, now: int, limit: int) -> list[SuppressionRow]:
        """Forgets of any tenant that are to be probed by now."""
        found = [
            SuppressionRow(*row)
            for tenant in self.tenants()
            for row in self._all(tenant, "probes_due", (tenant, now, limit))
        ]
        return sorted(found, key=lambda row: row.probe_at)[:limit]

    def scopes_ended(self, now: int, limit: int) -> list[EndedScope]:
        """Task and session scopes of any tenant with memories that have ended, of subjects without a hold."""
        return [
            EndedScope(
                tenant=row[0], agent=row[1], purpose=row[2], subject=row[3], tier=row[4], scope_id=row[5]
            )
            for tenant in self.tenants()
            for row in self._all(tenant, "scopes_ended", (tenant, now, limit))
        ][:limit]

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""
        row = self._one(tenant, "hold", (tenant, subject))
        return HoldRow(*row) if row else None

    def erasure(self, tenant: str, subject: str) -> ErasureRow | None:
        """The last erasure of a subject."""
        row = self._one(tenant, "erasure", (tenant, subject))
        return ErasureRow(*row) if row else None

    def erasures_begun(self) -> list[ErasureRow]:
        """Erasures of any tenant that have no certificate yet."""
        return [
            ErasureRow(*row)
            for tenant in self.tenants()
            for row in self._all(tenant, "erasures_begun", (tenant,))
        ]

    def subject_events(self, tenant: str, subject: str, *, after: int, limit: int) -> list[StoredEvent]:
        """The events about a subject behind a position, oldest first."""
        return [stored(row) for row in self._all(tenant, "subject_events", (tenant, subject, after, limit))]

    def subject_streams(self, tenant: str, subject: str, *, up_to_seq: int = FOREVER) -> list[UUID]:
        """Every memory that the subject ever had, in the order in which they were written."""
        return [row[0] for row in self._all(tenant, "subject_streams", (tenant, subject, up_to_seq))]

    def bodies_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many sealed bodies of a subject the log has up to a position."""
        return int(self._one(tenant, "bodies_left", (tenant, subject, up_to_seq))[0])

    def standing(self, tenant: str, subject: str) -> frozenset[int]:
        """Where the memory rows of a subject lie in the log."""
        return frozenset(row[0] for row in self._all(tenant, "standing", (tenant, subject)))

    def alerts(
        self,
        tenant: str,
        *,
        subjects: Collection[str] | None,
        before_seq: int | None,
        limit: int,
        kind: str | None = None,
    ) -> list[AlertRow]:
        """A page of alerts, newest first."""
        bindings = {
            "tenant": tenant,
            "subjects": sorted(subjects) if subjects is not None else None,
            "before": FOREVER if before_seq is None else before_seq,
            "limit": limit,
            "kind": kind,
        }
        return [AlertRow(*row) for row in self._all(tenant, "alerts", bindings)]

    def words_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many memories of a subject, up to a position, are found by words."""
        bindings = (tenant, place_number(subject), up_to_seq)
        return int(self._one(tenant, "words_left", bindings)[0])

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
        """Up to which position a tenant's word index is built, by the analyser of this node."""
        row = self._one(tenant, "built", (tenant, self._analyser))
        return int(row[0]) if row else 0

    def _passing(self, where: Filter, model: str | None) -> Rows:
        parts = [self._rows_of(where, bindings, model) for bindings in _places(where)]
        return together(parts) if parts else no_rows(model)

    def _rows_of(self, where: Filter, bindings: dict[str, Any], model: str | None) -> Rows:
        row = self._one(where.tenant, _named("passing", bindings), bindings)
        passing = Passing.of(msgspec.json.decode(row[0]), msgspec.json.decode(row[1]))

        def load(seqs: list[int]) -> list[Column]:
            asked = bindings | {"seqs": seqs, "model": model}
            return [Column._make(one) for one in self._all(where.tenant, _named("columns", bindings), asked)]

        at = Place(where.tenant, where.agent, where.purpose, bindings.get("subject"), model)
        return self._cache.rows(at, passing, load, is_all=where.is_wide)

    def _found(self, tenant: str, bindings: dict[str, Any], terms: Sequence[str]) -> list[Found]:
        asked = bindings | {"terms": sorted(terms)}
        return [
            (term, msgspec.json.decode(seqs), msgspec.json.decode(counts))
            for term, seqs, counts in self._all(tenant, _named("postings", bindings), asked)
        ]

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

    def _rows(self, tenant: str, name: str, bindings: Bindings) -> list[Any]:
        return self._all(tenant, name, bindings)

    def _asked(self, tenant: str | None, name: str, bindings: Bindings) -> psycopg.Cursor[tuple[Any, ...]]:
        connection = self._open(tenant)
        if tenant is not None and tenant != self._tenant:
            connection.execute(one_tenant(tenant))
            self._tenant = tenant
        return connection.execute(SQL[name], bindings)


class LazyReading(PostgresReading):
    """A reading that takes a connection from the pool, and its snapshot, with its first question.

    Where a tenant's log ends is asked with that, in one round trip: nearly every reading wants to know.
    """

    def __init__(
        self,
        pool: ConnectionPool[Connection],
        cache: RowCache | None = None,
        *,
        analyser: str = "",
        standing: StandingRows | None = None,
    ) -> None:
        super().__init__(None, cache, analyser=analyser, standing=standing)
        self._pool = pool
        self._heads: dict[str, tuple[int, bytes]] = {}

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log."""
        connection = self._open(tenant)
        if tenant not in self._heads:
            self._heads[tenant] = _head_in(connection.execute(_entering(tenant), prepare=False))
            self._tenant = tenant
        return self._heads[tenant]

    def end(self) -> None:
        """Give the snapshot and the connection back, if any were taken."""
        if self._own is not None:
            connection, self._own, self._tenant = self._own, None, None
            self._heads.clear()
            try:
                connection.execute("COMMIT")
            finally:
                self._pool.putconn(connection)

    def _open(self, tenant: str | None) -> Connection:
        if self._own is None:
            begin = BEGIN if tenant is None else b"; ".join((BEGIN, _entering(tenant)))
            self._own, answer = self._at_once(begin)
            self._tenant = tenant
            if tenant is not None:
                self._heads[tenant] = _head_in(answer)
        return self._own

    def _at_once(self, statements: bytes) -> tuple[Connection, psycopg.Cursor[tuple[Any, ...]]]:
        """A connection that ran these; one that a restart of the server left dead is replaced."""
        for attempt in range(1, BEGIN_ATTEMPTS_MAX + 1):
            connection = self._pool.getconn()
            try:
                # All at once, which a prepared statement could not be.
                answer = connection.execute(statements, prepare=False)
            except psycopg.OperationalError:
                self._pool.putconn(connection)
                if attempt == BEGIN_ATTEMPTS_MAX:
                    raise
            except BaseException:
                self._pool.putconn(connection)
                raise
            else:
                return connection, answer
        raise AssertionError("the last attempt returns or raises")


@lru_cache(maxsize=TENANTS_KNOWN_MAX)
def _entering(tenant: str) -> bytes:
    """The statements that open a tenant to a transaction, and say where its log ends."""
    head = SQL["head"].encode().replace(b"%s", sql.Literal(tenant).as_bytes())
    return b"; ".join((one_tenant(tenant), head))


def _head_in(answer: psycopg.Cursor[tuple[Any, ...]]) -> tuple[int, bytes]:
    """Where a log ends, from the last of several answers."""
    while answer.nextset():
        continue
    return answer.fetchone() or (0, GENESIS)


def stored(row: Sequence[Any]) -> StoredEvent:
    """One row of the log."""
    return StoredEvent(row[0], row[1].encode(), row[2], row[3])


def _places(where: Filter) -> list[dict[str, Any]]:
    """What the statements that together answer a question are given: once for each subject, or for all.

    Two places may share a number in the search data: the filters on the memory's own row decide, so nothing
    is shown for it.
    """
    prefix = where.key_prefix
    common: dict[str, Any] = {
        "tenant": where.tenant,
        "agent": where.agent,
        "purpose": where.purpose,
        "boundary": place_number(where.agent, where.purpose),
        "now": where.now,
        "valid_at": where.true_at,
        "trust_min": where.trust_min,
        "written_from": where.written_from or 0,
        "written_until": FOREVER if where.written_until is None else where.written_until,
        "kinds": [str(kind) for kind in where.kinds] or None,
        "hidden": sorted(where.hidden) or None,
        "scopes": [f"{tier}:{name}" for tier, name in where.scopes] or None,
        "key_from": prefix,
        "key_until": None if prefix is None else prefix + LAST_CHARACTER,
    }
    if where.subjects is None:
        return [common]
    return [
        common | {"subject": subject, "subject_number": place_number(subject)}
        for subject in sorted(where.subjects)
    ]


def _named(question: str, bindings: Mapping[str, Any]) -> str:
    return f"{question}_of_subject" if "subject" in bindings else f"{question}_of_boundary"

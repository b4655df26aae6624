"""Reads of the embedded store, each from one consistent snapshot."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from queue import LifoQueue
from typing import Any, Final, NamedTuple
from uuid import UUID

import apsw
import msgspec

from tenure.core.boundary_rows import Column, Rows, Searched, no_rows, together
from tenure.core.candidates import Candidates, candidates_of
from tenure.core.errors import Unavailable
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
from tenure.stores.postings import Found, postings_in
from tenure.stores.queries import load_queries
from tenure.stores.row_cache import Passing, Place, RowCache
from tenure.stores.sqlite.incident_reading import SQL as INCIDENT_SQL
from tenure.stores.sqlite.incident_reading import IncidentReading
from tenure.stores.sqlite.truth_reading import SQL as TRUTH_SQL
from tenure.stores.sqlite.truth_reading import TruthReading
from tenure.stores.standing_rows import StandingRows, only_place
from tenure.usecases.ports import EndedScope, FirstAnswer, KeyedRows, Listing, StoredEvent, Unembedded

SQL: Final = load_queries("tenure.stores.sqlite") | INCIDENT_SQL | TRUTH_SQL
NOWHERE: Final = -1
"""The number of a boundary or subject that the search data does not know."""
LAST_CHARACTER: Final = "\U0010ffff"


class SqliteReading(IncidentReading, TruthReading):
    """The Reading port over one connection that has a read transaction open."""

    def __init__(self, connection: apsw.Connection, cache: RowCache | None = None) -> None:
        self._own = connection
        self._cache = cache if cache is not None else RowCache()

    @property
    def _connection(self) -> apsw.Connection:
        return self._own

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""
        row = self._one("first_answer", (tenant, key))
        return FirstAnswer(request=row[0], seq=row[1], outcome=row[2]) if row else None

    def answers(self, tenant: str, *, after: str, limit: int) -> list[tuple[str, FirstAnswer]]:
        """Idempotency keys behind this one, and what they stand for."""
        rows = self._all("answers", (tenant, after, limit))
        return [(row[0], FirstAnswer(request=row[1], seq=row[2], outcome=row[3])) for row in rows]

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory that can be read at all."""
        row = self._one("memory_row", (tenant, memory_id.bytes))
        return memory_row(row) if row else None

    def stream(self, tenant: str, stream: UUID) -> list[StoredEvent]:
        """The events of one memory or receipt, oldest first."""
        stored = [_stored(row) for row in self._all("stream", (tenant, stream.bytes))]
        return sorted(stored, key=lambda event: event.seq)

    def stream_version(self, tenant: str, stream: UUID) -> int:
        """The last version that the log has of a stream, 0 for none."""
        rows = self._all("stream_versions", (tenant, stream.bytes))
        return max((row[0] or 0 for row in rows), default=0)

    def event(self, tenant: str, seq: int) -> StoredEvent | None:
        """The event at a position."""
        row = self._one("event", (tenant, seq))
        return _stored(row) if row else None

    def log(self, tenant: str, *, after: int, limit: int) -> list[StoredEvent]:
        """Events behind a position, oldest first."""
        return [_stored(row) for row in self._all("log", (tenant, after, limit))]

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log."""
        row = self._one("head", (tenant,))
        return (row[0], row[1]) if row else (0, GENESIS)

    def tenants(self) -> list[str]:
        """Every tenant that has a log."""
        return [row[0] for row in self._all("tenants", ())]

    def listing(self, listing: Listing) -> list[MemoryRow]:
        """A page of memory rows, newest first."""
        bindings = msgspec.structs.asdict(listing)
        for side in ("agents", "purposes", "subjects"):
            bindings[side] = _listed(bindings[side])
        return [memory_row(row) for row in self._all("listing", bindings)]

    def search(self, where: Filter, terms: Sequence[str], model: str | None) -> Searched:
        """Every row that passes the filters, with its vector of this model, and where the terms stand."""
        boundary = self._one("boundary", (where.tenant, where.agent, where.purpose))
        number = boundary[0] if boundary is not None else NOWHERE
        places = [
            _Place(where, number, bindings, self._subject_number(where.tenant, bindings))
            for bindings in _places(where)
        ]
        parts = [self._rows_of(place, model) for place in places]
        rows = together(parts) if parts else no_rows(model)
        found = [one for place in places if terms for one in self._found(place, terms)]
        return Searched(rows, postings_in(rows, found))

    def at_hand(self, where: Filter, model: str, *, most: int) -> Candidates | None:
        """All that passes the filters, with its vectors; None for more than so many."""
        found = candidates_of(self.search(where, (), model).rows)
        return found if found.size <= most else None

    def unembedded(self, tenant: str, model: str, *, after: int, limit: int) -> list[Unembedded]:
        """Memories that are found by words and have no vector of this model, oldest first."""
        bindings = {"tenant": tenant, "model": model, "after": after, "limit": limit}
        return [
            Unembedded(created_seq=row[0], memory_id=UUID(bytes=row[1]), version=row[2])
            for row in self._all("unembedded", bindings)
        ]

    def models(self, tenant: str) -> dict[str, int]:
        """The models that a tenant's memories have vectors of, and how many of each."""
        return dict(self._all("models", {"tenant": tenant}))

    def subject_memories(self, tenant: str, subject: str) -> int:
        """How many memories of a subject stand, whatever their status."""
        return int(self._one("subject_memories", (tenant, subject))[0])

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection, 0 for none."""
        row = self._one("forgot_seq", (tenant,))
        return int(row[0]) if row else 0

    def floors(self, tenant: str, subject: str, targets: Sequence[tuple[str, str]]) -> list[FloorRow]:
        """The floors of these targets of a subject."""
        bindings = {"tenant": tenant, "subject": subject, "targets": json.dumps(targets)}
        return [FloorRow(*row) for row in self._all("floors", bindings)]

    def keyed(self, where: Filter, key_digest: bytes | None = None) -> list[MemoryRow]:
        """The rows with a key, or with this one, that pass the filters."""
        return [
            memory_row(row)
            for bindings in _places(where)
            for row in self._all(_named("keyed", bindings), bindings | {"key_digest": key_digest})
        ]

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""
        return [memory_row(row) for row in self._all("key_rows", msgspec.structs.astuple(wanted))]

    def ended_in_scope(self, place: tuple[str, ...]) -> list[MemoryRow]:
        """Rows of one scope whose memories have ended."""
        return [memory_row(row) for row in self._all("ended_in_scope", place)]

    def suppressions(self, tenant: str, subject: str, now: int) -> list[SuppressionRow]:
        """The forgets of leaves alone that hold now for a subject."""
        return [_suppression(row) for row in self._all("suppressions", (tenant, subject, now))]

    def suppression(self, tenant: str, forget_id: UUID) -> SuppressionRow | None:
        """A forget of a leaf alone that has not held yet."""
        row = self._one("suppression", (tenant, forget_id.bytes))
        return _suppression(row) if row else None

    def probes_due(self, now: int, limit: int) -> list[SuppressionRow]:
        """Forgets of any tenant that are to be probed by now."""
        return [_suppression(row) for row in self._all("probes_due", (now, limit))]

    def scopes_ended(self, now: int, limit: int) -> list[EndedScope]:
        """Task and session scopes of any tenant with memories that have ended, of subjects without a hold."""
        return [
            EndedScope(
                tenant=row[0], agent=row[1], purpose=row[2], subject=row[3], tier=row[4], scope_id=row[5]
            )
            for row in self._all("scopes_ended", (now, limit))
        ]

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""
        row = self._one("hold", (tenant, subject))
        return HoldRow(*row) if row else None

    def erasure(self, tenant: str, subject: str) -> ErasureRow | None:
        """The last erasure of a subject."""
        row = self._one("erasure", (tenant, subject))
        return _erasure(row) if row else None

    def erasures_begun(self) -> list[ErasureRow]:
        """Erasures of any tenant that have no certificate yet."""
        return [_erasure(row) for row in self._all("erasures_begun", ())]

    def subject_events(self, tenant: str, subject: str, *, after: int, limit: int) -> list[StoredEvent]:
        """The events about a subject behind a position, oldest first."""
        return [_stored(row) for row in self._all("subject_events", (tenant, subject, after, limit))]

    def subject_streams(self, tenant: str, subject: str, *, up_to_seq: int = FOREVER) -> list[UUID]:
        """Every memory that the subject ever had, in the order in which they were written."""
        return [UUID(bytes=row[0]) for row in self._all("subject_streams", (tenant, subject, up_to_seq))]

    def bodies_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many sealed bodies of a subject the log has up to a position."""
        return int(self._one("bodies_left", (tenant, subject, up_to_seq))[0])

    def words_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many memories of a subject, up to a position, are found by words."""
        return int(self._one("words_left", (tenant, subject, up_to_seq))[0])

    def standing(self, tenant: str, subject: str) -> frozenset[int]:
        """Where the memory rows of a subject lie in the log."""
        return frozenset(row[0] for row in self._all("standing", (tenant, subject)))

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
            "subjects": _listed(subjects),
            "before": FOREVER if before_seq is None else before_seq,
            "limit": limit,
            "kind": kind,
        }
        return [AlertRow(*row) for row in self._all("alerts", bindings)]

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential."""
        row = self._one("key", (tenant, key_id.bytes))
        return _key(row) if row else None

    def keys(self, tenant: str) -> list[KeyRow]:
        """Every credential of a tenant, oldest first."""
        return [_key(row) for row in self._all("keys", (tenant,))]

    def due(self, now: int, limit: int) -> list[MemoryRow]:
        """Rows of any tenant whose time has passed and that are not marked so."""
        return [memory_row(row) for row in self._all("due", (now, limit))]

    def _rows_of(self, place: "_Place", model: str | None) -> Rows:
        row = self._one(_named("passing", place.bindings), place.bindings | place.numbers)
        passing = Passing.of(msgspec.json.decode(row[0]), msgspec.json.decode(row[1]))
        where, subject = place.where, place.bindings.get("subject")

        def load(seqs: list[int]) -> list[Column]:
            asked = place.bindings | place.numbers | {"seqs": json.dumps(seqs), "model": model}
            return [_column(one) for one in self._all(_named("columns", place.bindings), asked)]

        at = Place(where.tenant, where.agent, where.purpose, subject, model)
        return self._cache.rows(at, passing, load, is_all=where.is_wide)

    def _found(self, place: "_Place", terms: Sequence[str]) -> list[Found]:
        asked = place.numbers | {"terms": _listed(terms)}
        return [
            (term, msgspec.json.decode(seqs), msgspec.json.decode(counts))
            for term, seqs, counts in self._all(_named("postings", place.bindings), asked)
        ]

    def _subject_number(self, tenant: str, bindings: dict[str, Any]) -> int:
        if "subject" not in bindings:
            return NOWHERE
        row = self._one("subject", (tenant, bindings["subject"]))
        return row[0] if row is not None else NOWHERE

    def _one(self, name: str, bindings: Any) -> Any:
        return self._connection.execute(SQL[name], bindings).fetchone()

    def _all(self, name: str, bindings: Any) -> list[Any]:
        return self._connection.execute(SQL[name], bindings).fetchall()

    def _rows(self, name: str, bindings: Any) -> list[Any]:
        return self._all(name, bindings)


class LazyReading(SqliteReading):
    """A reading that takes a connection from the pool, and its snapshot, with its first question."""

    def __init__(
        self,
        pool: "LifoQueue[apsw.Connection | None]",
        *,
        before_words: Callable[[], None],
        are_words_at_hand: Callable[[], bool],
        cache: RowCache | None = None,
        standing: StandingRows | None = None,
    ) -> None:
        self._cache = cache if cache is not None else RowCache()
        self._standing = standing
        # Before the snapshot begins, so that it has all that was stored by then.
        self._moment = standing.moment if standing is not None else 0
        self._pool = pool
        self._before_words = before_words
        self._are_words_at_hand = are_words_at_hand
        self._taken: apsw.Connection | None = None

    def search(self, where: Filter, terms: Sequence[str], model: str | None) -> Searched:
        """Every row that passes, what was just written among them, found by words and meaning too."""
        self._before_words()
        return super().search(where, terms, model)

    def at_hand(self, where: Filter, model: str, *, most: int) -> Candidates | None:
        """All that passes, what was just written among it; as kept, or read where nothing is.

        None where the index is behind, or for more than so many.
        """
        standing, place = self._standing, only_place(where, model)
        found = standing.candidates(place) if standing is not None and place is not None else None
        if found is None:
            if self._is_more_than(where, most) or not self._are_words_at_hand():
                return None
            rows = super().search(where, (), model).rows
            if standing is None or place is None:
                found = candidates_of(rows)
            else:
                found = standing.keep(place, rows, moment=self._moment)
        return found if found.size <= most else None

    def _is_more_than(self, where: Filter, most: int) -> bool:
        """Whether the subjects have so many memories that nobody should read them for this."""
        return any(self.subject_memories(where.tenant, one) > most for one in where.subjects or ())

    def unembedded(self, tenant: str, model: str, *, after: int, limit: int) -> list[Unembedded]:
        """Memories that have no vector of this model, what was just written among them."""
        self._before_words()
        return super().unembedded(tenant, model, after=after, limit=limit)

    def models(self, tenant: str) -> dict[str, int]:
        """The models that a tenant's memories have vectors of, those just written too."""
        self._before_words()
        return super().models(tenant)

    def words_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many memories of a subject, up to a position, are found by words, those just written too."""
        self._before_words()
        return super().words_left(tenant, subject, up_to_seq)

    def end(self) -> None:
        """Give the snapshot and the connection back, if any were taken."""
        if self._taken is not None:
            try:
                self._taken.execute("COMMIT")
            finally:
                self._pool.put(self._taken)
                self._taken = None

    @property
    def _connection(self) -> apsw.Connection:
        if self._taken is None:
            connection = self._pool.get()
            if connection is None:
                self._pool.put(None)
                raise Unavailable("this store is closed", hint="Open it again.")
            self._taken = connection
            self._taken.execute("BEGIN")
        return self._taken


def memory_row(row: tuple[Any, ...]) -> MemoryRow:
    """A row of the memory table, in the table's own order of columns."""
    return MemoryRow(row[0], row[1], UUID(bytes=row[2]), *row[3:])


def memory_bindings(row: MemoryRow) -> tuple[Any, ...]:
    """The inverse of memory_row."""
    values = msgspec.structs.astuple(row)
    return (*values[:2], row.memory_id.bytes, *values[3:])


class _Place(NamedTuple):
    """One of the places that a question is asked in: a subject of a boundary, or all of it."""

    where: Filter
    boundary: int
    bindings: dict[str, Any]
    subject_number: int

    @property
    def numbers(self) -> dict[str, Any]:
        """Under which numbers the search data keeps it."""
        return {"boundary": self.boundary, "subject_number": self.subject_number}


def _places(where: Filter) -> list[dict[str, Any]]:
    """What the statements that together answer a question are given: once for each subject, or for all."""
    prefix = where.key_prefix
    common: dict[str, Any] = {
        "tenant": where.tenant,
        "agent": where.agent,
        "purpose": where.purpose,
        "now": where.now,
        "valid_at": where.true_at,
        "trust_min": where.trust_min,
        "written_from": where.written_from or 0,
        "written_until": FOREVER if where.written_until is None else where.written_until,
        "kinds": _listed(where.kinds or None),
        "hidden": json.dumps(sorted(where.hidden)) if where.hidden else None,
        "scopes": _listed([f"{tier}:{name}" for tier, name in where.scopes] or None),
        "key_from": prefix,
        "key_until": None if prefix is None else prefix + LAST_CHARACTER,
    }
    if where.subjects is None:
        return [common]
    return [common | {"subject": subject} for subject in sorted(where.subjects)]


def _named(question: str, bindings: Mapping[str, Any]) -> str:
    return f"{question}_of_subject" if "subject" in bindings else f"{question}_of_boundary"


def _listed(values: Iterable[str] | None) -> str | None:
    return json.dumps(sorted(values)) if values is not None else None


def _column(row: Sequence[Any]) -> Column:
    return Column(row[0], UUID(bytes=row[1]), *row[2:])


def _stored(row: tuple[Any, ...]) -> StoredEvent:
    header = row[1].encode() if isinstance(row[1], str) else bytes(row[1])
    return StoredEvent(row[0], header, row[2], row[3])


def _suppression(row: tuple[Any, ...]) -> SuppressionRow:
    return SuppressionRow(row[0], UUID(bytes=row[1]), *row[2:])


def _erasure(row: tuple[Any, ...]) -> ErasureRow:
    return ErasureRow(row[0], row[1], UUID(bytes=row[2]), *row[3:])


def _key(row: tuple[Any, ...]) -> KeyRow:
    return KeyRow(row[0], UUID(bytes=row[1]), *row[2:])

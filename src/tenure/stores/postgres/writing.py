"""The write transaction of the PostgreSQL store: two round trips, whatever the batch holds (SPEC L8, L9).

The first locks the head row of each tenant, in order, and reads all that the batch will ask; the second
writes what was decided and commits. The lock on the head is what makes writers of many nodes take turns.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from tenure.core.boundary_rows import place_number
from tenure.core.ledger import GENESIS
from tenure.core.memory import STEP_OF
from tenure.core.rows import (
    Amendment,
    ContradictionRow,
    DropEdge,
    DropSubject,
    DropSuppression,
    EndContradiction,
    EndExamination,
    EndHold,
    EndRevocation,
    HoldRow,
    Index,
    KeyRow,
    MemoryRow,
    ProvenanceRow,
    PutBack,
    SearchChange,
    Unindex,
    UnindexSubject,
)
from tenure.stores.forgets import Recorded, forgets_among
from tenure.stores.found_by import NOTHING, Finder, Found, FoundBy
from tenure.stores.postgres.connecting import Connection, Tenancy, one_tenant
from tenure.stores.postgres.reading import SQL, PostgresReading
from tenure.stores.projecting import DROPPED_WITH_ROWS, DROPPED_WITH_SUBJECT, PUTS, Gathered, StoredRow
from tenure.usecases.ports import Append, FirstAnswer, KeyedRows

Moved = Mapping[str, tuple[int, int, bytes]]
"""Tenants whose logs grew: behind which position, up to which, and the link there."""


class PostgresTransaction:
    """The Transaction port over a connection whose transaction this opens."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.tenancy = Tenancy(connection)
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._answers: dict[tuple[str, str], FirstAnswer] = {}
        self._rows: dict[tuple[str, UUID], MemoryRow] = {}
        self._versions: dict[tuple[str, UUID], int] = {}
        self._keys: dict[tuple[str, UUID], KeyRow] = {}
        self._forgot: dict[str, int] = {}
        self.forgets: list[Recorded] = []

    def begin(self, items: Iterable[Append]) -> None:
        """Open the transaction, lock the heads and read what the items will ask, in one round trip."""
        wanted: dict[str, list[Append]] = {}
        for item in items:
            wanted.setdefault(item.tenant, []).append(item)
        with self._connection.pipeline():
            self._connection.execute("BEGIN")
            asked = [(tenant, self._ask(tenant, wanted[tenant])) for tenant in sorted(wanted)]
        # Answers are taken after the pipeline, whose end would be a round trip of its own behind them.
        for tenant, cursors in asked:
            self._learn(tenant, cursors)
        for tenant in sorted(wanted.keys() - self._heads.keys()):
            self._make_head(tenant)
            # What was read without the lock may have changed while another node made the head.
            self._learn(tenant, self._ask(tenant, wanted[tenant]))

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link, locked until the commit."""
        return self._heads.get(tenant, (0, GENESIS))

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""
        return self._answers.get((tenant, key))

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory."""
        return self._rows.get((tenant, memory_id))

    def stream_version(self, tenant: str, stream: UUID) -> int:
        """The last version that the log has of a stream."""
        return self._versions.get((tenant, stream), 0)

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential; one made in this very batch was written before it is asked for."""
        self.tenancy.enter(tenant)
        row = self._connection.execute(SQL["key"], (tenant, key_id)).fetchone()
        return KeyRow(*row) if row else None

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection."""
        return self._forgot.get(tenant, 0)

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""
        self.tenancy.enter(tenant)
        return PostgresReading(self._connection).hold(tenant, subject)

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""
        self.tenancy.enter(tenant)
        return PostgresReading(self._connection).contradiction(tenant, contradiction_id)

    def drop_subject(self, change: DropSubject) -> int:
        """Drop the memory rows of a subject; an erasure takes what stands beside them as well."""
        tenant, subject = change.tenant, change.subject
        self.tenancy.enter(tenant)
        if change.erases:
            for name in ("drop_values", "drop_derivations", "drop_suppressions"):
                self._connection.execute(SQL[name], (tenant, subject))
        else:
            bindings = {"tenant": tenant, "subject": subject, "seq": change.seq, "at": change.at}
            self._connection.execute(SQL["subject_values"], bindings)
        for name in DROPPED_WITH_SUBJECT:
            self._connection.execute(SQL[name], (tenant, subject))
        return self._connection.execute(SQL["drop_subject"], (tenant, subject)).rowcount

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""
        self.tenancy.enter(wanted.tenant)
        return PostgresReading(self._connection).key_rows(wanted)

    def ended_in_scope(self, tenant: str, place: tuple[str, ...]) -> list[MemoryRow]:
        """The rows of a scope whose memories have ended."""
        self.tenancy.enter(tenant)
        return PostgresReading(self._connection).ended_in_scope((tenant, *place))

    def drop_rows(self, tenant: str, rows: Sequence[MemoryRow]) -> None:
        """Drop these memory rows, and what says how they stand to others."""
        if not rows:
            return
        self.tenancy.enter(tenant)
        seqs, ids = [row.created_seq for row in rows], [row.memory_id for row in rows]
        with self._connection.pipeline():
            self._connection.execute(SQL["drop_rows"], (tenant, seqs))
            for name in DROPPED_WITH_ROWS:
                self._connection.execute(SQL[name], {"tenant": tenant, "ids": ids})

    def source_rows(self, tenant: str, source_type: str | None, source_id: str) -> list[MemoryRow]:
        """The rows of every memory that had text from a source, and of all that was made from those."""
        self.tenancy.enter(tenant)
        reading = PostgresReading(self._connection)
        found = reading.source_memories(tenant, source_type, source_id)
        return reading.rows_of(tenant, [one.memory_id for one in found])

    def amend(self, change: Amendment) -> None:
        """Carry out a change to rows that stand beside the memories."""
        self.tenancy.enter(change.tenant)
        match change:
            case DropSuppression():
                self._connection.execute(SQL["drop_suppression"], (change.tenant, change.forget_id))
            case PutBack():
                bindings = {
                    "tenant": change.tenant,
                    "forget_id": change.forget_id,
                    "probe_at": change.probe_at,
                }
                self._connection.execute(SQL["probe_again"], bindings)
            case EndHold():
                self._connection.execute(SQL["end_hold"], (change.tenant, change.subject))
            case EndRevocation():
                ended = (change.finished_seq, change.tenant, change.seq)
                self._connection.execute(SQL["end_revocation"], ended)
            case EndExamination():
                done = (change.done_seq, change.tenant, change.seq)
                self._connection.execute(SQL["end_examination"], done)
            case DropEdge():
                self._connection.execute(SQL["drop_edge"], (change.tenant, change.parent, change.child))
            case EndContradiction():
                decided = {
                    "tenant": change.tenant,
                    "contradiction_id": change.contradiction_id,
                    "seq": change.resolved_seq,
                    "kept": change.kept,
                }
                self._connection.execute(SQL["end_contradiction"], decided)

    def write(self, gathered: Gathered) -> None:
        """Store what gathered so far."""
        self.forgets += forgets_among(gathered.events)
        for tenant in sorted(
            {row.tenant for row in gathered.events} | {row.tenant for row in _views(gathered)}
        ):
            self.tenancy.enter(tenant)
            self._write(tenant, gathered)

    def moved(self, heads: Mapping[str, tuple[int, bytes]]) -> Moved:
        """The tenants whose logs grew, given where they end now."""
        before = {tenant: self.head(tenant)[0] for tenant in heads}
        return {
            tenant: (before[tenant], seq, link)
            for tenant, (seq, link) in heads.items()
            if seq > before[tenant]
        }

    def with_derived(self, tenant: str, memory_ids: Sequence[UUID]) -> list[MemoryRow]:
        """The rows of memories, of all that was made from them and of all that stands behind them."""
        self.tenancy.enter(tenant)
        bindings = {"tenant": tenant, "ids": list(memory_ids)}
        return [MemoryRow(*row) for row in self._connection.execute(SQL["with_derived"], bindings).fetchall()]

    def _make_head(self, tenant: str) -> None:
        """The head of a tenant that has none yet, for it to be locked as every other."""
        self.tenancy.enter(tenant)
        self._connection.execute(SQL["ensure_tenant"], {"tenant": tenant, "link": GENESIS})

    def _ask(self, tenant: str, items: Sequence[Append]) -> list[Any]:
        streams = _memories_of(items)
        keys = [item.idempotency.key for item in items if item.idempotency is not None]
        is_overtakable = any(item.forgot_seq is not None for item in items)
        execute = self._connection.execute
        self.tenancy.enter(tenant)
        return [
            execute(SQL["lock_head"], (tenant,)),
            execute(SQL["first_answers"], (tenant, keys)) if keys else None,
            execute(SQL["streams"], {"tenant": tenant, "streams": streams}) if streams else None,
            execute(SQL["forgot_seq"], (tenant,)) if is_overtakable and not streams else None,
        ]

    def _learn(self, tenant: str, cursors: list[Any]) -> None:
        head, answers, rows, forgot = (cursor.fetchall() if cursor is not None else [] for cursor in cursors)
        if head:
            self._heads[tenant] = (head[0][0], head[0][1])
        self._forgot[tenant] = forgot[0][0] if forgot else 0
        for key, request, seq, outcome in answers:
            self._answers[(tenant, key)] = FirstAnswer(request=request, seq=seq, outcome=outcome)
        for stream, version, floor, *row in rows:
            self._versions[(tenant, stream)] = version or 0
            self._forgot[tenant] = floor or 0
            if row[0] is not None:
                self._rows[(tenant, stream)] = MemoryRow(*row)

    def _write(self, tenant: str, gathered: Gathered) -> None:
        events = [row for row in gathered.events if row.tenant == tenant]
        memories = [row for row in gathered.memories.values() if row.tenant == tenant]
        sources = [row for row in gathered.beside if type(row) is ProvenanceRow and row.tenant == tenant]
        if events or memories:
            bindings = {
                "tenant": tenant,
                "events": _told([_event(row) for row in events]),
                "memories": _told(memories),
                "sources": _told(sources),
                "seq": events[-1].seq if events else None,
                "link": events[-1].link if events else None,
            }
            self._connection.execute(SQL["put_written"], bindings)
        for kind, name in PUTS.items():
            if kind is ProvenanceRow:
                continue
            rows = [row for row in gathered.beside if type(row) is kind and row.tenant == tenant]
            self._many(name, [_plain(row) for row in rows])
        self._many("put_key", [_plain(key) for key in gathered.keys if key.tenant == tenant])
        self._many(
            "put_answer",
            [
                (tenant, kept.idempotency.key, kept.idempotency.request, kept.seq, kept.idempotency.outcome)
                for kept in gathered.answers
                if kept.tenant == tenant
            ],
        )

    def _many(self, name: str, rows: list[tuple[Any, ...]]) -> None:
        if len(rows) == 1:
            self._connection.execute(SQL[name], rows[0])
        elif rows:
            self._connection.cursor().executemany(SQL[name], rows)


class PostgresWords:
    """Writes the word index, in the transaction that writes the events."""

    def __init__(self, connection: Connection, finder: Finder, tenancy: Tenancy | None = None) -> None:
        self._connection = connection
        self._finder = finder
        self._tenancy = tenancy or Tenancy(connection)

    def apply(self, changes: Iterable[Found], moved: Moved) -> None:
        """Make changes, and move the position of an index that was built up to where they begin.

        One that was not stays where it is, so that readers see that something is missing in it.
        """
        by_tenant: dict[str, list[Found]] = {tenant: [] for tenant in moved}
        for change, found in changes:
            by_tenant.setdefault(_tenant_of(change), []).append((change, found))
        for tenant, told in sorted(by_tenant.items()):
            self._tenancy.enter(tenant)
            documents = self._apply(tenant, told)
            if documents or tenant in moved:
                after, seq, _ = moved.get(tenant, (None, None, b""))
                bindings = {
                    "tenant": tenant,
                    "documents": _told(documents),
                    "model": self._finder.model,
                    "analyser": self._finder.analyser,
                    "after": after,
                    "seq": seq,
                }
                self._connection.execute(SQL["put_words"], bindings)

    def clear(self, tenant: str) -> None:
        """Start a tenant's index anew."""
        self._tenancy.enter(tenant)
        self._connection.execute(SQL["clear_postings"], (tenant,))
        self._connection.execute(SQL["clear_documents"], (tenant,))
        self._connection.execute(SQL["clear_vectors"], (tenant,))
        self._connection.execute(SQL["clear_built"], (tenant,))

    def _apply(self, tenant: str, changes: list[Found]) -> list[dict[str, Any]]:
        """Take out what goes; gives back what is to be put in."""
        waiting: dict[int, tuple[MemoryRow, FoundBy]] = {}
        gone: list[int] = []
        changed: list[int] = []
        for change, found in changes:
            match change:
                case Index(row=row):
                    if row.version > 1:
                        changed.append(row.created_seq)
                    waiting[row.created_seq] = (
                        row,
                        _with_key(found or NOTHING, waiting.get(row.created_seq)),
                    )
                case Unindex(row=row):
                    waiting.pop(row.created_seq, None)
                    gone.append(row.created_seq)
                case UnindexSubject(subject=subject, standing=standing):
                    for seq in [seq for seq, (row, _) in waiting.items() if row.subject == subject]:
                        if seq not in standing:
                            del waiting[seq]
                    self._drop_subject(tenant, subject, standing)
        # What is put in is put in at the end, so the order among what is taken out does not matter.
        self._drop(tenant, gone, changed)
        return [_document(row, found) for row, found in waiting.values()]

    def _drop(self, tenant: str, gone: list[int], changed: list[int]) -> None:
        """Drop what went, and of what changed all but the document, which keeps the key."""
        if gone or changed:
            bindings = {"tenant": tenant, "seqs": [*gone, *changed]}
            self._connection.execute(SQL["drop_postings"], bindings)
            self._connection.execute(SQL["drop_vectors"], bindings)
        if gone:
            self._connection.execute(SQL["drop_documents"], {"tenant": tenant, "seqs": gone})

    def _drop_subject(self, tenant: str, subject: str, standing: frozenset[int]) -> None:
        bindings = {"tenant": tenant, "subject": place_number(subject), "standing": sorted(standing)}
        self._connection.execute(SQL["drop_subject_postings"], bindings)
        self._connection.execute(SQL["drop_subject_vectors"], bindings)
        self._connection.execute(SQL["drop_subject_documents"], bindings)


def locked_reading(connection: Connection, tenant: str, *, analyser: str = "") -> PostgresReading:
    """A reading within a write transaction that has the tenant's head locked."""
    connection.execute(one_tenant(tenant))
    connection.execute(SQL["lock_head"], (tenant,)).fetchone()
    return PostgresReading(connection, analyser=analyser)


def _memories_of(items: Sequence[Append]) -> list[UUID]:
    """The memories whose rows and versions a batch asks for."""
    found = {need.memory_id for item in items for need in item.needs}
    for item in items:
        for sealed in item.events:
            if sealed.event.stream is not None and type(sealed.event.data) in STEP_OF:
                found.add(sealed.event.stream)
    return sorted(found)


def _told(rows: Sequence[Any]) -> str:
    """Rows as one value: the driver's own lists would cost the node more than all else of a statement."""
    return msgspec.json.encode(rows).decode()


def _event(row: StoredRow) -> dict[str, Any]:
    """One event as its statement takes it."""
    event = row.sealed.event
    return {
        "seq": row.seq,
        "stream": event.stream,
        "version": event.version,
        "subject": event.subject,
        "header": row.sealed.header.decode(),
        "body": row.sealed.body,
        "link": row.link,
    }


def _with_key(found: FoundBy, earlier: tuple[MemoryRow, FoundBy] | None) -> FoundBy:
    """What a changed memory is found by: a change that says no key leaves the one it had."""
    return found if found.key is not None or earlier is None else found._replace(key=earlier[1].key)


def _document(row: MemoryRow, found: FoundBy) -> dict[str, Any]:
    """What one memory is found by, as its statement takes it."""
    terms = sorted(found.words)
    return {
        "created_seq": row.created_seq,
        "boundary": place_number(row.agent, row.purpose),
        "subject": place_number(row.subject),
        "version": row.version,
        "key": found.key,
        "terms": terms,
        "counts": [found.words[term] for term in terms],
        "vector": found.vector,
    }


def _views(gathered: Gathered) -> list[Any]:
    return [*gathered.memories.values(), *gathered.beside, *gathered.keys, *gathered.answers]


def _plain(row: msgspec.Struct) -> tuple[Any, ...]:
    """A row's values, enums as the text that they are."""
    return tuple(str(value) if isinstance(value, str) else value for value in msgspec.structs.astuple(row))


def _tenant_of(change: SearchChange) -> str:
    return change.tenant if isinstance(change, UnindexSubject) else change.row.tenant

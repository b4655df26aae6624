"""The write transaction of the PostgreSQL store: two round trips, whatever the batch holds (SPEC L8, L9).

The first locks the head row of each tenant, in order, and reads all that the batch will ask; the second
writes what was decided and commits. The lock on the head is what makes writers of many nodes take turns.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from tenure.core.ledger import GENESIS
from tenure.core.memory import STEP_OF
from tenure.core.views import Index, KeyRow, MemoryRow, SearchChange, Unindex, UnindexSubject
from tenure.stores.forgets import Recorded, forgets_among
from tenure.stores.postgres.connecting import Connection, one_tenant
from tenure.stores.postgres.reading import SQL, PostgresReading, place_number
from tenure.stores.projecting import Gathered
from tenure.usecases.ports import Append, FirstAnswer

Moved = Mapping[str, tuple[int, int, bytes]]
"""Tenants whose logs grew: behind which position, up to which, and the link there."""


class PostgresTransaction:
    """The Transaction port over a connection whose transaction this opens."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._answers: dict[tuple[str, str], FirstAnswer] = {}
        self._rows: dict[tuple[str, UUID], MemoryRow] = {}
        self._versions: dict[tuple[str, UUID], int] = {}
        self._keys: dict[tuple[str, UUID], KeyRow] = {}
        self.forgets: list[Recorded] = []

    def begin(self, items: Iterable[Append]) -> None:
        """Open the transaction, lock the heads and read what the items will ask, in one round trip."""
        wanted: dict[str, list[Append]] = {}
        for item in items:
            wanted.setdefault(item.tenant, []).append(item)
        with self._connection.pipeline():
            self._connection.execute("BEGIN")
            asked = [(tenant, self._ask(tenant, wanted[tenant])) for tenant in sorted(wanted)]
            for tenant, cursors in asked:
                self._learn(tenant, cursors)

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
        self._connection.execute(one_tenant(tenant))
        row = self._connection.execute(SQL["key"], (tenant, key_id)).fetchone()
        return KeyRow(*row) if row else None

    def drop_subject(self, tenant: str, subject: str) -> int:
        """Drop the memory rows of a subject."""
        self._connection.execute(one_tenant(tenant))
        return self._connection.execute(SQL["drop_subject"], (tenant, subject)).rowcount

    def write(self, gathered: Gathered) -> None:
        """Store what gathered so far."""
        self.forgets += forgets_among(gathered.events)
        for tenant in sorted(
            {row.tenant for row in gathered.events} | {row.tenant for row in _views(gathered)}
        ):
            self._connection.execute(one_tenant(tenant))
            self._write(tenant, gathered)

    def heads(self, heads: dict[str, tuple[int, bytes]]) -> None:
        """Where the logs end now."""
        for tenant, (seq, link) in sorted(heads.items()):
            self._connection.execute(one_tenant(tenant))
            self._connection.execute(SQL["put_head"], {"tenant": tenant, "seq": seq, "link": link})

    def moved(self, heads: Mapping[str, tuple[int, bytes]]) -> Moved:
        """The tenants whose logs grew, given where they end now."""
        before = {tenant: self.head(tenant)[0] for tenant in heads}
        return {
            tenant: (before[tenant], seq, link)
            for tenant, (seq, link) in heads.items()
            if seq > before[tenant]
        }

    def _ask(self, tenant: str, items: Sequence[Append]) -> list[Any]:
        streams = _memories_of(items)
        keys = [item.idempotency.key for item in items if item.idempotency is not None]
        execute = self._connection.execute
        execute(one_tenant(tenant))
        execute(SQL["ensure_tenant"], {"tenant": tenant, "link": GENESIS})
        return [
            execute(SQL["lock_head"], (tenant,)),
            execute(SQL["first_answers"], (tenant, keys)) if keys else None,
            execute(SQL["memory_rows"], (tenant, streams)) if streams else None,
            execute(SQL["stream_versions"], (tenant, streams)) if streams else None,
        ]

    def _learn(self, tenant: str, cursors: list[Any]) -> None:
        head, answers, rows, versions = (
            cursor.fetchall() if cursor is not None else [] for cursor in cursors
        )
        if head:
            self._heads[tenant] = (head[0][0], head[0][1])
        for key, request, seq, outcome in answers:
            self._answers[(tenant, key)] = FirstAnswer(request=request, seq=seq, outcome=outcome)
        for row in rows:
            memory = MemoryRow(*row)
            self._rows[(tenant, memory.memory_id)] = memory
        for stream, version in versions:
            self._versions[(tenant, stream)] = version or 0

    def _write(self, tenant: str, gathered: Gathered) -> None:
        self._many(
            "put_event",
            [
                (
                    tenant,
                    row.seq,
                    row.sealed.event.stream,
                    row.sealed.event.version,
                    row.sealed.header.decode(),
                    row.sealed.body,
                    row.link,
                )
                for row in gathered.events
                if row.tenant == tenant
            ],
        )
        self._many("put_memory", [_plain(row) for row in gathered.memories.values() if row.tenant == tenant])
        self._many("put_floor", [_plain(row) for row in gathered.floors if row.tenant == tenant])
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

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def apply(self, changes: Iterable[tuple[SearchChange, Counter[str] | None]], moved: Moved) -> None:
        """Make changes, and move the position of an index that was built up to where they begin.

        One that was not stays where it is, so that readers see that something is missing in it.
        """
        by_tenant: dict[str, list[tuple[SearchChange, Counter[str] | None]]] = {
            tenant: [] for tenant in moved
        }
        for change, words in changes:
            by_tenant.setdefault(_tenant_of(change), []).append((change, words))
        for tenant, found in sorted(by_tenant.items()):
            self._connection.execute(one_tenant(tenant))
            self._apply(tenant, found)
            if tenant in moved:
                after, seq, _ = moved[tenant]
                self._connection.execute(SQL["put_built"], {"tenant": tenant, "after": after, "seq": seq})

    def clear(self, tenant: str) -> None:
        """Start a tenant's index anew."""
        self._connection.execute(one_tenant(tenant))
        self._connection.execute(SQL["clear_postings"], (tenant,))
        self._connection.execute(SQL["clear_documents"], (tenant,))
        self._connection.execute(SQL["clear_built"], (tenant,))

    def _apply(self, tenant: str, changes: list[tuple[SearchChange, Counter[str] | None]]) -> None:
        waiting: dict[int, tuple[MemoryRow, Counter[str]]] = {}
        for change, words in changes:
            match change:
                case Index(row=row):
                    if row.version > 1:
                        self._drop(tenant, row.created_seq)
                    waiting[row.created_seq] = (row, words or Counter())
                case Unindex(row=row):
                    waiting.pop(row.created_seq, None)
                    self._drop(tenant, row.created_seq)
                case UnindexSubject(subject=subject):
                    for seq in [seq for seq, (row, _) in waiting.items() if row.subject == subject]:
                        del waiting[seq]
                    self._drop_subject(tenant, subject)
        self._put(tenant, list(waiting.values()))

    def _put(self, tenant: str, documents: list[tuple[MemoryRow, Counter[str]]]) -> None:
        if not documents:
            return
        placed = [
            (row, place_number(row.agent, row.purpose), place_number(row.subject), sorted(words.items()))
            for row, words in documents
        ]
        self._connection.cursor().executemany(
            SQL["put_document"],
            [
                (tenant, row.created_seq, boundary, subject, [term for term, _ in words])
                for row, boundary, subject, words in placed
            ],
        )
        postings = [
            (boundary, term, subject, row.created_seq, count)
            for row, boundary, subject, words in placed
            for term, count in words
        ]
        if postings:
            self._connection.execute(SQL["put_postings"], (tenant, *map(list, zip(*postings, strict=True))))

    def _drop(self, tenant: str, created_seq: int) -> None:
        self._remove(tenant, self._connection.execute(SQL["documents"], (tenant, [created_seq])).fetchall())

    def _drop_subject(self, tenant: str, subject: str) -> None:
        found = self._connection.execute(SQL["documents_of_subject"], (tenant, place_number(subject)))
        self._remove(tenant, found.fetchall())

    def _remove(self, tenant: str, documents: list[tuple[Any, ...]]) -> None:
        for created_seq, boundary, subject, terms in documents:
            self._connection.execute(SQL["drop_postings"], (tenant, boundary, subject, created_seq, terms))
            self._connection.execute(SQL["drop_document"], (tenant, created_seq))


def locked_reading(connection: Connection, tenant: str) -> PostgresReading:
    """A reading within a write transaction that has the tenant's head locked."""
    connection.execute(one_tenant(tenant))
    connection.execute(SQL["lock_head"], (tenant,)).fetchone()
    return PostgresReading(connection)


def _memories_of(items: Sequence[Append]) -> list[UUID]:
    """The memories whose rows and versions a batch asks for."""
    found = {need.memory_id for item in items for need in item.needs}
    for item in items:
        for sealed in item.events:
            if sealed.event.stream is not None and type(sealed.event.data) in STEP_OF:
                found.add(sealed.event.stream)
    return sorted(found)


def _views(gathered: Gathered) -> list[Any]:
    return [*gathered.memories.values(), *gathered.floors, *gathered.keys, *gathered.answers]


def _plain(row: msgspec.Struct) -> tuple[Any, ...]:
    """A row's values, enums as the text that they are."""
    return tuple(str(value) if isinstance(value, str) else value for value in msgspec.structs.astuple(row))


def _tenant_of(change: SearchChange) -> str:
    return change.tenant if isinstance(change, UnindexSubject) else change.row.tenant

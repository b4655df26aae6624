"""The write transaction of the embedded store: what a batch may ask and do inside it (SPEC L8, L9)."""

import json
from collections.abc import Sequence
from uuid import UUID

import apsw
import msgspec

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
    KeyRow,
    MemoryRow,
    PutBack,
    SideRow,
)
from tenure.stores.forgets import Recorded, forgets_among
from tenure.stores.projecting import DROPPED_WITH_ROWS, DROPPED_WITH_SUBJECT, PUTS, Gathered
from tenure.stores.sqlite.reading import SQL, SqliteReading, memory_bindings, memory_row
from tenure.usecases.ports import FirstAnswer, KeyedRows


class SqliteTransaction:
    """The Transaction port over the writer's connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._reading = SqliteReading(connection)
        self.forgets: list[Recorded] = []

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link; locked, because the whole file is."""
        return self._reading.head(tenant)

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""
        return self._reading.first_answer(tenant, key)

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory."""
        return self._reading.memory_row(tenant, memory_id)

    def stream_version(self, tenant: str, stream: UUID) -> int:
        """The last version that the log has of a stream."""
        return self._reading.stream_version(tenant, stream)

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential."""
        return self._reading.key(tenant, key_id)

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection."""
        return self._reading.forgot_seq(tenant)

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""
        return self._reading.hold(tenant, subject)

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""
        return self._reading.contradiction(tenant, contradiction_id)

    def drop_subject(self, change: DropSubject) -> int:
        """Drop the memory rows of a subject; an erasure takes what stands beside them as well."""
        tenant, subject = change.tenant, change.subject
        if change.erases:
            for name in ("drop_values", "drop_derivations", "drop_suppressions"):
                self._connection.execute(SQL[name], (tenant, subject))
        else:
            bindings = {"tenant": tenant, "subject": subject, "seq": change.seq, "at": change.at}
            self._connection.execute(SQL["subject_values"], bindings)
        for name in DROPPED_WITH_SUBJECT:
            self._connection.execute(SQL[name], (tenant, subject))
        self._connection.execute(SQL["drop_subject"], (tenant, subject))
        return int(self._connection.changes())

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""
        return self._reading.key_rows(wanted)

    def ended_in_scope(self, tenant: str, place: tuple[str, ...]) -> list[MemoryRow]:
        """The rows of a scope whose memories have ended."""
        return self._reading.ended_in_scope((tenant, *place))

    def drop_rows(self, tenant: str, rows: Sequence[MemoryRow]) -> None:
        """Drop these memory rows, and what says how they stand to others."""
        if not rows:
            return
        self._many("drop_row", [(tenant, row.created_seq) for row in rows])
        ids = json.dumps([row.memory_id.hex for row in rows])
        for name in DROPPED_WITH_ROWS:
            self._connection.execute(SQL[name], {"tenant": tenant, "ids": ids})

    def source_rows(self, tenant: str, source_type: str | None, source_id: str) -> list[MemoryRow]:
        """The rows of every memory that had text from a source, and of all that was made from those."""
        found = self._reading.source_memories(tenant, source_type, source_id)
        return self._reading.rows_of(tenant, [one.memory_id for one in found])

    def amend(self, change: Amendment) -> None:
        """Carry out a change to rows that stand beside the memories."""
        match change:
            case DropSuppression():
                self._connection.execute(SQL["drop_suppression"], (change.tenant, change.forget_id.bytes))
            case PutBack():
                again = (change.probe_at, change.tenant, change.forget_id.bytes)
                self._connection.execute(SQL["probe_again"], again)
            case EndHold():
                self._connection.execute(SQL["end_hold"], (change.tenant, change.subject))
            case EndRevocation():
                bindings = (change.finished_seq, change.tenant, change.seq)
                self._connection.execute(SQL["end_revocation"], bindings)
            case EndExamination():
                bindings = (change.done_seq, change.tenant, change.seq)
                self._connection.execute(SQL["end_examination"], bindings)
            case DropEdge():
                edge = (change.tenant, change.parent.bytes, change.child.bytes)
                self._connection.execute(SQL["drop_edge"], edge)
            case EndContradiction():
                kept = change.kept.bytes if change.kept is not None else None
                decided = (change.resolved_seq, kept, change.tenant, change.contradiction_id.bytes)
                self._connection.execute(SQL["end_contradiction"], decided)

    def with_derived(self, tenant: str, memory_ids: Sequence[UUID]) -> list[MemoryRow]:
        """The rows of memories, of all that was made from them and of all that stands behind them."""
        ids = json.dumps([memory_id.hex for memory_id in memory_ids])
        rows = self._connection.execute(SQL["with_derived"], {"tenant": tenant, "ids": ids}).fetchall()
        return [memory_row(row) for row in rows]

    def heads(self, heads: dict[str, tuple[int, bytes]]) -> None:
        """Where the logs end now."""
        self._many("put_head", [(tenant, seq, link) for tenant, (seq, link) in heads.items()])

    def write(self, gathered: Gathered) -> None:
        """Store what gathered so far."""
        self.forgets += forgets_among(gathered.events)
        self._many(
            "put_event",
            [
                (
                    row.tenant,
                    row.seq,
                    row.sealed.event.stream.bytes if row.sealed.event.stream else None,
                    row.sealed.event.version,
                    row.sealed.event.subject,
                    row.sealed.header.decode(),
                    row.sealed.body,
                    row.link,
                )
                for row in gathered.events
            ],
        )
        self._many("put_memory", [memory_bindings(row) for row in gathered.memories.values()])
        for kind, name in PUTS.items():
            self._many(name, [_plain(row) for row in gathered.beside if type(row) is kind])
        self._many(
            "put_key",
            [
                (
                    key.tenant,
                    key.key_id.bytes,
                    key.name,
                    key.grants,
                    key.secret_hash,
                    key.created_at,
                    key.revoked_at,
                )
                for key in gathered.keys
            ],
        )
        self._many(
            "put_answer",
            [
                (
                    kept.tenant,
                    kept.idempotency.key,
                    kept.idempotency.request,
                    kept.seq,
                    kept.idempotency.outcome,
                )
                for kept in gathered.answers
            ],
        )

    def _many(self, name: str, rows: list[tuple[object, ...]]) -> None:
        if rows:
            self._connection.executemany(SQL[name], rows)


def _plain(row: SideRow) -> tuple[object, ...]:
    """A row's values, ids as their bytes."""
    values = msgspec.structs.astuple(row)
    return tuple(value.bytes if isinstance(value, UUID) else value for value in values)

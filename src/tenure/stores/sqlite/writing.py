"""The write transaction of the embedded store: what a batch may ask and do inside it (SPEC L8, L9)."""

from uuid import UUID

import apsw
import msgspec

from tenure.core.views import KeyRow, MemoryRow
from tenure.stores.forgets import Recorded, forgets_among
from tenure.stores.projecting import Gathered
from tenure.stores.sqlite.reading import SQL, SqliteReading, memory_bindings
from tenure.usecases.ports import FirstAnswer


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

    def drop_subject(self, tenant: str, subject: str) -> int:
        """Drop the memory rows of a subject."""
        self._connection.execute(SQL["drop_subject"], (tenant, subject))
        return int(self._connection.changes())

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
                    row.sealed.header.decode(),
                    row.sealed.body,
                    row.link,
                )
                for row in gathered.events
            ],
        )
        self._many("put_memory", [memory_bindings(row) for row in gathered.memories.values()])
        self._many("put_floor", [msgspec.structs.astuple(row) for row in gathered.floors])
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

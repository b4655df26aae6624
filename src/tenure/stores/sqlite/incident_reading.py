"""Reads about incidents and evidence: where memories came from and went to (SPEC I1, I2, E2)."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from tenure.core.rows import CONNECTOR, FOREVER, AlertRow, MemoryRow, PolicyRow, RevokedSourceRow
from tenure.stores.queries import load_queries
from tenure.usecases.ports import Checkpoint, Listing, SourceCounts, SourcedMemory, StoredEvent

SQL = load_queries("tenure.stores.sqlite", "incidents.sql")


class IncidentReading:
    """The part of the Reading port that incidents, proofs and time travel ask."""

    def source_memories(self, tenant: str, source_type: str | None, source_id: str) -> list[SourcedMemory]:
        """Every memory that had text from a source, and all that was made from those."""
        name = "connector_memories" if source_type == CONNECTOR else "source_memories"
        bindings = {"tenant": tenant, "source_type": source_type, "source_id": source_id}
        return [SourcedMemory(UUID(bytes=row[0]), row[1], row[2]) for row in self._rows(name, bindings)]

    def waiting(self, listing: Listing, *, after_seq: int) -> list[MemoryRow]:
        """A page of what waits in quarantine, that which waits longest first."""
        found = self._rows("waiting", _sides(listing) | {"after_seq": after_seq})
        return [MemoryRow(row[0], row[1], UUID(bytes=row[2]), *row[3:]) for row in found]

    def source_record(self, listing: Listing) -> SourceCounts:
        """How the memories that had text from a source fared."""
        return SourceCounts(*self._rows("source_record", _sides(listing))[0])

    def rows_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[MemoryRow]:
        """The rows of those of these memories that can be read at all."""
        found = self._rows("rows_of", {"tenant": tenant, "ids": _ids(memory_ids)})
        return [MemoryRow(row[0], row[1], UUID(bytes=row[2]), *row[3:]) for row in found]

    def shown_in(self, tenant: str, memory_ids: Iterable[UUID]) -> list[int]:
        """Where the receipts of the recalls lie that returned any of these memories."""
        found = self._rows("shown_in", {"tenant": tenant, "ids": _ids(memory_ids)})
        return sorted(row[0] for row in found)

    def recalls_of(self, tenant: str, memory_ids: Iterable[UUID], *, limit: int) -> tuple[int, list[UUID]]:
        """How many recalls returned any of these memories, and the receipts of the first of them."""
        found = self._rows("recalls_of", {"tenant": tenant, "ids": _ids(memory_ids), "limit": limit})
        return (found[0][0] if found else 0), [UUID(bytes=row[1]) for row in found]

    def used_in(self, tenant: str, memory_ids: Iterable[UUID]) -> list[tuple[int, int]]:
        """Where the reports of responses lie that used any of these, and how many tool calls each has."""
        return sorted(self._rows("used_in", {"tenant": tenant, "ids": _ids(memory_ids)}))

    def displaced(self, tenant: str, memory_ids: Iterable[UUID]) -> list[UUID]:
        """The memories whose places any of these took."""
        found = self._rows("displaced", {"tenant": tenant, "ids": _ids(memory_ids)})
        return [UUID(bytes=row[0]) for row in found]

    def events_at(self, tenant: str, seqs: Sequence[int]) -> list[StoredEvent]:
        """The events at these positions, oldest first."""
        found = self._rows("events_at", {"tenant": tenant, "seqs": json.dumps(list(seqs))})
        return [StoredEvent(row[0], row[1].encode(), row[2], row[3]) for row in found]

    def events_of(self, tenant: str, streams: Iterable[UUID]) -> list[StoredEvent]:
        """The events of these memories, oldest first."""
        found = self._rows("events_of", {"tenant": tenant, "ids": _ids(streams)})
        return [StoredEvent(row[0], row[1].encode(), row[2], row[3]) for row in sorted(found)]

    def revoked_source(self, tenant: str, source_type: str | None, source_id: str) -> RevokedSourceRow | None:
        """The last revocation of exactly this source."""
        found = self._rows("revoked_source", (tenant, source_type or "", source_id))
        return RevokedSourceRow(*found[0]) if found else None

    def revocations_begun(self, tenant: str | None = None) -> list[RevokedSourceRow]:
        """Revocations, of any tenant or of one, some of whose memories have no event of it yet."""
        return [RevokedSourceRow(*row) for row in self._rows("revocations_begun", {"tenant": tenant})]

    def policy(self, tenant: str) -> PolicyRow | None:
        """The policy that was switched on last."""
        found = self._rows("policy", (tenant,))
        return PolicyRow(*found[0]) if found else None

    def memories_ever(
        self, tenant: str, agent: str, purpose: str, *, subjects: Iterable[str] | None, limit: int
    ) -> list[UUID]:
        """Every memory that there ever was in a boundary, whether or not it can be read now, oldest first."""
        bindings = {
            "tenant": tenant,
            "agent": agent,
            "purpose": purpose,
            "subjects": json.dumps(sorted(subjects)) if subjects is not None else None,
            "limit": limit,
        }
        return [UUID(bytes=row[0]) for row in self._rows("memories_ever", bindings)]

    def memory_page(self, tenant: str, *, after: int, limit: int) -> list[MemoryRow]:
        """Memory rows of a tenant behind a position, oldest first, whatever their status."""
        found = self._rows("memory_page", (tenant, after, limit))
        return [MemoryRow(row[0], row[1], UUID(bytes=row[2]), *row[3:]) for row in found]

    def links(self, tenant: str, *, after: int, limit: int) -> list[bytes]:
        """The links of events behind a position, oldest first."""
        return [row[0] for row in self._rows("links", (tenant, after, limit))]

    def tree_blocks(self, tenant: str) -> list[bytes]:
        """The roots of the full blocks of a tenant's Merkle tree that were kept, in order."""
        return [row[0] for row in self._rows("tree_blocks", (tenant,))]

    def checkpoints(self, tenant: str, *, below: int = FOREVER, limit: int) -> list[Checkpoint]:
        """What was signed of a tenant's log, the largest first."""
        return [Checkpoint(*row) for row in self._rows("checkpoints", (tenant, below, limit))]

    def alerts_behind(self, tenant: str, *, after: int, limit: int) -> list[AlertRow]:
        """Alerts behind a position, oldest first."""
        return [AlertRow(*row) for row in self._rows("alerts_behind", (tenant, after, limit))]

    def progress(self, name: str, tenant: str) -> int:
        """How far a worker got in a tenant's log; 0 where it never began."""
        found = self._rows("progress", (name, tenant))
        return int(found[0][0]) if found else 0

    def _rows(self, name: str, bindings: Any) -> list[Any]:
        raise NotImplementedError


def _ids(memory_ids: Iterable[UUID]) -> str:
    return json.dumps([memory_id.hex for memory_id in memory_ids])


def _sides(listing: Listing) -> dict[str, Any]:
    """A listing as a statement takes it."""
    sides = msgspec.structs.asdict(listing)
    for name in ("agents", "purposes", "subjects"):
        sides[name] = json.dumps(sorted(sides[name])) if sides[name] is not None else None
    return sides

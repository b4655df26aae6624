"""Steps 5 and 6 for a batch, whatever the engine: check, chain, project (SPEC L8, L9, E1, E2).

The engine opens one transaction, feeds the items in order, writes what gathered, and commits. Laws: an item
is kept
whole or not at all; the idempotency key is looked up before the version, or a retry of a success would be
answered
"stale"; positions are dense; an item sees what the items before it in the batch did.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from tenure.core import ledger, views
from tenure.core.events import Event, MemoryForgotten, Revoked
from tenure.core.memory import STEP_OF
from tenure.core.rows import REVOKING, MemoryRow, Unindex
from tenure.core.truth_events import ContradictionResolved, Pruned
from tenure.stores.found_by import Found, FoundBy
from tenure.stores.projecting import KeptAnswer, Projection, StoredRow, Transaction, lays_floors
from tenure.usecases.ports import (
    Append,
    Appended,
    AppendResult,
    FirstAnswer,
    Mismatched,
    Overtaken,
    Replayed,
    Stale,
)


class Batch:
    """One transaction's worth of items."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._projection = Projection(transaction)
        self._first: dict[tuple[str, str], FirstAnswer] = {}
        self.heads: dict[str, tuple[int, bytes]] = {}
        self.forgot: dict[str, int] = {}
        self.search: list[Found] = []
        self.moved: list[MemoryRow] = []
        """Rows that changed while nothing changed of what they are found by."""
        self.withdrawn: set[str] = set()
        """Tenants in which something was put out of reads for good, or whose source was revoked."""

    def add(self, item: Append, found_by: Sequence[FoundBy | None]) -> AppendResult:
        """Check an item and gather its rows; a result that is not Appended left nothing behind."""
        replayed = self._replayed(item)
        if replayed is not None:
            return replayed
        overtaken = self._overtaken(item)
        if overtaken is not None:
            return overtaken
        stale = self._stale(item)
        if stale is not None:
            return stale
        return self._gather(item, found_by)

    def finish(self) -> None:
        """Write what is still gathered."""
        self._projection.write()

    def _replayed(self, item: Append) -> Replayed | Mismatched | None:
        if item.idempotency is None:
            return None
        place = (item.tenant, item.idempotency.key)
        first = self._first.get(place) or self._transaction.first_answer(*place)
        if first is None:
            return None
        return Replayed(first) if first.request == item.idempotency.request else Mismatched()

    def _overtaken(self, item: Append) -> Overtaken | None:
        """Whether something was forgotten or rejected after the item was decided on (SPEC F4a)."""
        if item.forgot_seq is None:
            return None
        current = self._forgot_seq(item.tenant)
        return Overtaken(forgot_seq=current) if current > item.forgot_seq else None

    def _forgot_seq(self, tenant: str) -> int:
        if tenant not in self.forgot:
            self.forgot[tenant] = self._transaction.forgot_seq(tenant)
        return self.forgot[tenant]

    def _stale(self, item: Append) -> Stale | None:
        for need in item.needs:
            row = self._projection.row(item.tenant, need.memory_id)
            if row is None or row.version != need.version:
                return Stale(
                    memory_id=need.memory_id, expected=need.version, current=row.version if row else 0
                )
        moved: dict[UUID, int] = {}
        for sealed in item.events:
            event = sealed.event
            if event.stream is not None and self._is_settled(event, event.stream):
                return Stale(memory_id=event.stream, expected=0, current=1)
            if type(event.data) not in STEP_OF or event.stream is None or event.version is None:
                continue
            current = moved.get(event.stream) or self._version(item.tenant, event.stream)
            moved[event.stream] = event.version
            if current != event.version - 1 or self._is_withdrawn(event) or self._is_kept(event):
                return Stale(memory_id=event.stream, expected=event.version - 1, current=abs(current))
        return None

    def _is_withdrawn(self, event: Event) -> bool:
        """Whether the memory's source was revoked after this was decided: it is decided again (SPEC I1)."""
        if event.stream is None or isinstance(event.data, Revoked | MemoryForgotten):
            return False
        row = self._projection.row(event.tenant, event.stream)
        return row is not None and row.status == REVOKING

    def _is_kept(self, event: Event) -> bool:
        """Whether a legal hold was placed after it was decided that nobody needs the memory (SPEC F10)."""
        return isinstance(event.data, Pruned) and self._projection.is_held(event.tenant, event.subject or "")

    def _is_settled(self, event: Event, stream: UUID) -> bool:
        """Whether somebody else decided on a contradiction first: it is decided on once (SPEC T3)."""
        if not isinstance(event.data, ContradictionResolved):
            return False
        row = self._transaction.contradiction(event.tenant, stream)
        return row is not None and row.resolved_seq > 0

    def _version(self, tenant: str, stream: UUID) -> int:
        row = self._projection.row(tenant, stream)
        return row.version if row is not None else -self._transaction.stream_version(tenant, stream)

    def _gather(self, item: Append, found_by: Sequence[FoundBy | None]) -> Appended:
        seq, link = self.heads.get(item.tenant) or self._transaction.head(item.tenant)
        first, dropped = seq + 1 if item.events else 0, 0
        for sealed, found in zip(item.events, found_by, strict=True):
            seq += 1
            link = ledger.link(link, seq, sealed.header)
            self._projection.gathered.events.append(StoredRow(item.tenant, seq, sealed, link))
            projected = self._projection.take(sealed.event, seq)
            dropped += projected.dropped
            if lays_floors(sealed.event):
                self.forgot[item.tenant] = seq
                self.withdrawn.add(item.tenant)
            change = views.search_change(sealed.event, projected.row)
            if change is not None:
                self.search.append((change, found))
            elif projected.row is not None:
                self.moved.append(projected.row)
            self.search += [(Unindex(row), None) for row in projected.gone]
        self.heads[item.tenant] = (seq, link)
        appended = Appended(seq=first, dropped=dropped)
        if item.idempotency is not None:
            kept = item.idempotency
            if item.outcome is not None:
                kept = msgspec.structs.replace(kept, outcome=item.outcome(appended))
            self._projection.gathered.answers.append(KeptAnswer(item.tenant, first, kept))
            self._first[(item.tenant, kept.key)] = FirstAnswer(
                request=kept.request, seq=first, outcome=kept.outcome
            )
        return appended

"""Projecting events into the views, whatever the engine: rows gather and are written together (SPEC E1)."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import msgspec

from tenure.core import views
from tenure.core.access_events import KeyRevoked
from tenure.core.events import LAYS_FLOORS, Event, MemoryForgotten
from tenure.core.memory import REVOCABLE, STEP_OF
from tenure.core.rows import (
    REVOKING,
    AlertRow,
    Amendment,
    ContradictionRow,
    DerivationRow,
    Drop,
    DropEnded,
    DropKeyed,
    DropMemory,
    DropPruned,
    DropSubject,
    EndHold,
    ErasureRow,
    FloorRow,
    HoldRow,
    KeyRow,
    MemoryRow,
    PolicyRow,
    ProvenanceRow,
    Put,
    RevokedSourceRow,
    Row,
    ShownRow,
    SideRow,
    SupportRow,
    SuppressionRow,
    ThingRow,
    UsedRow,
    Withdraw,
)
from tenure.core.scopes import Place, covers
from tenure.usecases.ports import FirstAnswer, Idempotency, KeyedRows, SealedEvent

PUTS: Final[dict[type, str]] = {
    FloorRow: "put_floor",
    SuppressionRow: "put_suppression",
    HoldRow: "put_hold",
    ErasureRow: "put_erasure",
    DerivationRow: "put_derivation",
    AlertRow: "put_alert",
    ProvenanceRow: "put_provenance",
    ShownRow: "put_shown",
    UsedRow: "put_used",
    RevokedSourceRow: "put_revoked_source",
    PolicyRow: "put_policy",
    ThingRow: "put_thing",
    SupportRow: "put_support",
    ContradictionRow: "put_contradiction",
}
"""The statement that puts each kind of row."""

DROPPED_WITH_SUBJECT: Final = (
    "drop_things_of_subject",
    "drop_support_of_subject",
    "drop_contradictions_of_subject",
    "drop_backing_of_subject",
)
"""The statements that take what a subject's memories claim, and how they stand to one another."""

DROPPED_WITH_ROWS: Final = (
    "drop_things_of",
    "drop_support_of",
    "drop_contradictions_of",
    "drop_backing_from",
    "drop_backing_by",
)
"""The statements that take the same of memories that go one by one."""

Selected = DropMemory | DropKeyed | DropEnded | DropPruned

Located = tuple[str, UUID]


class Transaction(Protocol):
    """What an engine's open transaction can say and do."""

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log, locked until the commit."""

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory."""

    def stream_version(self, tenant: str, stream: UUID) -> int:
        """The last version that the log has of a stream, 0 for none."""

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential."""

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection, 0 for none."""

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""

    def contradiction(self, tenant: str, contradiction_id: UUID) -> ContradictionRow | None:
        """A contradiction, whether or not a person has decided."""

    def write(self, gathered: "Gathered") -> None:
        """Store what gathered so far."""

    def drop_subject(self, change: DropSubject) -> int:
        """Drop a subject's memory rows, laying the floors of their values; gives back how many there were."""

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""

    def with_derived(self, tenant: str, memory_ids: Sequence[UUID]) -> list[MemoryRow]:
        """The rows of memories, of all that was made from them and of all that stands behind them."""

    def source_rows(self, tenant: str, source_type: str | None, source_id: str) -> list[MemoryRow]:
        """The rows of every memory that had text from a source, and of all that was made from those."""

    def ended_in_scope(self, tenant: str, place: tuple[str, ...]) -> list[MemoryRow]:
        """The rows of a scope whose memories have ended: by subject, agent, purpose, tier and id."""

    def drop_rows(self, tenant: str, rows: Sequence[MemoryRow]) -> None:
        """Drop these memory rows, and what says how they stand to others."""

    def amend(self, change: Amendment) -> None:
        """Carry out a change to rows that stand beside the memories."""


class StoredRow(NamedTuple):
    """One event as it goes into the log."""

    tenant: str
    seq: int
    sealed: SealedEvent
    link: bytes


class KeptAnswer(NamedTuple):
    """What an idempotency key stands for from now on."""

    tenant: str
    seq: int
    idempotency: Idempotency


class Gathered:
    """Rows that wait to be written, in the order in which they came."""

    def __init__(self) -> None:
        self.events: list[StoredRow] = []
        self.memories: dict[tuple[str, int], MemoryRow] = {}
        self.beside: list[SideRow] = []
        self.keys: list[KeyRow] = []
        self.answers: list[KeptAnswer] = []

    def put(self, row: Row) -> None:
        """Gather a row of any kind."""
        if isinstance(row, MemoryRow):
            self.memories[(row.tenant, row.created_seq)] = row
        elif isinstance(row, KeyRow):
            self.keys.append(row)
        else:
            self.beside.append(row)


class Projected(NamedTuple):
    """What an event did: the memory's row after it, how many rows were dropped, and which, where few were."""

    row: MemoryRow | None
    dropped: int
    gone: tuple[MemoryRow, ...] = ()


def keyed_in(rows: Sequence[MemoryRow], places: Sequence[str]) -> list[UUID]:
    """Those of the memories with a key that lie in one of the places."""
    floors = [Place.read(text) for text in places]
    return [
        row.memory_id
        for row in rows
        if any(covers(floor, Place(row.scope_tier, row.scope_id)) for floor in floors)
    ]


def lays_floors(event: Event) -> bool:
    """Whether a write that was decided on before this event has to be decided on again."""
    return isinstance(event.data, LAYS_FLOORS)


class Projection:
    """Carries rows from event to event and gathers what is to be written."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._rows: dict[Located, MemoryRow | None] = {}
        self._holds: dict[tuple[str, str], bool] = {}
        self.gathered = Gathered()

    def row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory as all events before left it."""
        place = (tenant, memory_id)
        if place not in self._rows:
            self._rows[place] = self._transaction.memory_row(tenant, memory_id)
        return self._rows[place]

    def is_held(self, tenant: str, subject: str) -> bool:
        """Whether a subject is under a legal hold as all events before left it."""
        place = (tenant, subject)
        if place not in self._holds:
            self._holds[place] = self._transaction.hold(tenant, subject) is not None
        return self._holds[place]

    def take(self, event: Event, seq: int) -> Projected:
        """One more event, at its position."""
        kind = type(event.data)
        moves = kind in STEP_OF and event.version != 1 and kind is not MemoryForgotten
        before = self.row(event.tenant, event.stream) if moves and event.stream else None
        row: MemoryRow | None = None
        dropped = 0
        gone: tuple[MemoryRow, ...] = ()
        for change in views.project(event, seq, before):
            match change:
                case Put(row=put):
                    self.gathered.put(put)
                    if isinstance(put, MemoryRow):
                        row = self._rows[(put.tenant, put.memory_id)] = put
                    elif isinstance(put, HoldRow):
                        self._holds[(put.tenant, put.subject)] = True
                case _:
                    dropped, gone = self._carry_out(change)
        if kind is KeyRevoked:
            self._end_key(event)
        return Projected(row, dropped, gone)

    def write(self) -> None:
        """Write what gathered."""
        self._transaction.write(self.gathered)
        self.gathered = Gathered()

    def let_go(self) -> None:
        """Forget the rows kept at hand, so that a long replay stays small."""
        self._rows.clear()

    def _carry_out(self, change: Drop | Amendment | Withdraw) -> tuple[int, tuple[MemoryRow, ...]]:
        """A change that asks what stands: all that gathered before is written first."""
        self.write()
        match change:
            case DropSubject():
                for place, row in self._rows.items():
                    if row is not None and place[0] == change.tenant and row.subject == change.subject:
                        self._rows[place] = None
                return self._transaction.drop_subject(change), ()
            case DropMemory() | DropKeyed() | DropEnded() | DropPruned():
                return self._drop_selected(change)
            case Withdraw():
                return self._withdraw(change), ()
            case EndHold():
                self._holds[(change.tenant, change.subject)] = False
                self._transaction.amend(change)
            case _:
                self._transaction.amend(change)
        return 0, ()

    def _withdraw(self, change: Withdraw) -> int:
        """Mark the rows of a source's memories, so that no read finds them before each has its own event."""
        found = self._transaction.source_rows(change.tenant, change.source_type, change.source_id)
        reached = [row for row in found if row.status in REVOCABLE]
        for row in reached:
            marked = msgspec.structs.replace(row, status=REVOKING)
            self.gathered.put(marked)
            self._rows[(row.tenant, row.memory_id)] = marked
        return len(reached)

    def _drop_selected(self, change: Selected) -> tuple[int, tuple[MemoryRow, ...]]:
        gone = self._selected(change)
        self._transaction.drop_rows(change.tenant, gone)
        for row in gone:
            self._rows[(row.tenant, row.memory_id)] = None
            if not isinstance(change, DropEnded | DropPruned):
                floor = views.value_floor(row, change.seq, change.at)
                self.gathered.beside += [floor] if floor is not None else []
        return len(gone), tuple(gone)

    def _selected(self, change: Selected) -> list[MemoryRow]:
        """The memory rows that a change takes, with those derived from them where it is a forgetting."""
        asked = self._transaction
        match change:
            case DropMemory():
                return asked.with_derived(change.tenant, [change.memory_id])
            case DropKeyed():
                wanted = KeyedRows(
                    tenant=change.tenant,
                    agent=change.agent,
                    purpose=change.purpose,
                    subject=change.subject,
                    key_digest=change.key_digest,
                )
                return asked.with_derived(change.tenant, keyed_in(asked.key_rows(wanted), change.places))
            case DropPruned():
                pruned = self.row(change.tenant, change.memory_id)
                return [pruned] if pruned is not None else []
            case DropEnded():
                sides = (change.subject, change.agent, change.purpose)
                return asked.ended_in_scope(change.tenant, (*sides, change.tier, change.scope_id))

    def _end_key(self, event: Event) -> None:
        if isinstance(event.data, KeyRevoked):
            self.write()
            row = self._transaction.key(event.tenant, event.data.key_id)
            if row is not None:
                self.gathered.keys.append(views.revoked_key(event, row))

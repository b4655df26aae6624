"""Projecting events into the views, whatever the engine: rows gather and are written together (SPEC E1)."""

from typing import NamedTuple, Protocol
from uuid import UUID

from tenure.core import views
from tenure.core.events import Event, KeyRevoked
from tenure.core.memory import STEP_OF
from tenure.core.views import DropSubject, FloorRow, KeyRow, MemoryRow, Put
from tenure.usecases.ports import FirstAnswer, Idempotency, SealedEvent

Place = tuple[str, UUID]


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

    def write(self, gathered: "Gathered") -> None:
        """Store what gathered so far."""

    def drop_subject(self, tenant: str, subject: str) -> int:
        """Drop the memory rows of a subject; gives back how many there were."""


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
        self.floors: list[FloorRow] = []
        self.keys: list[KeyRow] = []
        self.answers: list[KeptAnswer] = []


class Projected(NamedTuple):
    """What an event did: the memory's row after it, and how many rows a forgetting dropped."""

    row: MemoryRow | None
    dropped: int


class Projection:
    """Carries rows from event to event and gathers what is to be written."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._rows: dict[Place, MemoryRow | None] = {}
        self.gathered = Gathered()

    def row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory as all events before left it."""
        place = (tenant, memory_id)
        if place not in self._rows:
            self._rows[place] = self._transaction.memory_row(tenant, memory_id)
        return self._rows[place]

    def take(self, event: Event, seq: int) -> Projected:
        """One more event, at its position."""
        moves = event.stream is not None and event.version != 1 and type(event.data) in STEP_OF
        before = self.row(event.tenant, event.stream) if moves and event.stream else None
        row: MemoryRow | None = None
        dropped = 0
        match views.project(event, seq, before):
            case Put(MemoryRow() as changed):
                row = changed
                self._rows[(row.tenant, row.memory_id)] = row
                self.gathered.memories[(row.tenant, row.created_seq)] = row
            case Put(KeyRow() as key):
                self.gathered.keys.append(key)
            case DropSubject(tenant=tenant, subject=subject):
                dropped = self._drop(tenant, subject)
            case _:
                self._end_key(event)
        floor = views.floor(event, seq)
        if floor is not None:
            self.gathered.floors.append(floor)
        return Projected(row, dropped)

    def write(self) -> None:
        """Write what gathered."""
        self._transaction.write(self.gathered)
        self.gathered = Gathered()

    def let_go(self) -> None:
        """Forget the rows kept at hand, so that a long replay stays small."""
        self._rows.clear()

    def _drop(self, tenant: str, subject: str) -> int:
        self.write()
        for place, row in self._rows.items():
            if row is not None and place[0] == tenant and row.subject == subject:
                self._rows[place] = None
        return self._transaction.drop_subject(tenant, subject)

    def _end_key(self, event: Event) -> None:
        if isinstance(event.data, KeyRevoked):
            self.write()
            row = self._transaction.key(event.tenant, event.data.key_id)
            if row is not None:
                self.gathered.keys.append(views.revoked_key(event, row))

"""What the use cases need of the world, in words of meaning, never of SQL."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

import msgspec

from tenure.core.decision import Needs
from tenure.core.events import Event
from tenure.core.identity import Moment
from tenure.core.rows import (
    FOREVER,
    AlertRow,
    ErasureRow,
    FloorRow,
    HoldRow,
    KeyRow,
    MemoryRow,
    PolicyRow,
    RevokedSourceRow,
    SuppressionRow,
)
from tenure.usecases.embedding_ports import MadeVectors
from tenure.usecases.searching import Searching
from tenure.usecases.truth_ports import TruthReading


class Clock(Protocol):
    """Time and chance, which the core never reads for itself."""

    def moment(self) -> Moment:
        """Now, with one fresh id."""

    def now(self) -> datetime:
        """The time, in UTC."""

    def secret(self, size_bytes: int) -> bytes:
        """Unguessable bytes."""


class Keyring(Protocol):
    """Keys that seal content, one per (tenant, subject); durable before anything sealed under them is."""

    def ensure(self, subjects: Sequence[tuple[str, str]]) -> None:
        """Make durable keys for these (tenant, subject) pairs where there are none, in one step."""

    def seal(self, tenant: str, subject: str, plaintext: bytes, context: bytes) -> tuple[UUID, bytes]:
        """Seal under the subject's key; gives the key's id and the sealed bytes."""

    def open(self, tenant: str, subject: str, dek: UUID, sealed: bytes, context: bytes) -> bytes | None:
        """The plaintext, or None when the key is gone. Raises ValueError when the bytes were altered."""

    def key_ids(self, tenant: str, subject: str) -> tuple[UUID, ...]:
        """The ids of a subject's keys, retired ones as well."""

    def retire(self, tenant: str, subject: str) -> tuple[UUID, ...]:
        """Seal nothing more under a subject's keys; what was sealed still opens. Gives back their ids."""

    def destroy(self, tenant: str, subject: str, keys: Sequence[UUID]) -> int:
        """Destroy keys for good, durably; gives back how many were there."""

    def let_go(self, tenant: str) -> None:
        """Read a tenant's keys anew when they are next needed: another node may have retired some."""

    def sign(self, message: bytes) -> bytes:
        """Sign as this installation (Ed25519, RFC 8032)."""

    def public_key(self) -> bytes:
        """What its signatures are checked with: 32 bytes."""

    def digest(self, tenant: str, domain: str, text: str) -> bytes:
        """A keyed digest: equal for equal text within a tenant and domain (SPEC M7)."""


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """One row of the log."""

    seq: int
    header: bytes
    body: bytes | None
    link: bytes


class SealedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event ready to be stored: what the rules decided, and the bytes that will stand in the log."""

    event: Event
    header: bytes
    body: bytes | None


class Idempotency(msgspec.Struct, frozen=True, kw_only=True):
    """A caller's key for one command, what the command was, and a small first answer without content."""

    key: str
    request: bytes
    outcome: bytes = b""


class FirstAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a key stands for already; its position is 0 when the command needed no event."""

    request: bytes
    seq: int
    outcome: bytes


class ReturnedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a backup on its way into an empty log: events and answers exactly as they were stored."""

    tenant: str
    events: tuple[StoredEvent, ...] = ()
    answers: tuple[tuple[str, FirstAnswer], ...] = ()


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """Events of one command, stored together or not at all; none, where only an answer is to be kept.

    With ``forgot_seq``, only if nothing was forgotten or rejected behind that position (SPEC F4a).
    """

    tenant: str
    events: tuple[SealedEvent, ...]
    forgot_seq: int | None = None
    needs: tuple[Needs, ...] = ()
    idempotency: Idempotency | None = None
    outcome: Callable[["Appended"], bytes] | None = None
    """The first answer to keep, told from what the transaction did; else the one that the key carries."""
    vectors: MadeVectors = {}


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """The events are durable, from this position on. ``dropped`` counts the rows that a forgetting took."""

    seq: int
    dropped: int = 0


class Replayed(msgspec.Struct, frozen=True):
    """The key had this first answer; nothing was stored."""

    answer: FirstAnswer


class Mismatched(msgspec.Struct, frozen=True):
    """The key stands for another command; nothing was stored."""


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """What was read no longer holds; nothing was stored."""

    memory_id: UUID
    expected: int
    current: int


class Overtaken(msgspec.Struct, frozen=True, kw_only=True):
    """Something was forgotten or rejected meanwhile, at this position; nothing was stored."""

    forgot_seq: int


AppendResult = Appended | Replayed | Mismatched | Stale | Overtaken


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories to list, newest first. Sides left open are not narrowed."""

    tenant: str
    now: int
    limit: int
    agents: frozenset[str] | None = None
    purposes: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    kind: str | None = None
    status: str | None = None
    source_type: str | None = None
    source_id: str | None = None
    key_digest: bytes | None = None
    before_seq: int | None = None


class KeyedRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one key within four walls."""

    tenant: str
    agent: str
    purpose: str
    subject: str
    key_digest: bytes


class EndedScope(msgspec.Struct, frozen=True, kw_only=True):
    """A scope whose memories have all ended."""

    tenant: str
    agent: str
    purpose: str
    subject: str
    tier: str
    scope_id: str


class Residue(msgspec.Struct, frozen=True, kw_only=True):
    """A check for what an erasure left: what was looked through, and where something was found."""

    name: str
    passed: bool
    detail: str


class SourceCounts(NamedTuple):
    """What became of a source's memories, of those that a look is narrowed to."""

    proposals: int = 0
    waiting: int = 0
    promoted: int = 0
    rejected: int = 0
    revoked: int = 0


class SourcedMemory(NamedTuple):
    """A memory that a source has a part in, and the walls that it stands within."""

    memory_id: UUID
    agent: str
    subject: str


class Checkpoint(msgspec.Struct, frozen=True, gc=False):
    """What was signed of a tenant's log: how many events, the root over them, and the note (SPEC E2)."""

    tenant: str
    size: int
    root: bytes
    note: str
    made_at: int
    """In microseconds since 1970 UTC."""


class Unembedded(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is found by words and has no vector of a model yet."""

    created_seq: int
    memory_id: UUID
    version: int


class IncidentReading(Protocol):
    """What a look at the store says about incidents and evidence."""

    def source_memories(self, tenant: str, source_type: str | None, source_id: str) -> list[SourcedMemory]:
        """Every memory that ever had text from a source, and all that was made from those (SPEC I1)."""

    def waiting(self, listing: Listing, *, after_seq: int) -> list[MemoryRow]:
        """A page of what waits in quarantine, that which waits longest first; its sides as in a listing."""

    def source_record(self, listing: Listing) -> SourceCounts:
        """How the memories that had text from a source fared; at most so many are counted (SPEC L6)."""

    def rows_of(self, tenant: str, memory_ids: Iterable[UUID]) -> list[MemoryRow]:
        """The rows of those of these memories that can be read at all."""

    def shown_in(self, tenant: str, memory_ids: Iterable[UUID]) -> list[int]:
        """Where the receipts of the recalls lie that returned any of these memories, in order (SPEC I2)."""

    def recalls_of(self, tenant: str, memory_ids: Iterable[UUID], *, limit: int) -> tuple[int, list[UUID]]:
        """How many recalls returned any of these memories, and the receipts of the first (SPEC I2)."""

    def used_in(self, tenant: str, memory_ids: Iterable[UUID]) -> list[tuple[int, int]]:
        """Where the reports of responses lie that used any of these, and how many tool calls each has."""

    def displaced(self, tenant: str, memory_ids: Iterable[UUID]) -> list[UUID]:
        """The memories whose places any of these took (SPEC L10)."""

    def events_at(self, tenant: str, seqs: Sequence[int]) -> list[StoredEvent]:
        """The events at these positions, oldest first."""

    def events_of(self, tenant: str, streams: Iterable[UUID]) -> list[StoredEvent]:
        """The events of these memories, oldest first."""

    def revoked_source(self, tenant: str, source_type: str | None, source_id: str) -> RevokedSourceRow | None:
        """The last revocation of exactly this source."""

    def revocations_begun(self, tenant: str | None = None) -> list[RevokedSourceRow]:
        """Revocations, of any tenant or of one, some of whose memories have no event of it yet."""

    def policy(self, tenant: str) -> PolicyRow | None:
        """The policy that was switched on last."""

    def memories_ever(
        self, tenant: str, agent: str, purpose: str, *, subjects: Iterable[str] | None, limit: int
    ) -> list[UUID]:
        """Every memory that there ever was in a boundary, whether or not it can be read now, oldest first."""

    def memory_page(self, tenant: str, *, after: int, limit: int) -> list[MemoryRow]:
        """Memory rows of a tenant behind a position, oldest first, whatever their status."""

    def links(self, tenant: str, *, after: int, limit: int) -> list[bytes]:
        """The links of events behind a position, oldest first."""

    def tree_blocks(self, tenant: str) -> list[bytes]:
        """The roots of the full blocks of a tenant's Merkle tree that were kept, in order."""

    def checkpoints(self, tenant: str, *, below: int = FOREVER, limit: int) -> list[Checkpoint]:
        """What was signed of a tenant's log, the largest first."""

    def alerts_behind(self, tenant: str, *, after: int, limit: int) -> list[AlertRow]:
        """Alerts behind a position, oldest first."""

    def progress(self, name: str, tenant: str) -> int:
        """How far a worker got in a tenant's log; 0 where it never began."""


class Reading(IncidentReading, Searching, TruthReading, Protocol):
    """One consistent look at the store."""

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for."""

    def answers(self, tenant: str, *, after: str, limit: int) -> list[tuple[str, FirstAnswer]]:
        """Idempotency keys behind this one in their order, and what they stand for."""

    def memory_row(self, tenant: str, memory_id: UUID) -> MemoryRow | None:
        """The row of a memory that can be read at all."""

    def stream(self, tenant: str, stream: UUID) -> list[StoredEvent]:
        """The events of one memory, oldest first."""

    def event(self, tenant: str, seq: int) -> StoredEvent | None:
        """The event at a position."""

    def log(self, tenant: str, *, after: int, limit: int) -> list[StoredEvent]:
        """Events behind a position, oldest first."""

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log."""

    def tenants(self) -> list[str]:
        """Every tenant that has a log."""

    def listing(self, listing: Listing) -> list[MemoryRow]:
        """A page of memory rows."""

    def subject_memories(self, tenant: str, subject: str) -> int:
        """How many memories of a subject stand, whatever their status."""

    def forgot_seq(self, tenant: str) -> int:
        """The position of the tenant's last forgetting or rejection, 0 for none."""

    def floors(self, tenant: str, subject: str, targets: Sequence[tuple[str, str]]) -> list[FloorRow]:
        """The floors of these targets (kind and target) of a subject."""

    def key_rows(self, wanted: KeyedRows) -> list[MemoryRow]:
        """Every row of one key, whatever its status."""

    def suppression(self, tenant: str, forget_id: UUID) -> SuppressionRow | None:
        """A forget of a leaf alone that has not held yet."""

    def probes_due(self, now: int, limit: int) -> list[SuppressionRow]:
        """Forgets of any tenant that are to be probed by now."""

    def scopes_ended(self, now: int, limit: int) -> list[EndedScope]:
        """Task and session scopes of any tenant with memories that have ended, of subjects without a hold."""

    def hold(self, tenant: str, subject: str) -> HoldRow | None:
        """The legal hold on a subject."""

    def erasure(self, tenant: str, subject: str) -> ErasureRow | None:
        """The last erasure of a subject."""

    def erasures_begun(self) -> list[ErasureRow]:
        """Erasures of any tenant that have no certificate yet."""

    def subject_events(self, tenant: str, subject: str, *, after: int, limit: int) -> list[StoredEvent]:
        """The events about a subject behind a position, oldest first."""

    def subject_streams(self, tenant: str, subject: str, *, up_to_seq: int = FOREVER) -> list[UUID]:
        """Every memory that the subject ever had, in the order in which they were written."""

    def bodies_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many sealed bodies of a subject the log has up to a position."""

    def unembedded(self, tenant: str, model: str, *, after: int, limit: int) -> list[Unembedded]:
        """Memories behind a position that are found by words and have no vector of this model."""

    def models(self, tenant: str) -> dict[str, int]:
        """The models that a tenant's memories have vectors of, and how many of each."""

    def words_left(self, tenant: str, subject: str, up_to_seq: int) -> int:
        """How many memories of a subject, up to a position, are found by words."""

    def standing(self, tenant: str, subject: str) -> frozenset[int]:
        """Where the memory rows of a subject lie in the log."""

    def alerts(
        self,
        tenant: str,
        *,
        subjects: Collection[str] | None,
        before_seq: int | None,
        limit: int,
        kind: str | None = None,
    ) -> list[AlertRow]:
        """A page of alerts, newest first; of these subjects and this kind, where they are named."""

    def key(self, tenant: str, key_id: UUID) -> KeyRow | None:
        """A caller's credential."""

    def keys(self, tenant: str) -> list[KeyRow]:
        """Every credential of a tenant, oldest first."""

    def due(self, now: int, limit: int) -> list[MemoryRow]:
        """Rows of any tenant whose time has passed and that are not marked so."""


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild found: how many events were replayed, and whether the views came out the same."""

    events: int
    identical: bool


class Store(Protocol):
    """The log and its views; the only thing that writes."""

    def reading(self) -> AbstractContextManager[Reading]:
        """Open one consistent look."""

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Store each item whole or not at all; returns once what it acknowledges is durable and findable."""

    def append_soon(self, item: Append) -> None:
        """Store an item with the next batch; may be lost in a crash before that (receipts and reads only)."""

    def settle(self) -> None:
        """Make durable now what append_soon left waiting."""

    def rebuild(self) -> Rebuilt:
        """Drop every projection, replay the log, and say whether it came out identical."""

    def lease(self, name: str, *, seconds: float) -> bool:
        """Whether this node is the one to do a job until then: one node of many is (SPEC T8)."""

    def healthy(self) -> bool:
        """Whether it can read and write now."""

    def export(self, tenant: str) -> Iterator[StoredEvent]:
        """A tenant's whole log, oldest first, as of one moment."""

    def restore(self, pages: Iterable[ReturnedPage]) -> None:
        """Put a backup into an empty log, with its views: all in one transaction, or nothing.

        The pages of a tenant follow one another. Raises InvalidRequest where a tenant has a log already; what
        the pages themselves raise takes everything back.
        """

    def rewrite_words(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Rewrite what held the words of an erased subject; raises Unavailable where some are still held."""

    def search_files(self, needles: Sequence[bytes], indexed: Sequence[bytes]) -> list[Residue]:
        """Look for these bytes in every file that is within reach, and for the words of texts as indexed."""

    def purge(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Take the sealed bodies of a subject's events away; the events stay, and the chain holds."""

    def residue(self, tenant: str, subject: str, *, up_to_seq: int) -> list[Residue]:
        """Look for what is left of an erased subject: rows, sealed bodies, entries in the word index."""

    def put_vectors(self, tenant: str, model: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep vectors: (position, version, packed), of the memories that still stand in that version."""

    def drop_models(self, tenant: str, *, keep: str) -> None:
        """Drop the vectors of every model but one."""

    def record_forgets(self, forgets: Sequence[tuple[str, StoredEvent]]) -> None:
        """Add to the record of forgettings some that another store carried out."""

    def forgets(self) -> Iterator[tuple[str, StoredEvent]]:
        """Every forgetting that was ever stored, oldest first, kept apart from the log and its backups."""

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep what was signed; the first note of a size stays."""

    def keep_tree_blocks(self, tenant: str, roots: Mapping[int, bytes]) -> None:
        """Keep the roots of full blocks of a tenant's Merkle tree; they follow from the links."""

    def keep_progress(self, name: str, tenant: str, seq: int) -> None:
        """Keep how far a worker got in a tenant's log."""

"""The rows of the views, and the changes that events make to them (SPEC E1).

A view row is a function of the log alone. What comes out of an event is a whole row put in place, or rows
dropped, never a partial update that depends on the order of replay. Content is in no row.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER: Final = 2**62
"""The end of an interval that has none, in microseconds."""


REVOKING: Final = "revoking"
"""The status of a row whose source is revoked, before its own event says so: no read finds it."""
CONNECTOR: Final = "connector"
"""What a credential is called where a source is named by what brought it in."""
DERIVED, SUPERSEDES, MERGED, CORROBORATES = "derived", "supersedes", "merged", "corroborates"
"""The kinds of edges between memories. What is merged, or bears another out, is the child of what stands."""


class MemoryRow(msgspec.Struct, frozen=True, gc=False):
    """What lists, filters and version checks need of a memory; times in microseconds since 1970 UTC."""

    tenant: str
    created_seq: int
    memory_id: UUID
    agent: str
    purpose: str
    subject: str
    scope_tier: str
    scope_id: str
    kind: str
    status: str
    trust: int
    confidence: float
    source_type: str
    source_id: str
    thread: str | None
    position: int | None
    key_digest: bytes | None
    fingerprint: bytes | None
    written_at: int
    expires_at: int
    valid_from: int
    valid_to: int
    version: int
    tokens: int


class FloorRow(msgspec.Struct, frozen=True, gc=False):
    """A forget floor: what the target had at or below this position is gone (SPEC F4a, F4b).

    Kept for ever, but for the digests of values, which an erasure takes with it.
    """

    tenant: str
    subject: str
    target_kind: str
    target: str
    floor_seq: int
    floor_at: int


class SuppressionRow(msgspec.Struct, frozen=True, gc=False):
    """A forget of a leaf alone: the key is not looked for outward of the leaf, and the forget is probed."""

    tenant: str
    forget_id: UUID
    subject: str
    agent: str
    purpose: str
    key_digest: bytes
    scope: str
    place: str
    seq: int
    holds_until: int
    probe_at: int


class HoldRow(msgspec.Struct, frozen=True, gc=False):
    """A legal hold that stands."""

    tenant: str
    subject: str
    placed_seq: int
    placed_by: str
    placed_at: int
    review_at: int | None


class ErasureRow(msgspec.Struct, frozen=True, gc=False):
    """The last erasure of a subject; ``done_seq`` is 0 until its certificate stands."""

    tenant: str
    subject: str
    erasure_id: UUID
    begun_seq: int
    done_seq: int


class DerivationRow(msgspec.Struct, frozen=True, gc=False):
    """One memory was made from another, or took its place (SPEC F9, M5a, L10): ``kind`` says which."""

    tenant: str
    parent: UUID
    child: UUID
    subject: str
    kind: str


class ThingRow(msgspec.Struct, frozen=True, gc=False):
    """A memory claims something of a thing, which is known by a keyed digest alone (SPEC T3)."""

    tenant: str
    thing: bytes
    memory_id: UUID
    subject: str


class SupportRow(msgspec.Struct, frozen=True, gc=False):
    """How many independent sources say what a memory says (SPEC T2, M5a); shown, and never trust."""

    tenant: str
    memory_id: UUID
    subject: str
    voices: int
    trusted_voices: int


class ContradictionRow(msgspec.Struct, frozen=True, gc=False):
    """Two memories that cannot both be true (SPEC T3); ``resolved_seq`` is 0 until a person decided."""

    tenant: str
    contradiction_id: UUID
    agent: str
    purpose: str
    subject: str
    believed: UUID
    doubted: UUID
    effect: str
    because: str
    valid_to_before: int
    found_seq: int
    found_at: int
    resolved_seq: int = 0
    kept: UUID | None = None


class ProvenanceRow(msgspec.Struct, frozen=True, gc=False):
    """A memory had text from a source, at some version; the edge stays when the memory goes (SPEC I1)."""

    tenant: str
    source_id: str
    source_type: str
    memory_id: UUID
    seq: int
    actor: str
    agent: str
    purpose: str
    subject: str


class ShownRow(msgspec.Struct, frozen=True, gc=False):
    """The recall whose receipt lies at this position returned the memory (SPEC I2)."""

    tenant: str
    memory_id: UUID
    seq: int


class UsedRow(msgspec.Struct, frozen=True, gc=False):
    """The response reported at this position used the memory (SPEC I2)."""

    tenant: str
    memory_id: UUID
    seq: int
    tool_calls: int


class RevokedSourceRow(msgspec.Struct, frozen=True, gc=False):
    """A source that was revoked at ``seq``; ``finished_seq`` is 0 until each of its memories has its event.

    ``source_type`` is empty where every type was meant.
    """

    tenant: str
    seq: int
    source_type: str
    source_id: str
    revoked_at: int
    finished_seq: int


class PolicyRow(msgspec.Struct, frozen=True, gc=False):
    """The policy that was switched on last, at ``seq``; ``done_seq`` is 0 until all was examined under it."""

    tenant: str
    seq: int
    version: str
    digest: str
    done_seq: int


class AlertRow(msgspec.Struct, frozen=True, gc=False):
    """Something that a person should look at."""

    tenant: str
    seq: int
    subject: str
    kind: str
    message: str
    about: str | None
    raised_at: int


class KeyRow(msgspec.Struct, frozen=True, gc=False):
    """A caller's credential as it is checked; the secret is only there as a hash."""

    tenant: str
    key_id: UUID
    name: str
    grants: str
    secret_hash: bytes
    created_at: int
    revoked_at: int | None


SideRow = (
    FloorRow
    | SuppressionRow
    | HoldRow
    | ErasureRow
    | DerivationRow
    | AlertRow
    | ProvenanceRow
    | ShownRow
    | UsedRow
    | RevokedSourceRow
    | PolicyRow
    | ThingRow
    | SupportRow
    | ContradictionRow
)
"""Rows that are only ever put or dropped whole, whose state nothing else depends on."""

Row = MemoryRow | KeyRow | SideRow


class Put(msgspec.Struct, frozen=True, gc=False):
    """The row now stands, in place of any of the same key."""

    row: Row


class DropSubject(msgspec.Struct, frozen=True, gc=False):
    """Every memory row of the subject is gone; its values are below a floor unless ``erases`` takes them."""

    tenant: str
    subject: str
    seq: int
    at: int
    erases: bool = False


class DropMemory(msgspec.Struct, frozen=True, gc=False):
    """The row of a memory is gone, with those derived from it; their values are below a floor."""

    tenant: str
    memory_id: UUID
    seq: int
    at: int


class DropKeyed(msgspec.Struct, frozen=True, gc=False):
    """The rows of a key in these places are gone, with those derived from them."""

    tenant: str
    subject: str
    agent: str
    purpose: str
    key_digest: bytes
    places: tuple[str, ...]
    seq: int
    at: int


class DropEnded(msgspec.Struct, frozen=True, gc=False):
    """The rows of one scope whose memories have ended are no longer kept at hand."""

    tenant: str
    subject: str
    agent: str
    purpose: str
    tier: str
    scope_id: str


class DropSuppression(msgspec.Struct, frozen=True, gc=False):
    """A forget of a leaf alone held, and is over."""

    tenant: str
    forget_id: UUID


class PutBack(msgspec.Struct, frozen=True, gc=False):
    """A forget of a leaf alone did not hold: it is probed again then."""

    tenant: str
    forget_id: UUID
    probe_at: int


class EndHold(msgspec.Struct, frozen=True, gc=False):
    """A hold is released."""

    tenant: str
    subject: str


class Withdraw(msgspec.Struct, frozen=True, gc=False):
    """All that came from a source is out of every read at once: its rows are marked ``REVOKING``."""

    tenant: str
    source_type: str | None
    source_id: str


class EndRevocation(msgspec.Struct, frozen=True, gc=False):
    """Every memory of a revoked source has its own event."""

    tenant: str
    seq: int
    finished_seq: int


class EndExamination(msgspec.Struct, frozen=True, gc=False):
    """Everything stored has been examined under the policy that was switched on."""

    tenant: str
    seq: int
    done_seq: int


class DropPruned(msgspec.Struct, frozen=True, gc=False):
    """A memory is no longer kept at hand; nothing is forgotten, so that no floor is laid (SPEC T7)."""

    tenant: str
    memory_id: UUID


class DropEdge(msgspec.Struct, frozen=True, gc=False):
    """A merge is undone: the child stands for itself again (SPEC T2)."""

    tenant: str
    parent: UUID
    child: UUID


class EndContradiction(msgspec.Struct, frozen=True, gc=False):
    """A person decided which of two memories is kept, or that both are (SPEC T3)."""

    tenant: str
    contradiction_id: UUID
    resolved_seq: int
    kept: UUID | None


Drop = DropSubject | DropMemory | DropKeyed | DropEnded | DropPruned
"""Changes that take memory rows away."""

Amendment = DropSuppression | PutBack | EndHold | EndRevocation | EndExamination | DropEdge | EndContradiction
"""Changes to rows that stand beside the memories."""

Change = Put | Drop | Withdraw | Amendment


class Index(msgspec.Struct, frozen=True, gc=False):
    """The words of a memory are to be found under its row."""

    row: MemoryRow


class Unindex(msgspec.Struct, frozen=True, gc=False):
    """The words of a memory are to be found no more."""

    row: MemoryRow


class UnindexSubject(msgspec.Struct, frozen=True, gc=False):
    """No word of the subject's memories is to be found any more, but of those that stand."""

    tenant: str
    subject: str
    standing: frozenset[int] = frozenset()


SearchChange = Index | Unindex | UnindexSubject


def microseconds(value: datetime) -> int:
    """A time as the views keep it."""
    since = value - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_microseconds(value: int) -> datetime:
    """The inverse of microseconds."""
    return datetime.fromtimestamp(value // 1_000_000, tz=UTC).replace(microsecond=value % 1_000_000)

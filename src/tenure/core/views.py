"""From events to read models: the only writer of the views (SPEC E1). Pure.

    changes = project(event, seq, before)

Laws: a view row is a function of the log alone, so that a view can be dropped, replayed and found identical;
what
comes out is Put (a whole row) or Drop, never a partial update; content is in no view, only its position in
the log.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import events
from tenure.core.events import Event, EventData, Secret
from tenure.core.identity import Grants
from tenure.core.memory import STEP_OF, Step, next_status
from tenure.core.vocabulary import Status

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER: Final = 2**62
"""The end of an interval that has none, in microseconds."""


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
    """A forget floor, kept for ever: what the target had at or below this position is gone (SPEC F4a)."""

    tenant: str
    target_kind: str
    target: str
    floor_seq: int


class KeyRow(msgspec.Struct, frozen=True, gc=False):
    """A caller's credential as it is checked; the secret is only there as a hash."""

    tenant: str
    key_id: UUID
    name: str
    grants: str
    secret_hash: bytes
    created_at: int
    revoked_at: int | None


Row = MemoryRow | FloorRow | KeyRow


class Put(msgspec.Struct, frozen=True, gc=False):
    """The row now stands, in place of any of the same key."""

    row: Row


class DropSubject(msgspec.Struct, frozen=True, gc=False):
    """Every memory row of the subject is gone."""

    tenant: str
    subject: str


Change = Put | DropSubject


class Index(msgspec.Struct, frozen=True, gc=False):
    """The words of a memory are to be found under its row."""

    row: MemoryRow


class Unindex(msgspec.Struct, frozen=True, gc=False):
    """The words of a memory are to be found no more."""

    row: MemoryRow


class UnindexSubject(msgspec.Struct, frozen=True, gc=False):
    """No word of the subject's memories is to be found any more."""

    tenant: str
    subject: str


SearchChange = Index | Unindex | UnindexSubject


def microseconds(value: datetime) -> int:
    """A time as the views keep it."""
    since = value - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_microseconds(value: int) -> datetime:
    """The inverse of microseconds."""
    return datetime.fromtimestamp(value // 1_000_000, tz=UTC).replace(microsecond=value % 1_000_000)


def project(event: Event, seq: int, before: MemoryRow | None) -> Change | None:
    """The change that an event makes to the views; ``before`` is the row of the memory that it is about."""
    data = event.data
    if isinstance(data, events.Admitted | events.Quarantined):
        return Put(_born(event, data, seq))
    if type(data) in STEP_OF:
        return Put(_moved(event, seq, before))
    match data:
        case events.SubjectForgotten():
            return DropSubject(event.tenant, event.subject or "")
        case events.KeyCreated():
            return Put(_key(event, data))
        case _:
            return None


def floor(event: Event, seq: int) -> FloorRow | None:
    """The floor that a forgetting leaves."""
    if isinstance(event.data, events.SubjectForgotten) and event.subject is not None:
        return FloorRow(event.tenant, "subject", event.subject, seq)
    return None


def revoked_key(event: Event, before: KeyRow) -> KeyRow:
    """A key's row once it holds no longer."""
    return msgspec.structs.replace(before, revoked_at=before.revoked_at or microseconds(event.at))


def search_change(event: Event, row: MemoryRow | None) -> SearchChange | None:
    """What an event means for the word index; ``row`` is the memory's row after the event."""
    data = event.data
    if isinstance(data, events.SubjectForgotten):
        return UnindexSubject(event.tenant, event.subject or "")
    if row is None:
        return None
    if isinstance(data, events.Remembered | events.Revised):
        return Index(row) if event.secret else None
    if row.status in _SEARCHED:
        return None
    return Unindex(row)


def indexed_text(event: Event) -> str | None:
    """Content, claim and the day it was seen: what a question may ask by. None: nothing is indexed."""
    data, secret = event.data, event.secret
    if not isinstance(data, events.Remembered | events.Revised) or secret is None:
        return None
    parts = [secret.content or ""]
    if secret.claim is not None:
        parts += [secret.claim.entity, secret.claim.attribute, secret.claim.value]
    if data.observed_at is not None:
        parts.append(f"{data.observed_at.day} {data.observed_at:%B %Y}")
    return "\n".join(parts)


_SEARCHED: Final = frozenset({Status.ACTIVE, Status.QUARANTINED})


def _born(event: Event, data: events.Admitted | events.Quarantined, seq: int) -> MemoryRow:
    secret = event.secret or Secret()
    assert event.stream is not None  # noqa: S101 -- the event's own constructor in remembering names it
    return MemoryRow(
        event.tenant,
        seq,
        event.stream,
        data.agent,
        data.purpose,
        event.subject or "",
        data.scope.tier,
        data.scope.id,
        data.kind,
        _FIRST_STATUS[type(data)],
        data.trust.rank,
        data.confidence,
        data.source_type,
        data.source_id,
        data.thread,
        data.position,
        secret.key_digest,
        secret.fingerprint,
        microseconds(event.at),
        microseconds(data.expires_at),
        microseconds(data.valid_from) if data.valid_from else 0,
        microseconds(data.valid_to) if data.valid_to else FOREVER,
        event.version or 1,
        data.tokens,
    )


_FIRST_STATUS: Final = {
    kind: next_status(Status.PROPOSED, STEP_OF[kind]) for kind in (events.Admitted, events.Quarantined)
}


def _moved(event: Event, seq: int, before: MemoryRow | None) -> MemoryRow:
    if before is None:
        raise ValueError(f"event {seq} changes a memory that no earlier event created")
    step = STEP_OF[type(event.data)]
    status = next_status(Status(before.status), step)
    moved = msgspec.structs.replace(before, status=status, version=before.version + 1)
    change = _EXTRA.get(step)
    return change(moved, event, event.data) if change else moved


def _promoted(row: MemoryRow, _event: Event, data: EventData) -> MemoryRow:
    return msgspec.structs.replace(row, trust=data.trust.rank) if isinstance(data, events.Promoted) else row


def _renewed(row: MemoryRow, _event: Event, data: EventData) -> MemoryRow:
    if not isinstance(data, events.Renewed):
        return row
    return msgspec.structs.replace(row, expires_at=microseconds(data.expires_at))


def _revised(row: MemoryRow, event: Event, data: EventData) -> MemoryRow:
    if not isinstance(data, events.Revised):
        return row
    return msgspec.structs.replace(
        row,
        trust=data.trust.rank,
        confidence=data.confidence,
        source_type=data.source_type,
        source_id=data.source_id,
        thread=data.thread,
        position=data.position,
        fingerprint=event.secret.fingerprint if event.secret else None,
        written_at=microseconds(event.at),
        tokens=data.tokens,
    )


_EXTRA: Final[dict[Step, Callable[[MemoryRow, Event, EventData], MemoryRow]]] = {
    Step.PROMOTE: _promoted,
    Step.RENEW: _renewed,
    Step.REVISE: _revised,
}


def _key(event: Event, data: events.KeyCreated) -> KeyRow:
    return KeyRow(
        event.tenant,
        data.key_id,
        data.name,
        encode_grants(data.grants),
        data.secret_hash,
        microseconds(event.at),
        None,
    )


def encode_grants(grants: Grants) -> str:
    """Grants as text, always the same for the same grants."""
    return msgspec.json.encode(grants, order="deterministic").decode()


def decode_grants(text: str) -> Grants:
    """The inverse of encode_grants."""
    return msgspec.json.decode(text, type=Grants)

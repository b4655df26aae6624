"""From events to read models: the only writer of the views (SPEC E1). Pure.

    changes = project(event, seq, before)

Laws: a view row is a function of the log alone, so that a view can be dropped, replayed and found identical;
what
comes out are whole rows to put or to drop; content is in no view, only its position in the log.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from tenure.core import access_events, events, incident_events, truth_events
from tenure.core.asked_dates import date_words
from tenure.core.events import Event, EventData, Secret
from tenure.core.identity import Grants
from tenure.core.memory import STEP_OF, Step, next_status
from tenure.core.rows import (
    DERIVED,
    FOREVER,
    REVOKING,
    SUPERSEDES,
    AlertRow,
    Change,
    DerivationRow,
    DropEnded,
    DropKeyed,
    DropMemory,
    DropPruned,
    DropSubject,
    DropSuppression,
    EndExamination,
    EndHold,
    EndRevocation,
    ErasureRow,
    FloorRow,
    HoldRow,
    Index,
    KeyRow,
    MemoryRow,
    PolicyRow,
    ProvenanceRow,
    Put,
    PutBack,
    RevokedSourceRow,
    SearchChange,
    ShownRow,
    SuppressionRow,
    ThingRow,
    Unindex,
    UnindexSubject,
    UsedRow,
    Withdraw,
    microseconds,
)
from tenure.core.truth_views import about_truth, merge_changes
from tenure.core.vocabulary import Claim, Status


def project(event: Event, seq: int, before: MemoryRow | None) -> tuple[Change, ...]:
    """The changes that an event makes to the views; ``before`` is the row of the memory that it is about."""
    data = event.data
    if isinstance(data, events.Admitted | events.Quarantined):
        row = _born(event, data, seq)
        return (Put(row), *_edges(row, event, data, seq), *_things(row, event))
    if isinstance(data, events.FORGETS):
        return _forgotten(event, seq)
    if isinstance(data, truth_events.Pruned):
        return () if event.stream is None else (DropPruned(event.tenant, event.stream),)
    if type(data) in STEP_OF:
        row = _moved(event, seq, before)
        return (Put(row), *_with_move(row, before, event, seq))
    if isinstance(data, access_events.KeyCreated):
        return (Put(_key(event, data)),)
    return _beside(event, seq) or _about_incidents(event, seq) or about_truth(event, seq)


def source_target(source_type: str | None, source_id: str) -> str:
    """What the floor of a revoked source is known by; no type stands for every type (SPEC I1)."""
    return f"{source_type or ''}\x1f{source_id}"


def value_target(agent: str, purpose: str, fingerprint: bytes) -> str:
    """What the floor of a value is known by (SPEC F4b): a keyed digest, never the value."""
    return f"{agent}\x1f{purpose}\x1f{fingerprint.hex()}"


def key_target(agent: str, purpose: str, key_digest: bytes, place: str) -> str:
    """What the floor of a key at a place is known by (SPEC F4a)."""
    return f"{agent}\x1f{purpose}\x1f{key_digest.hex()}\x1f{place}"


def _with_move(row: MemoryRow, before: MemoryRow | None, event: Event, seq: int) -> tuple[Change, ...]:
    """What changes beside the row of a memory that moved."""
    data = event.data
    if before is not None and isinstance(data, events.Rejected):
        return _value_floor(before, event, seq)
    if isinstance(data, events.Revised):
        return (Put(_provenance(row, event, seq)), *_things(row, event))
    return merge_changes(row, data)


def _forgotten(event: Event, seq: int) -> tuple[Change, ...]:
    data, tenant, subject = event.data, event.tenant, event.subject or ""
    at = microseconds(getattr(data, "first_at", None) or event.at)
    match data:
        case events.SubjectForgotten() | events.ErasureBegun():
            erases = isinstance(data, events.ErasureBegun)
            floor = FloorRow(tenant, subject, "subject", subject, seq, at)
            dropped = (DropSubject(tenant, subject, seq, at, erases), Put(floor))
            if not erases or event.stream is None:
                return dropped
            return (*dropped, Put(ErasureRow(tenant, subject, event.stream, seq, 0)))
        case events.MemoryForgotten() if event.stream is not None:
            return (DropMemory(tenant, event.stream, seq, at),)
        case events.ScopedKeyForgotten():
            return _key_forgotten(event, data, seq, at)
        case _:
            return ()


def _key_forgotten(event: Event, data: events.ScopedKeyForgotten, seq: int, at: int) -> tuple[Change, ...]:
    tenant, subject = event.tenant, event.subject or ""
    changes: list[Change] = [
        DropKeyed(tenant, subject, data.agent, data.purpose, data.key_digest, data.floors, seq, at)
    ]
    for place in data.floors:
        target = key_target(data.agent, data.purpose, data.key_digest, place)
        changes.append(Put(FloorRow(tenant, subject, "key", target, seq, at)))
    if data.holds_until is not None and data.probe_at is not None and event.stream is not None:
        row = SuppressionRow(
            tenant,
            event.stream,
            subject,
            data.agent,
            data.purpose,
            data.key_digest,
            msgspec.json.encode(data.scope).decode(),
            f"{data.scope.tier}:{data.scope.id}",
            seq,
            microseconds(data.holds_until),
            microseconds(data.probe_at),
        )
        changes.append(Put(row))
    return tuple(changes)


def _beside(event: Event, seq: int) -> tuple[Change, ...]:
    """What events change that are about no memory of their own."""
    data, tenant, subject = event.data, event.tenant, event.subject or ""
    match data:
        case events.ForgetProbed() if event.stream is not None:
            if data.passed or data.probe_at is None:
                return (DropSuppression(tenant, event.stream),)
            return (PutBack(tenant, event.stream, microseconds(data.probe_at)),)
        case events.ScopeCompacted():
            return (DropEnded(tenant, subject, data.agent, data.purpose, data.tier, data.scope_id),)
        case events.HoldPlaced():
            review_at = microseconds(data.review_at) if data.review_at else None
            return (Put(HoldRow(tenant, subject, seq, event.actor, microseconds(event.at), review_at)),)
        case events.HoldReleased():
            return (EndHold(tenant, subject),)
        case events.SubjectErased() if event.stream is not None:
            return (Put(ErasureRow(tenant, subject, event.stream, data.begun_seq, seq)),)
        case events.AlertRaised():
            return (
                Put(
                    AlertRow(
                        tenant, seq, subject, data.kind, data.message, data.about, microseconds(event.at)
                    )
                ),
            )
        case _:
            return ()


def value_floor(row: MemoryRow, seq: int, at: int) -> FloorRow | None:
    """The floor that the value of a memory is below once it was rejected or forgotten (SPEC F4b)."""
    if row.fingerprint is None:
        return None
    target = value_target(row.agent, row.purpose, row.fingerprint)
    return FloorRow(row.tenant, row.subject, "value", target, seq, at)


def _value_floor(row: MemoryRow, event: Event, seq: int) -> tuple[Change, ...]:
    floor = value_floor(row, seq, microseconds(event.at))
    return (Put(floor),) if floor is not None else ()


def _about_incidents(event: Event, seq: int) -> tuple[Change, ...]:
    """What receipts, revocations of sources and switches of the policy change."""
    data, tenant = event.data, event.tenant
    match data:
        case events.Recalled():
            return tuple(Put(ShownRow(tenant, memory_id, seq)) for memory_id in data.memory_ids)
        case incident_events.Influenced():
            calls = len(data.tool_calls)
            return tuple(Put(UsedRow(tenant, memory_id, seq, calls)) for memory_id in data.used_memory_ids)
        case incident_events.SourceRevoked():
            at, target = microseconds(event.at), source_target(data.source_type, data.source_id)
            row = RevokedSourceRow(tenant, seq, data.source_type or "", data.source_id, at, 0)
            floor = FloorRow(tenant, NO_SUBJECT, "source", target, seq, at)
            return (Put(floor), Put(row), Withdraw(tenant, data.source_type, data.source_id))
        case incident_events.SourceRevocationFinished():
            return (EndRevocation(tenant, data.seq, seq),)
        case incident_events.PolicySwitched():
            return (Put(PolicyRow(tenant, seq, data.version, data.digest, 0)),)
        case incident_events.PolicyReevaluated():
            return (EndExamination(tenant, data.seq, seq),)
        case _:
            return ()


NO_SUBJECT: Final = ""
"""Whose floors those of revoked sources are."""


def _edges(
    row: MemoryRow, event: Event, data: events.Admitted | events.Quarantined, seq: int
) -> tuple[Change, ...]:
    """Where a new memory came from: its source, what it was made from, and what it takes the place of."""
    made = [
        DerivationRow(row.tenant, parent, row.memory_id, row.subject, DERIVED) for parent in data.derived_from
    ]
    if data.supersedes is not None and data.supersedes not in data.derived_from:
        made.append(DerivationRow(row.tenant, data.supersedes, row.memory_id, row.subject, SUPERSEDES))
    return (Put(_provenance(row, event, seq)), *map(Put, made))


def _things(row: MemoryRow, event: Event) -> tuple[Change, ...]:
    """What the memory claims something of (SPEC T3); what it claimed in an earlier version stays beside."""
    things = event.secret.things if event.secret is not None else ()
    return tuple(Put(ThingRow(row.tenant, thing, row.memory_id, row.subject)) for thing in things)


def _provenance(row: MemoryRow, event: Event, seq: int) -> ProvenanceRow:
    return ProvenanceRow(
        row.tenant,
        row.source_id,
        row.source_type,
        row.memory_id,
        seq,
        event.actor,
        row.agent,
        row.purpose,
        row.subject,
    )


def revoked_key(event: Event, before: KeyRow) -> KeyRow:
    """A key's row once it holds no longer."""
    return msgspec.structs.replace(before, revoked_at=before.revoked_at or microseconds(event.at))


def search_change(event: Event, row: MemoryRow | None) -> SearchChange | None:
    """What an event means for the word index; ``row`` is the memory's row after the event."""
    data = event.data
    if isinstance(data, events.SubjectForgotten | events.ErasureBegun):
        return UnindexSubject(event.tenant, event.subject or "")
    if row is None:
        return None
    if isinstance(data, _SAYING):
        return Index(row) if event.secret else None
    if row.status in _SEARCHED:
        return None
    return Unindex(row)


def indexed_text(event: Event) -> str | None:
    """What was said, whence and when it was seen: what a question may ask by. None: nothing is indexed."""
    data, text = event.data, meant_text(event)
    if text is None or not isinstance(data, _SAYING):
        return None
    parts = [text, data.source_id]
    if data.observed_at is not None:
        parts.append(" ".join(date_words(data.observed_at)))
    return "\n".join(parts)


def meant_text(event: Event) -> str | None:
    """Content and claim: what a memory means. Names and dates beside them would make all memories alike."""
    data, secret = event.data, event.secret
    if not isinstance(data, _SAYING) or secret is None:
        return None
    return own_words(secret.content, secret.claim)


def own_words(content: str | None, claim: Claim | None) -> str:
    """What a memory says in words of its own."""
    claimed = () if claim is None else (claim.entity, claim.attribute, claim.value)
    return "\n".join((content or "", *claimed))


_SAYING: Final = (events.Remembered, events.Revised, truth_events.Unmerged, truth_events.Reinstated)
"""Events that hold what a memory says: from then on it is found by that."""
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
    if before.status == REVOKING:
        if not isinstance(event.data, events.Revoked):
            raise ValueError(f"event {seq} changes a memory whose source was revoked")
        status = Status.REVOKED
    else:
        status = next_status(Status(before.status), step)
    moved = msgspec.structs.replace(before, status=status, version=before.version + 1)
    change = _EXTRA.get(step)
    return change(moved, event, event.data) if change else moved


def _promoted(row: MemoryRow, _event: Event, data: EventData) -> MemoryRow:
    if not isinstance(data, events.Promoted):
        return row
    valid_from = microseconds(data.valid_from) if data.valid_from else row.valid_from
    return msgspec.structs.replace(row, trust=data.trust.rank, valid_from=valid_from)


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


def _ended(row: MemoryRow, _event: Event, data: EventData) -> MemoryRow:
    """Until when what it says holds, where another memory changed that (SPEC T4)."""
    match data:
        case truth_events.ValidUntil(valid_to=valid_to) | truth_events.Reinstated(valid_to=valid_to):
            return msgspec.structs.replace(row, valid_to=microseconds(valid_to) if valid_to else FOREVER)
        case events.Superseded(valid_to=valid_to) if valid_to is not None:
            return msgspec.structs.replace(row, valid_to=microseconds(valid_to))
        case _:
            return row


_EXTRA: Final[dict[Step, Callable[[MemoryRow, Event, EventData], MemoryRow]]] = {
    Step.PROMOTE: _promoted,
    Step.RENEW: _renewed,
    Step.REVISE: _revised,
    Step.SUPERSEDE: _ended,
    Step.CLOSE: _ended,
    Step.REINSTATE: _ended,
}


def _key(event: Event, data: access_events.KeyCreated) -> KeyRow:
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

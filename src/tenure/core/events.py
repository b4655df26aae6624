"""Every event ever stored, by our own stable name and version (SPEC E1, E3).

Rule of change: a name and version, once written, is read for ever. To change an event's shape, add a
new class with the next version and, in ``LIFTS``, a step that lifts the old one; never edit a stored class,
except to add a field with a default. ``tests/core/golden`` holds one example of each that must stay readable.

An event has two parts. The *header* is canonical text whose exact bytes the hash chain covers: ids,
enums, times and numbers. The *secret* is sealed under its subject's key: content and whatever quotes it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from tenure.core.access_events import AccessDenied, KeyCreated, KeyRevoked
from tenure.core.identity import Role, Scope, SourceType
from tenure.core.incident_events import (
    Held,
    Influenced,
    InfluencedV1,
    Looked,
    PolicyReevaluated,
    PolicySwitched,
    SourceRevocationFinished,
    SourceRevoked,
    ToolAuthorized,
    ToolRefused,
)
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Pruned,
    Reinstated,
    Unmerged,
    ValidUntil,
)
from tenure.core.vocabulary import Claim, Kind, Origin, Trust, Verdict


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What only the holder of the subject's key can read."""

    content: str | None = None
    fingerprint: bytes | None = None
    key: str | None = None
    key_digest: bytes | None = None
    claim: Claim | None = None
    uri: str | None = None
    reason: str | None = None
    things: tuple[bytes, ...] = ()
    """Keyed digests of what the memory claims something of: equal things are found by them (SPEC T3)."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What is known of a memory when it is written, whatever the gate decided."""

    agent: str
    purpose: str
    kind: Kind
    scope: Scope
    source_type: SourceType
    source_id: str
    trust: Trust
    confidence: float
    expires_at: datetime
    rule: str
    reason: str
    policy_version: str
    tokens: int
    source_version: str | None = None
    observed_at: datetime | None = None
    thread: str | None = None
    position: int | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: UUID | None = None
    derived_from: tuple[UUID, ...] = ()
    origins: tuple[Origin, ...] = ()
    findings: tuple[Verdict, ...] = ()
    attested_type: SourceType | None = None
    """What the gate judged it by, where a revision keeps the text of an older source."""
    proposer_roles: tuple[Role, ...] | None = None
    proposer_model_driven: bool | None = None


class Admitted(Remembered, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The gate approved the memory: it is active."""


class Quarantined(Remembered, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The gate holds the memory back until somebody authorised decides."""


class Refused(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The gate rejected a proposal: an audit record without the content (SPEC L13)."""

    agent: str
    purpose: str
    kind: Kind
    source_type: SourceType
    source_id: str
    rule: str
    reason: str
    policy_version: str
    fingerprint: bytes
    findings: tuple[Verdict, ...] = ()
    attested_type: SourceType | None = None
    proposer_roles: tuple[Role, ...] | None = None
    proposer_model_driven: bool | None = None
    characters: int | None = None


class Promoted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A reviewer let a quarantined memory in (SPEC L7); it may hold only since what it corrects (SPEC T4)."""

    trust: Trust
    valid_from: datetime | None = None


class Endorsed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A first reviewer would let the memory in; it waits on, for a second one (SPEC A5)."""


class Rejected(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A reviewer turned a quarantined memory down."""


class Superseded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Another took the memory's place (SPEC L10, T3); what it says holds until ``valid_to`` (SPEC T4)."""

    by: UUID
    valid_to: datetime | None = None


class Revised(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The same memory has a new version, which passed the same gate."""

    source_type: SourceType
    source_id: str
    trust: Trust
    confidence: float
    rule: str
    reason: str
    policy_version: str
    tokens: int
    source_version: str | None = None
    observed_at: datetime | None = None
    thread: str | None = None
    position: int | None = None
    origins: tuple[Origin, ...] = ()
    findings: tuple[Verdict, ...] = ()
    attested_type: SourceType | None = None
    proposer_roles: tuple[Role, ...] | None = None
    proposer_model_driven: bool | None = None


class Renewed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The memory may live longer, for a reason (SPEC L11)."""

    expires_at: datetime


class Revoked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The memory was withdrawn, alone or with its source: ``because_of`` is that event's place (SPEC L12)."""

    because_of: int | None = None


class Expired(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The memory's time had passed; reads skipped it from that instant (SPEC L11)."""

    expired_at: datetime


class SubjectForgotten(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Every memory of the subject is out of every read (SPEC F1).

    ``again`` is the link of an earlier such event, where a restore carries that one out again (SPEC F11).
    """

    again: bytes | None = None
    first_at: datetime | None = None


class MemoryForgotten(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One memory, and what was derived from it, is out of every read (SPEC F4, F9)."""

    again: bytes | None = None
    first_at: datetime | None = None


class ScopedKeyForgotten(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A key is out of every read at a scope (SPEC F4).

    ``floors`` are the places, innermost first, in which whatever has its source before this is refused for
    ever. A forget of the leaf alone also ends the way outward until ``holds_until``, and is probed then.
    """

    agent: str
    purpose: str
    key_digest: bytes
    scope: Scope
    floors: tuple[str, ...]
    holds_until: datetime | None = None
    probe_at: datetime | None = None
    again: bytes | None = None
    first_at: datetime | None = None


class ForgetProbed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Whether a forget that was not durable held; a failed one is asked about again (SPEC F6)."""

    passed: bool
    found_in: str | None = None
    probe_at: datetime | None = None


class ScopeCompacted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A task or session scope is over: what expired in it is no longer kept at hand (SPEC F3)."""

    agent: str
    purpose: str
    tier: str
    scope_id: str


class HoldPlaced(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The subject may not be erased or pruned until the hold is released (SPEC F10)."""

    review_at: datetime | None = None


class HoldReleased(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The hold is no more."""


class ErasureBegun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Every memory of the subject is out of every read, and its keys are to be destroyed (SPEC F7)."""

    keys: tuple[UUID, ...] = ()
    again: bytes | None = None
    first_at: datetime | None = None


class SubjectErased(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The keys are destroyed and what lay open is gone; the certificate says so (SPEC F8)."""

    certificate: str
    begun_seq: int


class AlertRaised(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that a person should look at; names ids and counts, never content (SPEC I3, F6)."""

    kind: str
    message: str
    about: str | None = None


class Recalled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The receipt of a recall: who asked what of where, and which ids were shown (SPEC R7)."""

    agent: str
    purpose: str
    query_fingerprint: bytes
    memory_ids: tuple[UUID, ...]
    limit: int
    kinds: tuple[Kind, ...] = ()
    min_trust: Trust | None = None
    budget_tokens: int | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    further_fingerprints: tuple[bytes, ...] = ()
    """Those of the other questions, where several were asked at once; without a question there is none."""
    key_prefix_digest: bytes | None = None
    scope: Scope | None = None
    since: datetime | None = None
    until: datetime | None = None
    tokenizer: str | None = None
    around: UUID | None = None
    """The memory whose neighbours were asked for."""


EventData = (
    Admitted
    | Quarantined
    | Refused
    | Promoted
    | Endorsed
    | Rejected
    | Superseded
    | Revised
    | Renewed
    | Revoked
    | Expired
    | SubjectForgotten
    | MemoryForgotten
    | ScopedKeyForgotten
    | ForgetProbed
    | ScopeCompacted
    | HoldPlaced
    | HoldReleased
    | ErasureBegun
    | SubjectErased
    | AlertRaised
    | AccessDenied
    | KeyCreated
    | KeyRevoked
    | Recalled
    | Influenced
    | Held
    | Looked
    | SourceRevoked
    | SourceRevocationFinished
    | PolicySwitched
    | PolicyReevaluated
    | ToolAuthorized
    | ToolRefused
    | Merged
    | Unmerged
    | Corroborated
    | ContradictionFound
    | ContradictionResolved
    | ValidUntil
    | Reinstated
    | Pruned
)

NAMES: Final[dict[type, tuple[str, int]]] = {
    Admitted: ("memory.admitted", 1),
    Quarantined: ("memory.quarantined", 1),
    Refused: ("memory.refused", 1),
    Promoted: ("memory.promoted", 1),
    Endorsed: ("memory.endorsed", 1),
    Rejected: ("memory.rejected", 1),
    Superseded: ("memory.superseded", 1),
    Revised: ("memory.revised", 1),
    Renewed: ("memory.renewed", 1),
    Revoked: ("memory.revoked", 1),
    Expired: ("memory.expired", 1),
    SubjectForgotten: ("subject.forgotten", 1),
    MemoryForgotten: ("memory.forgotten", 1),
    ScopedKeyForgotten: ("scoped_key.forgotten", 1),
    ForgetProbed: ("forget.probed", 1),
    ScopeCompacted: ("scope.compacted", 1),
    HoldPlaced: ("hold.placed", 1),
    HoldReleased: ("hold.released", 1),
    ErasureBegun: ("erasure.begun", 1),
    SubjectErased: ("subject.erased", 1),
    AlertRaised: ("alert.raised", 1),
    AccessDenied: ("access.denied", 1),
    KeyCreated: ("key.created", 1),
    KeyRevoked: ("key.revoked", 1),
    Recalled: ("recall.answered", 1),
    Influenced: ("recall.influenced", 2),
    Held: ("memory.held", 1),
    Looked: ("read.answered", 1),
    SourceRevoked: ("source.revoked", 1),
    SourceRevocationFinished: ("source.revocation_finished", 1),
    PolicySwitched: ("policy.switched", 1),
    PolicyReevaluated: ("policy.reevaluated", 1),
    ToolAuthorized: ("tool.authorized", 1),
    ToolRefused: ("tool.refused", 1),
    Merged: ("memory.merged", 1),
    Unmerged: ("memory.unmerged", 1),
    Corroborated: ("memory.corroborated", 1),
    ContradictionFound: ("contradiction.found", 1),
    ContradictionResolved: ("contradiction.resolved", 1),
    ValidUntil: ("memory.valid_until", 1),
    Reinstated: ("memory.reinstated", 1),
    Pruned: ("memory.pruned", 1),
}
"""The name and version under which each event is written today."""

LIFTS: Final[dict[tuple[str, int], tuple[type, Callable[[Any], Any]]]] = {
    ("recall.influenced", 1): (InfluencedV1, InfluencedV1.lifted),
}
"""Versions that are written no more: the shape that each was stored in, and the step to the next version."""


Forget = SubjectForgotten | MemoryForgotten | ScopedKeyForgotten | ErasureBegun
"""What puts something out of every read: kept beside the log as well, so that a restore knows (SPEC F11)."""

FORGETS: Final = (SubjectForgotten, MemoryForgotten, ScopedKeyForgotten, ErasureBegun)
LAYS_FLOORS: Final = (*FORGETS, Rejected, SourceRevoked)
"""What a write that was decided before it has to be decided on again for (SPEC F4a, F4b)."""


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that happened in one tenant, as the rules see it: opened, before or after storage."""

    tenant: str
    at: datetime
    actor: str
    data: EventData
    stream: UUID | None = None
    version: int | None = None
    subject: str | None = None
    secret: Secret | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The stored text of an event; the chain covers its exact bytes and, through them, the sealed body."""

    type: str
    v: int
    tenant: str
    at: datetime
    actor: str
    data: msgspec.Raw
    stream: UUID | None = None
    version: int | None = None
    subject: str | None = None
    dek: UUID | None = None
    body_sha256: bytes | None = None


_ENCODER = msgspec.json.Encoder(order="deterministic")
_HEADER = msgspec.json.Decoder(Header)
_DATA: Final[dict[tuple[str, int], msgspec.json.Decoder[Any]]] = {
    name: msgspec.json.Decoder(shape)
    for name, shape in (
        {name: shape for shape, name in NAMES.items()} | {n: s for n, (s, _) in LIFTS.items()}
    ).items()
}
_SECRET = msgspec.json.Decoder(Secret)


class UnknownEvent(ValueError):
    """The log holds an event that this version of the program does not know."""


def encode_header(event: Event, *, dek: UUID | None, body_sha256: bytes | None) -> bytes:
    """The canonical text of an event's header."""
    name, version = NAMES[type(event.data)]
    return _ENCODER.encode(
        Header(
            type=name,
            v=version,
            tenant=event.tenant,
            at=event.at,
            actor=event.actor,
            data=msgspec.Raw(_ENCODER.encode(event.data)),
            stream=event.stream,
            version=event.version,
            subject=event.subject,
            dek=dek,
            body_sha256=body_sha256,
        )
    )


def decode_header(text: bytes | str) -> Header:
    """Read a header back; raises msgspec.DecodeError when it is not one."""
    return _HEADER.decode(text)


def decode_event(header: Header, secret: Secret | None) -> Event:
    """Put the two parts of a stored event together again; raises UnknownEvent for a newer one."""
    decoder = _DATA.get((header.type, header.v))
    if decoder is None:
        raise UnknownEvent(f"event {header.type} version {header.v} is not known to this version of tenure")
    return Event(
        tenant=header.tenant,
        at=header.at,
        actor=header.actor,
        data=_lifted(header.type, header.v, decoder.decode(header.data)),
        stream=header.stream,
        version=header.version,
        subject=header.subject,
        secret=secret,
    )


def encode_secret(secret: Secret) -> bytes:
    """The plaintext that is sealed; it exists in memory only."""
    return _ENCODER.encode(secret)


def decode_secret(plaintext: bytes) -> Secret:
    """The inverse of encode_secret."""
    return _SECRET.decode(plaintext)


def _lifted(name: str, version: int, data: Any) -> EventData:
    """An event of an earlier version in today's shape, one step after another (SPEC E3)."""
    while (name, version) in LIFTS:
        data = LIFTS[(name, version)][1](data)
        version += 1
    lifted: EventData = data
    return lifted

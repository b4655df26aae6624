"""The memory record, its life cycle as one table, and how events change it (SPEC M1, M6).

    memory = None
    for event in its_events:
        memory = evolve(memory, event)

Laws: what the table does not name is refused; evolve is a pure fold, the same on every node and replay;
a version grows by exactly one with each event of the memory.
"""

from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import events
from tenure.core.errors import IllegalTransition
from tenure.core.events import Event, EventData, Secret
from tenure.core.identity import Boundary, Scope
from tenure.core.incident_events import Held
from tenure.core.truth_events import Merged, Pruned, Reinstated, Unmerged, ValidUntil
from tenure.core.vocabulary import (
    Claim,
    Decision,
    Kind,
    Origin,
    Outcome,
    Source,
    Status,
    Support,
    Trust,
    Verdict,
)


class Step(StrEnum):
    """What can happen to a memory."""

    ADMIT = "admit"
    QUARANTINE = "quarantine"
    REJECT = "reject"
    ENDORSE = "endorse"
    PROMOTE = "promote"
    REVISE = "revise"
    RENEW = "renew"
    SUPERSEDE = "supersede"
    MERGE = "merge"
    REINSTATE = "reinstate"
    CLOSE = "close"
    REVOKE = "revoke"
    EXPIRE = "expire"
    FORGET = "forget"
    ERASE = "erase"
    PRUNE = "prune"


_ENDED = (Status.REJECTED, Status.SUPERSEDED, Status.REVOKED, Status.EXPIRED)

LIFE_CYCLE: Final = MappingProxyType(
    {
        (Status.PROPOSED, Step.ADMIT): Status.ACTIVE,
        (Status.PROPOSED, Step.QUARANTINE): Status.QUARANTINED,
        (Status.PROPOSED, Step.REJECT): Status.REJECTED,
        (Status.QUARANTINED, Step.ENDORSE): Status.QUARANTINED,
        (Status.QUARANTINED, Step.PROMOTE): Status.ACTIVE,
        (Status.QUARANTINED, Step.REJECT): Status.REJECTED,
        (Status.QUARANTINED, Step.REVOKE): Status.REVOKED,
        (Status.QUARANTINED, Step.EXPIRE): Status.EXPIRED,
        (Status.QUARANTINED, Step.FORGET): Status.FORGOTTEN,
        (Status.QUARANTINED, Step.ERASE): Status.ERASED,
        (Status.ACTIVE, Step.REVISE): Status.ACTIVE,
        (Status.ACTIVE, Step.RENEW): Status.ACTIVE,
        (Status.ACTIVE, Step.QUARANTINE): Status.QUARANTINED,
        (Status.ACTIVE, Step.SUPERSEDE): Status.SUPERSEDED,
        (Status.ACTIVE, Step.MERGE): Status.SUPERSEDED,
        (Status.ACTIVE, Step.CLOSE): Status.ACTIVE,
        (Status.ACTIVE, Step.REVOKE): Status.REVOKED,
        (Status.ACTIVE, Step.EXPIRE): Status.EXPIRED,
        (Status.ACTIVE, Step.FORGET): Status.FORGOTTEN,
        (Status.ACTIVE, Step.ERASE): Status.ERASED,
        (Status.ACTIVE, Step.PRUNE): Status.PRUNED,
        (Status.SUPERSEDED, Step.REINSTATE): Status.ACTIVE,
        (Status.SUPERSEDED, Step.REVOKE): Status.REVOKED,
        (Status.EXPIRED, Step.REVOKE): Status.REVOKED,
        **{(status, Step.FORGET): Status.FORGOTTEN for status in (*_ENDED, Status.PRUNED)},
        **{(status, Step.ERASE): Status.ERASED for status in (*_ENDED, Status.FORGOTTEN, Status.PRUNED)},
        **{(status, Step.PRUNE): Status.PRUNED for status in _ENDED},
    }
)

REVOCABLE: Final = frozenset(status for status, step in LIFE_CYCLE if step is Step.REVOKE)
"""What a memory can be for a revocation to reach it: the others are out of every read for good."""

STEP_OF: Final[dict[type, Step]] = {
    events.Admitted: Step.ADMIT,
    events.Quarantined: Step.QUARANTINE,
    events.Endorsed: Step.ENDORSE,
    events.Promoted: Step.PROMOTE,
    events.Rejected: Step.REJECT,
    events.Superseded: Step.SUPERSEDE,
    events.Revised: Step.REVISE,
    events.Renewed: Step.RENEW,
    events.Revoked: Step.REVOKE,
    events.Expired: Step.EXPIRE,
    events.MemoryForgotten: Step.FORGET,
    Held: Step.QUARANTINE,
    Merged: Step.MERGE,
    Unmerged: Step.REINSTATE,
    Reinstated: Step.REINSTATE,
    ValidUntil: Step.CLOSE,
    Pruned: Step.PRUNE,
}

WITHHELD: Final = frozenset({Status.QUARANTINED, Status.REJECTED, Status.REVOKED})
"""Statuses whose content only those who must judge it may read (SPEC L6)."""


def next_status(status: Status, step: Step) -> Status:
    """Where a step leads; raises IllegalTransition where the table has no entry."""
    following = LIFE_CYCLE.get((status, step))
    if following is None:
        possible = sorted(str(known) for state, known in LIFE_CYCLE if state is status)
        raise IllegalTransition(
            f"a memory that is {status} cannot {step}",
            hint=f"From {status} it can: {', '.join(possible) or 'nothing more'}.",
            memory_status=str(status),
            step=str(step),
        )
    return following


class Memory(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The whole record (SPEC M1). ``content`` is None once nobody may read it here."""

    id: UUID
    tenant: str
    agent: str
    purpose: str
    subject: str
    scope: Scope
    kind: Kind
    content: str | None
    source: Source
    trust: Trust
    confidence: float
    status: Status
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    decision: Decision
    policy_version: str
    proposed_by: str
    fingerprint: str | None = None
    key: str | None = None
    claim: Claim | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    merged_into: UUID | None = None
    """The memory that stands for this one, which says the same; None where it was corrected (SPEC T2)."""
    derived_from: tuple[UUID, ...] = ()
    origins: tuple[Origin, ...] = ()
    evidence: tuple[UUID, ...] = ()
    """The memories that were merged behind it; only where it is read by its id (SPEC T2)."""
    support: Support | None = None
    """How many sources say so, where more than one does; only where it is read by its id (SPEC M5a)."""
    findings: tuple[Verdict, ...] = ()
    endorsed_by: str | None = None
    endorsed_at: datetime | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    decision_reason: str | None = None
    tokens: int = 0

    @property
    def boundary(self) -> Boundary:
        """The four walls around it."""
        return Boundary(tenant=self.tenant, agent=self.agent, purpose=self.purpose, subject=self.subject)

    def status_at(self, now: datetime) -> Status:
        """The status as a reader must see it: time passes before a worker writes it down (SPEC L11)."""
        if self.status in {Status.ACTIVE, Status.QUARANTINED} and self.expires_at <= now:
            return Status.EXPIRED
        return self.status


def evolve(memory: Memory | None, event: Event) -> Memory:
    """The memory after one more of its events."""
    data = event.data
    if isinstance(data, events.Admitted | events.Quarantined):
        if memory is not None:
            raise IllegalTransition(
                "only the first event of a memory admits or quarantines it",
                hint="Give a new memory an id of its own.",
            )
        return _born(event, data)
    if memory is None:
        raise ValueError("the first event of a memory must admit or quarantine it")
    status = next_status(memory.status, STEP_OF[type(data)])
    memory = msgspec.structs.replace(memory, status=status, version=memory.version + 1, updated_at=event.at)
    return _changed(memory, event)


def _changed(memory: Memory, event: Event) -> Memory:
    reason = event.secret.reason if event.secret else None
    reviewed = {"reviewed_by": event.actor, "reviewed_at": event.at, "decision_reason": reason}
    match event.data:
        case events.Endorsed():
            return msgspec.structs.replace(
                memory, endorsed_by=event.actor, endorsed_at=event.at, decision_reason=reason
            )
        case events.Promoted(trust=trust, valid_from=begins):
            return msgspec.structs.replace(
                memory, trust=trust, valid_from=begins or memory.valid_from, **reviewed
            )
        case events.Rejected() | events.Revoked():
            return msgspec.structs.replace(memory, **reviewed)
        case events.Renewed(expires_at=expires_at):
            return msgspec.structs.replace(memory, expires_at=expires_at, decision_reason=reason)
        case Held() as held:
            return msgspec.structs.replace(
                memory,
                decision=_decision(held, Outcome.QUARANTINE),
                policy_version=held.policy_version,
                findings=held.findings or memory.findings,
                endorsed_by=None,
                endorsed_at=None,
            )
        case events.Revised() as revised:
            return _revised(memory, revised, event.secret or Secret())
        case _:
            return _changed_by_another(memory, event.data)


def _changed_by_another(memory: Memory, data: EventData) -> Memory:
    """What another memory changes of this one: whether it stands, and until when it holds (SPEC T2-T4)."""
    match data:
        case events.Superseded(by=by, valid_to=valid_to):
            return msgspec.structs.replace(memory, superseded_by=by, valid_to=valid_to or memory.valid_to)
        case Merged(into=into):
            return msgspec.structs.replace(memory, superseded_by=into, merged_into=into)
        case Unmerged():
            return msgspec.structs.replace(memory, superseded_by=None, merged_into=None)
        case Reinstated(valid_to=valid_to):
            return msgspec.structs.replace(memory, superseded_by=None, valid_to=valid_to)
        case ValidUntil(valid_to=valid_to):
            return msgspec.structs.replace(memory, valid_to=valid_to)
        case _:
            return memory


def _born(event: Event, data: events.Admitted | events.Quarantined) -> Memory:
    if event.stream is None or event.subject is None:
        raise ValueError("an event that creates a memory names the memory and its subject")
    secret = event.secret or Secret()
    admitted = isinstance(data, events.Admitted)
    return Memory(
        id=event.stream,
        tenant=event.tenant,
        agent=data.agent,
        purpose=data.purpose,
        subject=event.subject,
        scope=data.scope,
        kind=data.kind,
        content=secret.content,
        source=_source(data, secret),
        trust=data.trust,
        confidence=data.confidence,
        status=next_status(Status.PROPOSED, STEP_OF[type(data)]),
        version=event.version or 1,
        created_at=event.at,
        updated_at=event.at,
        expires_at=data.expires_at,
        decision=_decision(data, Outcome.APPROVE if admitted else Outcome.QUARANTINE),
        policy_version=data.policy_version,
        proposed_by=event.actor,
        fingerprint=secret.fingerprint.hex() if secret.fingerprint else None,
        key=secret.key,
        claim=secret.claim,
        valid_from=data.valid_from,
        valid_to=data.valid_to,
        supersedes=data.supersedes,
        derived_from=data.derived_from,
        origins=data.origins,
        findings=data.findings,
        tokens=data.tokens,
    )


def _revised(memory: Memory, data: events.Revised, secret: Secret) -> Memory:
    return msgspec.structs.replace(
        memory,
        content=secret.content,
        fingerprint=secret.fingerprint.hex() if secret.fingerprint else None,
        claim=secret.claim,
        source=_source(data, secret),
        trust=data.trust,
        confidence=data.confidence,
        decision=_decision(data, Outcome.APPROVE),
        policy_version=data.policy_version,
        origins=data.origins,
        findings=data.findings,
        tokens=data.tokens,
        endorsed_by=None,
        endorsed_at=None,
    )


def _source(data: events.Remembered | events.Revised, secret: Secret) -> Source:
    return Source(
        type=data.source_type,
        id=data.source_id,
        uri=secret.uri,
        version=data.source_version,
        observed_at=data.observed_at,
        thread=data.thread,
        position=data.position,
    )


def _decision(data: events.Remembered | events.Revised | Held, outcome: Outcome) -> Decision:
    return Decision(outcome=outcome, rule=data.rule, reason=data.reason, policy_version=data.policy_version)

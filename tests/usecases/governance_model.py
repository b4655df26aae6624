"""What must be true of every memory, said plainly: the model that the store is held against."""

import itertools
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from tests.usecases.asking import caller

from tenure.core.identity import Role, SourceType
from tenure.core.memory import Memory
from tenure.core.vocabulary import Kind, Status

EXTERNAL = {
    SourceType.EMAIL,
    SourceType.DOCUMENT,
    SourceType.WEB,
    SourceType.TOOL,
    SourceType.OTHER_AGENT,
}
UNTRUSTED, USER, APPLICATION, REVIEWER = range(4)
Place = tuple[str, str, str, str]
"""Tenant, agent, purpose, subject."""

TENANTS = ("acme", "globex")
AGENTS = ("support", "sales")
PURPOSES = ("answering", "selling")
SUBJECTS = ("ann", "bob")
PLACES: list[Place] = list(itertools.product(TENANTS, AGENTS, PURPOSES, SUBJECTS))
READERS = {tenant: caller(Role.WRITER, Role.READER, tenant=tenant) for tenant in TENANTS}
REVIEWERS = {
    tenant: caller(Role.REVIEWER, Role.PRIVACY_OFFICER, name="ann", tenant=tenant) for tenant in TENANTS
}


def trust_at_the_gate(kind: Kind, source_type: SourceType) -> int:
    """What the default policy gives a harmless text; untrusted is what it holds back (SPEC L3)."""
    if kind is Kind.SENSITIVE_CHANGE or source_type in EXTERNAL:
        return UNTRUSTED
    if source_type is SourceType.DIRECT_USER:
        return USER if kind is Kind.PREFERENCE else UNTRUSTED
    return APPLICATION


@dataclass
class Known:
    """One memory, as the model knows it."""

    id: UUID
    place: Place
    kind: Kind
    content: str
    trust: int
    status: Status
    expires_at: datetime
    supersedes: UUID | None = None
    version: int = 1

    def status_at(self, now: datetime) -> Status:
        """Time passes by itself (SPEC L11)."""
        runs_out = self.status in {Status.ACTIVE, Status.QUARANTINED}
        return Status.EXPIRED if runs_out and self.expires_at <= now else self.status

    def to(self, status: Status) -> None:
        """One step of its life."""
        self.status = status
        self.version += 1


@dataclass
class Model:
    """Everything that stands; what was forgotten is only an id any more."""

    known: dict[UUID, Known] = field(default_factory=dict)
    forgotten: set[UUID] = field(default_factory=set)

    def remember(self, memory: Memory, trust: int) -> None:
        """A new memory, admitted if it is trusted at all, and held back otherwise."""
        self.known[memory.id] = Known(
            id=memory.id,
            place=(memory.tenant, memory.agent, memory.purpose, memory.subject),
            kind=memory.kind,
            content=memory.content or "",
            trust=trust,
            status=Status.ACTIVE if trust else Status.QUARANTINED,
            expires_at=memory.expires_at,
            supersedes=memory.supersedes,
        )

    def correct(self, memory: Memory, old: Known, gate: int) -> None:
        """A correction takes the place of what is not trusted more, and waits otherwise (SPEC L10)."""
        admitted = gate >= max(old.trust, USER)
        self.remember(memory, gate if admitted else UNTRUSTED)
        if admitted:
            old.to(Status.SUPERSEDED)

    def may_promote(self, one: Known, now: datetime) -> bool:
        """Only what waits; and a correction only while its place is not taken (SPEC L7, L10)."""
        corrected = self.known.get(one.supersedes) if one.supersedes else None
        taken = corrected is not None and corrected.status is Status.SUPERSEDED
        return one.status_at(now) is Status.QUARANTINED and not taken

    def promote(self, one: Known, now: datetime) -> None:
        """The reviewer's trust; what it corrects, if it still stands, is superseded."""
        one.to(Status.ACTIVE)
        one.trust = REVIEWER
        corrected = self.known.get(one.supersedes) if one.supersedes else None
        if corrected is not None and corrected.status_at(now) is Status.ACTIVE:
            corrected.to(Status.SUPERSEDED)

    def forget(self, tenant: str, subject: str) -> int:
        """Whatever its status, and wherever it was (SPEC F1)."""
        gone = [one for one in self.known.values() if (one.place[0], one.place[3]) == (tenant, subject)]
        for one in gone:
            del self.known[one.id]
            self.forgotten.add(one.id)
        return len(gone)

    def expire(self, now: datetime) -> int:
        """Upkeep writes down what time has done (SPEC L11)."""
        due = [one for one in self.known.values() if one.status_at(now) is not one.status]
        for one in due:
            one.to(Status.EXPIRED)
        return len(due)

    def active(self, place: Place, now: datetime) -> set[UUID]:
        """What may be recalled there and then, and nothing else may."""
        return {
            one.id
            for one in self.known.values()
            if one.place == place and one.status_at(now) is Status.ACTIVE
        }

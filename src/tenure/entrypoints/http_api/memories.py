"""The calls that write, read and renew memories (SPEC L1, L8-L11)."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.authority import filled
from tenure.core.errors import (
    IdempotencyMismatch,
    IllegalTransition,
    MemoryRejected,
    NotFound,
    VersionConflict,
)
from tenure.core.identity import Caller
from tenure.core.memory import Memory
from tenure.core.proposals import DERIVED_FROM_MAX, Remember, Revise
from tenure.core.remembering import Written
from tenure.core.retention import Renew
from tenure.core.vocabulary import Decision, Kind, Verdict
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, Nothing, Visit, plainly
from tenure.entrypoints.http_api.fields import (
    GivenClaim,
    GivenScope,
    GivenSource,
    Reason,
    Seconds,
    Time,
    Version,
    utc,
)
from tenure.usecases import reading, remembering, review
from tenure.usecases.reading import PAGE_ITEMS_MAX, Get, History, ListMemories, Page
from tenure.usecases.remembering import ReviseMemory
from tenure.usecases.review import RenewMemory

Share = Annotated[float, Meta(ge=0, le=1, description="How sure the proposer is; it never raises trust.")]


class RememberBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal. Agent, purpose and subject may be left out where the credential grants exactly one."""

    kind: Kind
    content: str
    source: GivenSource
    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    id: UUID | None = None
    scope: GivenScope | None = None
    key: str | None = None
    claim: GivenClaim | None = None
    confidence: Share = 1.0
    expires_at: Time | None = None
    ttl_seconds: Seconds | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    supersedes: UUID | None = None
    derived_from: Annotated[tuple[UUID, ...], Meta(max_length=DERIVED_FROM_MAX)] = ()
    expected_version: Version = 0
    dry_run: bool = False

    def command(self, caller: Caller) -> Remember:
        """The proposal as the rules take it, made by this caller."""
        grants = caller.grants
        return Remember(
            agent=filled(self.agent, grants.agents, field="agent"),
            purpose=filled(self.purpose, grants.purposes, field="purpose"),
            subject=filled(self.subject, grants.subjects, field="subject"),
            kind=self.kind,
            content=self.content,
            source=self.source.source(),
            id=self.id,
            scope=self.scope.scope() if self.scope else None,
            key=self.key,
            claim=self.claim.claim() if self.claim else None,
            confidence=self.confidence,
            expires_at=utc(self.expires_at, field="expires_at"),
            ttl_seconds=self.ttl_seconds,
            valid_from=utc(self.valid_from, field="valid_from"),
            valid_to=utc(self.valid_to, field="valid_to"),
            supersedes=self.supersedes,
            derived_from=self.derived_from,
            expected_version=self.expected_version,
        )


class ReviseBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new version of a memory; what is left out stays as it is."""

    expected_version: Version
    source: GivenSource
    content: str | None = None
    claim: GivenClaim | None = None
    confidence: Share | None = None


class RenewBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A longer life: ``expires_at`` or ``ttl_seconds``, and why."""

    expected_version: Version
    reason: Reason
    expires_at: Time | None = None
    ttl_seconds: Seconds | None = None


class ListQuery(ListMemories, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which memories to list, newest first."""

    limit: Annotated[int, Meta(ge=1, le=PAGE_ITEMS_MAX)] = 50


class WrittenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The memory as it was kept, and the gate's decision on it."""

    memory: Memory
    decision: Decision


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate would decide; nothing was stored."""

    decision: Decision
    findings: tuple[Verdict, ...]


class MemoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The memory as it now stands."""

    memory: Memory


def _remember(visit: Visit[RememberBody]) -> Ask[Any, Any, Any] | Answer:
    command = visit.given.command(visit.caller)
    if visit.given.dry_run:
        preview = visit.pipeline.preview(remembering.REMEMBER, visit.caller, command).answer
        return Answer(200, Preview(decision=preview.decision, findings=preview.findings))
    return Ask(remembering.REMEMBER, command, lambda written: Answer(201, _written(written)))


def _written(written: Written) -> WrittenAnswer:
    """What was kept; a rejection never comes this far, since the pipeline answers it with an error."""
    if written.memory is None:
        raise AssertionError("a write that kept nothing is a rejection")
    return WrittenAnswer(memory=written.memory, decision=written.decision)


def _revise(visit: Visit[ReviseBody]) -> Ask[Any, Any, Any]:
    given = visit.given
    revise = Revise(
        expected_version=given.expected_version,
        source=given.source.source(),
        content=given.content,
        claim=given.claim.claim() if given.claim else None,
        confidence=given.confidence,
    )
    command = ReviseMemory(memory_id=visit.id("memory_id"), revise=revise)
    return Ask(remembering.REVISE, command, lambda written: Answer(200, _written(written)))


def _get(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(reading.GET, Get(memory_id=visit.id("memory_id")), plainly)


def _list(visit: Visit[ListQuery]) -> Ask[Any, Any, Any]:
    return Ask(reading.LIST, visit.given, plainly)


def _history(visit: Visit[Nothing]) -> Ask[Any, Any, Any]:
    return Ask(reading.HISTORY, Get(memory_id=visit.id("memory_id")), plainly)


def _renew(visit: Visit[RenewBody]) -> Ask[Any, Any, Any]:
    given = visit.given
    renew = Renew(
        expected_version=given.expected_version,
        reason=given.reason,
        expires_at=utc(given.expires_at, field="expires_at"),
        ttl_seconds=given.ttl_seconds,
    )
    command = RenewMemory(memory_id=visit.id("memory_id"), renew=renew)
    return Ask(review.RENEW, command, with_memory)


def with_memory(memory: Memory) -> Answer:
    """The answer of every call that changes where one memory stands."""
    return Answer(200, MemoryAnswer(memory=memory))


CALLS: Final = (
    Call(
        method="POST",
        path="/v1/memories",
        name="remember",
        summary="Propose a memory; the gate approves, quarantines or rejects it.",
        work=_remember,
        takes=RememberBody,
        answers={201: WrittenAnswer, 200: Preview},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition, MemoryRejected),
        takes_idempotency_key=True,
        in_batches=True,
    ),
    Call(
        method="GET",
        path="/v1/memories",
        name="list_memories",
        summary="A page of memories, newest first.",
        work=_list,
        takes=ListQuery,
        answers={200: Page},
    ),
    Call(
        method="GET",
        path="/v1/memories/{memory_id:str}",
        name="get_memory",
        summary="One memory.",
        work=_get,
        takes=Nothing,
        answers={200: Memory},
        problems=(NotFound,),
    ),
    Call(
        method="PATCH",
        path="/v1/memories/{memory_id:str}",
        name="revise_memory",
        summary="A new version through the same gate; held back, it waits under an id of its own.",
        work=_revise,
        takes=ReviseBody,
        answers={200: WrittenAnswer},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition, MemoryRejected),
        takes_idempotency_key=True,
    ),
    Call(
        method="GET",
        path="/v1/memories/{memory_id:str}/history",
        name="memory_history",
        summary="What happened to a memory, oldest first.",
        work=_history,
        takes=Nothing,
        answers={200: History},
        problems=(NotFound,),
    ),
    Call(
        method="POST",
        path="/v1/memories/{memory_id:str}/renew",
        name="renew_memory",
        summary="Let a memory live longer, for a reason, within its kind's maximum from now.",
        work=_renew,
        takes=RenewBody,
        answers={200: MemoryAnswer},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition),
        takes_idempotency_key=True,
    ),
)

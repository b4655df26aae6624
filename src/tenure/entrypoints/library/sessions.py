"""Sessions: an authenticated principal in embedded use, and what it may ask (API.md, "Python")."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from tenure.core.authority import filled
from tenure.core.erasure import Certificate
from tenure.core.errors import InvalidRequest
from tenure.core.forgetting import ForgetStanding, Forgotten
from tenure.core.holds import Hold, PlaceHold
from tenure.core.identity import Caller, Scope
from tenure.core.memory import Memory
from tenure.core.proposals import Remember, Revise
from tenure.core.remembering import Written
from tenure.core.retention import Renew
from tenure.core.review import Judge
from tenure.core.vocabulary import Claim, Kind, Source, Status
from tenure.entrypoints.library.incident_calls import IncidentSession
from tenure.entrypoints.library.log_calls import LogSession
from tenure.entrypoints.library.recall_calls import RecallSession
from tenure.entrypoints.library.review_calls import ReviewSession
from tenure.entrypoints.library.tool_calls import ToolSession
from tenure.entrypoints.library.truth_calls import TruthSession
from tenure.usecases import (
    alerts,
    erasure,
    evidence,
    exporting,
    forgetting,
    holds,
    reading,
    remembering,
    review,
    scopes,
)
from tenure.usecases.forget_selection import Wanted, forget
from tenure.usecases.pipeline import Pipeline

W = TypeVar("W", bound=StrEnum)


class Session(IncidentSession, LogSession, RecallSession, ReviewSession, ToolSession, TruthSession):
    """One principal of one tenant. The embedding program is the authority for what it may do."""

    def __init__(self, pipeline: Pipeline, caller: Caller, *, subject: str | None) -> None:
        self._pipeline = pipeline
        self.caller = caller
        self._subject = subject

    def remember(
        self,
        content: str,
        *,
        kind: str | Kind,
        source: Source,
        subject: str | None = None,
        memory_id: UUID | None = None,
        scope: Scope | None = None,
        key: str | None = None,
        claim: Claim | None = None,
        confidence: float = 1.0,
        expires_at: datetime | None = None,
        ttl_seconds: int | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        supersedes: UUID | None = None,
        derived_from: Iterable[UUID] = (),
        idempotency_key: str | None = None,
    ) -> Memory:
        """Propose a memory; gives it back as the gate left it: active, or quarantined.

        ``memory.decision`` says which rule decided. Raises MemoryRejected when it was not kept at all.
        """
        command = self._proposal(
            content=content,
            kind=_kind(kind),
            source=source,
            subject=subject,
            id=memory_id,
            scope=scope,
            key=key,
            claim=claim,
            confidence=confidence,
            expires_at=expires_at,
            ttl_seconds=ttl_seconds,
            valid_from=valid_from,
            valid_to=valid_to,
            supersedes=supersedes,
            derived_from=tuple(derived_from),
        )
        return _kept(
            self._pipeline.run(remembering.REMEMBER, self.caller, command, idempotency_key=idempotency_key)
        )

    def try_out(
        self, content: str, *, kind: str | Kind, source: Source, subject: str | None = None
    ) -> Written:
        """What the gate would decide, with its findings; nothing is stored."""
        command = self._proposal(content=content, kind=_kind(kind), source=source, subject=subject)
        return self._pipeline.preview(remembering.REMEMBER, self.caller, command).answer

    def correct(
        self, memory: Memory, content: str, *, source: Source, idempotency_key: str | None = None
    ) -> Memory:
        """A new memory in the old one's place; history keeps both (SPEC L10)."""
        command = Remember(
            agent=memory.agent,
            purpose=memory.purpose,
            subject=memory.subject,
            kind=memory.kind,
            content=content,
            source=source,
            scope=memory.scope,
            key=memory.key,
            supersedes=memory.id,
        )
        return _kept(
            self._pipeline.run(remembering.REMEMBER, self.caller, command, idempotency_key=idempotency_key)
        )

    def revise(
        self,
        memory_id: UUID,
        *,
        expected_version: int,
        source: Source,
        content: str | None = None,
        claim: Claim | None = None,
        confidence: float | None = None,
        idempotency_key: str | None = None,
    ) -> Memory:
        """A new version of the same memory, through the same gate."""
        change = Revise(
            expected_version=expected_version,
            source=source,
            content=content,
            claim=claim,
            confidence=confidence,
        )
        command = remembering.ReviseMemory(memory_id=memory_id, revise=change)
        return _kept(
            self._pipeline.run(remembering.REVISE, self.caller, command, idempotency_key=idempotency_key)
        )

    def get(self, memory_id: UUID) -> Memory:
        """One memory; raises NotFound outside this session's grants."""
        return self._pipeline.run(reading.GET, self.caller, reading.Get(memory_id=memory_id))

    def memories(
        self,
        *,
        subject: str | None = None,
        status: str | Status | None = None,
        kind: str | Kind | None = None,
        key: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> reading.Page:
        """A page of memories, newest first."""
        command = reading.ListMemories(
            subject=subject or self._subject,
            status=_word(Status, status, "status") if status is not None else None,
            kind=_kind(kind) if kind is not None else None,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        return self._pipeline.run(reading.LIST, self.caller, command)

    def history(self, memory_id: UUID) -> reading.History:
        """What happened to a memory, oldest first: who, when, why."""
        return self._pipeline.run(reading.HISTORY, self.caller, reading.Get(memory_id=memory_id))

    def promote(self, memory_id: UUID, *, expected_version: int, reason: str) -> Memory:
        """Let a quarantined memory in; never one's own proposal (SPEC L7, A5)."""
        return self._pipeline.run(review.PROMOTE, self.caller, _judge(memory_id, expected_version, reason))

    def reject(self, memory_id: UUID, *, expected_version: int, reason: str) -> Memory:
        """Turn a quarantined memory down."""
        return self._pipeline.run(review.REJECT, self.caller, _judge(memory_id, expected_version, reason))

    def revoke(self, memory_id: UUID, *, expected_version: int, reason: str) -> Memory:
        """Take a memory out of every read from the next one on (SPEC L12)."""
        return self._pipeline.run(review.REVOKE, self.caller, _judge(memory_id, expected_version, reason))

    def renew(
        self,
        memory_id: UUID,
        *,
        expected_version: int,
        reason: str,
        expires_at: datetime | None = None,
        ttl_seconds: int | None = None,
    ) -> Memory:
        """Let a memory live longer, within its kind's maximum from now (SPEC L11)."""
        change = Renew(
            expected_version=expected_version, reason=reason, expires_at=expires_at, ttl_seconds=ttl_seconds
        )
        command = review.RenewMemory(memory_id=memory_id, renew=change)
        return self._pipeline.run(review.RENEW, self.caller, command)

    def forget(
        self,
        *,
        subject: str | None = None,
        memory_id: UUID | None = None,
        expected_version: int | None = None,
        key: str | None = None,
        scope: Scope | None = None,
        agent: str | None = None,
        purpose: str | None = None,
        leaf_only: bool = False,
    ) -> Forgotten:
        """Put a subject, one memory, or a key at a scope out of every read (SPEC F1-F5). This is not erasure.

        ``durable`` says whether it can come back; a forget of the leaf alone says until when, and is probed.
        """
        wanted = Wanted(
            subject=subject,
            memory_id=memory_id,
            expected_version=expected_version,
            key=key,
            scope=scope,
            agent=agent,
            purpose=purpose,
            leaf_only=leaf_only,
        )
        return forget(self._pipeline, self.caller, wanted.chosen(self.caller, self._subject))

    def forget_status(self, forget_id: UUID) -> ForgetStanding:
        """How a forget of a key stands: complete, waiting for its probe, or found not to hold (SPEC F6)."""
        return self._pipeline.run(
            forgetting.ASK_FORGET, self.caller, forgetting.AskForget(forget_id=forget_id)
        )

    def resolve(self, key: str, *, scope: Scope, subject: str | None = None) -> Memory:
        """The memory that a key means at a scope, looked for outward (SPEC F3); raises NotFound for none."""
        command = scopes.ResolveKey(
            agent=self._agent(),
            purpose=self._purpose(),
            subject=self._about(subject),
            key=key,
            scope=scope,
        )
        return self._pipeline.run(scopes.RESOLVE, self.caller, command)

    def erase(self, *, subject: str | None = None) -> Certificate:
        """Destroy everything held about a subject, for good; the certificate is signed (SPEC F7, F8).

        Raises OnHold where a legal hold forbids it. After Unavailable ask again: it goes on where it was.
        """
        command = erasure.EraseSubject(subject=self._about(subject))
        return erasure.erase(self._pipeline, self.caller, command)

    def export(self, *, subject: str | None = None) -> exporting.SubjectExport:
        """Everything held about a subject, what is forgotten but not erased included (SPEC F12)."""
        command = exporting.ExportSubject(subject=self._about(subject))
        return self._pipeline.run(exporting.EXPORT_SUBJECT, self.caller, command)

    def hold(self, *, subject: str | None = None, reason: str, review_at: datetime | None = None) -> Hold:
        """Keep a subject from being erased or pruned, until the hold is released (SPEC F10)."""
        command = PlaceHold(subject=self._about(subject), reason=reason, review_at=review_at)
        return self._pipeline.run(holds.PLACE_HOLD, self.caller, command)

    def release(self, *, subject: str | None = None, reason: str) -> Hold:
        """End the hold on a subject; raises NotFound where there is none."""
        command = holds.ReleaseHold(subject=self._about(subject), reason=reason)
        return self._pipeline.run(holds.RELEASE_HOLD, self.caller, command)

    def hold_of(self, *, subject: str | None = None) -> Hold:
        """The hold on a subject; raises NotFound where there is none."""
        command = holds.AskHold(subject=self._about(subject))
        return self._pipeline.run(holds.ASK_HOLD, self.caller, command)

    def alerts(
        self, *, limit: int = 50, cursor: str | None = None, kind: str | None = None
    ) -> alerts.AlertPage:
        """What a person should look at, newest first."""
        return self._pipeline.run(
            alerts.READ_ALERTS, self.caller, alerts.ReadAlerts(limit=limit, cursor=cursor, kind=kind)
        )

    def log(self, *, after: int = 0, limit: int = 100) -> evidence.LogPage:
        """A page of the tenant's event log, without content."""
        return self._pipeline.run(evidence.READ_LOG, self.caller, evidence.ReadLog(after=after, limit=limit))

    def _agent(self) -> str:
        return filled(None, self.caller.grants.agents, field="agent")

    def _purpose(self) -> str:
        return filled(None, self.caller.grants.purposes, field="purpose")

    def _about(self, subject: str | None) -> str:
        """Whom it is about; an empty name is a mistake, and never somebody else."""
        wanted = self._subject if subject is None else subject
        if wanted is None:
            raise InvalidRequest("subject is missing", field="subject", hint="Name the subject.")
        return wanted

    def _proposal(self, *, subject: str | None, **fields: Any) -> Remember:
        wanted = subject or self._subject
        if wanted is None:
            raise InvalidRequest("subject is missing", field="subject", hint="Name whom the memory is about.")
        return Remember(agent=self._agent(), purpose=self._purpose(), subject=wanted, **fields)


def _judge(memory_id: UUID, expected_version: int, reason: str) -> review.JudgeMemory:
    return review.JudgeMemory(
        memory_id=memory_id, judge=Judge(expected_version=expected_version, reason=reason)
    )


def _kept(written: Written) -> Memory:
    if written.memory is None:
        raise AssertionError("a write that kept nothing is refused before it is answered")
    return msgspec.structs.replace(written.memory, decision=written.decision)


def _kind(value: str | Kind) -> Kind:
    return _word(Kind, value, "kind")


def _word(known: type[W], value: str, field: str) -> W:
    try:
        return known(value)
    except ValueError:
        words = ", ".join(member.value for member in known)
        raise InvalidRequest(f"{field} is unknown", field=field, hint=f"Known: {words}.") from None

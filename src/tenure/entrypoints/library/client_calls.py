"""What each call of a client is: where it goes, what is sent, how its answer is read. Nothing here does I/O.

Laws: every call is described once, for whoever waits and whoever awaits; what is left out is not sent, and
the server fills it from the credential or refuses; what a word or a number may be is the server's to say.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.erasure import Certificate
from tenure.core.errors import InvalidRequest
from tenure.core.forgetting import ForgetStanding, Forgotten
from tenure.core.holds import Hold
from tenure.core.identity import Scope
from tenure.core.memory import Memory
from tenure.core.remembering import Written
from tenure.core.vocabulary import Claim, Decision, Kind, Source, Status, Verdict
from tenure.entrypoints.library.client_request import (
    Request,
    a_read,
    a_removal,
    a_write,
    encoded,
    given,
    id_path,
    memory_path,
    named_path,
)
from tenure.entrypoints.library.incident_calls import IncidentRequests
from tenure.entrypoints.library.log_calls import LogRequests
from tenure.entrypoints.library.recall_calls import RecallRequests
from tenure.entrypoints.library.review_calls import ReviewRequests
from tenure.entrypoints.library.tool_calls import ToolRequests
from tenure.entrypoints.library.truth_calls import TruthRequests
from tenure.usecases import evidence, reading
from tenure.usecases.alerts import AlertPage
from tenure.usecases.exporting import SubjectExport


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls(IncidentRequests, LogRequests, RecallRequests, ReviewRequests, ToolRequests, TruthRequests):
    """All calls of one client; its agent, purpose and subject go with every call that takes them."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None

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
    ) -> Request[Memory]:
        """Propose a memory; gives it back as the gate left it: active, or quarantined.

        ``memory.decision`` says which rule decided. Raises MemoryRejected when it was not kept at all.
        """
        body = self._boundary(subject) | given(
            kind=kind,
            content=content,
            source=source,
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
        return a_write("/v1/memories", body, read=_kept, idempotency_key=idempotency_key)

    def try_out(
        self, content: str, *, kind: str | Kind, source: Source, subject: str | None = None
    ) -> Request[Written]:
        """What the gate would decide, with its findings; nothing is stored, so there is no memory in it."""
        body = self._boundary(subject) | given(kind=kind, content=content, source=source, dry_run=True)
        return Request(method="POST", path="/v1/memories", body=encoded(body), read=_previewed)

    def correct(
        self, memory: Memory, content: str, *, source: Source, idempotency_key: str | None = None
    ) -> Request[Memory]:
        """A new memory in the old one's place; history keeps both (SPEC L10)."""
        body = given(
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
        return a_write("/v1/memories", body, read=_kept, idempotency_key=idempotency_key)

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
    ) -> Request[Memory]:
        """A new version of the same memory, through the same gate."""
        body = given(
            expected_version=expected_version,
            source=source,
            content=content,
            claim=claim,
            confidence=confidence,
        )
        return a_write(
            memory_path(memory_id), body, read=_kept, idempotency_key=idempotency_key, method="PATCH"
        )

    def get(self, memory_id: UUID) -> Request[Memory]:
        """One memory; raises NotFound outside this credential's grants."""
        return a_read(memory_path(memory_id), {}, read=_MEMORY.decode)

    def memories(
        self,
        *,
        subject: str | None = None,
        status: str | Status | None = None,
        kind: str | Kind | None = None,
        key: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Request[reading.Page]:
        """A page of memories, newest first."""
        asked = given(status=status, kind=kind, key=key, limit=limit, cursor=cursor)
        return a_read("/v1/memories", self._boundary(subject) | asked, read=_PAGE.decode)

    def history(self, memory_id: UUID) -> Request[reading.History]:
        """What happened to a memory, oldest first: who, when, why."""
        return a_read(memory_path(memory_id, "/history"), {}, read=_HISTORY.decode)

    def promote(self, memory_id: UUID, *, expected_version: int, reason: str) -> Request[Memory]:
        """Let a quarantined memory in; never one's own proposal (SPEC L7, A5)."""
        return _judgement(memory_id, "/promote", expected_version=expected_version, reason=reason)

    def reject(self, memory_id: UUID, *, expected_version: int, reason: str) -> Request[Memory]:
        """Turn a quarantined memory down."""
        return _judgement(memory_id, "/reject", expected_version=expected_version, reason=reason)

    def revoke(self, memory_id: UUID, *, expected_version: int, reason: str) -> Request[Memory]:
        """Take a memory out of every read from the next one on (SPEC L12)."""
        return _judgement(memory_id, "/revoke", expected_version=expected_version, reason=reason)

    def renew(
        self,
        memory_id: UUID,
        *,
        expected_version: int,
        reason: str,
        expires_at: datetime | None = None,
        ttl_seconds: int | None = None,
    ) -> Request[Memory]:
        """Let a memory live longer, within its kind's maximum from now (SPEC L11)."""
        return _judgement(
            memory_id,
            "/renew",
            expected_version=expected_version,
            reason=reason,
            expires_at=expires_at,
            ttl_seconds=ttl_seconds,
        )

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
    ) -> Request[Forgotten]:
        """Put a subject, one memory, or a key at a scope out of every read (SPEC F1-F5). This is not erasure.

        ``durable`` says whether it can come back; a forget of the leaf alone says until when, and is probed.
        """
        body = given(
            subject=subject,
            memory_id=memory_id,
            expected_version=expected_version,
            key=key,
            scope=scope,
            agent=agent,
            purpose=purpose,
            leaf_only=leaf_only or None,
        )
        if memory_id is None:
            body = given(subject=self.subject) | body
        if key is not None:
            body = given(agent=self.agent, purpose=self.purpose) | body
        return a_write("/v1/forget", body, read=_FORGOTTEN.decode)

    def forget_status(self, forget_id: UUID) -> Request[ForgetStanding]:
        """How a forget of a key stands: complete, waiting for its probe, or found not to hold (SPEC F6)."""
        return a_read(id_path("/v1/forgets", forget_id, field="forget_id"), {}, read=_STANDING_FORGET.decode)

    def resolve(self, key: str, *, scope: Scope, subject: str | None = None) -> Request[Memory]:
        """The memory that a key means at a scope, looked for outward (SPEC F3); raises NotFound for none."""
        place = given(scope=f"{scope.tier}:{scope.id}", session=scope.session, user=scope.user)
        path = named_path("/v1/keys", key, field="key")
        return a_read(path, self._boundary(subject) | place, read=_MEMORY.decode)

    def erase(self, *, subject: str | None = None) -> Request[Certificate]:
        """Destroy everything held about a subject, for good; the certificate is signed (SPEC F7, F8)."""
        return Request(
            method="POST",
            path=self._of_subject(subject, "/erase"),
            read=_CERTIFICATE.decode,
            is_write=True,
            goes_on=True,
        )

    def export(self, *, subject: str | None = None) -> Request[SubjectExport]:
        """Everything held about a subject, what is forgotten but not erased included (SPEC F12)."""
        return a_read(self._of_subject(subject, "/export"), {}, read=_EXPORT.decode)

    def hold(
        self, *, subject: str | None = None, reason: str, review_at: datetime | None = None
    ) -> Request[Hold]:
        """Keep a subject from being erased or pruned, until the hold is released (SPEC F10)."""
        body = given(reason=reason, review_at=review_at)
        return a_write(self._of_subject(subject, "/hold"), body, read=_HOLD.decode, method="PUT")

    def release(self, *, subject: str | None = None, reason: str) -> Request[Hold]:
        """End the hold on a subject; raises NotFound where there is none."""
        return a_removal(self._of_subject(subject, "/hold"), given(reason=reason), read=_HOLD.decode)

    def hold_of(self, *, subject: str | None = None) -> Request[Hold]:
        """The hold on a subject; raises NotFound where there is none."""
        return a_read(self._of_subject(subject, "/hold"), {}, read=_HOLD.decode)

    def alerts(
        self, *, limit: int = 50, cursor: str | None = None, kind: str | None = None
    ) -> Request[AlertPage]:
        """What a person should look at, newest first."""
        return a_read("/v1/alerts", given(limit=limit, cursor=cursor, kind=kind), read=_ALERTS.decode)

    def log(self, *, after: int = 0, limit: int = 100) -> Request[evidence.LogPage]:
        """A page of the tenant's event log, without content."""
        return a_read("/v1/log", given(after=after, limit=limit), read=_LOG_PAGE.decode)

    def _boundary(self, subject: str | None) -> dict[str, object]:
        return given(agent=self.agent, purpose=self.purpose, subject=subject or self.subject)

    def _of_subject(self, subject: str | None, step: str) -> str:
        """The path of a subject; an empty name is a mistake, and never somebody else."""
        wanted = self.subject if subject is None else subject
        if wanted is None:
            raise InvalidRequest("subject is missing", field="subject", hint="Name the subject.")
        return named_path("/v1/subjects", wanted, field="subject", step=step)


class _Preview(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a dry run."""

    decision: Decision
    findings: tuple[Verdict, ...]


class _Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to whatever changes where one memory stands."""

    memory: Memory


# A new server may say more than this client knows; what it adds is passed over.
_MEMORY: Final = msgspec.json.Decoder(Memory)
_WRITTEN: Final = msgspec.json.Decoder(Written)
_PREVIEW: Final = msgspec.json.Decoder(_Preview)
_STANDING: Final = msgspec.json.Decoder(_Standing)
_PAGE: Final = msgspec.json.Decoder(reading.Page)
_HISTORY: Final = msgspec.json.Decoder(reading.History)
_FORGOTTEN: Final = msgspec.json.Decoder(Forgotten)
_STANDING_FORGET: Final = msgspec.json.Decoder(ForgetStanding)
_CERTIFICATE: Final = msgspec.json.Decoder(Certificate)
_EXPORT: Final = msgspec.json.Decoder(SubjectExport)
_HOLD: Final = msgspec.json.Decoder(Hold)
_ALERTS: Final = msgspec.json.Decoder(AlertPage)
_LOG_PAGE: Final = msgspec.json.Decoder(evidence.LogPage)


def _kept(raw: bytes) -> Memory:
    written = _WRITTEN.decode(raw)
    if written.memory is None:
        raise msgspec.ValidationError("a write that kept nothing is refused before it is answered")
    return msgspec.structs.replace(written.memory, decision=written.decision)


def _previewed(raw: bytes) -> Written:
    preview = _PREVIEW.decode(raw)
    return Written(memory=None, decision=preview.decision, findings=preview.findings)


def _stood(raw: bytes) -> Memory:
    return _STANDING.decode(raw).memory


def _judgement(memory_id: UUID, step: str, **fields: object) -> Request[Memory]:
    return a_write(memory_path(memory_id, step), given(**fields), read=_stood)

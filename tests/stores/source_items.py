"""Items about sources and what came of them, made by hand, so that the store alone is on trial."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.clock import START
from tests.stores.items import SUBJECT, TENANT, item_of, number

from tenure.core.events import Event, EventData, Promoted, Recalled, Revised, Revoked, Secret, Superseded
from tenure.core.identity import SourceType
from tenure.core.incident_events import CalledTool, Influenced, SourceRevocationFinished, SourceRevoked
from tenure.core.vocabulary import Trust
from tenure.usecases.ports import Append, Keyring


def source_revoked(
    keyring: Keyring, source_id: str = "mail-1", source_type: str | None = "email", *, tenant: str = TENANT
) -> Append:
    """A source is revoked."""
    data = SourceRevoked(source_type=source_type, source_id=source_id, reason="phished")
    return item_of(keyring, Event(tenant=tenant, at=START, actor="olga", data=data))


def revocation_finished(keyring: Keyring, seq: int, revoked: int) -> Append:
    """Every memory of a revoked source has its own event."""
    data = SourceRevocationFinished(seq=seq, revoked=revoked, seconds=0.5)
    return item_of(keyring, Event(tenant=TENANT, at=START, actor="olga", data=data))


def revoked(keyring: Keyring, memory: int, *, to_version: int, because_of: int | None = None) -> Append:
    """The own event of a memory that is revoked."""
    return _step(keyring, Revoked(because_of=because_of), memory, to_version)


def promoted(keyring: Keyring, memory: int, *, to_version: int = 2) -> Append:
    """A reviewer let a memory in that was held back."""
    return _step(keyring, Promoted(trust=Trust.REVIEWER_VERIFIED), memory, to_version)


def superseded(keyring: Keyring, memory: int, *, by: int, to_version: int = 2) -> Append:
    """A memory's place is taken."""
    return _step(keyring, Superseded(by=number(by)), memory, to_version)


def revised(keyring: Keyring, memory: int, source_id: str, *, actor: str = "bot", **changes: Any) -> Append:
    """A memory at version 1 has other text, from another source."""
    whole: dict[str, Any] = {
        "source_type": SourceType.EMAIL,
        "source_id": source_id,
        "trust": Trust.APPLICATION_VERIFIED,
        "confidence": 0.5,
        "rule": "application",
        "reason": "an application vouches for it",
        "policy_version": "default-1",
        "tokens": 5,
    }
    data = Revised(**(whole | changes))
    return _step(keyring, data, memory, 2, actor=actor, content="Giraffe, said anew")


def recalled(keyring: Keyring, receipt: int, memories: Sequence[int]) -> Append:
    """A recall returned these memories."""
    data = Recalled(
        agent="support",
        purpose="answering",
        query_fingerprint=b"q" * 16,
        memory_ids=tuple(number(memory) for memory in memories),
        limit=10,
    )
    return _about_recall(keyring, receipt, data)


def influenced(
    keyring: Keyring, receipt: int, response: str, memories: Sequence[int], calls: Sequence[str] = ()
) -> Append:
    """A response used these memories, and these tool calls followed."""
    data = Influenced(
        response_id=response,
        used_memory_ids=tuple(number(memory) for memory in memories),
        tool_calls=tuple(CalledTool(id=call, name="pay") for call in calls),
    )
    return _about_recall(keyring, receipt, data)


def mail(source_id: str = "mail-1") -> dict[str, Any]:
    """What makes a memory one that came by this e-mail."""
    return {"source_type": SourceType.EMAIL, "source_id": source_id}


def ids(*memories: int) -> list[UUID]:
    """The ids of memories."""
    return [number(memory) for memory in memories]


def _about_recall(keyring: Keyring, receipt: int, data: EventData) -> Append:
    return item_of(keyring, Event(tenant=TENANT, at=START, actor="bot", data=data, stream=number(receipt)))


def _step(
    keyring: Keyring,
    data: EventData,
    memory: int,
    version: int,
    *,
    actor: str = "olga",
    content: str | None = None,
    at: datetime = START,
) -> Append:
    secret = Secret(content=content) if content is not None else Secret(reason="phished")
    event = Event(
        tenant=TENANT,
        at=at,
        actor=actor,
        data=data,
        stream=number(memory),
        version=version,
        subject=SUBJECT,
        secret=secret,
    )
    return item_of(keyring, event)

"""Items for a store's batches, made by hand from events, so that the store alone is on trial."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from tests.clock import START
from tests.stores.engine import Opened

from tenure.core.decision import Needs
from tenure.core.events import (
    Admitted,
    Event,
    EventData,
    Quarantined,
    Recalled,
    Renewed,
    Revoked,
    Secret,
    SubjectForgotten,
)
from tenure.core.identity import Scope, SourceType, Tier
from tenure.core.incident_events import Held, SourceRevoked
from tenure.core.vocabulary import Kind, Trust
from tenure.usecases.ports import Append, Appended, AppendResult, Idempotency, Keyring, StoredEvent
from tenure.usecases.sealing import seal

TENANT = "acme"
SUBJECT = "customer-7"

HOUR = timedelta(hours=1)

DIFFERENT: dict[str, dict[str, Any]] = {
    "another tenant": {"tenant": "globex"},
    "another agent": {"agent": "sales"},
    "another purpose": {"purpose": "selling"},
    "another subject": {"subject": "customer-8"},
    "another kind": {"kind": Kind.SKILL},
    "less trust": {"trust": Trust.USER_ASSERTED},
    "another scope": {"scope": Scope(tier=Tier.TASK, id="t-1")},
    "held back": {"is_held": True},
    "expired": {"expires_at": START},
    "not valid yet": {"valid_from": START + HOUR},
    "valid no more": {"valid_from": START - HOUR, "valid_to": START},
}
"""The one thing in which a memory may differ from those that ``created`` makes, by its name."""


def number(value: int) -> UUID:
    """A memory's id from a small number."""
    return UUID(int=value)


def created(
    keyring: Keyring,
    memory: int,
    *,
    content: str = "Prefers e-mail to phone",
    tenant: str = TENANT,
    subject: str = SUBJECT,
    key: str | None = None,
    request: bytes = b"request",
    needs: Sequence[tuple[int, int]] = (),
    is_held: bool = False,
    key_digest: bytes | None = None,
    fingerprint: bytes | None = None,
    things: Sequence[bytes] = (),
    **sides: Any,
) -> Append:
    """An item that creates a memory, active or held back."""
    whole: dict[str, Any] = {
        "agent": "support",
        "purpose": "answering",
        "kind": Kind.FACT,
        "scope": Scope(tier=Tier.USER, id=subject),
        "source_type": SourceType.APPLICATION,
        "source_id": "crm-1",
        "trust": Trust.APPLICATION_VERIFIED,
        "confidence": 0.5,
        "expires_at": START + timedelta(days=30),
        "rule": "application",
        "reason": "an application vouches for it",
        "policy_version": "default-1",
        "tokens": 5,
    }
    shape = Quarantined if is_held else Admitted
    secret = Secret(content=content, key_digest=key_digest, fingerprint=fingerprint, things=tuple(things))
    event = _event(shape(**(whole | sides)), memory, 1, tenant, subject, secret)
    return item_of(keyring, event, key=key, request=request, needs=needs)


def renewed(
    keyring: Keyring, memory: int, *, to_version: int, days: int = 40, key: str | None = None, **where: str
) -> Append:
    """An item that takes a memory to its next version, whatever that is for."""
    data = Renewed(expires_at=START + timedelta(days=days))
    tenant, subject = where.get("tenant", TENANT), where.get("subject", SUBJECT)
    event = _event(data, memory, to_version, tenant, subject, Secret(reason="asked for"))
    return item_of(keyring, event, key=key)


def revoked(
    keyring: Keyring, memory: int, *, to_version: int, because_of: int | None = None, tenant: str = TENANT
) -> Append:
    """An item that withdraws a memory, alone or with its source."""
    data = Revoked(because_of=because_of)
    return item_of(keyring, _event(data, memory, to_version, tenant, SUBJECT, Secret(reason="wrong")))


def held_anew(keyring: Keyring, memory: int, *, to_version: int, tenant: str = TENANT) -> Append:
    """An item by which an active memory waits again."""
    data = Held(rule="external_source", reason="text from outside waits", policy_version="strict-2")
    event = _event(data, memory, to_version, tenant, SUBJECT, Secret())
    return item_of(keyring, msgspec.structs.replace(event, secret=None))


def source_revoked(
    keyring: Keyring, source_id: str, *, source_type: str | None = "application", tenant: str = TENANT
) -> Append:
    """An item that revokes a source with all that came from it."""
    data = SourceRevoked(source_type=source_type, source_id=source_id, reason="breached")
    return item_of(keyring, Event(tenant=tenant, at=START, actor="ann", data=data))


def forgotten(keyring: Keyring, *, tenant: str = TENANT, subject: str = SUBJECT) -> Append:
    """An item that forgets a subject."""
    return item_of(
        keyring, Event(tenant=tenant, at=START, actor="pia", data=SubjectForgotten(), subject=subject)
    )


def receipt(keyring: Keyring, stream: int, *, tenant: str = TENANT) -> Append:
    """An item that keeps the receipt of a recall."""
    data = Recalled(
        agent="support", purpose="answering", query_fingerprint=b"q" * 16, memory_ids=(), limit=10
    )
    return item_of(keyring, Event(tenant=tenant, at=START, actor="bot", data=data, stream=number(stream)))


def together(*items: Append) -> Append:
    """One item with the events of several: they are stored together or not at all."""
    return Append(tenant=items[0].tenant, events=tuple(event for item in items for event in item.events))


def put(opened: Opened, *items: Append) -> list[AppendResult]:
    """Append as one batch."""
    return opened.store.append(items)


def accepted(results: Sequence[AppendResult]) -> list[int]:
    """The positions that a batch was given; fails unless every item was stored."""
    positions = [result.seq for result in results if isinstance(result, Appended)]
    assert len(positions) == len(results), results
    return positions


def log_of(opened: Opened, tenant: str = TENANT) -> list[StoredEvent]:
    """A tenant's whole log."""
    return list(opened.store.export(tenant))


def item_of(
    keyring: Keyring,
    event: Event,
    *,
    key: str | None = None,
    request: bytes = b"request",
    needs: Sequence[tuple[int, int]] = (),
) -> Append:
    """An item with one event, sealed."""
    keyring.ensure([(event.tenant, event.subject)] if event.secret and event.subject else [])
    return Append(
        tenant=event.tenant,
        events=(seal(event, keyring),),
        needs=tuple(Needs(memory_id=number(memory), version=version) for memory, version in needs),
        idempotency=Idempotency(key=key, request=request, outcome=b"{}") if key else None,
    )


def _event(data: EventData, memory: int, version: int, tenant: str, subject: str, secret: Secret) -> Event:
    return Event(
        tenant=tenant,
        at=START,
        actor="bot",
        data=data,
        stream=number(memory),
        version=version,
        subject=subject,
        secret=secret,
    )

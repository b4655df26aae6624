"""The log as evidence: reading it without content, exporting it, verifying it (SPEC E1, E2, E4)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from tenure.core import ledger
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import decode_header
from tenure.core.identity import Caller
from tenure.core.ledger import ChainedEvent
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import StoredEvent

LOG_PAGE_MAX = 1_000


class ReadLog(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a tenant's log, oldest first."""

    after: int = 0
    limit: int = 100


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event without content: the header says what, who, when; the link ties it to the one before."""

    seq: int
    type: str
    version: int
    at: datetime
    actor: str
    link: str
    data: Any
    memory_id: UUID | None = None
    memory_version: int | None = None
    subject: str | None = None


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the log, and how long it is."""

    items: tuple[LogEntry, ...]
    head: int


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an export: the event as it is stored. ``body`` stays sealed; no key leaves the keyring."""

    tenant: str
    seq: int
    header: str
    link: str
    body: str | None = None


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a tenant's log is what was written; if not, the first bad event."""

    tenant: str
    holds: bool
    events: int
    first_bad_seq: int | None = None
    because: str | None = None


def export(pipeline: Pipeline, tenants: list[str] | None = None) -> Iterator[bytes]:
    """The log as JSON Lines, tenant by tenant, oldest event first."""
    with pipeline.store.reading() as reading:
        known = reading.tenants()
    for tenant in tenants or known:
        for stored in pipeline.store.export(tenant):
            yield msgspec.json.encode(line_of(tenant, stored)) + b"\n"


def verify(pipeline: Pipeline, tenant: str) -> Verified:
    """Walk a tenant's chain from its first event to its head."""
    with pipeline.store.reading() as reading:
        head = reading.head(tenant)
    rows = (
        ChainedEvent(stored.seq, stored.header, stored.body, stored.link)
        for stored in pipeline.store.export(tenant)
        if stored.seq <= head[0]
    )
    result = ledger.verify(tenant, rows, head=head)
    if isinstance(result, int):
        return Verified(tenant=tenant, holds=True, events=result)
    return Verified(
        tenant=tenant, holds=False, events=result.seq - 1, first_bad_seq=result.seq, because=result.because
    )


def line_of(tenant: str, stored: StoredEvent) -> LogLine:
    """An event as a line of an export."""
    return LogLine(
        tenant=tenant,
        seq=stored.seq,
        header=stored.header.decode(),
        link=stored.link.hex(),
        body=stored.body.hex() if stored.body is not None else None,
    )


def stored_of(line: LogLine) -> StoredEvent:
    """The inverse of line_of; raises ValueError where the line is damaged."""
    return StoredEvent(
        line.seq,
        line.header.encode(),
        bytes.fromhex(line.body) if line.body is not None else None,
        bytes.fromhex(line.link),
    )


def _entry(stored: StoredEvent) -> LogEntry:
    header = decode_header(stored.header)
    return LogEntry(
        seq=stored.seq,
        type=header.type,
        version=header.v,
        at=header.at,
        actor=header.actor,
        link=stored.link.hex(),
        data=_public(msgspec.json.decode(header.data)),
        memory_id=header.stream,
        memory_version=header.version,
        subject=header.subject,
    )


def _public(data: dict[str, Any]) -> dict[str, Any]:
    """What a reader of the log may see: all but the hash that a key is held against."""
    return {name: value for name, value in data.items() if name != "secret_hash"}


def _page(world: World, caller: Caller, command: ReadLog) -> LogPage:
    if not 1 <= command.limit <= LOG_PAGE_MAX:
        raise InvalidRequest(f"limit must be 1 to {LOG_PAGE_MAX:,}", field="limit")
    if not 0 <= command.after < 2**53:
        raise InvalidRequest("after must be a position in the log, 0 or more", field="after")
    stored = world.reading.log(caller.tenant, after=command.after, limit=command.limit)
    return LogPage(items=tuple(_entry(one) for one in stored), head=world.reading.head(caller.tenant)[0])


READ_LOG: UseCase[ReadLog, LogPage, LogPage] = UseCase(
    name="read-log",
    permission=Permission.READ_LOG,
    target=lambda _command: Target(),
    gather=_page,
    decide=lambda _command, page, _caller, _moment, _rules: Decided(answer=page),
)

"""The log as evidence: reading it without content, exporting it, verifying it (SPEC E1, E2, E4)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any
from uuid import UUID

import msgspec

from tenure.core import tampering
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import decode_header
from tenure.core.identity import Caller
from tenure.core.rows import FOREVER
from tenure.core.tampering import Break, Damage, Intact, KnownRoot
from tenure.usecases.known_roots import kept_roots
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import StoredEvent
from tenure.usecases.recording import Showed

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
    """Whether a tenant's log is what was written; if not, the first bad event and what was done there.

    ``checkpoints`` is how many known roots were found to agree.
    """

    tenant: str
    holds: bool
    events: int
    first_bad_seq: int | None = None
    because: str | None = None
    damage: Damage | None = None
    checkpoints: int = 0


def export(pipeline: Pipeline, tenants: list[str] | None = None) -> Iterator[bytes]:
    """The log as JSON Lines, tenant by tenant, oldest event first."""
    pipeline.store.settle()
    with pipeline.store.reading() as reading:
        known = reading.tenants()
    for tenant in tenants or known:
        for stored in pipeline.store.export(tenant):
            yield msgspec.json.encode(line_of(tenant, stored)) + b"\n"


def verify(pipeline: Pipeline, tenant: str, given: Sequence[KnownRoot] = ()) -> Verified:
    """Walk a tenant's chain from its first event to its head, comparing every root that is known of it.

    Those are the checkpoints that are kept beside the log, and the ``given`` ones.
    """
    with pipeline.store.reading() as reading:
        head = reading.head(tenant)
        # Nothing lies behind a head that was read with it, unless somebody put it there.
        end = FOREVER if reading.log(tenant, after=head[0], limit=1) else head[0]
        kept = kept_roots(reading, tenant, pipeline.keyring)

    def rows() -> Iterator[StoredEvent]:
        return takewhile(lambda stored: stored.seq <= end, pipeline.store.export(tenant))

    found = tampering.verify(tenant, rows, head=head, roots=(*kept.roots, *given))
    if isinstance(found, Intact) and kept.bad_size is not None:
        return Verified(
            tenant=tenant,
            holds=False,
            events=found.events,
            because=f"the checkpoint of size {kept.bad_size:,} that is kept beside the log was altered, "
            "or signed elsewhere; the chain holds",
            damage=Damage.ALTERED,
            checkpoints=found.compared,
        )
    return verdict(tenant, found)


def verdict(tenant: str, found: Intact | Break) -> Verified:
    """What was found of a tenant's log."""
    if isinstance(found, Intact):
        return Verified(tenant=tenant, holds=True, events=found.events, checkpoints=found.compared)
    return Verified(
        tenant=tenant,
        holds=False,
        events=found.seq - 1,
        first_bad_seq=found.seq,
        because=found.because,
        damage=found.damage,
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
    showed=lambda page: Showed(len(page.items)),
)

"""Everything held about a subject, for the subject (SPEC F12, L14): the right of access.

Memories that are forgotten but not erased are held, so they are in it too, and say so. Of erased ones it
has what remains: ids, times and sources, no content.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from tenure.core.authority import Permission, Target, sees
from tenure.core.decision import Decided
from tenure.core.events import NAMES, Event, Recalled, Secret
from tenure.core.holds import Hold, standing
from tenure.core.identity import Caller, checked_name
from tenure.core.incident_events import Influenced
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim, Status
from tenure.usecases.paging import batched, subject_events
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold, open_event
from tenure.usecases.time_travel import is_gone

FORMAT: Final = "tenure-subject-export/1"
PAGE: Final = 1_000


class ExportSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything held about one subject."""

    subject: str


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """One memory, whole; ``readable`` says whether any read but this one still reaches it."""

    memory: Memory
    readable: bool


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A recall that returned memories of the subject, and the responses that used them."""

    receipt_id: UUID
    at: datetime
    by: str
    agent: str
    purpose: str
    memory_ids: tuple[UUID, ...]
    responses: tuple[str, ...] = ()
    tool_calls: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One event about the subject: what, when, who; and what was said in it, such as earlier wordings."""

    seq: int
    event: str
    at: datetime
    actor: str
    memory_id: UUID | None = None
    data: Any = None
    content: str | None = None
    claim: Claim | None = None
    key: str | None = None
    uri: str | None = None
    reason: str | None = None


class SubjectExport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of it; docs/forgetting.md describes the format."""

    format: str
    tenant: str
    subject: str
    exported_at: datetime
    memories: tuple[Held, ...]
    recalls: tuple[Shown, ...]
    events: tuple[Record, ...]
    hold: Hold | None = None


def _gather(world: World, caller: Caller, command: ExportSubject) -> SubjectExport:
    checked_name(command.subject, field="subject")
    held = tuple(one for one in _held(world, caller.tenant, command.subject) if sees(caller, one.memory))
    hold = world.reading.hold(caller.tenant, command.subject)
    ids = frozenset(one.memory.id for one in held)
    return SubjectExport(
        format=FORMAT,
        tenant=caller.tenant,
        subject=command.subject,
        exported_at=world.moment.now,
        memories=held,
        recalls=_shown(world, caller.tenant, ids),
        events=tuple(_records(world, caller.tenant, command.subject, ids)),
        hold=standing(hold) if hold is not None else None,
    )


def _held(world: World, tenant: str, subject: str) -> Iterator[Held]:
    for memory_id in world.reading.subject_streams(tenant, subject):
        memory = fold(world.reading, world.keyring, tenant, memory_id)
        if memory is None:
            continue
        readable = world.reading.memory_row(tenant, memory_id) is not None
        status = memory.status_at(world.moment.now)
        if memory.content is None:
            status = Status.ERASED
        elif not readable and is_gone(world, tenant, memory_id):
            status = Status.FORGOTTEN
        yield Held(memory=msgspec.structs.replace(memory, status=status), readable=readable)


def _records(world: World, tenant: str, subject: str, ids: frozenset[UUID]) -> Iterator[Record]:
    for stored in subject_events(world.reading, tenant, subject):
        event = open_event(stored, world.keyring)
        if event.version is None or event.stream in ids:
            yield _record(stored.seq, event)


def _record(seq: int, event: Event) -> Record:
    said = event.secret or Secret()
    return Record(
        seq=seq,
        event=NAMES[type(event.data)][0],
        at=event.at,
        actor=event.actor,
        memory_id=event.stream if event.version is not None else None,
        data=msgspec.to_builtins(event.data),
        content=said.content,
        claim=said.claim,
        key=said.key,
        uri=said.uri,
        reason=said.reason,
    )


def _shown(world: World, tenant: str, ids: frozenset[UUID]) -> tuple[Shown, ...]:
    """The recalls that returned these memories: also those that asked for every subject."""
    reading = world.reading
    found: dict[UUID, Shown] = {}
    for event in _at(world, tenant, reading.shown_in(tenant, ids)):
        if isinstance(event.data, Recalled) and event.stream is not None:
            found[event.stream] = Shown(
                receipt_id=event.stream,
                at=event.at,
                by=event.actor,
                agent=event.data.agent,
                purpose=event.data.purpose,
                memory_ids=tuple(one for one in event.data.memory_ids if one in ids),
            )
    for event in _at(world, tenant, [seq for seq, _ in reading.used_in(tenant, ids)]):
        if isinstance(event.data, Influenced) and event.stream in found:
            shown = found[event.stream]
            found[event.stream] = msgspec.structs.replace(
                shown,
                responses=(*shown.responses, event.data.response_id),
                tool_calls=(*shown.tool_calls, *(call.id for call in event.data.tool_calls)),
            )
    return tuple(found.values())


def _at(world: World, tenant: str, seqs: Sequence[int]) -> Iterator[Event]:
    """The events at these positions, page by page."""
    for some in batched(seqs, PAGE):
        for stored in world.reading.events_at(tenant, some):
            yield open_event(stored, world.keyring)


EXPORT_SUBJECT: UseCase[ExportSubject, SubjectExport, SubjectExport] = UseCase(
    name="export-subject",
    permission=Permission.EXPORT,
    target=lambda command: Target(subject=command.subject),
    gather=_gather,
    decide=lambda _command, export, _caller, _moment, _rules: Decided(answer=export),
    showed=lambda export: Showed(len(export.memories)),
    after_receipts=True,
)

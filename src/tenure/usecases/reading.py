"""Reading memories by id, as lists and as histories (SPEC L6, L10, L11). Recall is in retrieval.py."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core.authority import Permission, Target, sees, shown, without_text
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest, NotFound
from tenure.core.events import NAMES, Event, Remembered, Revised, Revoked, Secret, Superseded
from tenure.core.history import Happening, tell
from tenure.core.identity import Caller, SourceType, checked_name
from tenure.core.incident_events import SourceRevoked
from tenure.core.memory import Memory, evolve
from tenure.core.rows import MERGED, microseconds
from tenure.core.vocabulary import Kind, Source, Status, Support, Trust
from tenure.usecases.paging import position
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.ports import Listing
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold, load, open_event, standing

PAGE_ITEMS_MAX = 200
EVIDENCE_MAX = 200
"""So many of the memories that were merged behind one are named, by their ids."""
_CURSOR = "after:"


class Get(msgspec.Struct, frozen=True, kw_only=True):
    """One memory by its id."""

    memory_id: UUID


class ListMemories(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories, newest first."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    status: Status | None = None
    kind: Kind | None = None
    source_type: SourceType | None = None
    source_id: str | None = None
    key: str | None = None
    limit: int = 50
    cursor: str | None = None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the memories, and where the next page begins."""

    items: tuple[Memory, ...]
    next_cursor: str | None = None


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a memory as a person reads it: who, what, when, why."""

    seq: int
    event: str
    at: datetime
    actor: str
    version: int
    status: Status
    text: str = ""
    """The whole of it in one sentence."""
    content: str | None = None
    rule: str | None = None
    reason: str | None = None
    policy_version: str | None = None
    trust: Trust | None = None
    source: Source | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    because_of: int | None = None
    """The position of the event that revoked the memory's source."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The events of one memory, oldest first."""

    memory_id: UUID
    items: tuple[Happened, ...]


def visible(world: World, caller: Caller, memory_id: UUID) -> Memory:
    """The memory, if it lies within what the caller was granted; raises NotFound otherwise."""
    memory = load(world.reading, world.keyring, caller.tenant, memory_id)
    if memory is None or not sees(caller, memory):
        raise absent(memory_id)
    return memory


def absent(memory_id: UUID) -> NotFound:
    """What is said of a memory that the caller cannot reach, whether or not it exists."""
    return NotFound("there is no such memory here", memory_id=str(memory_id))


def presented(memory: Memory, caller: Caller, now: datetime) -> Memory:
    """A memory as this caller sees it at this moment."""
    return shown(caller, msgspec.structs.replace(memory, status=memory.status_at(now)))


def first_memory(world: World, first: Event | None) -> Memory:
    """The memory as it stood after the first answer; raises NotFound once it was forgotten."""
    if first is None or first.stream is None or world.reading.memory_row(first.tenant, first.stream) is None:
        raise NotFound("what this key wrote has since been forgotten")
    stored = world.reading.stream(first.tenant, first.stream)
    upto = next((row.seq for row in stored if open_event(row, world.keyring).version == first.version), None)
    memory = fold(world.reading, world.keyring, first.tenant, first.stream, up_to_seq=upto)
    if memory is None:
        raise NotFound("what this key wrote has since been forgotten")
    return memory


def credential_name(world: World, tenant: str, actor: str) -> str | None:
    """The name of the credential whose id this is, if it is one of this tenant's."""
    try:
        row = world.reading.key(tenant, UUID(actor))
    except ValueError:
        return None
    return row.name if row is not None else None


def _get(world: World, caller: Caller, command: Get) -> Memory:
    """The memory, with what was merged behind it, and how many sources say so (SPEC T2, M5a)."""
    memory = visible(world, caller, command.memory_id)
    merged = world.reading.edges(caller.tenant, (MERGED,), parents=[memory.id])
    counted = next(iter(world.reading.support(caller.tenant, [memory.id])), None)
    return msgspec.structs.replace(
        memory,
        evidence=tuple(sorted(edge.child for edge in merged))[:EVIDENCE_MAX],
        support=Support(voices=counted.voices, trusted_voices=counted.trusted_voices) if counted else None,
    )


def _no_target(_command: object) -> Target:
    return Target()


def _list_target(command: ListMemories) -> Target:
    return Target(agent=command.agent, purpose=command.purpose, subject=command.subject)


def _list(world: World, caller: Caller, command: ListMemories) -> Page:
    if not 1 <= command.limit <= PAGE_ITEMS_MAX:
        raise InvalidRequest(f"limit must be 1 to {PAGE_ITEMS_MAX}", field="limit")
    for field in ("agent", "purpose", "subject"):
        if (value := getattr(command, field)) is not None:
            checked_name(value, field=field)
    rows = world.reading.listing(
        Listing(
            tenant=caller.tenant,
            now=microseconds(world.moment.now),
            limit=command.limit + 1,
            agents=narrowed(command.agent, caller.grants.agents),
            purposes=narrowed(command.purpose, caller.grants.purposes),
            subjects=narrowed(command.subject, caller.grants.subjects),
            kind=command.kind,
            status=command.status,
            source_type=command.source_type,
            source_id=command.source_id,
            key_digest=world.keyring.digest(caller.tenant, "key", command.key) if command.key else None,
            before_seq=position(command.cursor, word=_CURSOR),
        )
    )
    page = rows[: command.limit]
    memories = [standing(world.reading, world.keyring, row) for row in page]
    seen = [presented(memory, caller, world.moment.now) for memory in memories if memory is not None]
    return Page(
        # Asking by a key must not tell of one that is withheld.
        items=tuple(memory for memory in seen if command.key is None or memory.key is not None),
        next_cursor=f"{_CURSOR}{page[-1].created_seq}" if len(rows) > command.limit else None,
    )


def narrowed(asked: str | None, granted: Iterable[str] | None) -> frozenset[str] | None:
    """The sides that a list is narrowed to: what is asked for, else all that is granted."""
    if asked is not None:
        return frozenset({asked})
    return frozenset(granted) if granted is not None else None


def _history(world: World, caller: Caller, command: Get) -> History:
    """What is withheld of the memory as it stands now is withheld of its past too (SPEC L6, L13)."""
    now_standing = visible(world, caller, command.memory_id)
    is_withheld = shown(caller, now_standing) is not now_standing
    names: dict[str, str] = {}
    memory: Memory | None = None
    items: list[Happened] = []
    for stored in world.reading.stream(caller.tenant, command.memory_id):
        event = open_event(stored, world.keyring)
        memory = evolve(memory, event)
        if is_withheld:
            event = msgspec.structs.replace(event, secret=None)
            memory = without_text(memory)
        items.append(_happened(world, stored.seq, event, memory, names, is_withheld=is_withheld))
    return History(memory_id=command.memory_id, items=tuple(items))


def _happened(
    world: World, seq: int, event: Event, memory: Memory, names: dict[str, str], *, is_withheld: bool
) -> Happened:
    data, secret = event.data, event.secret or Secret()
    because_of = data.because_of if isinstance(data, Revoked) else None
    because = _event_at(world, event.tenant, because_of) if because_of is not None else None
    _name(world, event, names)
    if because is not None:
        _name(world, because, names)
    said = secret.reason
    if because is not None and isinstance(because.data, SourceRevoked) and not is_withheld:
        said = because.data.reason
    is_said = isinstance(data, Remembered | Revised)
    return Happened(
        seq=seq,
        event=NAMES[type(data)][0],
        at=event.at,
        actor=event.actor,
        version=memory.version,
        status=memory.status,
        text=tell(Happening(event=event, memory=memory, names=names, reason=said, because=because)),
        content=secret.content,
        rule=getattr(data, "rule", None),
        reason=said if said is not None else getattr(data, "reason", None),
        policy_version=getattr(data, "policy_version", None),
        trust=memory.trust,
        source=memory.source if is_said else None,
        supersedes=data.supersedes if isinstance(data, Remembered) else None,
        superseded_by=data.by if isinstance(data, Superseded) else None,
        because_of=because_of,
    )


def _event_at(world: World, tenant: str, seq: int) -> Event | None:
    stored = world.reading.event(tenant, seq)
    return open_event(stored, world.keyring) if stored is not None else None


def _name(world: World, event: Event, names: dict[str, str]) -> None:
    """Note the name of the credential that was used, if the caller was one of this tenant's."""
    if event.actor not in names:
        name = credential_name(world, event.tenant, event.actor)
        if name is not None:
            names[event.actor] = name


GET: UseCase[Get, Memory, Memory] = UseCase(
    name="get",
    permission=Permission.READ,
    target=_no_target,
    gather=_get,
    decide=lambda _command, memory, caller, moment, _rules: Decided(
        answer=presented(memory, caller, moment.now)
    ),
    showed=lambda memory: Showed(1, memory.id),
)

LIST: UseCase[ListMemories, Page, Page] = UseCase(
    name="list",
    permission=Permission.READ,
    target=_list_target,
    gather=_list,
    decide=lambda _command, page, _caller, _moment, _rules: Decided(answer=page),
    showed=lambda page: Showed(len(page.items)),
)

HISTORY: UseCase[Get, History, History] = UseCase(
    name="history",
    permission=Permission.READ,
    target=_no_target,
    gather=_history,
    decide=lambda _command, history, _caller, _moment, _rules: Decided(answer=history),
    showed=lambda history: Showed(len(history.items), history.memory_id),
)

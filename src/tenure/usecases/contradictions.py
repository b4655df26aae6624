"""Contradictions that were found: listing them, and a person's word on one (SPEC T3, A5).

Laws: what is shown lies within what the caller was granted; what nobody can decide any more, since one of the
two is gone or was turned down, is not in the list of what is open; what is looked through in one call is
bounded, and a page that is short has a cursor that goes on.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core import resolving
from tenure.core.authority import Permission, Target, answered, reaches
from tenure.core.comparing import Compared
from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, NotFound
from tenure.core.events import Event
from tenure.core.highlighting import masked
from tenure.core.identity import Caller, Moment, Scope, checked_name
from tenure.core.memory import Memory
from tenure.core.resolving import Dispute, Resolve, Settled, spelled
from tenure.core.rows import REVOKING, ContradictionRow, MemoryRow, from_microseconds, microseconds
from tenure.core.vocabulary import Claim, Kind, Source, Status, Trust
from tenure.usecases.comparing import compared_again
from tenure.usecases.paging import position
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.reading import first_memory, narrowed, presented
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold, load, open_event, standing
from tenure.usecases.truth_ports import ContradictionListing

CONTRADICTIONS_MAX: Final = 200
LOOKED_AT_MAX: Final = 2_000
"""So many contradictions are looked through for open ones in one call."""
MERGES_DEEP_MAX: Final = 32
_BATCH: Final = 200
_CURSOR: Final = "before:"
_MOOT: Final = frozenset({Status.REJECTED, Status.REVOKED, Status.EXPIRED, REVOKING})


class Which(StrEnum):
    """Which contradictions are asked for: those that wait for a person, those decided, or every one."""

    OPEN = "true"
    DECIDED = "false"
    ALL = "all"


class ListContradictions(msgspec.Struct, frozen=True, kw_only=True):
    """A page of contradictions, newest first."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    open: Which = Which.OPEN
    limit: int = 50
    cursor: str | None = None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of two memories that contradict each other; the id alone where it is no longer at hand."""

    id: UUID
    status: Status | None = None
    version: int | None = None
    kind: Kind | None = None
    trust: Trust | None = None
    content: str | None = None
    claim: Claim | None = None
    source: Source | None = None
    scope: Scope | None = None
    proposed_by: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: UUID | None = None
    merged_into: UUID | None = None


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories that cannot both be true, what became of them, and what a person decided.

    ``kept`` is the id of the one that is kept, or ``both``. Where the text of a side is withheld, so is the
    ``reason``, which may quote it.
    """

    id: UUID
    agent: str
    purpose: str
    subject: str
    believed: Side
    doubted: Side
    effect: Annotated[str, Meta(description="superseded, waits, closed or both.")]
    because: str
    found_at: datetime
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    kept: str | None = None
    reason: str | None = None


class ContradictionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the contradictions, and where the next page begins."""

    items: tuple[Contradiction, ...]
    next_cursor: str | None = None


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction that was decided, and every memory that this moved, as it then stood."""

    contradiction: Contradiction
    memories: tuple[Memory, ...]


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    """Who decided, when and why."""

    at: datetime
    actor: str
    reason: str | None = None


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What an idempotency key keeps of an answer: which memories it showed, at which versions."""

    sides: tuple[tuple[UUID, int] | None, ...]
    moved: tuple[tuple[UUID, int], ...]


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The two memories of a contradiction as they are, and what stands for them."""

    believed: Memory | None
    doubted: Memory | None
    dispute: Dispute


def is_moot(row: MemoryRow | None, now: int) -> bool:
    """Whether nothing can be decided about a memory: it is gone, was turned down, or its time is over."""
    if row is None or row.status in _MOOT:
        return True
    return row.status in {Status.ACTIVE, Status.QUARANTINED} and row.expires_at <= now


def _list(world: World, caller: Caller, command: ListContradictions) -> ContradictionPage:
    if not 1 <= command.limit <= CONTRADICTIONS_MAX:
        raise InvalidRequest(f"limit must be 1 to {CONTRADICTIONS_MAX}", field="limit")
    for field in ("agent", "purpose", "subject"):
        if (value := getattr(command, field)) is not None:
            checked_name(value, field=field)
    grants = caller.grants
    listing = ContradictionListing(
        tenant=caller.tenant,
        limit=_BATCH,
        agents=narrowed(command.agent, grants.agents),
        purposes=narrowed(command.purpose, grants.purposes),
        subjects=narrowed(command.subject, grants.subjects),
        is_open=None if command.open is Which.ALL else command.open is Which.OPEN,
        before_seq=position(command.cursor, word=_CURSOR),
    )
    return _page(world, caller, command, listing)


def _page(
    world: World, caller: Caller, command: ListContradictions, listing: ContradictionListing
) -> ContradictionPage:
    found: list[tuple[ContradictionRow, Mapping[UUID, MemoryRow]]] = []
    now, looked_at, at, is_over = microseconds(world.moment.now), 0, listing.before_seq, False
    while len(found) <= command.limit and looked_at < LOOKED_AT_MAX and not is_over:
        rows = world.reading.contradictions(msgspec.structs.replace(listing, before_seq=at))
        is_over = len(rows) < listing.limit
        looked_at += len(rows)
        at = rows[-1].found_seq if rows else at
        memories = _rows_of(world, listing.tenant, rows)
        for row in rows:
            pair = (memories.get(row.believed), memories.get(row.doubted))
            if command.open is not Which.OPEN or not any(is_moot(one, now) for one in pair):
                found.append((row, memories))
    more = len(found) > command.limit
    page = found[: command.limit]
    last = page[-1][0].found_seq if more else at
    return ContradictionPage(
        items=tuple(_told(world, caller, row, memories) for row, memories in page),
        next_cursor=f"{_CURSOR}{last}" if more or not is_over else None,
    )


def _rows_of(world: World, tenant: str, rows: Sequence[ContradictionRow]) -> Mapping[UUID, MemoryRow]:
    named = {one for row in rows for one in (row.believed, row.doubted)}
    return {one.memory_id: one for one in world.reading.rows_of(tenant, named)} if named else {}


def _told(
    world: World, caller: Caller, row: ContradictionRow, memories: Mapping[UUID, MemoryRow]
) -> Contradiction:
    """A contradiction as this caller may see it."""
    pair = [
        standing(world.reading, world.keyring, memories[one]) if one in memories else None
        for one in (row.believed, row.doubted)
    ]
    return _record(row, pair[0], pair[1], caller, world.moment.now, _word(world, row))


def _record(
    row: ContradictionRow,
    believed: Memory | None,
    doubted: Memory | None,
    caller: Caller,
    now: datetime,
    word: _Word | None,
) -> Contradiction:
    sides = [_side(row.believed, believed, caller, now), _side(row.doubted, doubted, caller, now)]
    reads_all = all(one.content is not None for one in sides)
    return Contradiction(
        id=row.contradiction_id,
        agent=row.agent,
        purpose=row.purpose,
        subject=row.subject,
        believed=sides[0],
        doubted=sides[1],
        effect=row.effect,
        because=row.because,
        found_at=from_microseconds(row.found_at),
        resolved_at=word.at if word is not None else None,
        resolved_by=word.actor if word is not None else None,
        kept=spelled(row.kept) if word is not None else None,
        reason=word.reason if word is not None and reads_all else None,
    )


def _side(memory_id: UUID, memory: Memory | None, caller: Caller, now: datetime) -> Side:
    if memory is None:
        return Side(id=memory_id)
    seen = masked(presented(memory, caller, now))
    return Side(
        id=seen.id,
        status=seen.status,
        version=seen.version,
        kind=seen.kind,
        trust=seen.trust,
        content=seen.content,
        claim=seen.claim,
        source=seen.source,
        scope=seen.scope,
        proposed_by=seen.proposed_by,
        created_at=seen.created_at,
        expires_at=seen.expires_at,
        valid_from=seen.valid_from,
        valid_to=seen.valid_to,
        superseded_by=seen.superseded_by,
        merged_into=seen.merged_into,
    )


def _word(world: World, row: ContradictionRow) -> _Word | None:
    if not row.resolved_seq:
        return None
    stored = world.reading.event(row.tenant, row.resolved_seq)
    if stored is None:
        return None
    event = open_event(stored, world.keyring)
    reason = event.secret.reason if event.secret is not None else None
    return _Word(at=event.at, actor=event.actor, reason=reason)


def _granted(world: World, caller: Caller, contradiction_id: UUID) -> ContradictionRow:
    """The contradiction, if it lies within what the caller was granted; raises NotFound otherwise."""
    row = world.reading.contradiction(caller.tenant, contradiction_id)
    if row is not None and reaches(caller, agent=row.agent, purpose=row.purpose, subject=row.subject):
        return row
    raise NotFound("there is no such contradiction here", contradiction_id=str(contradiction_id))


def _facts(world: World, caller: Caller, command: Resolve) -> _Facts:
    row = _granted(world, caller, command.contradiction_id)
    believed, doubted = _memory(world, row.tenant, row.believed), _memory(world, row.tenant, row.doubted)
    for_doubted = _stands_for(world, doubted)
    corrected, compared = None, tuple[Compared, ...]()
    if for_doubted is not None and for_doubted.status is Status.QUARANTINED:
        takes = for_doubted.supersedes
        corrected = _memory(world, row.tenant, takes) if takes is not None else None
        compared = compared_again(world, for_doubted, leaving_out={takes} if takes is not None else ())
    for_believed = _stands_for(world, believed)
    dispute = Dispute(
        row=row,
        believed=for_believed,
        doubted=for_doubted,
        corrected=corrected,
        compared=compared,
        until=_until(world, for_believed),
    )
    return _Facts(believed=believed, doubted=doubted, dispute=dispute)


def _memory(world: World, tenant: str, memory_id: UUID) -> Memory | None:
    return load(world.reading, world.keyring, tenant, memory_id)


def _until(world: World, memory: Memory | None) -> datetime | None:
    """The end that a memory had before another took its place."""
    if memory is None or memory.status is not Status.SUPERSEDED:
        return None
    stored = world.reading.stream(memory.tenant, memory.id)
    before = fold(world.reading, world.keyring, memory.tenant, memory.id, up_to_seq=stored[-1].seq - 1)
    return before.valid_to if before is not None else None


def _stands_for(world: World, memory: Memory | None) -> Memory | None:
    """The memory that stands for this one, through however many merges; itself where it was not merged."""
    for _step in range(MERGES_DEEP_MAX):
        if memory is None or memory.merged_into is None:
            return memory
        before = _memory(world, memory.tenant, memory.merged_into)
        if before is None:
            return memory
        memory = before
    return memory


def _resolve(
    command: Resolve, facts: _Facts, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Resolved] | Refused:
    decided = resolving.resolve(command, facts.dispute, caller, moment, rules.review, truth=rules.truth)
    if isinstance(decided, Refused):
        return decided
    return Decided(
        answer=_resolved(command, facts, decided.answer, caller, moment),
        events=decided.events,
        needs=decided.needs,
    )


def _resolved(command: Resolve, facts: _Facts, settled: Settled, caller: Caller, moment: Moment) -> Resolved:
    moved = {one.id: one for one in settled.moved}
    sides = [moved.get(one.id, one) if one is not None else None for one in (facts.believed, facts.doubted)]
    row = msgspec.structs.replace(facts.dispute.row, kept=command.keep)
    word = _Word(at=moment.now, actor=caller.id, reason=command.reason)
    return Resolved(
        contradiction=_record(row, sides[0], sides[1], caller, moment.now, word),
        memories=tuple(answered(caller, one) for one in settled.moved),
    )


def _outcome(resolved: Resolved) -> bytes:
    sides = (resolved.contradiction.believed, resolved.contradiction.doubted)
    kept = _Kept(
        sides=tuple((one.id, one.version) if one.version is not None else None for one in sides),
        moved=tuple((one.id, one.version) for one in resolved.memories),
    )
    return msgspec.json.encode(kept)


def _replay(world: World, caller: Caller, first: Event | None, outcome: bytes) -> Resolved:
    """The first answer again: each memory as it then stood."""
    row = _granted(world, caller, first.stream) if first is not None and first.stream is not None else None
    if first is None or row is None:
        raise NotFound("what this key decided has since been forgotten")
    kept = msgspec.json.decode(outcome, type=_Kept)
    sides = [_version(world, first, one) if one is not None else None for one in kept.sides]
    return Resolved(
        contradiction=_record(row, sides[0], sides[1], caller, world.moment.now, _word(world, row)),
        memories=tuple(answered(caller, _version(world, first, one)) for one in kept.moved),
    )


def _version(world: World, first: Event, place: tuple[UUID, int]) -> Memory:
    return first_memory(world, msgspec.structs.replace(first, stream=place[0], version=place[1]))


CONTRADICTIONS: UseCase[ListContradictions, ContradictionPage, ContradictionPage] = UseCase(
    name="contradictions",
    permission=Permission.REVIEW,
    target=lambda command: Target(agent=command.agent, purpose=command.purpose, subject=command.subject),
    gather=_list,
    decide=lambda _command, page, _caller, _moment, _rules: Decided(answer=page),
    showed=lambda page: Showed(len(page.items)),
)

RESOLVE: UseCase[Resolve, _Facts, Resolved] = UseCase(
    name="resolve-contradiction",
    permission=Permission.REVIEW,
    target=lambda _command: Target(),
    gather=_facts,
    decide=_resolve,
    outcome=_outcome,
    replay=_replay,
)

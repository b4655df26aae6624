"""The queue of what waits in quarantine, with what a reviewer needs to judge it (SPEC L6, L7).

Laws: what is asked of the store is bounded, however much waits; a page that is short has a cursor that goes
on; nothing of a source is told that lies outside what the caller was granted.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core import review_queue
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.duplicates import Contradiction, verdict
from tenure.core.events import Quarantined, decode_event, decode_header
from tenure.core.highlighting import Highlight, masked, show
from tenure.core.identity import Caller, Scope
from tenure.core.incident_events import Held
from tenure.core.memory import Memory, evolve
from tenure.core.ranking import Question, rank
from tenure.core.retrieval import Filter, ranked
from tenure.core.review_queue import AskQueue, Order, SourceRecord
from tenure.core.rows import MemoryRow, microseconds
from tenure.core.statements import Statement, statement_of
from tenure.core.vocabulary import Decision, Source, Status
from tenure.core.wording import analyse
from tenure.usecases.paging import position
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.ports import Listing
from tenure.usecases.reading import credential_name, narrowed, presented
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import load, standing

NEIGHBOURS_MAX: Final = 3
CLAIMED_MAX: Final = 20
"""So many near memories are looked through for other claims of the same thing."""
RANKED_MAX: Final = 2_000
"""So many of what waits longest are ranked by risk, or looked through by rule and finding, in one call."""
SOURCE_MEMORIES_MAX: Final = 5_000
_BATCH: Final = 500
_QUERY_TERMS_MAX: Final = 40
_WORDS: Final = {Order.NEWEST: "after:", Order.OLDEST: "behind:", Order.RISKIEST: "below:"}
_SEQ_DIGITS: Final = 10**15


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who did something: the id for the audit, and the credential's name where there is one."""

    id: str
    name: str | None = None


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One quarantined memory with what a reviewer needs to judge it.

    ``text`` is what was scanned, made visible: each finding has its place and an excerpt there. Credentials
    are masked in it, and in the memory.
    """

    memory: Memory
    decision: Decision
    text: str
    findings: tuple[Highlight, ...]
    requested_scope: Scope
    source: Source
    attested_by: Principal
    source_record: SourceRecord
    neighbours: tuple[Memory, ...]
    contradictions: tuple[Memory, ...]
    waiting_since: datetime
    waiting_seconds: float
    expires_at: datetime
    risk: int
    takes_two_reviewers: bool = False
    endorsed_by: Principal | None = None


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what waits.

    ``seen_until`` is the position of the log that it shows; a bulk decision names it. ``is_whole`` is False
    where more waits than could be ranked: the newest of it is not in the order.
    """

    items: tuple[Waiting, ...]
    next_cursor: str | None = None
    seen_until: int = 0
    is_whole: bool = True


class Candidate(NamedTuple):
    """A row that waits, its memory without the text, since when it waits, and where it changed last."""

    row: MemoryRow
    memory: Memory
    since: datetime
    changed_seq: int


class _Chosen(NamedTuple):
    candidates: list[Candidate]
    next_cursor: str | None
    is_whole: bool = True


def candidates_of(world: World, tenant: str, rows: Sequence[MemoryRow]) -> list[Candidate]:
    """What the headers alone tell of these rows: no key is asked for."""
    memories: dict[UUID, Memory] = {}
    since: dict[UUID, datetime] = {}
    changed: dict[UUID, int] = {}
    for stored in world.reading.events_of(tenant, [row.memory_id for row in rows]):
        event = decode_event(decode_header(stored.header), None)
        if event.stream is None:
            continue
        memories[event.stream] = evolve(memories.get(event.stream), event)
        changed[event.stream] = stored.seq
        if isinstance(event.data, Quarantined | Held):
            since[event.stream] = event.at
    found = []
    for row in rows:
        memory = memories.get(row.memory_id)
        if memory is not None:
            began = since.get(row.memory_id, memory.created_at)
            found.append(Candidate(row, memory, began, changed[row.memory_id]))
    return found


def _gather(world: World, caller: Caller, ask: AskQueue) -> Queue:
    review_queue.check_queue(ask)
    listing = Listing(
        tenant=caller.tenant,
        now=microseconds(world.moment.now),
        limit=_BATCH,
        agents=narrowed(ask.agent, caller.grants.agents),
        purposes=narrowed(ask.purpose, caller.grants.purposes),
        subjects=narrowed(ask.subject, caller.grants.subjects),
        kind=ask.kind,
        status=Status.QUARANTINED,
        source_type=ask.source_type,
        source_id=ask.source_id,
    )
    begin = position(ask.cursor, word=_WORDS[ask.order])
    if ask.order is Order.RISKIEST:
        chosen = _riskiest(world, ask, listing, begin)
    else:
        chosen = _in_order(world, ask, listing, begin)
    return Queue(
        items=tuple(_shown(world, caller, chosen.candidates)),
        next_cursor=chosen.next_cursor,
        seen_until=world.reading.head(caller.tenant)[0],
        is_whole=chosen.is_whole,
    )


def _in_order(world: World, ask: AskQueue, listing: Listing, at: int | None) -> _Chosen:
    """The next ones by age. Looked through, as a rule or a finding is, is only so much in one call."""
    is_looked_through = ask.rule is not None or ask.finding is not None
    size = _BATCH if is_looked_through else ask.limit + 1
    found: list[Candidate] = []
    looked_at, is_over = 0, False
    while len(found) <= ask.limit and looked_at < RANKED_MAX and not is_over:
        rows = _rows(world, msgspec.structs.replace(listing, limit=size), ask.order, at)
        is_over = len(rows) < size
        looked_at += len(rows)
        at = rows[-1].created_seq if rows else at
        found += (one for one in candidates_of(world, listing.tenant, rows) if _fits(one, ask))
    word = _WORDS[ask.order]
    if len(found) > ask.limit:
        return _Chosen(found[: ask.limit], f"{word}{found[ask.limit - 1].row.created_seq}")
    return _Chosen(found, None if is_over else f"{word}{at}")


def _rows(world: World, listing: Listing, order: Order, at: int | None) -> list[MemoryRow]:
    if order is Order.NEWEST:
        return world.reading.listing(msgspec.structs.replace(listing, before_seq=at))
    return world.reading.waiting(listing, after_seq=at or 0)


def _riskiest(world: World, ask: AskQueue, listing: Listing, at: int | None) -> _Chosen:
    """The riskiest of what waits longest; ties by age, so that each page goes on where the last one ended."""
    ranked: list[tuple[int, Candidate]] = []
    looked_at, behind, is_over = 0, 0, False
    while looked_at < RANKED_MAX and not is_over:
        rows = world.reading.waiting(listing, after_seq=behind)
        is_over = len(rows) < listing.limit
        looked_at += len(rows)
        behind = rows[-1].created_seq if rows else behind
        candidates = candidates_of(world, listing.tenant, rows)
        ranked += ((_place(one), one) for one in candidates if _fits(one, ask))
    rest = sorted(one for one in ranked if at is None or one[0] > at)
    page = rest[: ask.limit]
    cursor = f"{_WORDS[Order.RISKIEST]}{page[-1][0]}" if len(rest) > ask.limit else None
    return _Chosen([one for _, one in page], cursor, is_whole=is_over)


def _place(candidate: Candidate) -> int:
    """Where it stands in the order of risk, as one number: no two are the same, since no two rows are."""
    safety = review_queue.RISK_MAX - review_queue.risk(candidate.memory)
    return safety * _SEQ_DIGITS + candidate.row.created_seq


def _fits(candidate: Candidate, ask: AskQueue) -> bool:
    return review_queue.fits(candidate.memory, ask)


def _shown(world: World, caller: Caller, candidates: Iterable[Candidate]) -> Iterator[Waiting]:
    records: dict[tuple[str, str], SourceRecord] = {}
    for one in candidates:
        whole = standing(world.reading, world.keyring, one.row)
        if whole is None:
            continue
        where = (whole.source.type, whole.source.id)
        if where not in records:
            records[where] = _record(world, caller, whole.source)
        yield _waiting(world, presented(whole, caller, world.moment.now), one.since, records[where])


def _waiting(world: World, memory: Memory, since: datetime, record: SourceRecord) -> Waiting:
    shown, safe = show(memory), masked(memory)
    neighbours = _nearest(world, memory, memory.content or "", NEIGHBOURS_MAX)
    endorsed_by = memory.endorsed_by
    return Waiting(
        memory=safe,
        decision=memory.decision,
        text=shown.text,
        findings=shown.highlights,
        requested_scope=memory.scope,
        source=safe.source,
        attested_by=_principal(world, memory.tenant, memory.proposed_by),
        source_record=record,
        neighbours=tuple(masked(other) for other in neighbours),
        contradictions=tuple(masked(other) for other in _contradictions(world, memory, neighbours)),
        waiting_since=since,
        waiting_seconds=max(0.0, (world.moment.now - since).total_seconds()),
        expires_at=memory.expires_at,
        risk=review_queue.risk(memory),
        takes_two_reviewers=world.rules.review.asks_for_two(memory),
        endorsed_by=_principal(world, memory.tenant, endorsed_by) if endorsed_by is not None else None,
    )


def _principal(world: World, tenant: str, actor: str) -> Principal:
    return Principal(id=actor, name=credential_name(world, tenant, actor))


def _contradictions(world: World, memory: Memory, neighbours: Sequence[Memory]) -> Iterator[Memory]:
    """Active memories that cannot be true beside it: those recorded, then what was written before those were.

    The latter are looked for by the words of what is claimed.
    """
    told: set[UUID] = set()
    for other in _recorded(world, memory):
        told.add(other.id)
        yield other
    said = statement_of(memory)
    if not said.claims:
        return
    like = world.rules.truth.like
    for other in (*neighbours, *_nearest(world, memory, _things(said), CLAIMED_MAX)):
        if other.id in told:
            continue
        told.add(other.id)
        if isinstance(verdict(said, statement_of(other), cosine=None, like=like), Contradiction):
            yield other


def _recorded(world: World, memory: Memory) -> Iterator[Memory]:
    """What a contradiction was recorded with that is open, so far as it stands."""
    rows = world.reading.contradictions_of(memory.tenant, [memory.id])
    rows = sorted((row for row in rows if not row.resolved_seq), key=lambda row: -row.found_seq)
    for row in rows[:CLAIMED_MAX]:
        other_id = row.doubted if row.believed == memory.id else row.believed
        other = load(world.reading, world.keyring, memory.tenant, other_id)
        if other is not None and other.status_at(world.moment.now) is Status.ACTIVE:
            yield other


def _things(said: Statement) -> str:
    """The words of what is claimed something of."""
    return "\n".join(f"{one.entity}\n{one.attribute}" for one in said.claims)


def _nearest(world: World, memory: Memory, text: str, limit: int) -> list[Memory]:
    """The active memories within the same four walls that share the most words with a text."""
    where = Filter(
        tenant=memory.tenant,
        agent=memory.agent,
        purpose=memory.purpose,
        subjects=frozenset({memory.subject}),
        now=microseconds(world.moment.now),
    )
    terms = sorted(set(analyse(text, world.rules.language)))[:_QUERY_TERMS_MAX]
    rows, postings = world.reading.search(where, terms, None)
    sharing = {int(seq) for one in postings.values() for seq in one.seqs}
    asked = [Question(list(postings.values()), None)]
    ranking = rank(rows, asked, where.now, world.rules.truth.half_lives)
    nearest = [one.candidate for one in ranked(rows, ranking) if one.candidate.created_seq in sharing]
    found = [load(world.reading, world.keyring, memory.tenant, one.memory_id) for one in nearest[:limit]]
    return [other for other in found if other is not None]


def _record(world: World, caller: Caller, source: Source) -> SourceRecord:
    """How a source's proposals fared, within what the caller was granted."""
    grants = caller.grants
    of_source = Listing(
        tenant=caller.tenant,
        now=microseconds(world.moment.now),
        limit=SOURCE_MEMORIES_MAX + 1,
        agents=narrowed(None, grants.agents),
        purposes=narrowed(None, grants.purposes),
        subjects=narrowed(None, grants.subjects),
        source_type=source.type,
        source_id=source.id,
    )
    counted = world.reading.source_record(of_source)
    return SourceRecord(
        proposals=min(counted.proposals, SOURCE_MEMORIES_MAX),
        waiting=counted.waiting,
        promoted=counted.promoted,
        rejected=counted.rejected,
        revoked=counted.revoked,
        is_whole=counted.proposals <= SOURCE_MEMORIES_MAX,
    )


QUEUE: UseCase[AskQueue, Queue, Queue] = UseCase(
    name="review-queue",
    permission=Permission.REVIEW,
    target=lambda ask: Target(agent=ask.agent, purpose=ask.purpose, subject=ask.subject),
    gather=_gather,
    decide=lambda _ask, queue, _caller, _moment, _rules: Decided(answer=queue),
    showed=lambda queue: Showed(len(queue.items)),
)

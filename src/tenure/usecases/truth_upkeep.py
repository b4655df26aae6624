"""Keeping true what stands already: comparing what was not compared, and undoing merges that time undid.

    1 evidence whose memory was revoked or expired stands again for itself (SPEC T2)
    2 the next part of each tenant's log is looked through for what stands anew (standing_anew.py)
    3 each is compared with what it has to do with, by the rules of a write (SPEC T2, T3)
    4 what follows is stored, if all that was compared still stands as it was

Laws: what is believed in the end is what it would be, had one been written after the other; a pair of which a
contradiction is known, or whose merge a person undid, is left alone; whatever is done twice changes nothing.
"""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core.comparing import Compared, Follows, carried_out, what_follows
from tenure.core.contradictions import WAITS_REASON, WAITS_RULE
from tenure.core.decision import Needs
from tenure.core.duplicates import Duplicate, Neighbour
from tenure.core.events import NAMES, Event, decode_event, decode_header
from tenure.core.incident_events import Held
from tenure.core.memory import STEP_OF, Memory
from tenure.core.merging import support
from tenure.core.retention import UPKEEP
from tenure.core.rows import MERGED, DerivationRow, microseconds
from tenure.core.statements import statement_of
from tenure.core.truth_events import ContradictionFound, Merged, Unmerged, ValidUntil
from tenure.core.truth_steps import unmerged
from tenure.core.vocabulary import Status
from tenure.usecases.comparing import behind, judged
from tenure.usecases.pipeline import Pipeline, World
from tenure.usecases.portions import PAGES_MAX, Passed, Portions, Turn, at_a_standstill, sweep
from tenure.usecases.ports import Append, Appended, Stale
from tenure.usecases.sealing import fold, seal
from tenure.usecases.standing_anew import Look, Page, Walk, beside_near, walk_name

TOGETHER_MAX: Final = 100
"""How many decisions are stored together, so that no look at the store stays open for long."""

_ONE_AT_A_TIME: Final = threading.Lock()
"""Two rounds in one process would do the same at once; of many nodes the lease chooses one."""
_NOT_AS_WRITTEN: Final = (ValueError, msgspec.MsgspecError)
_UNMERGED: Final = NAMES[Unmerged][0]


class Comparing(msgspec.Struct, frozen=True, kw_only=True):
    """What one round of comparing changed. ``more`` says that logs go on behind what was looked through."""

    merged: int = 0
    contradicted: int = 0
    more: bool = False


class Reinstating(msgspec.Struct, frozen=True, kw_only=True):
    """How much evidence stands again. ``more`` says that a batch was full."""

    reinstated: int = 0
    more: bool = False


class _Decided(NamedTuple):
    look: Look
    append: Append


def compare_round(
    pipeline: Pipeline, portions: Portions, *, batch_size: int, passed: Passed = at_a_standstill
) -> Comparing:
    """Look through the next parts of the logs, and do what follows from what stands anew."""
    if not pipeline.rules.truth.compares:
        return Comparing()
    with _ONE_AT_A_TIME:
        with pipeline.store.reading() as reading:
            tenants = reading.tenants()
        done: list[Event] = []
        turn = Turn(rows=PAGES_MAX * batch_size, passed=passed)

        def work(tenant: str) -> bool:
            page, events = _compare(pipeline, portions, tenant, turn.rows(batch_size))
            done.extend(events)
            turn.looked(page.events if page is not None else 0)
            return page is not None and page.more

        more = sweep(tenants, turn, work)
    return Comparing(
        merged=sum(isinstance(event.data, Merged) for event in done),
        contradicted=sum(isinstance(event.data, ContradictionFound) for event in done),
        more=more,
    )


def stranded_round(pipeline: Pipeline, portions: Portions, *, batch_size: int) -> Reinstating:
    """Let evidence stand again whose memory was revoked or expired.

    The log says so, and there the next comparing finds it.
    """
    with pipeline.store.reading() as reading:
        world = pipeline.world(reading)
        edges = reading.stranded(batch_size)
        appends = [_released(world, edge) for edge in edges]
    results = portions.append([append for append in appends if append is not None])
    count = sum(isinstance(result, Appended) for result in results)
    return Reinstating(reinstated=count, more=count > 0 and len(edges) == batch_size)


def _released(world: World, edge: DerivationRow) -> Append | None:
    """What lets one memory stand again; None where it has no time left, or cannot be read any more."""
    reading, keyring = world.reading, world.keyring
    evidence = fold(reading, keyring, edge.tenant, edge.child)
    stands = fold(reading, keyring, edge.tenant, edge.parent)
    if evidence is None or stands is None or evidence.content is None:
        return None
    if evidence.merged_into != stands.id:
        return None
    if evidence.expires_at <= world.moment.now and not _stands_for_others(world, evidence):
        return None
    left = (statement_of(stands), *behind(world, stands, but={evidence.id}))
    event = unmerged(evidence, stands.id, support(left), actor=UPKEEP, at=world.moment.now)
    keyring.ensure([(evidence.tenant, evidence.subject)])
    return Append(
        tenant=edge.tenant, events=(seal(event, keyring),), forgot_seq=reading.forgot_seq(edge.tenant)
    )


def _stands_for_others(world: World, memory: Memory) -> bool:
    """Whether something is behind it that may have time left: what has none expires in the open then."""
    return bool(world.reading.edges(memory.tenant, (MERGED,), parents=[memory.id]))


def _compare(
    pipeline: Pipeline, portions: Portions, tenant: str, limit: int
) -> tuple[Page | None, list[Event]]:
    """One part of a tenant's log, and the events that came of it."""
    rules, model = pipeline.rules.truth, pipeline.meaning.model
    with pipeline.store.reading() as reading:
        now = microseconds(pipeline.clock.now())
        page = Walk(reading, tenant, rules, model=model, now=now).page(limit)
    if page is None:
        return None, []
    done: list[Event] = []
    looks = beside_near(page.looks, rules.like)
    stale = _each_in_turn(pipeline, portions, looks, done)
    up_to = page.up_to if stale is None else stale - 1
    pipeline.store.keep_progress(walk_name(rules, model), tenant, up_to)
    return (page if stale is None else msgspec.structs.replace(page, more=False)), done


def _each_in_turn(
    pipeline: Pipeline, portions: Portions, looks: Iterable[Look], done: list[Event]
) -> int | None:
    """Compare each after what came before it; gives back the position of one that changed meanwhile.

    What is decided gathers, until something comes up that was moved by what has gathered.
    """
    like = pipeline.rules.truth.like
    waiting, gone = deque(looks), set[UUID]()
    while waiting:
        gathered: list[_Decided] = []
        moved: set[UUID] = set()
        with pipeline.store.reading() as reading:
            world = pipeline.world(reading)
            while waiting and len(gathered) < TOGETHER_MAX:
                look = waiting[0]
                found = look.candidates(gone, like)
                if not moved.isdisjoint((look.row.memory_id, *(one.memory_id for one in found))):
                    break
                waiting.popleft()
                append = _follows(world, look, found) if found else None
                if append is not None:
                    gathered.append(_Decided(look, append))
                    moved |= _moved(append)
                    gone |= _gone(append)
        results = portions.append([one.append for one in gathered])
        for one, result in zip(gathered, results, strict=True):
            if isinstance(result, Appended):
                done.extend(sealed.event for sealed in one.append.events)
        stale = [one.look.seq for one, said in zip(gathered, results, strict=True) if isinstance(said, Stale)]
        if stale:
            return min(stale)
    return None


def _follows(world: World, look: Look, found: Sequence[Neighbour]) -> Append | None:
    """What is to be stored; None where nothing follows, or something was tampered with."""
    try:
        return _decided(world, look, found)
    except _NOT_AS_WRITTEN:
        # `tenure log verify` tells of it; the others are compared all the same.
        return None


def _decided(world: World, look: Look, found: Sequence[Neighbour]) -> Append | None:
    memory = fold(world.reading, world.keyring, look.row.tenant, look.row.memory_id)
    if memory is None or memory.content is None or memory.status_at(world.moment.now) is not Status.ACTIVE:
        return None
    new = statement_of(memory)
    compared = [one for one in judged(world, new, found) if not _was_parted(world, memory, one)]
    follows = what_follows(new, compared, world.rules.truth, stands=True, now=world.moment.now)
    follows = _unless_known(follows, memory, compared)
    _, events = carried_out(follows, new, memory, compared, actor=UPKEEP, at=world.moment.now)
    if follows.waits:
        events = (_held(world, memory), *events)
    if not events:
        return None
    return Append(
        tenant=memory.tenant,
        events=tuple(seal(event, world.keyring) for event in events),
        needs=tuple(
            Needs(memory_id=one.id, version=one.version)
            for one in (memory, *(other.memory for other in compared))
        ),
    )


def _was_parted(world: World, memory: Memory, other: Compared) -> bool:
    """Whether a person undid a merge of the two: they say that these are two."""
    if not isinstance(other.verdict, Duplicate):
        return False
    pairs = ((memory, other.memory), (other.memory, memory))
    return any(_was_parted_from(world, one, before.id) for one, before in pairs)


def _was_parted_from(world: World, memory: Memory, before: UUID) -> bool:
    for stored in world.reading.stream(memory.tenant, memory.id):
        header = decode_header(stored.header)
        if header.type == _UNMERGED and header.actor != UPKEEP:
            data = decode_event(header, None).data
            if isinstance(data, Unmerged) and data.out_of == before:
                return True
    return False


def _unless_known(follows: Follows, memory: Memory, compared: Sequence[Compared]) -> Follows:
    """Without bearing out what it is known to bear out."""
    borne_out = next((one for one in compared if one.memory.id == follows.corroborates), None)
    if borne_out is None or all(one.id != memory.id for one in borne_out.behind):
        return follows
    return msgspec.structs.replace(follows, corroborates=None)


def _held(world: World, memory: Memory) -> Event:
    """It was let in before it was compared, and contradicts what has more trust: it waits (SPEC T3)."""
    version = world.rules.write.policy.version
    return Event(
        tenant=memory.tenant,
        at=world.moment.now,
        actor=UPKEEP,
        data=Held(rule=WAITS_RULE, reason=WAITS_REASON, policy_version=version),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
    )


def _moved(append: Append) -> set[UUID]:
    """The memories that these events are about."""
    events = (sealed.event for sealed in append.events)
    return {event.stream for event in events if event.stream is not None and type(event.data) in STEP_OF}


def _gone(append: Append) -> set[UUID]:
    """The memories that stand no longer by these events."""
    closed = {sealed.event.stream for sealed in append.events if isinstance(sealed.event.data, ValidUntil)}
    return _moved(append) - closed

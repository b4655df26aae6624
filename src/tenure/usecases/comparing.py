"""Finding what a memory is to be compared with, and what it is to each of those (SPEC T2, T3).

    1 rows of the same four walls that are near in meaning, and those that claim something of the same thing
    2 each of the few that are left is opened, and the rules say what it is to the new one
    3 of a duplicate, or one that the new one bears out, what else says so

Nothing is decided here: `core/comparing.py` says what follows.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.candidates import Candidates
from tenure.core.claims import Found
from tenure.core.comparing import Compared
from tenure.core.contradictions import pair_id
from tenure.core.duplicates import Contradiction, Duplicate, Neighbour, Support, near, verdict
from tenure.core.memory import Memory
from tenure.core.retrieval import Filter
from tenure.core.rows import CORROBORATES, MERGED, microseconds
from tenure.core.statements import Statement, statement_of
from tenure.core.validity import Interval
from tenure.core.vectors import packed
from tenure.core.views import own_words
from tenure.core.vocabulary import Claim, Status
from tenure.usecases.embedding_ports import EmbeddingFailed
from tenure.usecases.pipeline import World
from tenure.usecases.ports import Keyring
from tenure.usecases.sealing import fold_each
from tenure.usecases.truth_ports import Walls

CLAIMING_MAX: Final = 64
"""How many memories that claim something of the same things are looked at, the most trusted first."""
BEHIND_MAX: Final = 64
"""How many memories behind one are opened to count how many sources say so."""


def things(keyring: Keyring, tenant: str, claims: Iterable[Found]) -> tuple[bytes, ...]:
    """Keyed digests of what is claimed something of, each once."""
    named = dict.fromkeys(f"{one.entity}\x1f{one.attribute}" for one in claims)
    return tuple(keyring.digest(tenant, "thing", name) for name in named)


def compared(
    world: World,
    new: Statement,
    claim: Claim | None,
    about: Sequence[bytes],
    *,
    leaving_out: Collection[UUID] = (),
    is_new: bool = False,
) -> tuple[Compared, ...]:
    """What stands within the same walls and is near the new memory, or claims something of the same.

    One that ``is_new`` has no beginning yet, where it names none: it may take that of a duplicate.
    """
    found = _candidates(world, new, claim, about)
    left = [one for one in found if one.memory_id not in leaving_out]
    return judged(world, new, left, is_new=is_new)


def judged(
    world: World, new: Statement, candidates: Iterable[Neighbour], *, is_new: bool = False
) -> tuple[Compared, ...]:
    """What each of these candidates is to a memory, of those that still stand and are anything to it."""
    tenant = new.boundary.tenant
    left = [one for one in candidates if one.memory_id != new.id]
    if not left:
        return ()
    # A new memory has a part in none yet.
    recorded = () if is_new else world.reading.contradictions_of(tenant, [new.id])
    known = {one.contradiction_id for one in recorded}
    memories = fold_each(world.reading, world.keyring, tenant, [one.memory_id for one in left])
    seen = (
        _compared(world, new, one, memory, known, is_new=is_new)
        for one, memory in zip(left, memories, strict=True)
        if memory is not None
    )
    return tuple(one for one in seen if one is not None)


def compared_again(
    world: World, memory: Memory, *, leaving_out: Collection[UUID] = ()
) -> tuple[Compared, ...]:
    """What a memory that is there already is compared with, where memories are compared at all."""
    if not world.rules.truth.compares or memory.content is None:
        return ()
    said = statement_of(memory)
    about = things(world.keyring, memory.tenant, said.claims)
    return compared(world, said, memory.claim, about, leaving_out=leaving_out)


def _candidates(
    world: World, new: Statement, claim: Claim | None, about: Sequence[bytes]
) -> tuple[Neighbour, ...]:
    boundary = new.boundary
    walls = Walls(
        tenant=boundary.tenant,
        agent=boundary.agent,
        purpose=boundary.purpose,
        subject=boundary.subject or "",
    )
    same: list[UUID] = []
    if about:
        now = microseconds(world.moment.now)
        same = world.reading.claiming(walls, about, now=now, limit=CLAIMING_MAX)
    rules = world.rules.truth
    candidates = _within(world, walls)
    if candidates is None:
        return tuple(Neighbour(one, None) for one in same)
    vector = _meant(world, new.content, claim) if candidates.size else None
    by_meaning = near(candidates, vector, like=rules.like, same_claim=same)
    there = {one.memory_id for one in by_meaning}
    return (*by_meaning, *(Neighbour(one, None) for one in same if one not in there))


def _within(world: World, walls: Walls) -> Candidates | None:
    """What stands within the walls, looked up once for all that is decided together; None for too much."""
    within = world.stood.within
    if walls not in within:
        within[walls] = _looked_up(world, walls)
    return within[walls]


def _looked_up(world: World, walls: Walls) -> Candidates | None:
    immediate = world.meaning.immediate
    if immediate is None:
        return None
    where = Filter(
        tenant=walls.tenant,
        agent=walls.agent,
        purpose=walls.purpose,
        subjects=frozenset({walls.subject}),
        now=microseconds(world.moment.now),
    )
    return world.reading.at_hand(where, immediate.model, most=world.rules.truth.compared_max)


def embed(world: World, texts: Sequence[str]) -> None:
    """Make the packed vectors of these texts, by the engine in use, where that has a part in a write."""
    immediate = world.meaning.immediate
    if immediate is None:
        return
    try:
        vectors = immediate.passages(texts)
    except EmbeddingFailed:
        # The writes go on by claims alone, and upkeep looks again.
        return
    for text, vector in zip(texts, vectors, strict=True):
        world.stood.vectors[immediate.model, text] = packed(vector)


def _meant(world: World, content: str, claim: Claim | None) -> bytes | None:
    """What the text means, packed; None where that has no part in a write."""
    model, text = world.meaning.model or "", own_words(content, claim)
    if (model, text) not in world.stood.vectors:
        embed(world, [text])
    return world.stood.vectors.get((model, text))


def _compared(
    world: World, new: Statement, one: Neighbour, memory: Memory, known: Collection[UUID], *, is_new: bool
) -> Compared | None:
    if memory.content is None or memory.status_at(world.moment.now) is not Status.ACTIVE:
        return None
    old = statement_of(memory)
    begun = _begun(new, old) if is_new else new
    told = verdict(begun, old, cosine=one.cosine, like=world.rules.truth.like)
    if begun is not new and not isinstance(told, Duplicate):
        begun, told = new, verdict(new, old, cosine=one.cosine, like=world.rules.truth.like)
    if not isinstance(told, Contradiction | Duplicate | Support):
        return None
    return Compared(
        memory=memory,
        statement=old,
        verdict=told,
        cosine=one.cosine,
        behind=behind(world, memory) if isinstance(told, Duplicate | Support) else (),
        is_recorded=pair_id(new.id, old.id) in known,
        begins=begun.valid.start if begun is not new else None,
    )


def _begun(new: Statement, old: Statement) -> Statement:
    """The new one as holding since the old one does, where it leaves that open and could (SPEC T4)."""
    start = old.valid.start
    if new.valid.start is not None or start is None or start > new.said_at:
        return new
    return msgspec.structs.replace(new, valid=Interval(start=start, end=new.valid.end))


def behind(world: World, memory: Memory, *, but: Collection[UUID] = ()) -> tuple[Statement, ...]:
    """What else says what a memory says, through however many merges; it is counted, never shown."""
    tenant, reading = memory.tenant, world.reading
    waiting, found = [memory.id], dict[UUID, None]()
    while waiting and len(found) < BEHIND_MAX:
        edges = reading.edges(tenant, (MERGED, CORROBORATES), parents=waiting)
        waiting = [one.child for one in edges if one.child not in found and one.child not in but]
        found.update(dict.fromkeys(waiting))
    opened = fold_each(reading, world.keyring, tenant, list(found)[:BEHIND_MAX])
    standing = {Status.ACTIVE, Status.SUPERSEDED}
    return tuple(
        _as_voice(one) for one in opened if one is not None and one.status_at(world.moment.now) in standing
    )


def _as_voice(memory: Memory) -> Statement:
    """A memory as one who says so: what it claims is not looked at again."""
    return statement_of(msgspec.structs.replace(memory, content=None, claim=None))

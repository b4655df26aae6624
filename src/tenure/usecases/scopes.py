"""Resolving a key outward through its scopes (SPEC F3), for one key and for all that a recall sees."""

from collections.abc import Iterable, Sequence

import msgspec

from tenure.core import scopes
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import NotFound
from tenure.core.identity import Caller, Scope, checked_name
from tenure.core.memory import Memory
from tenure.core.proposals import check_scope
from tenure.core.retrieval import Filter
from tenure.core.rows import MemoryRow, SuppressionRow, microseconds
from tenure.core.scopes import Keyed, Place, Suppressed
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.reading import presented
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold
from tenure.usecases.searching import Searching


class ResolveKey(msgspec.Struct, frozen=True, kw_only=True):
    """What a key means at a scope."""

    agent: str
    purpose: str
    subject: str
    key: str
    scope: Scope


def within_scopes(reading: Searching, where: Filter, places: Sequence[Place]) -> Filter:
    """The filter narrowed to these places, without memories that another of the same key stands before."""
    where = msgspec.structs.replace(where, scopes=tuple((place.tier, place.id) for place in places))
    # What stands before what is decided before kinds and trust are asked for.
    rows = reading.keyed(msgspec.structs.replace(where, kinds=(), trust_min=0))
    if not rows:
        return where
    hidden: set[int] = set()
    for subject in {row.subject for row in rows}:
        held = reading.suppressions(where.tenant, subject, where.now)
        mine = [row for row in rows if row.subject == subject]
        hidden |= scopes.hidden([_keyed(row) for row in mine], places, _within(held, where))
    return msgspec.structs.replace(where, hidden=frozenset(hidden))


def resolved(
    reading: Searching,
    where: Filter,
    places: Sequence[Place],
    key_digest: bytes,
    *,
    ignoring: SuppressionRow | None = None,
) -> MemoryRow | None:
    """The row that a key means in these places, innermost first.

    ``ignoring`` is a forget of a leaf alone whose hold is being probed.
    """
    where = msgspec.structs.replace(where, scopes=tuple((place.tier, place.id) for place in places))
    rows = reading.keyed(where, key_digest)
    if ignoring is not None:
        rows = [row for row in rows if row.created_seq < ignoring.seq]
    held = [
        row
        for subject in where.subjects or ()
        for row in reading.suppressions(where.tenant, subject, where.now)
        if ignoring is None or row.forget_id != ignoring.forget_id
    ]
    found = scopes.winners([_keyed(row) for row in rows], places, _within(held, where)).get(key_digest)
    return next((row for row in rows if found is not None and row.created_seq == found.created_seq), None)


def _within(rows: Iterable[SuppressionRow], where: Filter) -> list[Suppressed]:
    return [
        Suppressed(row.key_digest, Place.read(row.place), row.seq)
        for row in rows
        if (row.agent, row.purpose) == (where.agent, where.purpose)
    ]


def _keyed(row: MemoryRow) -> Keyed:
    return Keyed(row.created_seq, row.key_digest or b"", Place(row.scope_tier, row.scope_id))


def _resolve(world: World, caller: Caller, command: ResolveKey) -> Memory:
    for field in ("agent", "purpose", "subject", "key"):
        checked_name(getattr(command, field), field=field)
    check_scope(command.scope)
    where = Filter(
        tenant=caller.tenant,
        agent=command.agent,
        purpose=command.purpose,
        subjects=frozenset({command.subject}),
        now=microseconds(world.moment.now),
    )
    places = scopes.places(command.scope, command.subject, world.rules.write.ladder.inherits)
    digest = world.keyring.digest(caller.tenant, "key", command.key)
    row = resolved(world.reading, where, places, digest)
    memory = fold(world.reading, world.keyring, caller.tenant, row.memory_id) if row is not None else None
    if memory is None:
        raise NotFound("no memory of this key is to be read at this scope")
    return memory


RESOLVE: UseCase[ResolveKey, Memory, Memory] = UseCase(
    name="resolve-key",
    permission=Permission.READ,
    target=lambda command: Target(agent=command.agent, purpose=command.purpose, subject=command.subject),
    gather=_resolve,
    decide=lambda _command, memory, caller, moment, _rules: Decided(
        answer=presented(memory, caller, moment.now)
    ),
    showed=lambda memory: Showed(1, memory.id),
)

"""Resolving a key outward through its scopes (SPEC F3), for one key and for all that a recall sees."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from tenure.core import scopes
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided, Refused
from tenure.core.errors import NotFound, Unavailable
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment, Scope, checked_name
from tenure.core.memory import Memory
from tenure.core.proposals import check_scope
from tenure.core.retrieval import Filter
from tenure.core.rows import MemoryRow, SuppressionRow, microseconds
from tenure.core.scopes import Keyed, Place, Suppressed
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.read_scanning import Sieve
from tenure.usecases.reading import presented
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import fold
from tenure.usecases.searching import Searching

_NONE: Final = "no memory of this key is to be read at this scope"


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
    # What stands before what is decided before kinds, trust, keys and times are asked for.
    rows = reading.keyed(where.widened)
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


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that a key means, whether it may be shown, and the event where it is held from now on."""

    memory: Memory
    may_be_shown: bool
    events: tuple[Event, ...]


def _resolve(world: World, caller: Caller, command: ResolveKey) -> Resolved:
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
        raise NotFound(_NONE)
    sieve = Sieve(world, caller.tenant)
    (may_be_shown,) = sieve.passing([memory])
    return Resolved(memory=memory, may_be_shown=may_be_shown, events=tuple(sieve.events))


def _decide(
    _command: ResolveKey, found: Resolved, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Memory] | Refused:
    """The memory; none where something was found in it just now; neither where it could not be scanned."""
    if not found.may_be_shown and not found.events:
        return Refused(
            Unavailable(
                "what this key means could not be scanned, so it is not shown",
                hint="Ask again in a moment; the operator sees which scanner failed.",
            )
        )
    return Decided(
        answer=presented(found.memory, caller, moment.now),
        events=found.events,
        error=None if found.may_be_shown else NotFound(_NONE),
    )


RESOLVE: UseCase[ResolveKey, Resolved, Memory] = UseCase(
    name="resolve-key",
    permission=Permission.READ,
    target=lambda command: Target(agent=command.agent, purpose=command.purpose, subject=command.subject),
    gather=_resolve,
    decide=_decide,
    showed=lambda memory: Showed(1, memory.id),
)

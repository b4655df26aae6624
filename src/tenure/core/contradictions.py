"""What follows where two memories cannot both be true (SPEC T3, L10, M5). Pure.

    weighed = weigh(new, rivals, now=…)           at a write, or by a worker for what came before
    plan = resolve(open, keep=…, doubted_is=…)    a person's word on it
    shown(standings, open_pairs, showing)         what a recall shows until then

Laws: every contradiction is recorded for a person, once for each pair, whichever was written first; what has
less trust never displaces what has more, however alike, however often said: it waits; with equal trust the
later word stands, and of two of one moment the one with the higher id, so that the order of writes does not
change what is believed in the end; a memory that does not stand itself displaces nothing.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from heapq import nsmallest
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core.duplicates import Because
from tenure.core.statements import Standing, Statement
from tenure.core.validity import closing
from tenure.core.vocabulary import Status


class Effect(StrEnum):
    """What became of two memories that contradict each other, until a person decides."""

    SUPERSEDED = "superseded"
    """The one believed less is superseded."""
    WAITS = "waits"
    """The newer has less trust: it waits in quarantine."""
    CLOSED = "closed"
    """The older holds until the newer begins, which is later than now."""
    BOTH = "both"
    """Both stand: one is about a narrower place or a shorter time."""


class Showing(StrEnum):
    """What a recall shows of two memories that stand and contradict each other."""

    TRUSTED = "trusted"
    """The one that is believed before the other, with a note."""
    BOTH = "both"
    """Both, each with a note."""


class Rival(NamedTuple):
    """A memory that stands, and why it cannot be true together with the new one."""

    statement: Statement
    because: Because


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction to record; ``valid_to_before`` is the end that the doubted one had."""

    id: UUID
    believed: UUID
    doubted: UUID
    effect: Effect
    because: Because
    valid_to_before: datetime | None = None


class Ending(NamedTuple):
    """When a memory that is displaced holds no longer; ``supersedes`` where that is now."""

    memory_id: UUID
    valid_to: datetime
    supersedes: bool


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """What a new memory changes.

    It ``waits`` in quarantine, or is ``superseded_by`` another as soon as it is written, or neither; only
    then it ends others. ``valid_from`` is since when it holds, where it follows on others and did not say so.
    """

    found: tuple[Conflict, ...] = ()
    waits: bool = False
    superseded_by: UUID | None = None
    ends: tuple[Ending, ...] = ()
    valid_from: datetime | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What has to happen so that a person's word on a contradiction holds; most of it is nothing."""

    promote: UUID | None = None
    reject: UUID | None = None
    reinstate: UUID | None = None
    reopen: UUID | None = None
    valid_to: datetime | None = None
    """The end that the reinstated or reopened one has again."""
    supersede: UUID | None = None
    by: UUID | None = None
    """What takes the place of the superseded one."""


class Open(NamedTuple):
    """A contradiction that waits for a person, as it was recorded."""

    believed: UUID
    doubted: UUID
    effect: Effect
    valid_to_before: datetime | None = None


class Shown(NamedTuple):
    """The memories to show, in the order in which they came, and what is said beside them."""

    ids: tuple[UUID, ...]
    notes: Mapping[UUID, str]


NAMED_MAX: Final = 3
"""How many contradicting memories a note names."""
WAITS_RULE: Final = "contradicts_trusted"
WAITS_REASON: Final = "it contradicts a memory of more trust, so a person has to decide"


def pair_id(one: UUID, other: UUID) -> UUID:
    """The id of the contradiction of two memories, the same whichever is named first."""
    first, second = sorted((one, other))
    return UUID(bytes=hashlib.blake2b(first.bytes + second.bytes, digest_size=16).digest())


def weigh(new: Statement, rivals: Sequence[Rival], *, now: datetime, stands: bool = True) -> Weighed:
    """What a memory changes, given those that stand and contradict it.

    One that the gate holds back (``stands`` is false) waits in any case, and changes nothing.
    """
    if not rivals:
        return Weighed()
    if not stands or max(rival.statement.trust.rank for rival in rivals) > new.trust.rank:
        found = tuple(_found(new, rival, Effect.WAITS, new_stands=False) for rival in rivals)
        return Weighed(found=found, waits=True)
    in_the_way = [rival for rival in rivals if not _is_aside(new, rival.statement)]
    best = max(in_the_way, key=lambda rival: rival.statement.standing, default=None)
    if best is not None and best.statement.standing > new.standing:
        found = tuple(_found(new, rival, Effect.SUPERSEDED, new_stands=False) for rival in rivals)
        return Weighed(found=found, superseded_by=best.statement.id)
    effects = [(rival, _effect(new, rival.statement, now)) for rival in rivals]
    displaced = [(rival.statement, effect) for rival, effect in effects if effect is not Effect.BOTH]
    ends = tuple(_ending(new, old, effect) for old, effect in displaced)
    found = tuple(_found(new, rival, effect, new_stands=True) for rival, effect in effects)
    return Weighed(found=found, ends=ends, valid_from=_beginning(new, [old for old, _ in displaced]))


def resolve(contradiction: Open, *, keep: UUID | None, doubted_is: Status) -> Plan:
    """What a person's word takes: ``keep`` names one of the two, or none where both are right.

    ``doubted_is`` is the present status of the one that was believed less.
    """
    believed_id, doubted = contradiction.believed, contradiction.doubted
    if keep == believed_id:
        return _put_down(doubted, believed_id, doubted_is)
    plan = _put_back(contradiction, doubted_is)
    return plan if keep is None else msgspec.structs.replace(plan, supersede=believed_id, by=doubted)


def shown(standings: Mapping[UUID, Standing], contradictions: Iterable[Open], showing: Showing) -> Shown:
    """Which of the memories of an answer are shown, given the contradictions that are open.

    ``standings`` has those that would be shown, in their order. What waits or is superseded is never among
    them, so that of such a pair the one that stands only carries its note.
    """
    against = _against(contradictions)
    hidden = _outshone(standings, against) if showing is Showing.TRUSTED else frozenset[UUID]()
    kept = tuple(one for one in standings if one not in hidden)
    beside = frozenset(kept)
    return Shown(kept, {one: _note(against[one], beside) for one in kept if one in against})


def _against(contradictions: Iterable[Open]) -> dict[UUID, set[UUID]]:
    """What contradicts each memory."""
    against: dict[UUID, set[UUID]] = {}
    for pair in contradictions:
        against.setdefault(pair.believed, set()).add(pair.doubted)
        against.setdefault(pair.doubted, set()).add(pair.believed)
    return against


def _outshone(standings: Mapping[UUID, Standing], against: Mapping[UUID, set[UUID]]) -> frozenset[UUID]:
    """Those that contradict one that is believed before them and is shown."""
    hidden: set[UUID] = set()
    for one in sorted(standings, key=lambda place: standings[place], reverse=True):
        if one not in hidden:
            rivals = against.get(one, set()) & standings.keys()
            hidden |= {rival for rival in rivals if standings[rival] < standings[one]}
    return frozenset(hidden)


def _note(others: Collection[UUID], kept: frozenset[UUID]) -> str:
    """What is said beside a memory; the first few are named, so that a crowd does not fill the answer."""
    first = nsmallest(NAMED_MAX, others, key=lambda other: other.int)
    said = ", ".join(f"{other} ({'shown as well' if other in kept else 'not shown'})" for other in first)
    more = len(others) - len(first)
    beyond = f" and {more:,} more" if more else ""
    return f"Contradicted by memory {said}{beyond}; a person has not decided yet."


def _put_down(doubted: UUID, believed_id: UUID, status: Status) -> Plan:
    match status:
        case Status.QUARANTINED:
            return Plan(reject=doubted)
        case Status.ACTIVE:
            return Plan(supersede=doubted, by=believed_id)
        case _:
            return Plan()


def _put_back(contradiction: Open, status: Status) -> Plan:
    match status:
        case Status.QUARANTINED:
            return Plan(promote=contradiction.doubted)
        case Status.SUPERSEDED:
            return Plan(reinstate=contradiction.doubted, valid_to=contradiction.valid_to_before)
        case Status.ACTIVE if contradiction.effect is Effect.CLOSED:
            return Plan(reopen=contradiction.doubted, valid_to=contradiction.valid_to_before)
        case _:
            return Plan()


def _is_aside(new: Statement, old: Statement) -> bool:
    """Whether one is about a narrower place or a shorter time, so that neither displaces the other."""
    return new.scope != old.scope or new.valid.end != old.valid.end


def _effect(new: Statement, old: Statement, now: datetime) -> Effect:
    if _is_aside(new, old):
        return Effect.BOTH
    begins = new.valid.start
    return Effect.CLOSED if begins is not None and begins > now else Effect.SUPERSEDED


def _ending(new: Statement, old: Statement, effect: Effect) -> Ending:
    closed = closing(old.valid, new.valid, said_at=new.said_at)
    assert closed.old.end is not None  # noqa: S101 -- both have one end, and closing gives an open one an end
    return Ending(old.id, closed.old.end, effect is Effect.SUPERSEDED)


def _beginning(new: Statement, displaced: Sequence[Statement]) -> datetime | None:
    """Since when it holds, where it said nothing and something ends for it."""
    if not displaced or new.valid.start is not None:
        return None
    begins = [closing(old.valid, new.valid, said_at=new.said_at).new.start for old in displaced]
    latest = max(begin for begin in begins if begin is not None)
    return latest if new.valid.end is None or latest < new.valid.end else None


def _found(new: Statement, rival: Rival, effect: Effect, *, new_stands: bool) -> Conflict:
    old = rival.statement
    first, second = (new, old) if new_stands else (old, new)
    return Conflict(
        id=pair_id(new.id, old.id),
        believed=first.id,
        doubted=second.id,
        effect=effect,
        because=rival.because,
        valid_to_before=second.valid.end,
    )

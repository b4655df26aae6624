"""What a memory changes among those that stand, once it is compared with them (SPEC T2, T3, L10, M5a). Pure.

    follows = what_follows(new, compared, rules, stands=…, now=…)     what is to be done
    events = carried_out(follows, memory, compared, actor=…, at=…)    the events that do it

Laws: contradictions are decided before duplicates, so that what has to wait stands for nobody; what does not
stand ends nothing, and merges with nothing; each contradiction is recorded once for each pair; of the new
memory and all that it is compared with, each gets one event at most that moves it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.contradictions import Rival, Weighed, weigh
from tenure.core.duplicates import Contradiction, Duplicate, Support, Verdict
from tenure.core.events import Event
from tenure.core.memory import Memory, evolve
from tenure.core.merging import Merge, Voices, merge, support
from tenure.core.statements import Statement
from tenure.core.truth_rules import TruthRules
from tenure.core.truth_steps import contradiction_found, corroborated, merged, superseded, valid_until

FOUND_MAX: Final = 32
"""How many contradictions one memory records, those with what is believed most first."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that stands, and what it is to the new one.

    ``behind`` is what else says the same, where it is a duplicate or bears the new one out; ``is_recorded``
    says that a contradiction of the two is known already. ``begins`` is since when a duplicate holds, where
    the new one leaves that open: then it is said to hold since then, too (SPEC T4).
    """

    memory: Memory
    statement: Statement
    verdict: Verdict
    cosine: float | None = None
    behind: tuple[Statement, ...] = ()
    is_recorded: bool = False
    begins: datetime | None = None


class Follows(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done: the new memory waits or is superseded at once, ends others, merges, bears out."""

    weighed: Weighed = Weighed()
    merges: tuple[Merge, ...] = ()
    corroborates: UUID | None = None
    begins: datetime | None = None
    """Since when the new one holds, where it says again what began then."""

    @property
    def waits(self) -> bool:
        """Whether the new memory is held back, since it contradicts what has more trust."""
        return self.weighed.waits

    @property
    def contradictions(self) -> tuple[UUID, ...]:
        """The ids of the contradictions that it is a part of."""
        return tuple(one.id for one in self.weighed.found)


def what_follows(
    new: Statement, compared: Sequence[Compared], rules: TruthRules, *, stands: bool, now: datetime
) -> Follows:
    """What a memory changes; one that the gate holds back (``stands`` is false) changes nothing else."""
    rivals = [
        Rival(one.statement, one.verdict.because)
        for one in compared
        if isinstance(one.verdict, Contradiction) and not one.is_recorded
    ]
    rivals.sort(key=lambda rival: rival.statement.standing, reverse=True)
    weighed = weigh(new, rivals[:FOUND_MAX], stands=stands, now=now)
    if weighed.waits or weighed.superseded_by is not None or not stands:
        return Follows(weighed=weighed)
    merges = tuple(_merges(new, compared)) if rules.merges else ()
    starts = [one.begins for one in compared if one.begins is not None]
    return Follows(
        weighed=weighed,
        merges=merges,
        corroborates=None if merges else _borne_out(compared),
        begins=max(starts, default=None) if merges else None,
    )


def carried_out(
    follows: Follows,
    new: Statement,
    memory: Memory,
    compared: Sequence[Compared],
    *,
    actor: str,
    at: datetime,
) -> tuple[Memory, tuple[Event, ...]]:
    """The new memory as it is left, and the events behind the one that made it what it is."""
    by_id = {one.memory.id: one for one in compared}
    events = [*_moved(follows, new, memory, by_id, actor=actor, at=at)]
    left = memory
    for event in events:
        if event.stream == memory.id:
            left = evolve(left, event)
    weighed = follows.weighed
    events += [contradiction_found(one, memory, actor=actor, at=at) for one in weighed.found]
    if follows.corroborates is not None:
        stands = by_id[follows.corroborates]
        voices = support([stands.statement, *stands.behind, new])
        events.append(corroborated(stands.memory, memory.id, voices, actor=actor, at=at))
    return left, tuple(events)


def _moved(
    follows: Follows,
    new: Statement,
    memory: Memory,
    by_id: Mapping[UUID, Compared],
    *,
    actor: str,
    at: datetime,
) -> Iterator[Event]:
    """The events that move a memory, each another one."""
    weighed = follows.weighed
    if weighed.superseded_by is not None:
        until = by_id[weighed.superseded_by].statement.valid.start
        yield superseded(memory, weighed.superseded_by, valid_to=until, actor=actor, at=at)
    moved: set[UUID] = set()
    for end in weighed.ends:
        old = by_id[end.memory_id].memory
        moved.add(old.id)
        if end.supersedes:
            yield superseded(old, memory.id, valid_to=end.valid_to, actor=actor, at=at)
        else:
            yield valid_until(old, memory.id, valid_to=end.valid_to, actor=actor, at=at)
    voices = support(_saying_so(new, by_id.values())) if follows.merges else Voices(0, 0)
    for done in follows.merges:
        if done.evidence in moved:
            continue
        other = by_id[done.evidence if done.stands == memory.id else done.stands]
        evidence = memory if done.evidence == memory.id else other.memory
        yield merged(evidence, done.stands, voices, cosine=other.cosine, actor=actor, at=at)


def _saying_so(new: Statement, compared: Iterable[Compared]) -> Iterator[Statement]:
    """The new one, its duplicates, and all that is behind those."""
    yield new
    for one in compared:
        if isinstance(one.verdict, Duplicate):
            yield one.statement
            yield from one.behind


def _merges(new: Statement, compared: Iterable[Compared]) -> Iterator[Merge]:
    """The new one stands before every duplicate, or behind the one that stands before all."""
    same = [one.statement for one in compared if isinstance(one.verdict, Duplicate)]
    if not same:
        return
    best = max(same, key=lambda one: one.standing)
    if best.standing > new.standing:
        yield merge(new, best)
    else:
        yield from (merge(new, one) for one in same)


def _borne_out(compared: Iterable[Compared]) -> UUID | None:
    """Of those whose claims the new one bears out the one that is believed most."""
    same = [one.statement for one in compared if isinstance(one.verdict, Support)]
    return max(same, key=lambda one: one.standing).id if same else None

"""One memory that stands for several which say the same, and what they are worth as evidence (SPEC T2, M5a).

    merged = merge(one, other)             which stands, and which becomes its evidence
    voices = support(statements)           how many independent sources say so

Nothing new is written when memories are merged: the one of more trust stands, and of equal trust the one said
last, as it was: in its own words, from its own source, with its own trust. The other is kept whole behind it,
with its evidence and all that it came from. So merges are a forest, and undoing one changes no other.

Laws: which one stands does not depend on the order; a merge changes neither text, source, trust nor times of
any memory, so that undoing it gives back what was; support is counted, shown, and never turned into trust;
copies count once: what shares a source, was made from the other, or has the same text in the same thread.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from tenure.core.statements import Statement
from tenure.core.vocabulary import Trust


class Merge(NamedTuple):
    """Two memories as one: which stands for both, and which is evidence for it."""

    stands: UUID
    evidence: UUID


class Voices(NamedTuple):
    """How many independent sources say so, and how many of them are more than untrusted."""

    voices: int
    trusted_voices: int


def merge(one: Statement, other: Statement) -> Merge:
    """Which of two duplicates stands; the same whichever is named first."""
    stands, evidence = (one, other) if one.standing > other.standing else (other, one)
    return Merge(stands.id, evidence.id)


def support(statements: Iterable[Statement]) -> Voices:
    """How many independent voices there are among memories that say the same (SPEC M5a)."""
    root_of: dict[Hashable, Hashable] = {}

    def root(key: Hashable) -> Hashable:
        while root_of.setdefault(key, key) != key:
            root_of[key] = root_of[root_of[key]]
            key = root_of[key]
        return key

    said = list(statements)
    for statement in said:
        for trace in _traces(statement):
            root_of[root(trace)] = root(statement.id)
    return Voices(_count(said, root), _count((one for one in said if one.trust is not Trust.UNTRUSTED), root))


def _count(said: Iterable[Statement], root: Callable[[Hashable], Hashable]) -> int:
    return len({root(statement.id) for statement in said})


def _traces(statement: Statement) -> Iterator[Hashable]:
    """What a copy has in common with what it is a copy of."""
    yield from statement.origins
    yield from statement.derived_from
    if statement.thread is not None and statement.fingerprint is not None:
        yield statement.thread, statement.fingerprint

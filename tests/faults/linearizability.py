"""Whether a history of concurrent operations on one memory could have come from one memory without haste.

A memory is a register with compare-and-set: ``Read`` tells its version and content, ``Swap`` sets new content
if the version is the expected one, and raises it by one. Every operation has an interval from its call to its
return. A history is linearizable when each operation can be given a point within its interval such that all
of them, done one after the other at those points, answer what was answered.

The check is the search of Wing and Gong with the memory of Lowe: take as the next operation any that was
called before every other that is still to be taken returned, if it answers right in the state so far; where
none does, go back to the last choice. What was tried is remembered as the set of operations taken together
with the state they led to, for from there the search would only go the same way again.

An operation of unknown outcome never returned: its interval has no end, so it may have taken effect at any
time after its call, or never. It answers right whatever happens, and need not be taken. What has certainly
not happened, such as a call that was refused because the store could not serve, is no part of a history.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple


class State(NamedTuple):
    """What a memory holds; contents are told apart by who wrote them, so each is written once."""

    version: int
    content: str


class Read(NamedTuple):
    """It gave this state back."""

    seen: State


class Swap(NamedTuple):
    """It asked for new content where the version is the expected one.

    ``found`` is the version that stood there at the time, the expected one where it succeeded; None when the
    outcome is unknown.
    """

    expected: int
    content: str
    found: int | None


class Operation(NamedTuple):
    """One operation, from its call to its return, on any clock that everybody shares."""

    called: float
    returned: float
    what: Read | Swap


NEVER: Final = math.inf
"""When an operation of unknown outcome returned."""


def is_linearizable(history: Sequence[Operation], first: State) -> bool:
    """Whether some order of the operations within their intervals explains every answer."""
    needed = sum(1 << index for index, one in enumerate(history) if one.returned != NEVER)
    if not needed:
        return True
    tried = {(0, first)}
    open_choices = [_choices(history, 0, first)]
    while open_choices:
        for taken, state in open_choices[-1]:
            if taken & needed == needed:
                return True
            if (taken, state) not in tried:
                tried.add((taken, state))
                open_choices.append(_choices(history, taken, state))
                break
        else:
            open_choices.pop()
    return False


def _choices(history: Sequence[Operation], taken: int, state: State) -> Iterator[tuple[int, State]]:
    """What may come next: the operations taken then, and the state that they lead to."""
    waiting = [index for index in range(len(history)) if not taken >> index & 1]
    deadline = min(history[index].returned for index in waiting)
    for index in waiting:
        if history[index].called < deadline:
            after = _after(history[index].what, state)
            if after is not None:
                yield taken | 1 << index, after


def _after(what: Read | Swap, state: State) -> State | None:
    """The state after an operation; None if it could not have answered so here."""
    match what:
        case Read(seen=seen):
            return state if seen == state else None
        case Swap(expected=expected, content=content, found=found):
            if found not in {None, state.version}:
                return None
            return State(state.version + 1, content) if expected == state.version else state

"""One word on many memories: what may be asked, and what is told of each (SPEC A5, L7, L8)."""

from typing import Any

import pytest
from tests.core.examples import held_memory, id_of, memory

from tenure.core.bulk_review import (
    DECIDED_MAX,
    Action,
    Became,
    DecideMany,
    OfSource,
    Seen,
    check_decide_many,
    decisions,
    done,
    not_seen,
)
from tenure.core.errors import InvalidRequest, NotFound, VersionConflict
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Status

MAIL = OfSource(type=SourceType.EMAIL, id="mail-1")
ONE = Seen(id=id_of(1), version=1)
MANY = tuple(id_of(number) for number in range(1, DECIDED_MAX + 2))


def wish(**sides: Any) -> DecideMany:
    """A wish to reject, with a reason unless it is said otherwise."""
    return DecideMany(**({"action": Action.REJECT, "reason": "spam"} | sides))


@pytest.mark.parametrize(
    "sides",
    [
        {"source": MAIL, "seen_until": 0},
        {"source": MAIL, "expected": (ONE,)},
        {"ids": (id_of(1), id_of(2)), "seen_until": 9},
        {"ids": (id_of(1), id_of(2)), "expected": (ONE,)},
        {"expected": (ONE,)},
        {"ids": MANY[:DECIDED_MAX], "seen_until": 9},
    ],
)
def test_what_is_meant_and_what_was_seen_can_be_said_in_several_ways(sides: dict[str, Any]) -> None:
    """SPEC L8: by a source or by name; by versions or by the page that was looked at."""
    check_decide_many(wish(**sides))


@pytest.mark.parametrize(
    ("sides", "field"),
    [
        ({"seen_until": 9}, "source"),
        ({"source": MAIL}, "seen_until"),
        ({"ids": (id_of(1),)}, "seen_until"),
        ({"source": MAIL, "ids": (id_of(1),), "seen_until": 9}, "ids"),
        ({"expected": (ONE,), "seen_until": 9}, "seen_until"),
        ({"source": MAIL, "seen_until": -1}, "seen_until"),
        ({"source": MAIL, "seen_until": 2**53}, "seen_until"),
        ({"source": OfSource(type=SourceType.EMAIL, id=" "), "seen_until": 9}, "source.id"),
        ({"ids": MANY, "seen_until": 9}, "ids"),
        ({"expected": tuple(Seen(id=one, version=1) for one in MANY)}, "expected"),
        ({"ids": (id_of(1), id_of(1)), "seen_until": 9}, "ids"),
        ({"expected": (ONE, Seen(id=id_of(1), version=2))}, "expected"),
        ({"expected": (Seen(id=id_of(1), version=-1),)}, "expected"),
        ({"expected": (ONE,), "reason": " "}, "reason"),
        ({"expected": (ONE,), "reason": "x" * 1_001}, "reason"),
    ],
)
def test_a_wish_that_is_not_clear_is_refused_as_a_whole(sides: dict[str, Any], field: str) -> None:
    """SPEC S2, L8: before anything is decided, and by the field that is at fault."""
    with pytest.raises(InvalidRequest) as refusal:
        check_decide_many(wish(**sides))

    assert refusal.value.details["field"] == field


@pytest.mark.parametrize(
    ("action", "status", "expected"),
    [
        (Action.PROMOTE, Status.ACTIVE, Became.PROMOTED),
        (Action.PROMOTE, Status.QUARANTINED, Became.ENDORSED),
        (Action.REJECT, Status.REJECTED, Became.REJECTED),
        (Action.REVOKE, Status.REVOKED, Became.REVOKED),
    ],
)
def test_a_result_says_where_the_memory_stands_now(action: Action, status: Status, expected: Became) -> None:
    """SPEC L7: a first of two yeses is no promotion, and does not say that it is one."""
    result = done(action, id_of(1), memory(status=status, version=4))

    assert (result.outcome, result.version, result.status, result.because) == (expected, 4, status, None)


def test_a_refusal_stands_beside_its_memory_with_the_current_version() -> None:
    """SPEC L8: what to do next can be told from the result alone."""
    conflict = done(Action.REJECT, id_of(1), VersionConflict(expected=1, current=3))
    absent = done(Action.REJECT, id_of(2), NotFound("there is no such memory here"))
    unseen = not_seen(id_of(3), 2)

    assert conflict.because is not None
    assert (conflict.because.code, conflict.because.current_version) == ("version-conflict", 3)
    assert absent.because is not None
    assert (absent.outcome, absent.because.code) == (Became.REFUSED, "not-found")
    assert unseen.because is not None
    assert (unseen.outcome, unseen.because.current_version) == (Became.NOT_SEEN, 2)


def test_the_answer_is_counted_and_leaves_nobody_out() -> None:
    """SPEC L8: what was decided, what was refused and what was not seen are together all."""
    items = (
        done(Action.PROMOTE, id_of(1), memory()),
        done(Action.PROMOTE, id_of(2), held_memory()),
        done(Action.PROMOTE, id_of(3), NotFound("gone")),
        not_seen(id_of(4), 2),
    )

    answer = decisions(Action.PROMOTE, items, more=True)

    assert (answer.decided, answer.refused, answer.not_seen, answer.more) == (2, 1, 1, True)

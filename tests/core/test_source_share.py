"""Sharing out the first places among sources: nothing lost, nobody crowded out (SPEC R2, R3)."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.source_share import PLACES, shared_out

STUFFED, HANDBOOK, MANUAL, MEMO = 1, 2, 3, 4


def order_of(
    scored: list[tuple[float, int]],
    *,
    share_max: float = 0.5,
    comparable: float = 0.5,
    first: int | None = None,
) -> list[int]:
    """The rows in their new order; they come numbered by their place, best first."""
    after: list[int] = shared_out(
        np.arange(len(scored)),
        np.array([score for score, _source in scored], dtype=np.float64),
        np.array([source for _score, source in scored], dtype=np.int64),
        share_max=share_max,
        comparable=comparable,
        first=first,
    ).tolist()
    return after


def ranked(scored: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """The rows, best first."""
    return sorted(scored, key=lambda row: -row[0])


ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), max_size=40).map(ranked)
SHARES = st.floats(0.01, 1)


def test_ten_stuffed_rows_leave_places_to_the_others() -> None:
    """SPEC R3: likeness alone buys one source two of the first five places, and the others the rest."""
    scored = [
        *((0.9, STUFFED) for _ in range(10)),
        (0.6, HANDBOOK),
        (0.55, MANUAL),
        (0.5, HANDBOOK),
        (0.1, MEMO),
    ]

    assert order_of(scored) == [0, 1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9, 13]


def test_what_is_far_less_like_the_question_does_not_rise() -> None:
    """A source that alone has something to say keeps its places."""
    scored = [(0.9, HANDBOOK), (0.8, HANDBOOK), (0.7, HANDBOOK), (0.2, MEMO)]

    assert order_of(scored) == [0, 1, 2, 3]


def test_what_stood_back_comes_again_where_the_next_places_begin() -> None:
    """A source that gave way has its share of the next five."""
    scored = [*((0.9, STUFFED) for _ in range(4)), *((0.8, source) for source in range(10, 18))]

    assert order_of(scored) == [0, 1, 4, 5, 6, 2, 3, 7, 8, 9, 10, 11]


def test_only_the_places_that_are_shown_are_shared_out() -> None:
    """What nobody is shown costs nothing, and stays in its order."""
    scored = [(0.9, STUFFED), (0.9, STUFFED), (0.9, STUFFED), (0.8, MANUAL), (0.8, MEMO), (0.8, HANDBOOK)]

    assert order_of(scored, first=3) == [0, 1, 3, 2, 4, 5]


def test_no_rows_are_no_rows() -> None:
    """Nothing to share out is no mistake."""
    assert order_of([]) == []


def test_row_numbers_are_those_of_the_caller() -> None:
    """The order names rows by the caller's numbers, whatever their places."""
    order = np.array([3, 1, 2, 0])
    scores = np.array([0.6, 0.8, 0.7, 0.9])
    sources = np.array([MANUAL, STUFFED, STUFFED, STUFFED])

    assert shared_out(order, scores, sources, share_max=0.5).tolist() == [3, 1, 0, 2]


@given(ROWS, SHARES, st.floats(0, 1), st.none() | st.integers(0, 50))
def test_every_row_is_there_once_and_each_source_keeps_its_order(
    scored: list[tuple[float, int]], share_max: float, comparable: float, first: int | None
) -> None:
    """Nothing is lost, and what comes from one source is ranked as before."""
    after = order_of(scored, share_max=share_max, comparable=comparable, first=first)

    assert sorted(after) == list(range(len(scored)))
    for source in range(5):
        own = [row for row in after if scored[row][1] == source]
        assert own == sorted(own)


@given(st.lists(st.floats(0, 1), max_size=40), SHARES)
def test_nothing_changes_where_all_is_of_one_source(scores: list[float], share_max: float) -> None:
    """There is nobody to leave places to."""
    scored = ranked([(score, STUFFED) for score in scores])

    assert order_of(scored, share_max=share_max) == list(range(len(scored)))


@given(ROWS)
def test_nothing_changes_where_a_source_may_have_every_place(scored: list[tuple[float, int]]) -> None:
    """A share of 1 switches it off."""
    assert order_of(scored, share_max=1.0) == list(range(len(scored)))


@given(ROWS, st.floats(0, 1))
def test_a_source_has_more_than_its_share_only_where_no_other_comes_close(
    scored: list[tuple[float, int]], comparable: float
) -> None:
    """SPEC R3: at a place beyond the share, no other source that may have it has a comparable row left."""
    after = order_of(scored, comparable=comparable)

    for place, row in enumerate(after):
        before = Counter(scored[one][1] for one in after[place - place % PLACES : place])
        if before[scored[row][1]] < 2:
            continue
        close = [one for one in after[place:] if scored[one][0] >= comparable * scored[row][0]]
        assert all(before[scored[one][1]] >= 2 for one in close)


@given(ROWS, SHARES)
def test_a_row_rises_only_past_a_source_that_has_its_share(
    scored: list[tuple[float, int]], share_max: float
) -> None:
    """Whoever stands back has as many of these places as the share allows."""
    after = order_of(scored, share_max=share_max)
    allowed = max(1, int(share_max * PLACES))

    for place, row in enumerate(after):
        passed = [one for one in after[place + 1 :] if one < row]
        before = Counter(scored[one][1] for one in after[place - place % PLACES : place])
        assert all(before[scored[one][1]] >= allowed for one in passed)


@pytest.mark.parametrize(
    ("share_max", "most"), [(0.01, 1), (0.2, 1), (0.4, 2), (0.5, 2), (0.6, 3), (0.99, 4)]
)
def test_the_share_is_that_of_five_places(share_max: float, most: int) -> None:
    """A share is rounded down to whole places, and is at least one."""
    scored = [*((0.9, STUFFED) for _ in range(9)), *((0.8, source) for source in range(10, 20))]

    first_five = [scored[row][1] for row in order_of(scored, share_max=share_max)[:PLACES]]

    assert first_five.count(STUFFED) == most


def test_scores_still_fall_within_what_stood_back() -> None:
    """What follows behind the shared places stays best first."""
    scored = ranked([(step / 40, step % 3) for step in range(40)])

    behind = order_of(scored, first=10)[10:]

    assert all(scored[one][0] >= scored[other][0] for one, other in pairwise(behind))

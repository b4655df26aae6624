"""When what is said holds, and how a correction closes it."""

from datetime import datetime, timedelta

from hypothesis import given
from tests.core.examples import MODEST, NOW, memory
from tests.core.said import days, intervals

from tenure.core.validity import Closed, Interval, closing, interval_of, share_an_instant

DAY = timedelta(days=1)


def test_a_correction_closes_the_old_where_it_begins() -> None:
    """SPEC T4: the old one's end is the new one's beginning, and its open beginning stays open."""
    new = Interval(start=NOW)

    assert closing(Interval(), new, said_at=NOW + DAY) == Closed(Interval(end=NOW), new)


def test_a_correction_without_a_beginning_holds_from_when_it_was_said() -> None:
    """SPEC T4: whoever says how it is speaks of the present."""
    old = Interval(start=NOW - DAY)

    closed = closing(old, Interval(), said_at=NOW)

    assert closed == Closed(Interval(start=NOW - DAY, end=NOW), Interval(start=NOW))


def test_what_is_corrected_from_its_beginning_never_was_true() -> None:
    """SPEC T4: its interval is empty, so that no date finds it."""
    closed = closing(Interval(start=NOW), Interval(start=NOW - DAY), said_at=NOW)

    assert closed.old.is_empty
    assert not any(holds_at(closed.old, NOW + count * DAY) for count in range(-3, 4))


def test_what_was_over_already_stays_as_it_was() -> None:
    """SPEC T4: nothing becomes longer than it was."""
    old = Interval(start=NOW - 3 * DAY, end=NOW - DAY)

    assert closing(old, Interval(start=NOW), said_at=NOW).old == old


def test_a_memory_says_when_it_holds() -> None:
    """SPEC T4, M1: from its own fields."""
    assert interval_of(memory(valid_from=NOW, valid_to=NOW + DAY)) == Interval(start=NOW, end=NOW + DAY)


def holds_at(interval: Interval, at: datetime) -> bool:
    """Whether the instant lies in it."""
    return (interval.start is None or interval.start <= at) and (interval.end is None or at < interval.end)


@MODEST
@given(old=intervals, new=intervals, said_at=days, at=days)
def test_after_a_closing_no_instant_has_two_answers_and_none_before_it_is_lost(
    old: Interval, new: Interval, said_at: datetime, at: datetime
) -> None:
    """SPEC T4: the laws of closing, for any two intervals."""
    closed = closing(old, new, said_at=said_at)

    assert closed.new.start is not None
    if new.end is None:
        assert not share_an_instant(closed.old, closed.new)
    if at < closed.new.start:
        assert holds_at(closed.old, at) == holds_at(old, at)
    assert holds_at(closed.old, at) <= holds_at(old, at)
    assert closing(closed.old, closed.new, said_at=said_at) == closed
    assert not (old.end is None and new.end is None and holds_at(closed.new, at) and holds_at(closed.old, at))

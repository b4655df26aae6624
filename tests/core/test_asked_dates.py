"""Dates in questions: what is said, in the asker's own days, and nothing where it is unsure."""

from datetime import UTC, datetime
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.asked_dates import (
    EXPRESSIONS_MAX,
    WORDS_MAX,
    AskedDates,
    asked_dates,
    date_words,
)

NOW = datetime(2031, 11, 19, 13, 0, tzinfo=UTC)
"""A Wednesday."""


def days(asked: AskedDates) -> list[str]:
    """The windows as their first and last days, open sides as nothing."""
    return [
        "/".join(side.strftime("%Y-%m-%d") if side else "" for side in (window.start, window.until))
        for window in asked.windows
    ]


@pytest.mark.parametrize(
    ("question", "windows"),
    [
        ("What did we decide on 2031-05-08?", ["2031-05-08/2031-05-09"]),
        ("the log of 2031-05-08T10:30:00Z", ["2031-05-08/2031-05-09"]),
        ("the bill of 2031-05", ["2031-05-01/2031-06-01"]),
        ("on 8 May 2030", ["2030-05-08/2030-05-09"]),
        ("on the 8th of May, 2030", ["2030-05-08/2030-05-09"]),
        ("May 8th, 2030", ["2030-05-08/2030-05-09"]),
        ("December 1,2030", ["2030-12-01/2030-12-02"]),
        ("on 8 May", ["2031-05-08/2031-05-09"]),
        ("on 24 December", ["2030-12-24/2030-12-25"]),
        ("on 29 February", ["2028-02-29/2028-03-01"]),
        ("8/5/2030", ["2030-05-08/2030-05-09", "2030-08-05/2030-08-06"]),
        ("8/8/30", ["2030-08-08/2030-08-09"]),
        ("25/12/2030", ["2030-12-25/2030-12-26"]),
        ("8.5.2030", ["2030-05-08/2030-05-09"]),
        ("in May 2030", ["2030-05-01/2030-06-01"]),
        ("in Sept. of 2030", ["2030-09-01/2030-10-01"]),
        ("in 2030", ["2030-01-01/2031-01-01"]),
        ("in the 1990s", ["1990-01-01/2000-01-01"]),
        ("Q3 2030", ["2030-07-01/2030-10-01"]),
        ("in the summer of 2030", ["2030-06-01/2030-09-01"]),
        ("winter 2030", ["2030-12-01/2031-03-01", "2029-12-01/2030-03-01"]),
        ("from 3 May 2030 to 5 May 2030", ["2030-05-03/2030-05-06"]),
        ("between 2028 and 2030", ["2028-01-01/2031-01-01"]),
    ],
)
def test_dates_that_are_named_are_windows(question: str, windows: list[str]) -> None:
    """SPEC R2: whole days, months, seasons and years; of both orders where either may be meant."""
    assert days(asked_dates(question, now=NOW)) == windows


@pytest.mark.parametrize(
    ("question", "windows"),
    [
        ("What happened today?", ["2031-11-19/2031-11-20"]),
        ("yesterday", ["2031-11-18/2031-11-19"]),
        ("last night", ["2031-11-18/2031-11-19"]),
        ("the day before yesterday", ["2031-11-17/2031-11-18"]),
        ("three days ago", ["2031-11-16/2031-11-17"]),
        ("two weeks before", ["2031-11-03/2031-11-10"]),
        ("a couple of weeks ago", ["2031-11-03/2031-11-10"]),
        ("three months ago", ["2031-08-01/2031-09-01"]),
        ("two years ago", ["2029-01-01/2030-01-01"]),
        ("two weeks before 8 May 2030", ["2030-04-22/2030-04-29"]),
        ("last week", ["2031-11-10/2031-11-17"]),
        ("last weekend", ["2031-11-15/2031-11-17"]),
        ("the week before last", ["2031-11-03/2031-11-10"]),
        ("this month", ["2031-11-01/2031-12-01"]),
        ("last quarter", ["2031-07-01/2031-10-01"]),
        ("next year", ["2032-01-01/2033-01-01"]),
        ("in the past year", ["2030-11-19/2031-11-20"]),
        ("in the last 30 days", ["2031-10-20/2031-11-20"]),
        ("last May", ["2031-05-01/2031-06-01"]),
        ("last December", ["2030-12-01/2031-01-01"]),
        ("in December", ["2030-12-01/2031-01-01"]),
        ("in spring", ["2031-03-01/2031-06-01"]),
        ("last fall", ["2030-09-01/2030-12-01"]),
        ("last Tuesday", ["2031-11-18/2031-11-19"]),
        ("last Wednesday", ["2031-11-12/2031-11-13"]),
        ("on Friday", ["2031-11-14/2031-11-15"]),
        ("this Friday", ["2031-11-21/2031-11-22"]),
        ("next Friday", ["2031-11-21/2031-11-22", "2031-11-28/2031-11-29"]),
        ("since last Tuesday", ["2031-11-18/"]),
        ("before 2030", ["/2030-01-01"]),
        ("after May 2030", ["2030-06-01/"]),
        ("until 8 May 2030", ["/2030-05-09"]),
    ],
)
def test_dates_are_resolved_against_the_askers_moment(question: str, windows: list[str]) -> None:
    """SPEC R2: last May, two weeks before."""
    assert days(asked_dates(question, now=NOW)) == windows


@pytest.mark.parametrize(
    "question",
    [
        "What may I eat?",
        "may 8 people come?",
        "She will march for it.",
        "a second opinion",
        "damaged by sun",
        "two weeks before the wedding",
        "the last day of the trip",
        "the last month of the project",
        "version 1.2.3 at 10.0.15.2023",
        "call 555-2023 about 2030 units",
        "3/4 of the fall",
        "99/99/2030",
        "13-2030",
        "999 years ago",
        "he fell in 3 weeks",
        "days and months",
        "",
        "\0" * 9,
    ],
)
def test_what_is_unsure_gives_nothing(question: str) -> None:
    """A wrong date costs more than none."""
    assert asked_dates(question, now=NOW) == AskedDates()


def test_days_begin_where_the_asker_is() -> None:
    """SPEC R2: the asker's time zone, when given."""
    late = datetime(2031, 11, 19, 23, 30, tzinfo=UTC)
    tokyo = asked_dates("yesterday", now=late, zone=ZoneInfo("Asia/Tokyo"))
    plain = asked_dates("yesterday", now=late)

    assert tokyo.windows[0].start == datetime(2031, 11, 18, 15, 0, tzinfo=UTC)
    assert (tokyo.words, plain.words) == (("2031-11-19",), ("2031-11-18",))


def test_a_day_on_which_clocks_change_is_a_whole_day() -> None:
    """25 hours, where summer time ends."""
    (window,) = asked_dates("2031-10-26", now=NOW, zone=ZoneInfo("Europe/Paris")).windows

    assert window.start is not None
    assert window.until is not None
    assert (window.until - window.start).total_seconds() == 25 * 3_600


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("yesterday", ("2031-11-18",)),
        ("last weekend", ("2031-11-15", "2031-11-16")),
        ("last quarter", ("2031-07", "2031-08", "2031-09")),
        ("in 2030", ("2030",)),
        ("before 2030", ()),
    ],
)
def test_a_window_is_named_by_its_days_its_months_or_its_years(question: str, words: tuple[str, ...]) -> None:
    """SPEC R2: by the words that memories of such a time are indexed by; an open side has no end of them."""
    assert asked_dates(question, now=NOW).words == words


def test_a_moment_has_words_that_people_and_dates_use() -> None:
    """SPEC R2: whatever the locale of the process."""
    assert date_words(datetime(2031, 5, 8, 23, 0, tzinfo=UTC)) == ("8", "May", "2031", "2031-05-08")


@MODEST
@given(st.text("0123456789/-. ,MaylstiweknxgoJunfr\0\n", max_size=200))
def test_any_question_gives_bounded_windows_that_begin_before_they_end(question: str) -> None:
    """No question breaks it."""
    asked = asked_dates(question, now=NOW)

    assert len(asked.windows) <= EXPRESSIONS_MAX
    assert len(asked.words) <= WORDS_MAX
    for window in asked.windows:
        assert window.start is None or window.until is None or window.start < window.until


@pytest.mark.parametrize(
    "text", ["9 ", "8 may ", "1/", "May ", "last ", "a couple of ", "before ", "in the ", " "]
)
def test_no_question_is_made_to_waste_time(text: str) -> None:
    """Attack: a question of which every part may begin a date."""
    begun = process_time()

    asked_dates((text * 10_000)[:10_000], now=NOW)

    assert process_time() - begun < 1

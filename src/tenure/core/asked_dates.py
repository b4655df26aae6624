"""Dates in a question, as windows of time and as the words that memories of such a time are found by. Pure.

Laws: what is said is resolved against the asker's own day; only English is read; a day that may be meant in
two ways gives both; whatever is unsure gives nothing ("two weeks before the wedding" is anchored to what only
the memories know). Windows are whole days of the asker, weeks begin on Monday, seasons are of the north.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from tenure.core.calendar_days import (
    MONTHS,
    MONTHS_A_YEAR,
    SEASONS,
    WEEKDAYS,
    Days,
    month_number,
    moved,
    named,
    of_day,
    of_month,
    of_unit,
)

EXPRESSIONS_MAX: Final = 8
WORDS_MAX: Final = 16
# Nobody says a date behind so many characters; a text made to waste time is cut.
READ_CHARACTERS_MAX: Final = 2_000
# Up to so many days a window is named by its days, up to so many months by its months, else by its years.
NAMED_DAYS_MAX: Final = 8
NAMED_MONTHS_MAX: Final = 6
YEAR_MIN: Final = 1970
YEAR_MAX: Final = 2199

_NUMBERS: Final = {
    **dict.fromkeys(("a", "an", "one"), 1),
    **dict.fromkeys(("two", "couple"), 2),
    **{word: value for value, word in enumerate(("three", "four", "five", "six", "seven", "eight"), start=3)},
    **{word: value for value, word in enumerate(("nine", "ten", "eleven", "twelve"), start=9)},
}


class Window(NamedTuple):
    """From the first moment to the last, which is out; in UTC. None: without an end on that side."""

    start: datetime | None
    until: datetime | None


class AskedDates(NamedTuple):
    """When a question asks about, and the words for it as they are indexed."""

    windows: tuple[Window, ...] = ()
    words: tuple[str, ...] = ()


class _OpenDays(NamedTuple):
    """Days without an end on one side, which is None."""

    first: date | None
    after: date | None


_Span: TypeAlias = Days | _OpenDays


class _Day(NamedTuple):
    """The asker's day, and what was found so far."""

    today: date
    spans: list[_Span]


def date_words(moment: datetime) -> tuple[str, ...]:
    """What a memory of this moment is found by: its day, month and year as people say them, and its date."""
    return str(moment.day), MONTHS[moment.month - 1], str(moment.year), moment.date().isoformat()


def asked_dates(question: str, *, now: datetime, zone: tzinfo = UTC) -> AskedDates:
    """The times that the question names, as of this moment at the asker's place."""
    text = question[:READ_CHARACTERS_MAX].replace("\0", " ")
    if not _HINT.search(text):
        return AskedDates()
    day = _Day(_today(now, zone), [])
    for pattern, reader in _READERS:
        text = pattern.sub(partial(_marked, read=reader, day=day), text)
    spans = [day.spans[int(number)] for numbers in _MARK.findall(text) for number in numbers.split(",")]
    spans = list(dict.fromkeys(spans))[:EXPRESSIONS_MAX]
    return AskedDates(
        windows=tuple(Window(_moment(span.first, zone), _moment(span.after, zone)) for span in spans),
        words=tuple(dict.fromkeys(word for span in spans for word in _words(span)))[:WORDS_MAX],
    )


def _today(now: datetime, zone: tzinfo) -> date:
    """The day at the asker's place; in UTC at the ends of the calendar, beyond which there may be none."""
    try:
        return now.astimezone(zone).date()
    except OverflowError:
        return now.date()


def _marked(match: re.Match[str], read: "_Reader", day: _Day) -> str:
    """A mark where the expression stood, which later readers can refer to; the text itself if it was none."""
    try:
        spans = [span for span in read(match, day) if _is_sane(span)]
    except (ValueError, OverflowError):
        spans = []
    if not spans:
        return match.group()
    first = len(day.spans)
    day.spans.extend(spans)
    numbers = ",".join(str(number) for number in range(first, first + len(spans)))
    return f"{match.groupdict().get('kept') or ''}\0{numbers}\0"


def _is_sane(span: _Span) -> bool:
    return all(side is None or YEAR_MIN <= side.year <= YEAR_MAX for side in span)


def _moment(day: date | None, zone: tzinfo) -> datetime | None:
    """The first moment of a day at the asker's place."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC) if day is not None else None


def _words(span: _Span) -> list[str]:
    """The days, months or years of a span, as dates are written; nothing for one without an end."""
    if not isinstance(span, Days):
        return []
    first, last = span.first, span.after - timedelta(days=1)
    if (last - first).days < NAMED_DAYS_MAX:
        return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    months = range(first.year * MONTHS_A_YEAR + first.month - 1, last.year * MONTHS_A_YEAR + last.month)
    if len(months) <= NAMED_MONTHS_MAX:
        return [f"{month // MONTHS_A_YEAR}-{month % MONTHS_A_YEAR + 1:02}" for month in months]
    return [str(year) for year in range(first.year, last.year + 1)]


def _count(words: str) -> int:
    word = words.removesuffix(" of").split()[-1].lower()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _weekday(name: str, today: date) -> date:
    """The last day of this name, which may be today."""
    return today - timedelta(days=(today.weekday() - WEEKDAYS.index(name[:3].lower())) % 7)


# Readers: each takes a match of its pattern and gives the spans that may be meant.


def _iso(match: re.Match[str], _day: _Day) -> list[Days]:
    year, month, day = match.groups()
    found = date(int(year), int(month), int(day or 1))
    return [of_unit(found, "day" if day else "month")]


def _figures(match: re.Match[str], _day: _Day) -> list[Days]:
    """8/5/2023 may be of either order; 8.5.2023 has the day first."""
    one, mark, other, year = match.groups()
    orders = [(other, one), (one, other)] if mark == "/" else [(other, one)]
    found = [
        date(int(year.rjust(4, "_").replace("__", "20")), int(month), int(day))
        for month, day in orders
        if int(month) <= MONTHS_A_YEAR
    ]
    return [of_day(one) for one in dict.fromkeys(found)]


def _day_of_month(match: re.Match[str], day: _Day) -> list[Days]:
    """8 May 2023, May 8th; without a year, the last one that was."""
    parts = match.groupdict()
    number, month = int(parts["before"] or parts["behind"]), month_number(parts["month"])
    if parts["year"]:
        return [of_day(date(int(parts["year"]), month, number))]
    if parts["month"] in _DOUBTFUL_MONTHS and not parts["before"]:
        return []
    months = (of_month(day.today.year - back, month) for back in range(_LEAP_YEARS_APART_MAX + 1))
    days = (
        one.first + timedelta(days=number - 1) for one in months if number <= (one.after - one.first).days
    )
    return [of_day(one) for one in days if one <= day.today][:1]


def _named_of_year(match: re.Match[str], _day: _Day) -> list[Days]:
    """May 2023, spring of 2023; a winter belongs to two years."""
    name, year = match["name"], int(match["year"])
    return [named(name, year), *([named(name, year - 1)] if name.lower() == "winter" else [])]


def _quarter(match: re.Match[str], _day: _Day) -> list[Days]:
    return [of_month(int(match["year"]), 3 * int(match["quarter"]) - 2, 3)]


def _year(match: re.Match[str], _day: _Day) -> list[Days]:
    return [of_month(int(match["year"]), 1, MONTHS_A_YEAR)]


def _decade(match: re.Match[str], _day: _Day) -> list[Days]:
    return [of_month(int(match["decade"]), 1, 10 * MONTHS_A_YEAR)]


def _around_today(match: re.Match[str], day: _Day) -> list[Days]:
    words = " ".join(match.group().lower().split())
    return [of_day(day.today + timedelta(days=_DAYS_AWAY.get(words, 0)))]


def _rolling(match: re.Match[str], day: _Day) -> list[Days]:
    """The past two weeks, the last 30 days, the past year: up to now."""
    first = moved(day.today, match["unit"].lower(), -_count(match["count"] or "one"))
    return [Days(first, day.today + timedelta(days=1))]


def _neighbouring(match: re.Match[str], day: _Day) -> list[Days]:
    """Last week, this year, next month: of the calendar."""
    unit = match["unit"].lower()
    return [of_unit(moved(day.today, unit, _UNITS_AWAY[match["which"].lower()]), unit)]


def _before_last(match: re.Match[str], day: _Day) -> list[Days]:
    unit = match["unit"].lower()
    return [of_unit(moved(day.today, unit, -2), unit)]


def _neighbouring_name(match: re.Match[str], day: _Day) -> list[Days]:
    """Last May, this summer, next winter."""
    name, away, year = match["name"], _UNITS_AWAY[match["which"].lower()], day.today.year
    if not away:
        return [named(name, year)]
    spans = [named(name, year + ahead) for ahead in (range(2) if away > 0 else (0, -1, -2))]
    return [one for one in spans if (one.first > day.today if away > 0 else one.after <= day.today)][:1]


def _neighbouring_weekday(match: re.Match[str], day: _Day) -> list[Days]:
    """Last Tuesday; next Tuesday may be the coming one or that of next week."""
    name, away = match["name"], _UNITS_AWAY[match["which"].lower()]
    last = _weekday(name, day.today - timedelta(days=1))
    of_week = of_unit(day.today, "week").first + timedelta(days=WEEKDAYS.index(name[:3].lower()))
    if away < 0:
        return [of_day(last)]
    if not away:
        return [of_day(of_week)]
    coming = _weekday(name, day.today + timedelta(days=7))
    return [of_day(one) for one in dict.fromkeys((coming, of_week + timedelta(days=7)))]


def _away(match: re.Match[str], day: _Day) -> list[Days]:
    """Three months ago: the calendar unit it was in."""
    unit, sign = match["unit"].lower(), 1 if match["way"].lower().startswith("from") else -1
    return [of_unit(moved(day.today, unit, sign * _count(match["count"])), unit)]


def _away_from(match: re.Match[str], day: _Day) -> list[Days]:
    """Two weeks before a date that is named."""
    anchor, unit = day.spans[int(match["anchor"])], match["unit"].lower()
    sign = -1 if match["way"].lower() == "before" else 1
    if not isinstance(anchor, Days):
        return []
    return [of_unit(moved(anchor.first, unit, sign * _count(match["count"])), unit)]


def _on_weekday(match: re.Match[str], day: _Day) -> list[Days]:
    return [of_day(_weekday(match["name"], day.today))]


def _name_alone(match: re.Match[str], day: _Day) -> list[Days]:
    """In May, in summer: the last that has begun."""
    if match["name"].lower() in _DOUBTFUL_SEASONS and match["kept"].split()[0].lower() not in _WITHIN:
        return []
    this_year, last_year = (named(match["name"], day.today.year - back) for back in range(2))
    return [this_year if this_year.first <= day.today else last_year]


def _between(match: re.Match[str], day: _Day) -> list[Days]:
    one, other = day.spans[int(match["one"])], day.spans[int(match["other"])]
    if not isinstance(one, Days) or not isinstance(other, Days) or other.after <= one.first:
        return []
    return [Days(one.first, other.after)]


def _open(match: re.Match[str], day: _Day) -> list[_OpenDays]:
    """Before, since, after or until a date that is named."""
    span = day.spans[int(match["anchor"])]
    match match["side"].lower():
        case "before":
            return [_OpenDays(None, span.first)]
        case "since":
            return [_OpenDays(span.first, None)]
        case "after":
            return [_OpenDays(span.after, None)]
        case _:
            return [_OpenDays(None, span.after)]


_DOUBTFUL_MONTHS: Final = ("march", "may")
"""Words too, where they have a small letter."""
_DOUBTFUL_SEASONS: Final = ("fall", "spring")
_WITHIN: Final = ("in", "during", "since", "throughout")
_LEAP_YEARS_APART_MAX: Final = 8
_DAYS_AWAY: Final = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_UNITS_AWAY: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1}

_MONTH_NAMES: Final = "|".join(
    f"{month[:3]}(?:{month[3:]})?" if month != "September" else "sept?(?:ember)?" for month in MONTHS
)
_SEASON_NAMES: Final = "|".join(SEASONS)
_DAY_NAMES: Final = "mon(?:day)?|tue(?:s|sday)?|wednesday|thu(?:rs|rsday)?|fri(?:day)?|saturday|sunday"
_YEAR: Final = r"(?P<year>(?:19[7-9]|20|21)\d\d)(?![\d-])"
_NUMBER_WORDS: Final = "|".join(word for word in _NUMBERS if word != "couple")
_COUNT: Final = rf"(?P<count>\d{{1,3}}|(?:a )?couple(?: of)?|{_NUMBER_WORDS})"
_UNIT: Final = "(?P<unit>day|weekend|week|month|quarter|year)"
_LONG_UNIT: Final = "(?P<unit>weekend|week|month|quarter|year)"
_TH: Final = "(?:st|nd|rd|th)?"
_OF_YEAR: Final = rf"(?:(?:,? |,)(?:of )?{_YEAR})?"
_IN: Final = "in|during|since|until|till|before|after|by|of|from|throughout"
_ANCHOR: Final = r"\0(?P<anchor>\d+)\0"

_Reader: TypeAlias = (
    Callable[[re.Match[str], _Day], list[Days]] | Callable[[re.Match[str], _Day], list[_OpenDays]]
)


def _pattern(text: str, *, stands_alone: bool = True) -> re.Pattern[str]:
    """The expression, however it is spaced; as a whole, and not a part of a word, a path or a number."""
    spaced = text.replace(" ", r"\s{1,3}")
    whole = rf"(?<![\w/-])(?:{spaced})(?![\w/])" if stands_alone else rf"\b{spaced}"
    return re.compile(whole, re.IGNORECASE | re.ASCII)


# What every expression has in it; most questions have none of it.
_HINT: Final = re.compile(
    r"\d|day|night|morning|afternoon|evening|week|month|year|quarter|tomorrow"
    f"|{_MONTH_NAMES}|{_SEASON_NAMES}|{_DAY_NAMES}",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"\0([\d,]+)\0")
# In this order: what is longer comes first, and what refers to a date that is named comes last.
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (_pattern(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:T[\d:.]+Z?)?"), _iso),
    (_pattern(r"(\d{4})-(\d{2})()"), _iso),
    (_pattern(r"(\d{1,2})(/)(\d{1,2})/(\d{4}|\d{2})"), _figures),
    (_pattern(r"(\d{1,2})(\.)(\d{1,2})\.(\d{4})"), _figures),
    (
        _pattern(
            rf"(?:the )?(?P<before>\d{{1,2}}){_TH} (?:of )?(?P<month>{_MONTH_NAMES})\.?{_OF_YEAR}(?P<behind>)"
        ),
        _day_of_month,
    ),
    (
        _pattern(rf"(?P<before>)(?P<month>{_MONTH_NAMES})\.? (?:the )?(?P<behind>\d{{1,2}}){_TH}{_OF_YEAR}"),
        _day_of_month,
    ),
    (_pattern(rf"(?:the )?(?P<name>{_MONTH_NAMES}|{_SEASON_NAMES})\.?,? (?:of )?{_YEAR}"), _named_of_year),
    (_pattern(rf"q(?P<quarter>[1-4]),? (?:of )?{_YEAR}"), _quarter),
    (_pattern(r"(?:the )?(?P<decade>(?:19[7-9]|20\d)0)s"), _decade),
    (_pattern("the day before yesterday|yesterday|last night"), _around_today),
    (_pattern("the day after tomorrow|tomorrow|today|tonight"), _around_today),
    (_pattern("this (?:morning|afternoon|evening)"), _around_today),
    (_pattern(rf"(?:the )?(?:last|past|previous) {_COUNT} {_UNIT}s"), _rolling),
    (_pattern(rf"the (?:last|past)(?P<count>) {_LONG_UNIT}(?! before| of)"), _rolling),
    (_pattern(rf"the {_UNIT} before last"), _before_last),
    (_pattern(rf"(?:the )?(?P<which>last|previous|this|current|next) {_LONG_UNIT}(?! of)"), _neighbouring),
    (_pattern(rf"(?P<which>last|past|previous|this|next) (?P<name>{_DAY_NAMES})"), _neighbouring_weekday),
    (
        _pattern(rf"(?P<which>last|past|previous|this|next) (?P<name>{_MONTH_NAMES}|{_SEASON_NAMES})"),
        _neighbouring_name,
    ),
    (_pattern(rf"{_COUNT} {_UNIT}s? (?P<way>ago|from now)"), _away),
    (_pattern(rf"{_COUNT} {_UNIT}s? (?P<way>before|earlier|back)(?=\s*(?:[?.!,;]|$))"), _away),
    (_pattern(rf"(?P<kept>(?:on|since|until|till|by) )(?P<name>{_DAY_NAMES})"), _on_weekday),
    (
        _pattern(
            rf"(?P<kept>(?:{_IN}) (?:the )?(?:early |late |mid )?)(?P<name>{_MONTH_NAMES}|{_SEASON_NAMES})"
        ),
        _name_alone,
    ),
    (_pattern(rf"(?P<kept>(?:{_IN}|between|and|to|year) ){_YEAR}"), _year),
    (
        _pattern(rf"{_COUNT} {_UNIT}s? (?P<way>before|after) (?:the )?{_ANCHOR}", stands_alone=False),
        _away_from,
    ),
    (
        _pattern(
            r"(?:from|between) \0(?P<one>\d+)\0 (?:and|to|until|till) \0(?P<other>\d+)\0", stands_alone=False
        ),
        _between,
    ),
    (_pattern(rf"(?P<side>before|since|after|until|till|by) (?:the )?{_ANCHOR}", stands_alone=False), _open),
)

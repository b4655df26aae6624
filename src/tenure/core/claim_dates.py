"""Dates as people write them, in one form; nothing where day and month could be swapped. Pure."""

import re
from datetime import UTC, date, datetime
from typing import Final

from tenure.core.calendar_days import MONTHS

DATE_CHARACTERS_MAX: Final = 48
_MONTH_NUMBERS: Final = {
    name: number
    for number, month in enumerate(MONTHS, start=1)
    for name in (month.casefold(), month[:3].casefold())
} | {"sept": 9}
_WEEKDAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905
_ISO_DAY: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_ISO_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")
_ISO_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_FIGURES: Final = re.compile(r"([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4})")
_DAY: Final = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?")
_YEAR: Final = re.compile(r"[12][0-9]{3}")
_MONTHS_A_YEAR: Final = 12
_DAY_MONTH_YEAR: Final = 3
_MONTH_YEAR: Final = 2


def day_text(text: str) -> str | None:
    """`2026-05-03` for any way to write that day, `2026-05` for a month, and a time in UTC; else nothing."""
    text = text.strip()
    if not text or len(text) > DATE_CHARACTERS_MAX:
        return None
    if (iso := _ISO_DAY.fullmatch(text)) is not None:
        return _day(*iso.groups())
    if (month := _ISO_MONTH.fullmatch(text)) is not None:
        return text if 1 <= int(month.group(2)) <= _MONTHS_A_YEAR else None
    if _ISO_TIME.fullmatch(text):
        return _time(text)
    if (figures := _FIGURES.fullmatch(text)) is not None:
        return _by_figures(*figures.groups())
    return _in_words(text)


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _time(text: str) -> str | None:
    """A time in UTC where its zone is said; as it is, where it is not."""
    try:
        said = datetime.fromisoformat(text.upper())
        return said.isoformat() if said.tzinfo is None else said.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return None


def _by_figures(first: str, second: str, year: str) -> str | None:
    """A day written in figures alone, if only one of them can be the month, or both are the same."""
    if first == second or int(first) > _MONTHS_A_YEAR:
        return _day(year, second, first)
    return _day(year, first, second) if int(second) > _MONTHS_A_YEAR else None


def _in_words(text: str) -> str | None:
    """A day or a month whose month is a word: both orders, with or without ordinals, `of` and a weekday."""
    words = [word for word in re.split(r"[\s,.]+", text.casefold()) if word and word not in {"of", "the"}]
    if words and words[0] in _WEEKDAYS:
        words = words[1:]
    if len(words) == _MONTH_YEAR and words[0] in _MONTH_NUMBERS and _YEAR.fullmatch(words[1]):
        return f"{words[1]}-{_MONTH_NUMBERS[words[0]]:02}"
    if len(words) != _DAY_MONTH_YEAR:
        return None
    day, month, year = words if words[1] in _MONTH_NUMBERS else (words[1], words[0], words[2])
    numbered = _DAY.fullmatch(day)
    if numbered is None or month not in _MONTH_NUMBERS or not _YEAR.fullmatch(year):
        return None
    return _day(year, str(_MONTH_NUMBERS[month]), numbered.group(1))

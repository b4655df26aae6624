"""Days, weeks, months, seasons and years of the calendar, as spans of days. Pure."""

from datetime import date, timedelta
from typing import Final, NamedTuple

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The months in which the seasons of the north begin; each has three."""
MONTHS_A_YEAR: Final = 12


class Days(NamedTuple):
    """From the first day to the one after the last."""

    first: date
    after: date


def of_day(day: date) -> Days:
    """One day."""
    return Days(day, day + timedelta(days=1))


def of_month(year: int, month: int, months: int = 1) -> Days:
    """So many months from this one on, which may be named from January past December."""
    beginning = year * MONTHS_A_YEAR + month - 1
    return Days(
        *(
            date(number // MONTHS_A_YEAR, number % MONTHS_A_YEAR + 1, 1)
            for number in (beginning, beginning + months)
        )
    )


def of_unit(day: date, unit: str) -> Days:
    """The day, calendar week, month, quarter or year that a day lies in."""
    monday = day - timedelta(days=day.weekday())
    match unit:
        case "week":
            return Days(monday, monday + timedelta(days=7))
        case "weekend":
            return Days(monday + timedelta(days=5), monday + timedelta(days=7))
        case "month":
            return of_month(day.year, day.month)
        case "quarter":
            return of_month(day.year, (day.month - 1) // 3 * 3 + 1, 3)
        case "year":
            return of_month(day.year, 1, MONTHS_A_YEAR)
        case _:
            return of_day(day)


def moved(day: date, unit: str, count: int) -> date:
    """So many units later; a day that a shorter month does not have becomes its last."""
    days = {"week": 7, "weekend": 7}.get(unit, 1) * count
    months = {"month": 1, "quarter": 3, "year": MONTHS_A_YEAR}.get(unit, 0) * count
    if not months:
        return day + timedelta(days=days)
    year, month = divmod(day.year * MONTHS_A_YEAR + day.month - 1 + months, MONTHS_A_YEAR)
    _, after = of_month(year, month + 1)
    return min(date(year, month + 1, 1) + timedelta(days=day.day - 1), after - timedelta(days=1))


def month_number(name: str) -> int:
    """1 to 12 for a name in any case, or its first letters."""
    return [month[:3].lower() for month in MONTHS].index(name[:3].lower()) + 1


def named(name: str, year: int) -> Days:
    """The month or season of this name that begins in this year."""
    first = SEASONS.get(name.lower())
    return of_month(year, first, 3) if first is not None else of_month(year, month_number(name))

"""What a measurement gives back, and how it is shown: rows of one Markdown table."""

from collections.abc import Sequence
from typing import Final

import msgspec

COLUMNS: Final = (
    ("measured", 52),
    ("figure", 12),
    ("floor or peer in the same run", 34),
    ("ratio", 7),
    ("target", 20),
    ("reached", 7),
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure, what was measured beside it, and whether it is where it should be.

    `reached` is None where there is no target, or where the target does not bind on this machine.
    """

    measured: str
    figure: str
    beside: str = ""
    ratio: float | None = None
    target: str = ""
    reached: bool | None = None
    values: dict[str, float] = {}


def heading() -> str:
    """The first two lines of the table."""
    rule = "|".join("-" * (width + 2) for _, width in COLUMNS)
    return f"{_line([name for name, _ in COLUMNS])}\n|{rule}|"


def line(row: Row) -> str:
    """A row of the table."""
    reached = "" if row.reached is None else "yes" if row.reached else "NO"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return _line([row.measured, row.figure, row.beside, ratio, row.target, reached])


def rate(per_second: float) -> str:
    """A rate as it is printed."""
    return f"{per_second:,.0f}/s"


def milliseconds(seconds: float) -> str:
    """A short time as it is printed."""
    return f"{seconds * 1_000:.2f} ms"


def middle(values: Sequence[float]) -> float:
    """The median; of an even number of values the lower of the two in the middle."""
    return share(values, 0.5)


def share(values: Sequence[float], part: float) -> float:
    """The value that this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, int(len(ordered) * part + 0.5) - 1))]


def _line(cells: Sequence[str]) -> str:
    padded = (cell.ljust(width) for cell, (_, width) in zip(cells, COLUMNS, strict=True))
    return f"| {' | '.join(padded)} |"

"""Bar charts as SVG: plain text that a repository can keep, the same for the same figures. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

NAMESPACE: Final = "http://www.w3.org/2000/svg"
FONTS: Final = "system-ui, sans-serif"
WIDTH: Final = 860
LABELS_WIDTH: Final = 230
VALUES_WIDTH: Final = 90
BAR: Final = 13
BETWEEN_GROUPS: Final = 9
HEADING: Final = 30
LEGEND: Final = 24
MARGIN: Final = 16
LETTER_WIDTH: Final = 6.7
# Told apart with any kind of sight (Okabe and Ito, 2008).
COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


class Panel(NamedTuple):
    """One chart: groups of bars under each other, a bar for each series; None leaves a bar out."""

    title: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    shown: Callable[[float], str]


def drawn(title: str, note: str, panels: Sequence[Panel]) -> str:
    """The panels below one another, with one title above and one line below."""
    heights = [_height(panel) for panel in panels]
    height = 2 * MARGIN + HEADING + sum(heights) + LEGEND
    lines = [
        f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH} {height}" role="img" font-family="{FONTS}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(MARGIN, MARGIN + 14, title, size=16, weight="bold"),
    ]
    top = MARGIN + HEADING
    for panel, its_height in zip(panels, heights, strict=True):
        lines += _panel(panel, top)
        top += its_height
    lines += [_text(MARGIN, top + 12, note, size=11, colour="#555555"), "</svg>", ""]
    return "\n".join(lines)


def _height(panel: Panel) -> int:
    bars = len(panel.groups) * (len(panel.series) * BAR + BETWEEN_GROUPS)
    return HEADING + (LEGEND if len(panel.series) > 1 else 0) + bars + MARGIN


def _panel(panel: Panel, top: int) -> Iterator[str]:
    yield _text(MARGIN, top + 16, panel.title, size=13, weight="bold")
    top += HEADING
    if len(panel.series) > 1:
        yield from _legend(list(panel.series), top)
        top += LEGEND
    given = [value for values in panel.series.values() for value in values if value is not None]
    scale = (WIDTH - 2 * MARGIN - LABELS_WIDTH - VALUES_WIDTH) / (max(given, default=0.0) or 1.0)
    for at, group in enumerate(panel.groups):
        middle = top + len(panel.series) * BAR / 2 + 4
        yield _text(MARGIN + LABELS_WIDTH - 8, middle, group, anchor="end")
        for number, values in enumerate(panel.series.values()):
            value = values[at]
            if value is not None:
                yield from _bar(top + number * BAR, value * scale, panel.shown(value), number)
        top += len(panel.series) * BAR + BETWEEN_GROUPS


def _bar(top: int, width: float, shown: str, number: int) -> Iterator[str]:
    left = MARGIN + LABELS_WIDTH
    colour = COLOURS[number % len(COLOURS)]
    yield f'<rect x="{left}" y="{top}" width="{max(width, 1):.1f}" height="{BAR - 2}" fill="{colour}"/>'
    yield _text(left + max(width, 1) + 5, top + BAR - 3, shown, size=11)


def _legend(names: Sequence[str], top: int) -> Iterator[str]:
    left = float(MARGIN)
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        yield f'<rect x="{left:.1f}" y="{top}" width="11" height="11" fill="{colour}"/>'
        yield _text(left + 16, top + 10, name, size=11)
        left += 16 + len(name) * LETTER_WIDTH + 16


def _text(
    left: float,
    base: float,
    text: str,
    *,
    size: int = 12,
    anchor: str = "start",
    weight: str = "normal",
    colour: str = "#111111",
) -> str:
    return (
        f'<text x="{left:.1f}" y="{base:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="{colour}">{escape(text)}</text>'
    )

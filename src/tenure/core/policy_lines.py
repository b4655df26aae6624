"""Where the parts of a policy document stand, for messages: TOML itself keeps no lines (pure)."""

import re
from typing import Final, NamedTuple

_HEADER: Final = re.compile(r"\s*\[\[\s*[\"']?(rules|tests)[\"']?\s*\]\]")
_LISTS: Final = frozenset({"rules", "tests"})
_FENCES: Final = ('"""', "'''")


class Place(NamedTuple):
    """A table of a list of tables, by its number from 0."""

    table: str
    number: int


class Lines:
    """About where each table and field stands: at worst the line where its table begins."""

    def __init__(self, text: str) -> None:
        self._lines = _without_long_texts(text.splitlines())
        headers = [
            (number, header[1]) for number, line in enumerate(self._lines) if (header := _HEADER.match(line))
        ]
        self._top = headers[0][0] if headers else len(self._lines)
        self._spans: dict[str, list[tuple[int, int]]] = {}
        ends = [number for number, _ in headers[1:]] + [len(self._lines)]
        for (start, table), end in zip(headers, ends, strict=bool(headers)):
            self._spans.setdefault(table, []).append((start, end))

    def of(self, place: Place | None, field: str | None) -> int:
        """The line of a field of a table; of the document itself, where no table is named."""
        if place is None:
            end = len(self._lines) if field in _LISTS else self._top
            return 1 + (self._found(field, 0, end) or 0)
        spans = self._spans.get(place.table, [])
        if place.number < len(spans):
            start, end = spans[place.number]
            found = self._found(field, start, end)
            return 1 + (start if found is None else found)
        return 1 + (self._found(place.table, 0, len(self._lines)) or 0)

    def _found(self, field: str | None, start: int, end: int) -> int | None:
        if field is None:
            return None
        name = re.escape(field)
        named = re.compile(rf"(?:^|[\s{{,.\[])[\"']?{name}[\"']?\s*(?:=|\.|\])")
        return next((number for number in range(start, end) if named.search(self._lines[number])), None)


def _without_long_texts(lines: list[str]) -> list[str]:
    """The lines, but for those within a text of several lines, which may look like anything."""
    kept: list[str] = []
    fence: str | None = None
    for line in lines:
        kept.append("" if fence else line)
        for mark in _FENCES:
            if (fence is None or fence == mark) and line.count(mark) % 2:
                fence = None if fence else mark
    return kept

"""Where the parts of a policy document stand, for messages: TOML itself keeps no lines (pure)."""

import re
from itertools import pairwise
from typing import Final

_HEADER: Final = re.compile(r"\s*\[\[\s*[\"']?rules[\"']?\s*\]\]")
_FENCES: Final = ('"""', "'''")


class Lines:
    """About where each rule and field stands: at worst the line where its rule begins."""

    def __init__(self, text: str) -> None:
        self._lines = _without_long_texts(text.splitlines())
        starts = [number for number, line in enumerate(self._lines) if _HEADER.match(line)]
        self._spans = list(pairwise((*starts, len(self._lines))))
        self._top = starts[0] if starts else len(self._lines)

    def of(self, rule: int | None, field: str | None) -> int:
        """The line of a field of a rule, by its number from 0; of the document itself, where it is None."""
        if rule is None:
            return 1 + (self._found(field, 0, self._top) or 0)
        if rule < len(self._spans):
            start, end = self._spans[rule]
            found = self._found(field, start, end)
            return 1 + (start if found is None else found)
        return 1 + (self._found("rules", 0, len(self._lines)) or 0)

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

"""Seed phrases: rows of words from the list that wallets use, whatever stands around them.

Whoever has the twelve words has the money, so they need no sentence that says what they are. A row may hold
one word in twelve that is not of the list, as a slip of the pen or a disguise would leave it.
"""

import re
from collections.abc import Iterator
from operator import add

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.normalising import View
from tenure.core.scanning.seed_words import SEED_WORDS

WORDS_MIN = 12
LISTED_MIN = 11
_DIFFERENT_MIN = 8
# Wherever the gap of a row is, so many listed words stand together on one side of it.
_HALF_A_ROW = b"\1" * ((LISTED_MIN + 1) // 2)
_ENDS = frozenset(".!?:")
_WORD = re.compile("[a-z]+")
_BREAKS = "".join(chr(code) if chr(code).islower() else " " for code in range(128))
_CONFIDENCE = 0.9


def seed_phrases(view: View, scanner: str) -> Iterator[Finding]:
    """Every row of words in the view that looks like a seed phrase."""
    if not _may_hold_a_row(view.folded):
        return
    locate = view.locator()
    for stretch in _stretches(view.folded):
        for first, last in _rows([match[0] for match in stretch]):
            start, end = locate(stretch[first].start(), stretch[last].end())
            yield Finding(
                kind=FindingKind.CREDENTIAL,
                rule="credential.seed-phrase",
                scanner=scanner,
                start=start,
                end=end,
                confidence=_CONFIDENCE,
            )


def _may_hold_a_row(folded: str) -> bool:
    """Whether there are listed words enough in a row, one gap aside, wherever sentences end."""
    words = folded.translate(_BREAKS).split() if folded.isascii() else _WORD.findall(folded)
    listed = bytes(map(SEED_WORDS.__contains__, words))
    if _HALF_A_ROW not in listed:
        return False
    rows = list(map(len, listed.split(b"\0")))
    return any(map(LISTED_MIN.__le__, map(add, rows, [*rows[1:], 0])))


def _stretches(folded: str) -> Iterator[list[re.Match[str]]]:
    """The words between two ends of a sentence; the point of "2. word" ends none."""
    stretch: list[re.Match[str]] = []
    for match in _WORD.finditer(folded):
        if stretch and folded[stretch[-1].end()] in _ENDS:
            yield stretch
            stretch = []
        stretch.append(match)
    yield stretch


def _rows(words: list[str]) -> Iterator[tuple[int, int]]:
    """The first and last word of each row, from left to right, none inside another."""
    listed = [word in SEED_WORDS for word in words]
    at = 0
    while at + WORDS_MIN <= len(words):
        window = words[at : at + WORDS_MIN]
        if sum(listed[at : at + WORDS_MIN]) < LISTED_MIN or len(set(window)) < _DIFFERENT_MIN:
            at += 1
            continue
        last = at + WORDS_MIN - 1
        while last + 1 < len(words) and listed[last + 1]:
            last += 1
        yield at, last
        at = last + 1

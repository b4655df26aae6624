"""How the matches of a pattern begin, read off its source: it need not be tried where no word begins so.

The answer is given only where it is certain, so that looking only there finds all that there is.
"""

import re
from collections.abc import Sequence
from typing import Final

from tenure.core.scanning.normalising import IN_WORDS, OPENING_CHARACTERS

_CHARACTERS_MIN: Final = OPENING_CHARACTERS - 1
_BOUNDARY = re.compile(r"\\b|\(\?<!\[(?:A-Za-z0-9|a-z0-9)\]\)")
_LITERAL = re.compile(r"[A-Za-z0-9]++(?![?*]|\{[0,])|[A-Za-z0-9]+(?=[A-Za-z0-9])")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_MAY_BE_ABSENT = re.compile(r"[?*]|\{[0,]")


def beginnings_of(source: str) -> tuple[str, ...]:
    """Texts with one of which every match begins, as the pattern writes them, and a word begins with it.

    Nothing, when a match may start elsewhere than at a word, or that cannot be told.
    """
    return tuple(dict.fromkeys(_beginnings(source, is_bounded=False) or ()))


def openings_of(beginnings: Sequence[str]) -> frozenset[str]:
    """How the words begin, in lower case and equally long, that begin so; nothing, if too many words do."""
    if any(len(beginning) < _CHARACTERS_MIN for beginning in beginnings):
        return frozenset()
    return frozenset(whole for one in beginnings for whole in _made_whole(one[:OPENING_CHARACTERS].lower()))


def _made_whole(opening: str) -> list[str]:
    """Every opening of full length that begins so, and the word that is no longer."""
    if len(opening) == OPENING_CHARACTERS:
        return [opening]
    return [opening, *(opening + character for character in IN_WORDS)]


def _beginnings(source: str, *, is_bounded: bool) -> list[str] | None:
    """What the matches of any alternative begin with, or None when that cannot be told of one."""
    every: list[str] = []
    for alternative in _alternatives(source):
        found = _beginnings_of_one(alternative, is_bounded=is_bounded)
        if not found:
            return None
        every += found
    return every


def _beginnings_of_one(source: str, *, is_bounded: bool) -> list[str] | None:
    while boundary := _BOUNDARY.match(source):
        is_bounded = True
        source = source[boundary.end() :]
    if is_bounded and (literal := _LITERAL.match(source)):
        return [literal[0]]
    group, end = _GROUP.match(source), _end_of_group(source)
    if group is None or _MAY_BE_ABSENT.match(source, end + 1):
        return None
    return _beginnings(source[group.end() : end], is_bounded=is_bounded)


def _alternatives(source: str) -> list[str]:
    """What the strokes part that stand in no group and no class."""
    cuts = [at for at, sign, depth in _structure(source) if sign == "|" and not depth]
    return [source[start + 1 : end] for start, end in zip([-1, *cuts], [*cuts, len(source)], strict=True)]


def _end_of_group(source: str) -> int:
    """Where the group ends with which the source begins."""
    return next((at for at, sign, depth in _structure(source) if sign == ")" and not depth), len(source))


def _structure(source: str) -> list[tuple[int, str, int]]:
    """Strokes and brackets that mean something, by place, and in how many groups each stands."""
    found: list[tuple[int, str, int]] = []
    depth, is_class, is_escaped = 0, False, False
    for at, sign in enumerate(source):
        if is_escaped:
            is_escaped = False
        elif sign == "\\":
            is_escaped = True
        elif is_class:
            is_class = sign != "]"
        elif sign == "[":
            is_class = True
        elif sign in "(|)":
            depth -= sign == ")"
            found.append((at, sign, depth))
            depth += sign == "("
    return found

"""What tells two contents apart however near they are in meaning: a veto on merging them (SPEC T2). Pure.

Laws: symmetric; a content is never told apart from itself; contents with another value, denial, mood, name or
order of words always are. Only contents that say the same word for word (but for case, articles,
punctuation and the form of values), or that make the same claims and say nothing else, are not told apart.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from tenure.core.claim_grammar import EXCLUSIVE, NAMES, PASSING, UNSURE, words
from tenure.core.claim_values import ALIASES, TypedValue, ValueType, normalised
from tenure.core.claims import Found, extracted

COMPARED_WORDS_MAX: Final = 400
WINDOW_WORDS: Final = 4
_FILLING: Final = frozenset({"the", "a", "an", *PASSING})
_DENYING: Final = words(
    "no not never none nothing nobody neither nor without cannot can't don't doesn't didn't isn't aren't"
    " wasn't weren't won't shouldn't wouldn't couldn't hasn't haven't hadn't mustn't except unless stopped"
    " avoid avoids dislikes hates refuses lacks disabled forbidden denied removed"
)
_SETS: Final = (
    *(choices for _, choices in EXCLUSIVE),
    words("monday tuesday wednesday thursday friday saturday sunday"),
    words("january february march april may june july august september october november december"),
    words("production prod staging test testing development dev qa sandbox"),
    words("morning afternoon evening night noon midnight"),
    words("daily weekly monthly quarterly yearly hourly nightly annually annual"),
    words("first second third fourth last next previous"),
    words("primary secondary replica standby leader follower main backup"),
    words("read write"), words("inbound outbound ingress egress"), words("before after"),
    words("internal external international public private"), words("min max minimum maximum"),
    words("minimal maximal least most"), words("above below over under"), words("to from"), words("up down"),
    words("left right"), words("north south east west"), words("i he she they you we it"),
    words("my his her their your our its"), words("allow allows allowed deny denies block blocks blocked"),
    words("start starts stop stops"), words("open opens close closes closed opened"),
    words("more less fewer"),
    words("always sometimes usually often rarely"), words("all some any each every both"), words("and or"),
    words("in on at by with for"), words("can must should may might will would"),
)  # fmt: skip
_OPENING: Final = " \t\"'`([“\u2018"
_CLOSING: Final = " \t.,;:!?\"'`)]”’"
_HUMP: Final = re.compile("[a-z][A-Z]")
_KNOWN_UNITS: Final = frozenset({"s", "byte", "metre", "g", "%", "$", "¥"})
_TELLING: Final = re.compile(r"[0-9@/\\]|\w\.\w")


class Apart(StrEnum):
    """Why two contents are not the same, the gravest reason first; `words` alone may mislead."""

    VALUE = "value"
    NEGATION = "negation"
    MOOD = "mood"
    NAME = "name"
    CHOICE = "choice"
    ORDER = "order"
    LENGTH = "length"
    WORDS = "words"


class Wording(NamedTuple):
    """What is compared of a content, taken from it once."""

    content: str
    claims: frozenset[tuple[str, str, TypedValue, bool, bool]]
    folded: tuple[str, ...]
    values: tuple[str, ...]
    names: frozenset[str]
    is_long: bool


def wording(content: str) -> Wording:
    """All that tells this content apart from another; claims only where it says nothing beside them."""
    found = extracted(content)
    told = content.split()
    is_long = len(told) > COMPARED_WORDS_MAX
    parts = [] if is_long else list(_parts(told))
    return Wording(
        content=content,
        claims=frozenset(_said(found)) if found and _covers(found, content) else frozenset(),
        folded=tuple(word for word, _ in parts if word and word not in _FILLING),
        values=tuple(sorted(word for word, value in parts if value is not None)),
        names=frozenset(_word(word) for word in told if word.lstrip(_OPENING)[:1].isupper()),
        is_long=is_long,
    )


def told_apart(one: str, other: str) -> Apart | None:
    """The gravest reason why these do not say the same; nothing where they do."""
    return None if one == other else worded_apart(wording(one), wording(other))


def worded_apart(one: Wording, other: Wording) -> Apart | None:
    """The same of two wordings, for whoever compares one content with many."""
    if one.content == other.content or (one.claims and one.claims == other.claims):
        return None
    if one.is_long or other.is_long:
        return Apart.LENGTH
    if one.values != other.values:
        return Apart.VALUE
    unlike = set(one.folded) ^ set(other.folded)
    if unlike & _DENYING or _count(one.folded, _DENYING) != _count(other.folded, _DENYING):
        return Apart.NEGATION
    if unlike & UNSURE or one.content.count("?") != other.content.count("?"):
        return Apart.MOOD
    return _by_words(one, other, unlike)


def _by_words(one: Wording, other: Wording, unlike: set[str]) -> Apart | None:
    if unlike & one.names or unlike & other.names:
        return Apart.NAME
    if any(unlike & choices for choices in _SETS):
        return Apart.CHOICE
    if one.folded == other.folded:
        return None
    return Apart.WORDS if unlike else Apart.ORDER


def mentions(content: str) -> tuple[TypedValue, ...]:
    """Every value with a type of its own that stands in the content, in order: hosts, ports, dates."""
    parts = _parts(content.split()[:COMPARED_WORDS_MAX])
    return tuple(value for _, value in parts if value is not None)


def _parts(told: list[str]) -> Iterator[tuple[str, TypedValue | None]]:
    """The words and values of a content in order, each in one form; values by their longest reading."""
    at = 0
    while at < len(told):
        length, value = _value_at(told, at)
        if value is None:
            yield _word(told[at]), None
        else:
            yield f"{value.type}:{value.text}:{value.unit}", value
        at += length


def _value_at(told: list[str], at: int) -> tuple[int, TypedValue | None]:
    """How many words a value takes that begins here, and the value; one word, where there is none."""
    if not any(_TELLING.search(word) for word in told[at : at + 2]):
        return 1, None
    for length in range(min(WINDOW_WORDS, len(told) - at), 0, -1):
        said = _bare(" ".join(told[at : at + length]))
        value = normalised(said)
        is_typed = value.type not in {ValueType.TEXT, ValueType.FLAG, ValueType.PROTOCOL}
        is_amount = value.type is ValueType.AMOUNT and bool(value.unit)
        is_counted = is_amount and length > 1 and not _is_known(value)
        if is_typed and not is_counted and _TELLING.search(said):
            return length, value
    lone = _bare(told[at])
    return 1, TypedValue(type=ValueType.TEXT, text=lone.casefold()) if _TELLING.search(lone) else None


def _is_known(value: TypedValue) -> bool:
    """Whether the unit is one that has other names, and not just the next word."""
    return value.unit in _KNOWN_UNITS or value.unit.isupper() or "/" in value.unit


def _bare(text: str) -> str:
    """Without what stands around words, but with the signs that are part of them: `!=`, `>5`, `*.log`."""
    return text.lstrip(_OPENING).rstrip(_CLOSING)


def _word(text: str) -> str:
    """A word in one form; names with a capital inside, as code has them, keep their case."""
    bare = _bare(text).replace("’", "'")
    folded = bare.casefold()
    known = ALIASES.get(folded)
    is_code = bool(_HUMP.search(bare)) and folded not in NAMES
    return known or (bare if is_code else folded)


def _count(folded: tuple[str, ...], table: frozenset[str]) -> int:
    return sum(word in table for word in folded)


def _covers(found: tuple[Found, ...], content: str) -> bool:
    """Whether nothing but punctuation stands outside what the claims were read from."""
    at, outside = 0, ""
    for one in found:
        outside += content[at : one.start]
        at = one.end
    return not (outside + content[at:]).strip(_OPENING + _CLOSING + "\n-")


def _said(found: tuple[Found, ...]) -> set[tuple[str, str, TypedValue, bool, bool]]:
    return {(one.entity, one.attribute, one.value, one.negated, one.is_single) for one in found}

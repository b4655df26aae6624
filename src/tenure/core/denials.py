"""Whether one text says exactly that what another says is not so (SPEC T3). Pure.

    is_denied_by("nginx terminates TLS", "nginx does not terminate TLS")        True

Unsure means no: the two have to be the same word for word but for one denial of the whole, and neither may
speak of a condition, a part, a habit or a possibility, since then both can be true.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final


def is_denied_by(one: str, other: str) -> bool:
    """Whether one of the texts denies the other; the same whichever is first."""
    if max(len(one), len(other)) > COMPARED_CHARACTERS_MAX:
        return False
    mine, theirs = _words(one), _words(other)
    if _is_open(mine) or _is_open(theirs):
        return False
    (affirmed, denials), (affirmed_there, denials_there) = _affirmed(mine), _affirmed(theirs)
    return {denials, denials_there} == {0, 1} and affirmed == affirmed_there


COMPARED_CHARACTERS_MAX: Final = 2_000
"""A longer text says more than one thing, and a denial in it is not one of the whole."""


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return tuple(word for word in _spelled(plain.split()) if word not in _EMPTY)


def _spelled(pieces: Iterable[str]) -> Iterator[str]:
    """One spelling for each word; what is not all letters is taken as it stands."""
    for piece in pieces:
        word = piece.strip(_AROUND)
        small = word.casefold()
        if small in _SHORT_FORMS:
            yield from _SHORT_FORMS[small]
        elif small.endswith("n't"):
            yield from (small[:-3], "not")
        elif word:
            yield small if word.isalpha() else word


def _is_open(said: Iterable[str]) -> bool:
    return any(word in _OPEN or word.endswith("?") for word in said)


def _affirmed(said: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """What would be said without the denials, and how many there are."""
    kept: list[str] = []
    denials, place = 0, 0
    while place < len(said):
        here, following = said[place], said[place + 1 : place + 3]
        place += 1
        if here == "does" and following[:1] == ("not",) and len(following) == _NOT_AND_VERB:
            kept.append(_third_person(following[1]))
            denials, place = denials + 1, place + 2
        elif here == "do" and following[:1] == ("not",):
            denials, place = denials + 1, place + 1
        elif here in _DENIALS:
            denials += 1
            place += following[:1] == ("longer",)
        else:
            kept.append(here)
    return tuple(kept), denials


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return "has" if verb == "have" else f"{verb}s"


_AROUND: Final = ".,;:!\"'`()[]{}"
"""What stands around words. A question mark stays: a question states nothing."""
_NOT_AND_VERB: Final = 2
_EMPTY: Final = frozenset({"a", "an", "the", "is", "are"})
_DENIALS: Final = frozenset({"not", "no", "never"})
_OPEN: Final = frozenset(
    {
        "if", "when", "whenever", "unless", "until", "while", "because", "or", "either", "both", "only",
        "some", "sometimes", "any", "may", "might", "can", "could", "should", "would", "will", "must",
        "except", "but", "than", "every", "all", "always", "usually", "often",
    }
)  # fmt: skip
_SHORT_FORMS: Final = {
    "cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"),
}  # fmt: skip

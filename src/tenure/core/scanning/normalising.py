"""The forms in which scanners see a text, so that a disguise does not change the verdict.

A `View` holds one form. Its `text` has its width, accents, look-alikes and invisible characters made plain;
`folded` is the same without case, character for character. A finding's place in them is led back to the
content as it was given.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from itertools import chain

import msgspec

from tenure.core.scanning.look_alikes import READ_AS

VERSION = "normalising/3"

# Characters that show nothing: soft hyphen, joiners, marks of direction, fillers, selectors, tags.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_ACCENTS = re.compile("[\u0300-\u036f\u0488\u0489\u20d0-\u20f0]+")

# Common characters are listed as themselves: a lookup that fails costs ten times one that succeeds.
_PLAIN = {code: code for code in (*range(0x800), *range(0x2000, 0x2070))}
_PLAIN |= READ_AS

# A word of fewer characters is its own start.
START_CHARACTERS = 5
# How much of a word a pattern is asked for: it parts enough, and most patterns name so much of theirs.
OPENING_CHARACTERS = 3
_WORD = re.compile(r"[a-z0-9]+")
IN_WORDS = "abcdefghijklmnopqrstuvwxyz0123456789"
_BREAKS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))

Span = tuple[int, int]
Locate = Callable[[int, int], Span]


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a decoded view, and the stretch of the view below it that it was made from."""

    start: int
    end: int
    below_start: int
    below_end: int
    decoded: bool


class Form(StrEnum):
    """How a view was made: by plain reading, from tag characters, or by decoding runs."""

    PLAIN = "plain"
    TAGGED = "tagged"
    DECODED = "decoded"


class View(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One form of a content; a place in `text` is the same place in `folded`, for they are equally long."""

    content: str
    text: str
    folded: str
    starts: frozenset[str]
    places: dict[str, list[int]]
    form: Form = Form.PLAIN
    below: "View | None" = None
    pieces: tuple[Piece, ...] = ()

    def places_of(self, starts: Iterable[str]) -> list[int]:
        """Where a word begins with one of these starts, all of which there are, from left to right."""
        return sorted(chain.from_iterable(map(self.places.__getitem__, starts)))

    def starts_with(self, openings: frozenset[str]) -> Iterator[str]:
        """The starts of words that open with one of these."""
        by_opening = self._by_opening
        return chain.from_iterable(map(by_opening.__getitem__, openings & by_opening.keys()))

    @cached_property
    def _by_opening(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for start in self.places:
            found.setdefault(start[:OPENING_CHARACTERS], []).append(start)
        return found

    def locator(self) -> Locate:
        """What leads a place in this view back to the content, or to all of it where there is no way back."""
        whole = 0, len(self.content)
        if self.form is Form.TAGGED:
            return lambda _start, _end: whole
        if self.below is not None:
            return _through_pieces(self.pieces, self.below.locator(), whole)
        if self.text == self.content:
            return _same_place
        return _through_characters(self.content, self.text, whole)


def view_of(
    content: str,
    text: str,
    *,
    form: Form = Form.PLAIN,
    below: View | None = None,
    pieces: tuple[Piece, ...] = (),
) -> View:
    """The view of the content that shows this text, which is plain already."""
    folded = fold(text)
    places = word_places(folded)
    return View(
        content=content,
        text=text,
        folded=folded,
        starts=frozenset(places),
        places=places,
        form=form,
        below=below,
        pieces=pieces,
    )


def word_places(folded: str) -> dict[str, list[int]]:
    """How the words of Latin letters and digits begin, and where: it decides which rules are worth trying."""
    found: dict[str, list[int]] = {}
    if not folded.isascii():
        for match in _WORD.finditer(folded):
            found.setdefault(match[0][:START_CHARACTERS], []).append(match.start())
        return found
    place = 0
    for word in folded.translate(_BREAKS).split(" "):
        if word:
            found.setdefault(word[:START_CHARACTERS], []).append(place)
        place += len(word) + 1
    return found


def plain(text: str) -> str:
    """The text with compatible forms, accents, look-alikes and invisible characters made plain."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", text).translate(_PLAIN)


def fold(text: str) -> str:
    """The text without case, keeping its length: a character whose folded form is longer stays as it is."""
    if text.isascii():
        return text.lower()
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := character.casefold()) == 1 else character for character in text)


def _same_place(start: int, end: int) -> Span:
    return start, end


def _through_characters(content: str, text: str, whole: Span) -> Locate:
    """The way back when every character was made plain by itself, which is nearly always."""
    origins: list[int] = []
    rebuilt: list[str] = []
    for at, character in enumerate(content):
        form = plain(character)
        rebuilt.append(form)
        origins += [at] * len(form)
    if "".join(rebuilt) != text:
        return lambda _start, _end: whole
    origins.append(len(content))

    def locate(start: int, end: int) -> Span:
        return origins[start], origins[end - 1] + 1 if end > start else origins[start]

    return locate


def _through_pieces(pieces: tuple[Piece, ...], below: Locate, whole: Span) -> Locate:
    """The way back through the pieces of a decoded view; what was decoded stands where its code stood."""

    def locate(start: int, end: int) -> Span:
        touched = [piece for piece in pieces if piece.start < end and start < piece.end]
        if not touched:
            return whole
        first, last = touched[0], touched[-1]
        low = first.below_start if first.decoded else first.below_start + max(0, start - first.start)
        high = last.below_end if last.decoded else last.below_end - max(0, last.end - end)
        return below(low, high)

    return locate

"""Texts as pieces of words of a fixed vocabulary, as models of the BERT family read them. Pure, no library.

A text is cleaned, freed of accents and case, split at spaces and punctuation, with each ideograph apart; of
each word the longest piece that the vocabulary knows is taken, again and again. Nothing of a text is kept:
there is no cache of words, which would outlive a memory that was forgotten.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, cast

WORD_CHARACTERS_MAX: Final = 100
"""A longer word counts as unknown, as it did when the models were trained."""
_CHARACTERS_KEPT_MAX: Final = 8_192
_CONTINUES: Final = "##"
_TOKEN = re.compile(r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieces:
    """One vocabulary; the number of a piece is its place in it. Safe for any number of threads."""

    def __init__(self, vocabulary: Sequence[str], *, unknown: str = "[UNK]") -> None:
        self._numbers = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._unknown = self._numbers[unknown]
        self._longest = max(map(len, vocabulary))
        self._characters = _Characters()

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text, in its order; a word that has none is the unknown one."""
        words = _TOKEN.findall(self._plain(text))
        found = list(map(self._numbers.get, words))
        if None not in found:
            return cast("list[int]", found)
        return [
            number
            for word, whole in zip(words, found, strict=True)
            for number in ((whole,) if whole is not None else self._pieces(word))
        ]

    def _plain(self, text: str) -> str:
        if text.isascii():
            return _CONTROL.sub("", text).lower()
        return unicodedata.normalize("NFD", text).translate(self._characters)

    def _pieces(self, word: str) -> Sequence[int]:
        """The longest piece at each place; one unknown where any part is not in the vocabulary."""
        if len(word) > WORD_CHARACTERS_MAX:
            return (self._unknown,)
        found: list[int] = []
        at, before = 0, ""
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                number = self._numbers.get(before + word[at:end])
                if number is not None:
                    found.append(number)
                    at, before = end, _CONTINUES
                    break
            else:
                return (self._unknown,)
        return found


class _Characters(dict[int, str]):
    """What stands for a character, for `translate`: worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _CHARACTERS_KEPT_MAX:
            self.clear()
        plain = self[code] = _plain_character(chr(code))
        return plain


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or character.isspace():
        return " "
    if category in {"Cc", "Cf", "Co", "Mn"} or character == "\ufffd":
        return ""
    if category.startswith("P") or _is_ideograph(ord(character)):
        return f" {character} "
    return character.lower()


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in _IDEOGRAPHS)

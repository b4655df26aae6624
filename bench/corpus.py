"""Sentences and questions as people write them, made up here: varied words, a few common, most rare.

Nothing of it comes from a data set, so the figures can be repeated anywhere; equal seeds give equal texts.
"""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

CHARACTERS_MIN: Final = 80
CHARACTERS_MAX: Final = 120
# The commonest word stands in about a tenth of the sentences, as in chats; rank r has a share of 1/(r + 20).
FLATTENING: Final = 20
MADE_UP_WORDS: Final = 2_400

_PARTS: Final = Path(__file__).with_name("corpus.txt")
_CONSONANTS: Final = (*"bdfgklmnprstvz", "br", "st")
_SYLLABLES: Final = tuple("".join(pair) for pair in itertools.product(_CONSONANTS, "aeiou"))


class Sentence(NamedTuple):
    """A text, and those of its words that carry its meaning."""

    text: str
    content_words: tuple[str, ...]


class Corpus:
    """An endless supply of sentences, and of questions about some of them."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        parts, made = _parts(), self._made_up(MADE_UP_WORDS)
        self._pools = {
            "thing": _Pool([*parts["thing"], *made[:1_200]]),
            "quality": _Pool([*parts["quality"], *made[1_200:1_500]]),
            "deed": _Pool([*parts["deed"], *(f"{word}ed" for word in made[1_500:1_700])]),
            "name": _Pool([word.title() for word in made[1_700:2_100]]),
            "place": _Pool([word.title() for word in made[2_100:]]),
            "day": _Pool(parts["day"]),
        }
        self._patterns, self._questions = parts["sentence"], parts["question"]

    def sentence(self) -> Sentence:
        """One sentence of 80 to 120 characters."""
        while True:
            words = {
                slot + ending: self._pools[slot].word(self._chance)
                for slot in self._pools
                for ending in ("", "2", "3")
            }
            words["number"] = str(self._chance.randint(2, 9_999))
            pattern = self._chance.choice(self._patterns)
            text = pattern.format_map(words)
            if CHARACTERS_MIN <= len(text) <= CHARACTERS_MAX:
                used = tuple(word for slot, word in words.items() if f"{{{slot}}}" in pattern)
                return Sentence(text, used)

    def sentences(self, count: int) -> list[Sentence]:
        """So many sentences."""
        return [self.sentence() for _ in range(count)]

    def question(self, about: Sequence[Sentence]) -> str:
        """A question of 4 to 8 content words: half from one of the sentences, half from anywhere."""
        chosen = self._chance.choice(about).content_words
        pattern = self._chance.choice(self._questions)
        wanted = pattern.count("{")
        words = self._chance.sample(chosen, min(len(chosen), (wanted + 1) // 2))
        while len(words) < wanted:
            words.append(self._chance.choice(self._chance.choice(about).content_words))
        self._chance.shuffle(words)
        return pattern.format(*words)

    def _made_up(self, count: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < count:
            words["".join(self._chance.choices(_SYLLABLES, k=self._chance.choice((2, 3, 3, 4))))] = None
        return list(words)


class _Pool:
    """Words by rank, drawn so that a few are common and most are rare."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._reach = list(itertools.accumulate(1 / (rank + FLATTENING) for rank in range(len(words))))

    def word(self, chance: random.Random) -> str:
        """One of them."""
        return chance.choices(self._words, cum_weights=self._reach)[0]


def _parts() -> dict[str, list[str]]:
    """What texts are made of, by kind, in the file's order."""
    parts: dict[str, list[str]] = {}
    for entry in _PARTS.read_text("utf-8").splitlines():
        kind, colon, text = entry.partition(": ")
        if colon and not kind.startswith("#"):
            parts.setdefault(kind, []).extend([text] if kind in {"sentence", "question"} else text.split())
    return parts

"""The scanner that learned: a small linear model that suspects a text of instructing the agent.

It only ever raises suspicion: what it finds is of the kind `sensitive`, which waits for a person, and what it
does not find proves nothing (SPEC M5b, L4). Its features are words, their beginnings, and what the words are
for (`word_classes`), each hashed to a place in a table of weights; the score is the mean of the weights found
there. The same text and model give the same score on every machine: weights are whole numbers.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from typing import Final
from zlib import crc32

import msgspec

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.normalising import View
from tenure.core.scanning.word_classes import CLASSES, FUNCTION_WORDS, MARKS, class_of_words

FEATURES_VERSION: Final = 1
"""Raised whenever a text may have other features: a model fits the version it was trained with alone."""
PLACES: Final = 1 << 16
RULE: Final = "sensitive.suspected-instruction"

# A text is read in windows of about the length of what the model learned from, so that an order inside a long
# document is not outweighed by it.
WINDOW_CHARACTERS: Final = 1_200
STEP_CHARACTERS: Final = 900
ALLOWED_PER_DOUBLING: Final = 0.3
SENTENCE_FEATURES: Final = 20
"""About as many as a sentence of four words has."""

_TOKEN = re.compile(
    r"https?://\S{1,400}+|[a-z0-9._%+-]{1,64}+@[a-z0-9.-]{1,128}+|[a-z0-9+/=_-]{32,400}+"
    r"|[^\W\d_]{1,40}+(?:['\u2019][a-z]{1,4}+)?|\d+|[^\w\s]"
)
_CLASS_OF = class_of_words()
_NAMED = frozenset((*CLASSES, "link", "mail"))
_BEGIN, _END, _OTHER, _SIGN, _DIGITS = "^", "$", "_", "~", "0"
_ENCODED_CHARACTERS_MIN = 32
_NEAR = (1, 2, 3)
_WORDS_CACHED = 16_384


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned: weights, one signed byte a place, and the score from which a text is suspected.

    A weight of `steps_per_unit` is one unit of the score.
    """

    version: str
    features_version: int
    steps_per_unit: float
    bias: float
    threshold: float
    weights: bytes

    def __post_init__(self) -> None:
        if self.features_version != FEATURES_VERSION or len(self.weights) != PLACES:
            raise ValueError("this model was trained for other features; run `make train-classifier`")


class Classifier:
    """The scanner over one model."""

    name: Final = "classifier"

    def __init__(self, model: Model) -> None:
        self.version = model.version
        self._threshold = model.threshold
        self._bias = model.bias
        self._steps_per_unit = model.steps_per_unit
        self._weight_at = memoryview(model.weights).cast("b").__getitem__

    def score(self, folded: str) -> float:
        """How much a text without case, of at most one window, looks like an attack; higher is more."""
        places = places_of(folded)
        total = sum(map(self._weight_at, places)) / self._steps_per_unit
        return total / length_of(len(places)) + self._bias

    def highest(self, folded: str) -> float:
        """The highest score of any window of the text, less what a text of so many windows is allowed."""
        stretches = windows(len(folded))
        return max(self.score(folded[start:end]) for start, end in stretches) - allowance(len(stretches))

    def find(self, view: View) -> Iterator[Finding]:
        """The windows of the view that are suspected."""
        stretches = windows(len(view.folded))
        threshold = self._threshold + allowance(len(stretches))
        for start, end in stretches:
            above = self.score(view.folded[start:end]) - threshold
            if above >= 0:
                begin, finish = view.locator()(start, end)
                yield Finding(
                    kind=FindingKind.SENSITIVE,
                    rule=RULE,
                    scanner=f"{self.name}/{self.version}",
                    start=begin,
                    end=finish,
                    confidence=round(min(0.9, 0.5 + above / 4), 2),
                )


def windows(length: int) -> list[tuple[int, int]]:
    """The stretches in which a text of this length is read; each but the last overlaps the next."""
    starts = range(0, max(1, length - WINDOW_CHARACTERS + STEP_CHARACTERS), STEP_CHARACTERS)
    return [(start, min(start + WINDOW_CHARACTERS, length)) for start in starts]


def allowance(count: int) -> float:
    """How much higher one window of so many has to score, since each is one more chance to be wrong."""
    return ALLOWED_PER_DOUBLING * (count - 1).bit_length()


def places_of(folded: str) -> set[int]:
    """Where the weights of a text's features stand; never empty."""
    places: set[int] = set()
    classes = [_BEGIN]
    for token in _TOKEN.findall(folded):
        name, of_word = _word(token)
        classes.append(name)
        places.update(of_word)
    classes.append(_END)
    places.update(map(_NEIGHBOURS.__getitem__, pairwise(classes)))
    named = [name for name in classes if name in _NAMED]
    for distance in _NEAR:
        places.update(map(_TOGETHER.__getitem__, zip(named, named[distance:], strict=False)))
    return places


def length_of(count: int) -> float:
    """The length of an example with so many features; a few words never weigh as much as a sentence."""
    return sqrt(max(count, SENTENCE_FEATURES))


class _Pairs(dict[tuple[str, str], int]):
    """The place of each pair of classes; there are only so many classes, so it stays small."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, pair: tuple[str, str]) -> int:
        self[pair] = place = _place(self._kind, " ".join(pair))
        return place


_NEIGHBOURS, _TOGETHER = _Pairs("neighbours"), _Pairs("together")


@lru_cache(maxsize=_WORDS_CACHED)
def _word(token: str) -> tuple[str, tuple[int, ...]]:
    """The class of a token, and the places of its own features."""
    name = _class(token)
    places = [_place("class", name)]
    if len(token) < _ENCODED_CHARACTERS_MIN and name not in {_DIGITS, "mail", "link"}:
        places.append(_place("word", token))
        places += [
            _place(f"begins {size}", token[:size])
            for size in (4, 6)
            if token[:size].isalpha() and len(token) >= size
        ]
    return name, tuple(places)


def _class(token: str) -> str:
    """What a token is for; two letters and more for what is told apart, a sign for the rest."""
    if token.startswith(("http://", "https://")):
        return "link"
    if token.isdigit():
        return _DIGITS
    if "@" in token and len(token) > 1:
        return "mail"
    if token in MARKS or token in FUNCTION_WORDS:
        return token
    if not token[0].isalnum():
        return _SIGN
    return _CLASS_OF.get(token.replace("\u2019", "'"), _OTHER)


def _place(kind: str, what: str) -> int:
    return crc32(f"{kind} {what}".encode(errors="surrogatepass")) % PLACES

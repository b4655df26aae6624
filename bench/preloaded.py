"""The least that a question to one subject can cost by hand: its words in FTS5, its vectors in memory."""

from collections.abc import Sequence
from typing import Final

import apsw
import numpy as np
import numpy.typing as npt

from bench.floor import DIMENSIONS

FOUND: Final = 10
PLACE_ADDED: Final = 60
"""What reciprocal rank fusion adds to a place, as its authors do; how well it ranks is not measured here."""


class PreloadedSubject:
    """The rows of one subject and of nothing else, words and vectors, put together by rank."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._words = apsw.Connection(":memory:")
        self._words.execute("CREATE VIRTUAL TABLE words USING fts5 (content, tokenize = 'porter unicode61')")
        self._words.executemany("INSERT INTO words (rowid, content) VALUES (?, ?)", enumerate(texts))
        chance = np.random.default_rng(1)
        self._vectors = _unit(chance.standard_normal((len(texts), DIMENSIONS), dtype=np.float32))
        self._questions = _unit(chance.standard_normal((100, DIMENSIONS), dtype=np.float32))
        self._asked = 0

    def find(self, terms: Sequence[str]) -> list[str]:
        """The ten best by both rankings."""
        any_of = " OR ".join(f'"{term}"' for term in terms)
        by_words = [
            int(row)
            for (row,) in self._words.execute(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 100", (any_of,)
            )
        ]
        self._asked += 1
        # In this thread alone: a product in several waits for the others where cores are busy.
        similar = np.einsum("ij,j->i", self._vectors, self._questions[self._asked % len(self._questions)])
        by_meaning = np.argpartition(-similar, min(100, len(similar) - 1))[:100]
        by_meaning = by_meaning[np.argsort(-similar[by_meaning])]
        scores: dict[int, float] = {}
        for ranking in (by_words, by_meaning.tolist()):
            for place, row in enumerate(ranking):
                scores[row] = scores.get(row, 0.0) + 1 / (PLACE_ADDED + place)
        return [self._texts[row] for row in sorted(scores, key=scores.__getitem__, reverse=True)[:FOUND]]

    def close(self) -> None:
        """Let the words go."""
        self._words.close()


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths: npt.NDArray[np.float32] = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / lengths

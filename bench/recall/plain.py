"""Plain rankers over one conversation, to stand beside: BM25 over analysed terms, and cosine of vectors.

They know every turn, also those that a gate would hold back, and nothing of threads, trust or time.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tenure.core.wording import analyse
from tenure.engines.embedding.static import shipped_table
from tenure.usecases.embedding_ports import Embedder

K1: Final = 1.2
B: Final = 0.75


class PlainWords:
    """BM25 (k1 1.2, b 0.75) whose statistics are those of the given texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        terms = [analyse(text) for text in texts]
        lengths = np.array([len(one) for one in terms], dtype=np.float64)
        self._damping = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        self._rows = len(texts)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for row, one in enumerate(terms):
            for term, frequency in Counter(one).items():
                self._postings.setdefault(term, []).append((row, frequency))

    def best(self, question: str) -> list[int]:
        """The texts that share a term with the question, best first; equal ones in their order."""
        scores = np.zeros(self._rows)
        for term in dict.fromkeys(analyse(question)):
            postings = self._postings.get(term, [])
            if postings:
                rows, frequencies = (np.array(column) for column in zip(*postings, strict=True))
                gain = math.log(1 + (self._rows - len(rows) + 0.5) / (len(rows) + 0.5)) * (K1 + 1)
                scores[rows] += gain * frequencies / (frequencies + self._damping[rows])
        return [int(row) for row in np.argsort(-scores, kind="stable") if scores[row] > 0]


class PlainVectors:
    """The cosine between the question and each text, whole texts only."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self._embedder = embedder
        self._vectors: npt.NDArray[np.float32] = np.array(embedder.passages(list(texts)), dtype=np.float32)

    def best(self, question: str) -> list[int]:
        """All texts, best first; equal ones in their order."""
        similar = self._vectors @ np.asarray(self._embedder.query(question), dtype=np.float32)
        return [int(row) for row in np.argsort(-similar, kind="stable")]


def shipped_embedder() -> Embedder:
    """The one that ships inside the package."""
    return shipped_table()

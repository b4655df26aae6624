"""What questions and memories mean: by the model in use, and by those that still have vectors (SPEC R2).

1 the questions are embedded before anything is read, so that nobody waits with a snapshot open
2 the rows that pass are searched with the model in use; where it has not embedded all of them yet, with
the older one that has most
3 a model that cannot be asked leaves the ranking to words and place, and the answer says so
"""

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np

from tenure.core.boundary_rows import Searched
from tenure.core.vectors import Vector, packed
from tenure.usecases.embedding_ports import Embedder, EmbeddingFailed

PAUSE: Final = timedelta(seconds=5)
"""So long an engine that failed is not asked about questions again: recalls do without it meanwhile."""

Search = Callable[[str | None], Searched]
"""Looks for rows with their vectors of a model."""


class Meant(NamedTuple):
    """What was searched, and the questions in the model of its vectors; none, where meaning has no part."""

    searched: Searched
    vectors: tuple[Vector, ...] = ()
    model: str | None = None
    has_failed: bool = False


class Meaning:
    """The model in use, and older ones that are still at hand."""

    def __init__(self, embedder: Embedder | None = None, older: Sequence[Embedder] = ()) -> None:
        self.embedder = embedder
        self._older = tuple(older)
        self._lock = threading.Lock()
        self._paused_until: dict[str, datetime] = {}

    @property
    def model(self) -> str | None:
        """The name of the model in use."""
        return self.embedder.model if self.embedder is not None else None

    @property
    def immediate(self) -> Embedder | None:
        """The engine in use, if it computes as fast as memories are written."""
        embedder = self.embedder
        return embedder if embedder is not None and embedder.is_immediate else None

    def search(self, questions: Sequence[str], search: Search, now: datetime) -> Meant:
        """Search by the model that is fit for these questions and for most of the rows."""
        if self.embedder is None or not questions:
            return Meant(search(None))
        vectors = self._asked(self.embedder, questions, now)
        found = search(self.embedder.model) if vectors is not None else None
        if found is not None and vectors is not None and _covered(found) >= 1.0:
            return Meant(found, vectors, self.embedder.model)
        for older in self._older:
            other = search(older.model)
            if _covered(other) > (_covered(found) if found is not None else 0.0):
                meant = self._asked(older, questions, now)
                if meant is not None:
                    return Meant(other, meant, older.model)
        if found is not None and vectors is not None and _covered(found) > 0.0:
            return Meant(found, vectors, self.embedder.model)
        return Meant(found or search(None), has_failed=vectors is None)

    def of_past(self, texts: Sequence[str]) -> list[bytes] | None:
        """What texts that no index knows mean, by an engine that has that at once; else None."""
        if self.immediate is None:
            return None
        return [packed(vector) for vector in self.immediate.passages(texts)]

    def _asked(
        self, embedder: Embedder, questions: Sequence[str], now: datetime
    ) -> tuple[Vector, ...] | None:
        """The questions as vectors; None while the engine fails."""
        if not embedder.is_immediate and self._is_paused(embedder, now):
            return None
        try:
            return tuple(embedder.query(question) for question in questions)
        except EmbeddingFailed:
            with self._lock:
                self._paused_until[embedder.model] = now + PAUSE
            return None

    def _is_paused(self, embedder: Embedder, now: datetime) -> bool:
        with self._lock:
            until = self._paused_until.get(embedder.model)
        return until is not None and now < until


def _covered(found: Searched) -> float:
    """Which part of the rows has a vector that says something; of no rows, all have."""
    vectors = found.rows.vectors
    if vectors is None:
        return 0.0
    return float(np.count_nonzero(vectors.scales)) / len(vectors.scales) if len(vectors.scales) else 1.0

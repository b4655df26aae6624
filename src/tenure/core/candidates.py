"""What a new memory is compared with: what stands within its walls, as columns (SPEC T2, T3). Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from tenure.core.boundary_rows import Integers, Rows, Scores
from tenure.core.vectors import Matrix

Wide: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

_EXACT_WIDTH: Final = 1_024


class Candidates(NamedTuple):
    """One place a memory in each column, in no order."""

    ids: Sequence[UUID]
    trusts: Integers
    steps: Matrix
    """The vectors of one model; zeros where a memory has none."""
    lengths: Scores
    """How long each row of steps is; 0 where there is no vector."""

    @property
    def size(self) -> int:
        """How many memories they are."""
        return len(self.trusts)


def candidates_of(rows: Rows) -> Candidates:
    """All these rows."""
    vectors = rows.vectors
    steps = np.zeros((len(rows.ids), 0), dtype=np.int8) if vectors is None else vectors.steps
    return Candidates(rows.ids, rows.trusts, steps, lengths(widened(steps)))


def widened(steps: Matrix) -> Wide:
    """In numbers that hold every sum of products of such steps as a whole number, in whatever order."""
    if steps.shape[1] <= _EXACT_WIDTH:
        return steps.astype(np.float32)
    return steps.astype(np.float64)


def lengths(steps: Wide) -> Scores:
    """How long each row is."""
    squares = np.einsum("ij,ij->i", steps, steps)
    return np.asarray(np.sqrt(squares.astype(np.float64)), dtype=np.float64)

"""Vectors as engines give them: what is used is finite, of the right size, and of length 1."""

from typing import Any

import numpy as np
import pytest

from tenure.engines.embedding.vectors_given import unit_vectors
from tenure.usecases.embedding_ports import EmbeddingFailed


@pytest.mark.parametrize(
    "given",
    [[[3, 4]], [(3.0, 4.0)], np.array([[3, 4]], dtype=np.float16), [[3e200, 4e200]], [[3e-200, 4e-200]]],
)
def test_any_numbers_become_a_vector_of_length_one(given: Any) -> None:
    """SPEC R2: however large or small they are."""
    (vector,) = unit_vectors(given, count=1, dimensions=2)

    assert vector.dtype == np.float32
    assert list(vector) == pytest.approx([0.6, 0.8])


def test_zeros_stay_zeros() -> None:
    """SPEC R2: a text that is like nothing is no fault."""
    zeros, one = unit_vectors([[0, 0], [0, 2]], count=2, dimensions=2)

    assert (list(zeros), list(one)) == ([0, 0], [0, 1])


@pytest.mark.parametrize(
    ("given", "because"),
    [
        ([], "one vector for each"),
        ([[1, 0], [0, 1]], "one vector for each"),
        ([1, 0], "one vector for each"),
        ([[[1, 0]]], "one vector for each"),
        ([[1, 0, 0]], "3 dimensions instead of 2"),
        ([[]], "0 dimensions instead of 2"),
        ([[1, float("nan")]], "not finite"),
        ([[float("inf"), 0]], "not finite"),
        ([["a", 0]], "not all numbers"),
        ([[1, 0], [1]], "not all numbers"),
        (None, "one vector for each"),
        ([[None, 0]], "not finite|not all numbers"),
        ([[10**400, 0]], "not all numbers"),
    ],
    ids=str,
)
def test_anything_else_is_a_failure(given: Any, because: str) -> None:
    """SPEC R2: and says what was wrong."""
    with pytest.raises(EmbeddingFailed, match=because):
        unit_vectors(given, count=1, dimensions=2)

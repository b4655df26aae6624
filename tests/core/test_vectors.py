"""Vectors as they are kept: little is lost, and what was nothing stays nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.vectors import Vector, packed, unpacked

numbers = st.lists(
    st.lists(st.floats(min_value=-1, max_value=1, width=32), min_size=8, max_size=8), min_size=1, max_size=5
)


def unit(values: list[float]) -> Vector:
    """The direction of these numbers; all zeros have none."""
    vector = np.array(values, dtype=np.float32)
    length = np.linalg.norm(vector.astype(np.float64))
    return (vector / np.float32(length)).astype(np.float32) if length > 1e-6 else np.zeros_like(vector)


@MODEST
@given(numbers)
def test_what_is_kept_points_where_it_pointed(values: list[list[float]]) -> None:
    """SPEC R2: each number to half a step of its vector's largest, of which there are 127."""
    vectors = [unit(one) for one in values]

    steps, scales = unpacked([packed(one) for one in vectors])

    for vector, row, scale in zip(vectors, steps, scales, strict=True):
        assert np.allclose(row * scale, vector, atol=float(scale) * 0.51 + 1e-7)


def test_a_vector_of_nothing_has_no_scale() -> None:
    """SPEC R2: by that a missing vector is told from one that is there."""
    steps, scales = unpacked([packed(np.zeros(4, dtype=np.float32))])

    assert not steps.any()
    assert scales.tolist() == [0.0]


def test_it_takes_a_byte_for_each_number_and_four_more() -> None:
    """A memory of 256 dimensions takes 260 bytes."""
    assert len(packed(np.ones(256, dtype=np.float32))) == 260
    assert unpacked([])[0].shape == (0, 0)

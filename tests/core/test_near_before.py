"""Rows beside those before them, many at once: the very candidates that a write would have had."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.test_duplicates import row, rows

from tenure.core.boundary_rows import Integers, Rows, taken
from tenure.core.candidates import candidates_of
from tenure.core.duplicates import Likeness, Near, Neighbour, chosen, near, near_before
from tenure.core.vectors import Vector, packed
from tenure.core.vocabulary import Trust

DIMENSIONS = 24
LOOSE = Likeness(near_cosine=0.6, neighbours=2)


def crowd(seed: int, count: int) -> tuple[Rows, list[Vector | None]]:
    """Rows around a few centres, of two trusts; some have no vector."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((3, DIMENSIONS))
    vectors: list[Vector | None] = []
    for _ in range(count):
        vector = centres[chance.integers(3)] + chance.standard_normal(DIMENSIONS) * chance.choice([0, 0.3, 1])
        vectors.append(
            (vector / np.linalg.norm(vector)).astype(np.float32) if chance.random() > 0.1 else None
        )
    trusts = (Trust.UNTRUSTED, Trust.APPLICATION_VERIFIED)
    found = [row(at + 1, one, trust=trusts[at % 2]) for at, one in enumerate(vectors)]
    return rows(*found), vectors


def beside(found: Rows, places: Integers, vector: Vector | None) -> tuple[Neighbour, ...]:
    """What a write of this vector has beside it, of the rows at these places."""
    return near(candidates_of(taken(found, places)), None if vector is None else packed(vector), like=LOOSE)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_each_has_the_candidates_that_its_own_write_would_have_had(seed: int, count: int) -> None:
    """SPEC T2, T3: the same rows, in the same order, with the same cosines to the last bit."""
    found, vectors = crowd(seed, count)
    places = list(range(0, count, 2))

    together = [chosen(found, one, like=LOOSE) for one in near_before(found, places, like=LOOSE)]

    assert together == [beside(found, np.arange(place), vectors[place]) for place in places]


def test_those_beside_all_have_the_rows_behind_them_too() -> None:
    """SPEC T2: but not themselves."""
    found, vectors = crowd(5, 30)
    place = next(at for at, one in enumerate(vectors) if one is not None)
    others = np.array([at for at in range(30) if at != place])

    (behind,) = near_before(found, [place], like=LOOSE, beside_all={place})

    assert chosen(found, behind, like=LOOSE) == beside(found, others, vectors[place])


@pytest.mark.parametrize("places", [[], [0], [0, 1]])
def test_without_vectors_nothing_is_near(places: list[int]) -> None:
    """SPEC T2: likeness is a matter of vectors alone."""
    found = rows(row(1, None), row(2, None))

    assert [one.places.tolist() for one in near_before(found, places)] == [[]] * len(places)


def test_a_thousand_rows_go_block_by_block() -> None:
    """SPEC T8: what is compared at once is bounded, and comes to the same."""
    found, _ = crowd(7, 5_000)
    last: Near = near_before(found, [4_999], like=LOOSE)[0]

    assert last.places.tolist() == sorted(set(last.places.tolist()))
    assert last.places.max() > 4_096

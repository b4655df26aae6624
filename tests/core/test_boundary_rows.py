"""Rows as columns: in the order in which they were written, whatever way they were put together."""

from uuid import UUID

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.boundary_rows import (
    NO_POSITION,
    NO_THREAD,
    SORTS,
    Column,
    Rows,
    as_rows,
    no_rows,
    place_number,
    taken,
    together,
)
from tenure.core.vectors import packed

MODEL = "m/1"
parts_of_rows = st.lists(st.integers(0, 3), max_size=12)


def column(seq: int, *, subject: str = "c", thread: str | None = "t", is_embedded: bool = True) -> Column:
    """A row of its own kind for each position."""
    vector = packed(np.array([seq % 5, 1.0], dtype=np.float32)) if is_embedded else None
    position = seq % 2 or None
    kind, source_type = SORTS[seq % len(SORTS)]
    source = (source_type.value, f"source-{seq % 3}")
    numbers = (seq % 4, seq / 10, seq * 7, seq * 3)
    return Column(seq, UUID(int=seq), kind, *numbers, subject, thread, position, *source, vector)


def same(one: Rows, other: Rows) -> bool:
    """Whether two sets of columns say the same."""
    vectors = [
        (rows.vectors.steps.tolist(), rows.vectors.scales.tolist()) for rows in (one, other) if rows.vectors
    ]
    plain = [
        [field.tolist() if isinstance(field, np.ndarray) else field for field in rows[:-1]]
        for rows in (one, other)
    ]
    return plain[0] == plain[1] and (not vectors or vectors[0] == vectors[1])


@MODEST
@given(parts_of_rows)
def test_rows_of_several_places_are_one_line(shares: list[int]) -> None:
    """SPEC A2: as if they had been read at once."""
    parts: list[list[Column]] = [[], [], [], []]
    for seq, share in enumerate(shares, start=1):
        parts[share].append(column(seq))

    whole = together([as_rows(part, MODEL) for part in parts])

    assert same(whole, as_rows([column(seq) for seq in range(1, len(shares) + 1)], MODEL))


@MODEST
@given(st.sets(st.integers(0, 9)))
def test_those_that_are_taken_are_those_that_were_asked_for(places: set[int]) -> None:
    """SPEC R1: no column of another row comes along."""
    rows = as_rows([column(seq) for seq in range(10)], MODEL)

    chosen = taken(rows, np.array(sorted(places), dtype=np.int64))

    assert same(chosen, as_rows([column(seq) for seq in sorted(places)], MODEL))


def test_a_place_where_nothing_is_embedded_joins_one_where_all_is() -> None:
    """SPEC R2: what has no vector has one of zeros, as wide as the others."""
    bare, full = as_rows([column(1, is_embedded=False)], MODEL), as_rows([column(2)], MODEL)

    whole = together([bare, full]).vectors

    assert whole is not None
    assert whole.steps.shape == (2, 2)
    assert [bool(scale) for scale in whole.scales] == [False, True]


def test_equal_threads_of_two_subjects_are_two_threads() -> None:
    """SPEC R2a: nobody's line of talk runs on in another's."""
    rows = as_rows([column(1), column(2, subject="d"), column(3), column(4, thread=None)], None)

    assert rows.threads[0] == rows.threads[2] == place_number("c", "t")
    assert rows.threads[0] != rows.threads[1]
    assert rows.threads[3] == NO_THREAD
    assert rows.positions.tolist() == [1, NO_POSITION, 1, NO_POSITION]
    assert rows.vectors is None


def test_names_are_told_apart_by_where_one_ends() -> None:
    """SPEC R1: two places do not become one by their names being joined."""
    assert place_number("ab", "c") != place_number("a", "bc")
    assert 0 <= place_number("a") < 2**63


def test_nothing_is_no_rows() -> None:
    """SPEC R1: an empty boundary has columns too."""
    assert no_rows(MODEL).ids == ()
    assert same(together([no_rows(MODEL), no_rows(MODEL)]), no_rows(MODEL))

"""What stood around a memory: the order of a thread, and who belongs to it (SPEC M4, R2a)."""

from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.boundary_rows import Column, Rows, as_rows
from tenure.core.errors import InvalidRequest
from tenure.core.neighbours import Around, check_around, place_of, standing_around


def rows(*places: tuple[str | None, int | None]) -> Rows:
    """Rows in the order in which they were written, each with its thread and its position there."""
    numbers = count(1)
    return as_rows(
        [
            Column(
                seq=number,
                id=UUID(int=1_000 - number),
                kind="fact",
                trust=1,
                confidence=1.0,
                written_at=number,
                tokens=3,
                subject="customer-7",
                thread=thread,
                position=position,
                source_type="application",
                source_id=f"crm-{number}",
                vector=None,
            )
            for (thread, position), number in zip(places, numbers, strict=False)
        ],
        None,
    )


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (Around(before=1, after=1), [1, 0, 3]),
        (Around(before=0, after=0), [0]),
        (Around(before=9, after=0), [2, 1, 0]),
        (Around(before=0, after=9), [0, 3]),
        (Around(before=9, after=9), [2, 1, 0, 3]),
    ],
    ids=str,
)
def test_neighbours_stand_in_the_order_of_their_positions(around: Around, expected: list[int]) -> None:
    """SPEC M4: whenever they were written, and whatever else there is."""
    talk = rows(("a", 30), ("a", 20), ("a", 10), ("a", 40), ("b", 25), (None, 25), ("a", None))

    assert expected == standing_around(talk, 0, around)


def test_memories_of_one_position_stand_in_the_order_in_which_they_were_written() -> None:
    """SPEC M4: such as the facts that one message gave."""
    talk = rows(("a", 5), ("a", 4), ("a", 5), ("a", 5))

    assert standing_around(talk, 2, Around(before=1, after=1)) == [0, 2, 3]


def test_memories_without_a_position_are_a_row_of_their_own() -> None:
    """SPEC M4: nobody knows between which of the others they stood."""
    talk = rows(("a", None), ("a", 1), ("a", None), ("a", 0), ("a", None))

    assert standing_around(talk, 2, Around()) == [0, 2, 4]
    assert standing_around(talk, 3, Around()) == [3, 1]


def test_a_memory_of_no_thread_stands_alone() -> None:
    """SPEC M4: others of no thread are not its neighbours."""
    assert standing_around(rows((None, 1), (None, 2), ("a", 3)), 1, Around()) == [1]


def test_a_row_is_found_by_where_it_was_written() -> None:
    """SPEC R1: one that did not pass is none of them."""
    talk = rows(("a", 1), ("a", 2))

    assert [place_of(talk, seq) for seq in (0, 1, 2, 3)] == [None, 0, 1, None]


@MODEST
@given(
    places=st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(0, 4)), min_size=1),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    data=st.data(),
)
def test_whoever_is_a_neighbour_has_one_in_turn(
    places: list[tuple[str | None, int | None]], before: int, after: int, data: st.DataObject
) -> None:
    """SPEC M4: one order holds for all, so what stands so far after one has that one so far before it."""
    talk = rows(*places)
    place = data.draw(st.integers(0, len(places) - 1))

    line = standing_around(talk, place, Around(before=before, after=after))

    assert len(line) == len(set(line)) <= before + after + 1
    assert {places[one][0] for one in line} == {places[place][0]}
    at = line.index(place)
    assert at <= before
    for step, other in enumerate(line[at:]):
        assert standing_around(talk, other, Around(before=step, after=0))[0] == place


@pytest.mark.parametrize(
    ("around", "field"),
    [
        (Around(before=-1), "before"),
        (Around(after=-1), "after"),
        (Around(before=101), "before"),
        (Around(before=10, after=10), "before"),
    ],
    ids=str,
)
def test_so_many_as_a_recall_shows_and_no_more(around: Around, field: str) -> None:
    """SPEC R4: the memory itself takes a place, too."""
    with pytest.raises(InvalidRequest) as refused:
        check_around(around, items_max=20)

    assert refused.value.details["field"] == field
    check_around(Around(before=10, after=9), items_max=20)

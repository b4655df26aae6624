"""The columns of places that were searched lately: never another row's, never an old version's, bounded."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.projected import row

from tenure.core.boundary_rows import Column
from tenure.core.rows import Index, Unindex, UnindexSubject
from tenure.core.vectors import packed
from tenure.stores.row_cache import LOOK_AGAIN_SECONDS, ROW_BYTES, Passing, Place, RowCache

PLACE = Place("acme", "support", "answering", "customer-7", "model/1")
EVERYBODY = PLACE._replace(subject=None)
WIDTH = 4


class Table:
    """Rows as a store has them: what each is worth in each version; notes what is read."""

    def __init__(self) -> None:
        self.tokens: dict[int, int] = {}
        self.embedded: set[int] = set()
        self.read: list[int] = []

    def put(self, seq: int, tokens: int, *, is_embedded: bool = True) -> None:
        """A row, as it stands from now on."""
        self.tokens[seq] = tokens
        if is_embedded:
            self.embedded.add(seq)

    def load(self, seqs: Sequence[int]) -> list[Column]:
        """What rows say."""
        self.read += seqs
        return [self._column(seq) for seq in seqs]

    def _column(self, seq: int) -> Column:
        vector = packed(np.full(WIDTH, 0.5, dtype=np.float32)) if seq in self.embedded else None
        source, tokens = ("application", "crm-1"), self.tokens[seq]
        return Column(
            seq, UUID(int=seq), "fact", 2, 0.5, seq, tokens, "customer-7", None, None, *source, vector
        )


class Seconds:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The seconds on it."""
        return self.now


def passing(*versions: tuple[int, int]) -> Passing:
    """These rows in these versions."""
    return Passing.of([seq for seq, _ in versions], [version for _, version in versions])


def test_what_was_read_is_not_read_again() -> None:
    """SPEC R1: rows are known by position and version, in whatever selection they pass."""
    cache, table = RowCache(), Table()
    for seq in (1, 2, 3):
        table.put(seq, 10 * seq)
    cache.rows(PLACE, passing((1, 1), (2, 1), (3, 1)), table.load, is_all=True)

    some = cache.rows(PLACE, passing((1, 1), (3, 1)), table.load, is_all=False)

    assert some.tokens.tolist() == [10, 30]
    assert table.read == [1, 2, 3]


def test_a_row_in_another_version_is_read_again() -> None:
    """SPEC L10: what a correction changed is never shown as it was."""
    cache, table = RowCache(), Table()
    table.put(1, 10)
    table.put(2, 20)
    cache.rows(PLACE, passing((1, 1), (2, 1)), table.load, is_all=True)
    table.put(1, 11)

    rows = cache.rows(PLACE, passing((1, 2), (2, 1)), table.load, is_all=True)

    assert rows.tokens.tolist() == [11, 20]
    assert table.read == [1, 2, 1]


def test_what_is_gone_is_let_go_of_with_the_next_look_at_all() -> None:
    """SPEC F1: another node's forgetting leaves nothing here for longer than the next search."""
    cache, table = RowCache(), Table()
    for seq in (1, 2):
        table.put(seq, seq)
    cache.rows(PLACE, passing((1, 1), (2, 1)), table.load, is_all=True)
    kept = cache.size_bytes

    cache.rows(PLACE, passing((2, 1)), table.load, is_all=True)

    assert cache.size_bytes == kept // 2


@pytest.mark.parametrize("is_subject", [True, False])
@pytest.mark.parametrize("place", [PLACE, EVERYBODY])
def test_what_a_write_took_is_let_go_of_with_it(place: Place, *, is_subject: bool) -> None:
    """SPEC F1, F7: nothing of it stays in memory."""
    cache, table = RowCache(), Table()
    table.put(1, 1)
    cache.rows(place, passing((1, 1)), table.load, is_all=True)
    gone = row(created_seq=1)

    cache.let_go([UnindexSubject(gone.tenant, gone.subject) if is_subject else Unindex(gone)])

    assert cache.size_bytes == 0


def test_a_new_memory_takes_nothing_along() -> None:
    """SPEC R1: writing does not make the next recall read everything again."""
    cache, table = RowCache(), Table()
    table.put(1, 1)
    cache.rows(PLACE, passing((1, 1)), table.load, is_all=True)

    cache.let_go([Index(row(created_seq=2, version=1))])

    assert cache.size_bytes > 0


def test_what_was_being_read_while_it_was_taken_is_not_kept() -> None:
    """SPEC F1: a reader with an older look does not bring a forgotten row back."""
    cache, table = RowCache(), Table()
    table.put(1, 1)

    def overtaken(seqs: Sequence[int]) -> list[Column]:
        cache.let_go([UnindexSubject("acme", "customer-7")])
        return table.load(seqs)

    rows = cache.rows(PLACE, passing((1, 1)), overtaken, is_all=True)

    assert rows.tokens.tolist() == [1]
    assert cache.size_bytes == 0


def test_it_holds_no_more_bytes_than_it_may() -> None:
    """The place searched least lately goes first; one that is too large is not kept at all."""
    row_bytes = ROW_BYTES + WIDTH
    cache, table = RowCache(3 * row_bytes), Table()
    for seq in range(1, 8):
        table.put(seq, seq)
    places = [PLACE._replace(subject=name) for name in ("a", "b", "c", "d")]
    for seq, place in enumerate(places[:3], start=1):
        cache.rows(place, passing((seq, 1)), table.load, is_all=True)
    cache.rows(places[0], passing((1, 1)), table.load, is_all=True)
    cache.rows(places[3], passing((4, 1)), table.load, is_all=True)
    table.read.clear()

    cache.rows(places[0], passing((1, 1)), table.load, is_all=True)
    cache.rows(places[1], passing((2, 1)), table.load, is_all=True)
    cache.rows(PLACE, passing((4, 1), (5, 1), (6, 1), (7, 1)), table.load, is_all=True)

    assert table.read == [2, 4, 5, 6, 7]
    assert cache.size_bytes <= 3 * row_bytes


def test_a_vector_that_was_missing_is_looked_for_again_after_a_while() -> None:
    """SPEC R2: another node, or a slow engine, may have made it meanwhile."""
    clock = Seconds()
    cache, table = RowCache(clock=clock), Table()
    table.put(1, 1, is_embedded=False)
    table.put(2, 2)
    both = passing((1, 1), (2, 1))
    first = cache.rows(PLACE, both, table.load, is_all=True).vectors
    table.put(1, 1)
    second = cache.rows(PLACE, both, table.load, is_all=True).vectors
    clock.now += LOOK_AGAIN_SECONDS + 0.1
    third = cache.rows(PLACE, both, table.load, is_all=True).vectors

    found = [[bool(scale) for scale in one.scales] for one in (first, second, third) if one is not None]
    assert found == [[False, True], [False, True], [True, True]]
    assert table.read == [1, 2, 1]


@given(
    st.lists(st.tuples(st.sets(st.integers(1, 8)), st.sets(st.integers(1, 8)), st.booleans()), max_size=12)
)
def test_it_says_what_the_store_says(steps: list[tuple[set[int], set[int], bool]]) -> None:
    """SPEC R1: whatever was changed and asked before, what passes is shown as it stands, and nothing else."""
    cache, table = RowCache(), Table()
    versions = dict.fromkeys(range(1, 9), 1)
    for seq in versions:
        table.put(seq, seq)
    for changed, asked, is_all in steps:
        for seq in changed:
            versions[seq] += 1
            table.put(seq, 100 * versions[seq] + seq)
        rows = cache.rows(
            PLACE, passing(*((seq, versions[seq]) for seq in sorted(asked))), table.load, is_all=is_all
        )
        assert rows.seqs.tolist() == sorted(asked)
        assert rows.tokens.tolist() == [table.tokens[seq] for seq in sorted(asked)]
        assert rows.vectors is not None
        assert len(rows.vectors.steps) == len(asked)


def test_where_vectors_have_come_they_are_looked_for_at_once() -> None:
    """SPEC R2: and what is known already is not read again for it."""
    cache, table = RowCache(clock=Seconds()), Table()
    table.put(1, 1, is_embedded=False)
    table.put(2, 2)
    both = passing((1, 1), (2, 1))
    cache.rows(PLACE, both, table.load, is_all=True)
    table.put(1, 1)

    cache.look_again()
    vectors = cache.rows(PLACE, both, table.load, is_all=True).vectors

    assert vectors is not None
    assert [bool(scale) for scale in vectors.scales] == [True, True]
    assert table.read == [1, 2, 1]

"""What memories are found by: told with the write, or with the index (SPEC R2)."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.core.examples import CLAIM, CONTENT, admitted, event
from tests.core.projected import row

from tenure.core.events import Promoted
from tenure.core.rows import Index, Unindex
from tenure.core.vectors import Vector, packed
from tenure.core.wording import analyse
from tenure.stores.found_by import Finder
from tenure.usecases.embedding_ports import EmbeddingFailed

UNIT: Vector = np.array([0.0, 1.0], dtype=np.float32)


class Engine:
    """An engine that notes what it is asked."""

    model = "noted/1"

    def __init__(self, *, is_immediate: bool = True, is_down: bool = False) -> None:
        self.is_immediate = is_immediate
        self.is_down = is_down
        self.asked: list[list[str]] = []

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The same for every text."""
        self.asked.append(list(texts))
        if self.is_down:
            raise EmbeddingFailed("it is down")
        return [UNIT for _ in texts]

    def query(self, text: str) -> Vector:
        """The same for every question."""
        return self.passages([text])[0]


def test_words_have_the_source_and_vectors_what_was_said_alone() -> None:
    """SPEC R2: a name beside every memory would make all of them mean the same."""
    engine = Engine()

    found = Finder(engine).of(event(admitted()))

    assert found is not None
    assert set(analyse(admitted().source_id)) <= set(found.words)
    assert engine.asked == [[f"{CONTENT}\n{CLAIM.entity}\n{CLAIM.attribute}\n{CLAIM.value}"]]
    assert found.vector == packed(UNIT)


def test_what_is_left_for_later_is_embedded_together() -> None:
    """SPEC R2: one call for all that waits, and what takes something away stays in its place."""
    engine = Engine()
    finder = Finder(engine, embeds_later=True)
    first, second = finder.of(event(admitted())), finder.of(event(admitted(), secret=None))
    before = list(engine.asked)

    done = finder.completed([(Index(row()), first), (Unindex(row()), second), (Index(row()), first)])

    assert before == []
    assert second is None
    assert [len(texts) for texts in engine.asked] == [2]
    assert [found.vector if found is not None else None for _, found in done] == [
        packed(UNIT),
        None,
        packed(UNIT),
    ]
    assert all(found is None or found.unread is None for _, found in done)
    assert finder.completed(done) == done


@pytest.mark.parametrize("embeds_later", [False, True])
@pytest.mark.parametrize(("model", "is_made"), [(Engine.model, True), ("another/1", False)])
def test_a_vector_that_was_made_on_the_way_is_not_made_again(
    model: str, *, is_made: bool, embeds_later: bool
) -> None:
    """SPEC R2: what was embedded to be compared is kept with the memory, if it is of the model in use."""
    engine = Engine()
    finder, given = Finder(engine, embeds_later=embeds_later), packed(-UNIT)
    said = f"{CONTENT}\n{CLAIM.entity}\n{CLAIM.attribute}\n{CLAIM.value}"

    [(_, found)] = finder.completed([(Index(row()), finder.of(event(admitted()), {(model, said): given}))])

    assert found is not None
    assert found.vector == (given if is_made else packed(UNIT))
    assert engine.asked == ([] if is_made else [[said]])
    assert set(analyse(CONTENT)) <= set(found.words)


@pytest.mark.parametrize("embeds_later", [False, True])
@pytest.mark.parametrize("engine", [None, Engine(is_immediate=False), Engine(is_down=True)])
def test_without_a_vector_a_memory_is_found_by_its_words(
    engine: Engine | None, *, embeds_later: bool
) -> None:
    """SPEC R2: no engine, one that is asked later on, or one that fails."""
    finder = Finder(engine, embeds_later=embeds_later)

    [(_, found)] = finder.completed([(Index(row()), finder.of(event(admitted())))])

    assert found is not None
    assert found.vector is None
    assert found.unread is None
    assert set(analyse(CONTENT)) <= set(found.words)


def test_what_says_nothing_new_changes_nothing_of_that() -> None:
    """SPEC R2: a promotion leaves words and vector as they are."""
    assert Finder(Engine()).of(event(Promoted(trust=admitted().trust))) is None

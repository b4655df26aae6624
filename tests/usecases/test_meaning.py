"""By which model questions are asked, and what becomes of one that cannot be asked (SPEC R2)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from tests.clock import START

from tenure.core.boundary_rows import Column, Searched, as_rows
from tenure.core.vectors import Vector, packed
from tenure.usecases.embedding_ports import EmbeddingFailed
from tenure.usecases.meaning import PAUSE, Meaning, Meant

NEW, OLD = "new/1", "old/1"
UNIT: Vector = np.array([1.0, 0.0], dtype=np.float32)


class Engine:
    """An engine that answers the same to everything, or fails; it counts what it is asked."""

    def __init__(self, model: str, *, is_immediate: bool = False) -> None:
        self.model = model
        self.is_immediate = is_immediate
        self.is_down = False
        self.asked = 0

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The same for every text."""
        return [self.query(text) for text in texts]

    def query(self, _text: str) -> Vector:
        """The same for every question."""
        self.asked += 1
        if self.is_down:
            raise EmbeddingFailed("it is down")
        return UNIT


class Store:
    """Three rows, and how many of them have a vector of which model."""

    def __init__(self, **embedded: int) -> None:
        self._embedded = {NEW: embedded.get("new", 0), OLD: embedded.get("old", 0)}
        self.searched: list[str | None] = []

    def __call__(self, model: str | None) -> Searched:
        """The rows, with their vectors of a model."""
        self.searched.append(model)
        found = [
            Column(
                seq, UUID(int=seq), "fact", 2, 0.5, 0, 5, "c", None, None, "application", "crm",
                packed(UNIT) if seq <= self._embedded.get(model or "", 0) else None,
            )
            for seq in (1, 2, 3)
        ]  # fmt: skip
        return Searched(as_rows(found, model), {})


def meant(meaning: Meaning, store: Store, now: datetime = START, *questions: str) -> Meant:
    """What a search comes to."""
    return meaning.search(questions or ("who?",), store, now)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [(3, 0, NEW), (3, 3, NEW), (2, 3, OLD), (2, 1, NEW), (0, 2, OLD), (1, 1, NEW), (0, 0, None)],
)
def test_the_model_that_has_most_of_the_rows_is_asked(new: int, old: int, expected: str | None) -> None:
    """SPEC R2: after a change of the model, the old one serves until the new one covers as much."""
    found = meant(Meaning(Engine(NEW), [Engine(OLD)]), Store(new=new, old=old))

    assert found.model == expected
    assert len(found.vectors) == (1 if expected else 0)
    assert not found.has_failed


def test_without_an_engine_words_alone_are_searched() -> None:
    """SPEC R2: nothing is missing, since nothing was meant to be there."""
    store = Store()

    assert meant(Meaning(), store).model is None
    assert store.searched == [None]


def test_an_engine_that_is_down_is_said_and_left_alone_for_a_while() -> None:
    """SPEC R2: recalls go on by words, and do not each wait for it."""
    engine, store = Engine(NEW), Store(new=3)
    engine.is_down = True
    meaning = Meaning(engine)
    first = meant(meaning, store)
    second = meant(meaning, store, START + PAUSE - timedelta(seconds=1))
    engine.is_down = False
    third = meant(meaning, store, START + PAUSE)

    assert [one.has_failed for one in (first, second, third)] == [True, True, False]
    assert [one.model for one in (first, second, third)] == [None, None, NEW]
    assert engine.asked == 2


def test_the_older_model_stands_in_for_one_that_is_down() -> None:
    """SPEC R2: where it still has vectors."""
    engine = Engine(NEW)
    engine.is_down = True

    found = meant(Meaning(engine, [Engine(OLD)]), Store(new=3, old=3))

    assert found.model == OLD


def test_what_no_index_knows_is_embedded_by_an_engine_that_has_it_at_once() -> None:
    """SPEC R8: a recall of a past; a slow engine is not asked about every text there was."""
    assert Meaning(Engine(NEW, is_immediate=True)).of_past(["a", "b"]) == [packed(UNIT)] * 2
    assert Meaning(Engine(NEW)).of_past(["a"]) is None
    assert Meaning().of_past(["a"]) is None

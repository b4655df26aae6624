"""A start replays nothing, and keeps nobody waiting for a word index that was lost (SPEC E4)."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.stores.engine import SqliteEngine
from tests.stores.sqlite.word_index import found, index_files, open_at
from tests.usecases.asking import AGENT, BOT, PURPOSE, TENANT, proposal, written

from tenure.core.retrieval import Filter
from tenure.engines.embedding.static import shipped_table
from tenure.stores.sqlite import indexing, rebuilding, store
from tenure.usecases.evidence import verify
from tenure.usecases.remembering import REMEMBER

SECONDS_MAX = 20
MODEL = shipped_table().model
EVERYBODY = Filter(tenant=TENANT, agent=AGENT, purpose=PURPOSE, now=1)


class Gate:
    """Holds a catching up of the word index back until it is opened."""

    def __init__(self, catch_up: Callable[..., None]) -> None:
        self._catch_up = catch_up
        self.begun = threading.Event()
        self.may_go_on = threading.Event()
        self.looks = 0

    def __call__(self, *given: object, **named: object) -> None:
        """Catch up, once the gate is open."""
        self.looks += 1
        self.begun.set()
        assert self.may_go_on.wait(SECONDS_MAX)
        self._catch_up(*given, **named)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A few events are far behind already, and the background waits at the gate."""
    held = Gate(rebuilding.catch_up)
    monkeypatch.setattr(store, "BEHIND_MAX", 3)
    monkeypatch.setattr(indexing, "catch_up", held)
    return held


def lost(folder: Path) -> None:
    """A store of six memories whose word index was deleted."""
    with open_at(folder) as opened:
        for word in ("giraffe", "lion", "zebra", "okapi", "quokka", "numbat"):
            written(opened.pipeline, f"The {word} has a name")
    for file in index_files(folder):
        file.unlink()


def test_a_store_opens_at_once_and_the_first_recall_waits_for_the_words(folder: Path, gate: Gate) -> None:
    """SPEC E4, R1: the lost index is built in the background; no answer comes without it."""
    lost(folder)
    answers: list[list[str | None]] = []
    with open_at(folder) as opened:
        assert gate.begun.wait(SECONDS_MAX)
        assert verify(opened.pipeline, "acme").holds
        written(opened.pipeline, "The wombat has a name")
        asking = threading.Thread(target=lambda: answers.append(found(opened, "zebra")))
        asking.start()
        assert answers == []
        gate.may_go_on.set()
        asking.join(SECONDS_MAX)

        assert answers == [["The zebra has a name"]]
        assert found(opened, "wombat") == ["The wombat has a name"]


def test_writers_never_wait_for_the_catching_up(
    folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E4: what they would leave is in the log, and is read from there by another look."""
    monkeypatch.setattr(indexing, "WAITING_MAX", 2)
    lost(folder)
    with open_at(folder) as opened:
        assert gate.begun.wait(SECONDS_MAX)
        opened.pipeline.run_many(REMEMBER, BOT, [(proposal(f"Tree {n} grows"), None) for n in range(9)])
        with opened.store.reading() as reading:
            assert reading.at_hand(EVERYBODY, MODEL, most=1_000) is None
        gate.may_go_on.set()

        assert len(found(opened, "tree")) == 9
        assert gate.looks >= 2
        with opened.store.reading() as reading:
            rows = reading.at_hand(EVERYBODY, MODEL, most=1_000)
        assert rows is not None
        assert len(rows.ids) == 15


def test_a_store_is_closed_before_its_index_has_caught_up_and_goes_on_next_time(
    folder: Path, gate: Gate
) -> None:
    """SPEC E4, E5: closing does not wait for a long catching up, and nothing is lost."""
    lost(folder)
    node = SqliteEngine(folder).open()
    assert gate.begun.wait(SECONDS_MAX)
    closing = threading.Thread(target=node.close)
    closing.start()
    gate.may_go_on.set()
    closing.join(SECONDS_MAX)
    assert not closing.is_alive()

    with open_at(folder) as opened:
        assert found(opened, "numbat") == ["The numbat has a name"]


def test_an_index_that_is_a_little_behind_is_caught_up_while_opening(
    folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E4: as after a crash; the background has nothing to do."""
    lost(folder)
    monkeypatch.setattr(store, "BEHIND_MAX", 6)

    with open_at(folder) as opened:
        assert found(opened, "lion") == ["The lion has a name"]
        assert gate.looks == 0


def test_an_ordinary_start_replays_no_event(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E4: the views were written with the events; they are the snapshot."""
    with open_at(folder) as opened:
        written(opened.pipeline)

    def never(*_given: object, **_named: object) -> None:
        raise AssertionError("a start opened an event of the log")

    monkeypatch.setattr("tenure.stores.replaying.open_event", never)
    with open_at(folder) as opened:
        assert len(found(opened, "phone")) == 1

"""The rounds that embed: one after the other while something is left, never quietly dead (SPEC R2, T8)."""

import threading
from typing import cast

from tenure.entrypoints.embedding_thread import EmbeddingThread
from tenure.usecases.embedding import Embedded, Embedding

PATIENCE_SECONDS = 20.0


class Rounds:
    """Rounds that go as they are told, and say when all were asked for."""

    def __init__(self, *told: Embedded | Exception) -> None:
        self.ended = threading.Event()
        self._told = list(told)

    def round(self) -> Embedded:
        """The next of them."""
        one = self._told.pop(0)
        if not self._told:
            self.ended.set()
        if isinstance(one, Exception):
            raise one
        return one


def ran(rounds: Rounds, **chosen: float) -> tuple[list[Embedded], list[Exception]]:
    """What the thread told of these rounds."""
    done: list[Embedded] = []
    faults: list[Exception] = []
    thread = EmbeddingThread(
        cast("Embedding", rounds), on_round=done.append, on_failure=faults.append, **chosen
    )
    thread.start()
    assert rounds.ended.wait(PATIENCE_SECONDS)
    thread.stop()
    return done, faults


def test_rounds_follow_at_once_while_something_is_left() -> None:
    """SPEC R2: however long the pause is."""
    more, last = Embedded(embedded=2, more=True), Embedded()

    assert ran(Rounds(more, more, last), pause_seconds=86_400.0) == ([more, more, last], [])


def test_a_fault_is_told_and_the_next_round_comes() -> None:
    """SPEC T8: as when the database was away for a moment."""
    fault = OSError("away")

    assert ran(Rounds(fault, Embedded()), pause_seconds=0.001) == ([Embedded()], [fault])

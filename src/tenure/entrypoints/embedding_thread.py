"""The rounds that embed what has no vector yet, in a thread of their own: an engine may take long."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from tenure.entrypoints.rounds_thread import RoundsThread
from tenure.usecases.embedding import Embedded, Embedding

PAUSE_SECONDS: Final = 1.0
LOOKS_SECONDS: Final = 30.0
"""The pause with an engine that embeds with the write: it finds only what an earlier engine left."""
PAUSES_PER_ROUND: Final = 20
"""However many tenants there are to look through, it is at most a twentieth of the time that is spent so."""


class EmbeddingThread(RoundsThread):
    """Runs rounds until nothing is left, waits, and looks again; a fault is told and tried again."""

    def __init__(
        self,
        embedding: Embedding,
        *,
        pause_seconds: float = PAUSE_SECONDS,
        on_round: Callable[[Embedded], None] = lambda _done: None,
        on_failure: Callable[[Exception], None] = lambda _fault: None,
    ) -> None:
        self._embedding = embedding
        self._pause_seconds = pause_seconds
        self._on_round = on_round
        self._on_failure = on_failure
        super().__init__(self._embed, name="tenure-embedding")

    def _embed(self) -> float:
        """One round; gives back how long to wait for the next."""
        began = monotonic()
        try:
            done = self._embedding.round()
        except Exception as fault:  # noqa: BLE001 -- no fault may end the thread; it is told
            self._on_failure(fault)
            done = Embedded()
        else:
            self._on_round(done)
        return 0 if done.more else max(self._pause_seconds, PAUSES_PER_ROUND * (monotonic() - began))

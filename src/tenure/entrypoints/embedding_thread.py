"""The rounds that embed what has no vector yet, in a thread of their own: an engine may take long."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

from tenure.usecases.embedding import Embedded, Embedding

STOP_SECONDS_MAX: Final = 10.0
PAUSE_SECONDS: Final = 1.0
LOOKS_SECONDS: Final = 30.0
"""The pause with an engine that embeds with the write: it finds only what an earlier engine left."""
PAUSES_PER_ROUND: Final = 20
"""However many tenants there are to look through, it is at most a twentieth of the time that is spent so."""


class EmbeddingThread:
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
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tenure-embedding", daemon=True)

    def start(self) -> None:
        """Begin at once, beside whatever else starts."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round in progress; the store may be closed then."""
        self._ending.set()
        self._thread.join(STOP_SECONDS_MAX)

    def _run(self) -> None:
        while not self._ending.wait(self._round()):
            pass

    def _round(self) -> float:
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

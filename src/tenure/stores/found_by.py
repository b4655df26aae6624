"""What a memory is found by: the words of its text, its key, and the meaning of the text (SPEC R2).

All of it is made from what was said, so it lies with the search data: never in the log or in a backup,
dropped with the memory, and made anew from the log.
"""

from collections import Counter
from typing import NamedTuple

from tenure.core import views
from tenure.core.events import Event
from tenure.core.rows import SearchChange
from tenure.core.vectors import packed
from tenure.core.wording import Language, analyse, analyser
from tenure.usecases.embedding_ports import Embedder, EmbeddingFailed


class FoundBy(NamedTuple):
    """What one memory is found by; no vector where the engine is not one that computes with the write."""

    words: Counter[str]
    key: str | None = None
    vector: bytes | None = None


Found = tuple[SearchChange, FoundBy | None]
"""A change to the search data, and what the memory is found by from now on."""

NOTHING = FoundBy(Counter())


class Finder:
    """Tells what memories are found by, with the engine that computes with the write, if there is one."""

    def __init__(self, embedder: Embedder | None = None, language: Language = Language.ENGLISH) -> None:
        self._language = language
        self._embedder = embedder if embedder is not None and embedder.is_immediate else None

    @property
    def analyser(self) -> str:
        """What makes the words that it gives: an index that was made by another has to be made anew."""
        return analyser(self._language)

    @property
    def model(self) -> str | None:
        """The model of the vectors that it gives."""
        return self._embedder.model if self._embedder is not None else None

    def of(self, event: Event) -> FoundBy | None:
        """What the event's memory is found by, where the event says something new of that."""
        text = views.indexed_text(event)
        if text is None:
            return None
        key = event.secret.key if event.secret is not None else None
        return FoundBy(Counter(analyse(text, self._language)), key, self._vector(views.meant_text(event)))

    def _vector(self, text: str | None) -> bytes | None:
        if self._embedder is None or text is None:
            return None
        try:
            return packed(self._embedder.passages([text])[0])
        except EmbeddingFailed:
            # It is found by its words; whoever looks for what has no vector tries again.
            return None

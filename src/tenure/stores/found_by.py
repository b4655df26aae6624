"""What a memory is found by: the words of its text, its key, and the meaning of the text (SPEC R2).

All of it is made from what was said, so it lies with the search data: never in the log or in a backup,
dropped with the memory, and made anew from the log.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tenure.core import views
from tenure.core.events import Event
from tenure.core.rows import SearchChange
from tenure.core.vectors import packed
from tenure.core.wording import Language, analyse, analyser
from tenure.usecases.embedding_ports import Embedder, EmbeddingFailed, MadeVectors


class FoundBy(NamedTuple):
    """What one memory is found by; no vector where the engine is not one that computes with the write."""

    words: Counter[str]
    key: str | None = None
    vector: bytes | None = None
    unread: str | None = None
    """What is still to be embedded, where that is done with the index and not with the write."""


Found = tuple[SearchChange, FoundBy | None]
"""A change to the search data, and what the memory is found by from now on."""

NOTHING = FoundBy(Counter())


class Finder:
    """Tells what memories are found by, with the engine that computes with the write, if there is one."""

    def __init__(
        self,
        embedder: Embedder | None = None,
        language: Language = Language.ENGLISH,
        *,
        embeds_later: bool = False,
    ) -> None:
        self._language = language
        self._embeds_later = embeds_later
        self._embedder = embedder if embedder is not None and embedder.is_immediate else None

    @property
    def analyser(self) -> str:
        """What makes the words that it gives: an index that was made by another has to be made anew."""
        return analyser(self._language)

    @property
    def model(self) -> str | None:
        """The model of the vectors that it gives."""
        return self._embedder.model if self._embedder is not None else None

    def of(self, event: Event, vectors: MadeVectors = MappingProxyType({})) -> FoundBy | None:
        """What the event's memory is found by, where the event says something new of that.

        Where its vector was made on the way here, it stands among the ``vectors``.
        """
        text = views.indexed_text(event)
        if text is None:
            return None
        key = event.secret.key if event.secret is not None else None
        words, unread = Counter(analyse(text, self._language)), views.meant_text(event)
        vector = vectors.get((self.model or "", unread or ""))
        if vector is not None:
            return FoundBy(words, key, vector)
        found = FoundBy(words, key, unread=unread)
        return found if self._embeds_later else self._embedded([found])[0]

    def completed(self, changes: Iterable[Found]) -> list[Found]:
        """The changes with the vectors that were left for later."""
        every = list(changes)
        waiting = [
            at for at, (_, found) in enumerate(every) if found is not None and found.unread is not None
        ]
        for at, found in zip(
            waiting, self._embedded([every[at][1] or NOTHING for at in waiting]), strict=True
        ):
            every[at] = (every[at][0], found)
        return every

    def _embedded(self, found: Sequence[FoundBy]) -> list[FoundBy]:
        if self._embedder is None or not found:
            return [one._replace(unread=None) for one in found]
        try:
            vectors = self._embedder.passages([one.unread or "" for one in found])
        except EmbeddingFailed:
            # They are found by their words; whoever looks for what has no vector tries again.
            return [one._replace(unread=None) for one in found]
        return [
            one._replace(unread=None, vector=packed(vector))
            for one, vector in zip(found, vectors, strict=True)
        ]

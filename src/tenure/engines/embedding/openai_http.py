"""Any service that speaks the embeddings call of OpenAI: OpenAI itself, Ollama, vLLM and others.

    POST URL        {"model": "…", "input": ["…", "…"]}
    200             {"data": [{"index": 0, "embedding": [0.1, …]}, {"index": 1, "embedding": […]}]}

The service is told the texts and nothing else. Where it refuses one text of many, as too long, that one has a
vector of zeros and is found by its words; where it refuses everything, the call failed. No reason that is
given holds the address, the key or a text.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from tenure.core.vectors import Vector
from tenure.engines.embedding.vectors_given import unit_vectors
from tenure.engines.json_http import JsonHttp, NotAnswered
from tenure.usecases.embedding_ports import EmbeddingFailed

NAME: Final = "openai"
ANSWER_BYTES_BESIDE: Final = 65_536
BYTES_PER_NUMBER_MAX: Final = 32
PROBE: Final = "text"
"""What no service refuses for itself; asked when it refused another text, to tell the two apart."""
_REFUSING: Final = frozenset({400, 413, 422})

_log: Final = logging.getLogger("tenure.embedding")


class _One(msgspec.Struct, frozen=True):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct, frozen=True):
    data: list[_One]


class _Question(msgspec.Struct, frozen=True, omit_defaults=True):
    model: str
    input: list[str]
    dimensions: int | None = None


class _Manner(NamedTuple):
    """How texts of one use are asked about."""

    prefix: str
    seconds_max: float


class OpenAiEmbedder:
    """Asks the service, some texts at a time; any number of threads may ask at once."""

    is_immediate = False

    def __init__(
        self,
        url: str,
        *,
        model: str,
        dimensions: int,
        key: str | None = None,
        asks_for_dimensions: bool = False,
        version: str = "1",
        batch_size: int = 32,
        seconds_max: float = 30.0,
        query_seconds_max: float = 2.0,
        text_characters_max: int = 8_000,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self.model = f"{NAME}:{model}-{dimensions}/{version}"
        self._asked_model = model
        self._dimensions = dimensions
        self._asks_for = dimensions if asks_for_dimensions else None
        self._batch_size = batch_size
        self._text_characters_max = text_characters_max
        self._query = _Manner(query_prefix, query_seconds_max)
        self._passage = _Manner(passage_prefix, seconds_max)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        numbers_max = batch_size * dimensions * BYTES_PER_NUMBER_MAX
        self._http = JsonHttp(embeddings_address(url), answer_bytes_max=ANSWER_BYTES_BESIDE + numbers_max)

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of memories' texts; one that the service refuses has zeros. Raises EmbeddingFailed."""
        return self._vectors(texts, self._passage)

    def query(self, text: str) -> Vector:
        """The vector of a question. Raises EmbeddingFailed."""
        (vector,) = self._vectors([text], self._query)
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _vectors(self, texts: Sequence[str], manner: _Manner) -> list[Vector]:
        vectors = [self._zeros() for _ in texts]
        # Services refuse an empty text, and nothing is known of it anyway.
        said = [
            (at, manner.prefix + _sendable(text[: self._text_characters_max]))
            for at, text in enumerate(texts)
            if text.strip()
        ]
        for begin in range(0, len(said), self._batch_size):
            batch = said[begin : begin + self._batch_size]
            found = self._those_accepted([text for _, text in batch], manner.seconds_max)
            for (at, _), vector in zip(batch, found, strict=True):
                vectors[at] = vector
        return vectors

    def _those_accepted(self, texts: list[str], seconds_max: float) -> Iterator[Vector]:
        """The vectors of these texts; what is refused among many is looked for by halves."""
        try:
            yield from self._ask(texts, seconds_max)
        except _Refused:
            if len(texts) > 1:
                middle = len(texts) // 2
                yield from self._those_accepted(texts[:middle], seconds_max)
                yield from self._those_accepted(texts[middle:], seconds_max)
                return
            self._ask([PROBE], seconds_max)
            _log.warning("%s refused a text of %d characters", self.model, len(texts[0]))
            yield self._zeros()

    def _ask(self, texts: list[str], seconds_max: float) -> list[Vector]:
        question = _Question(self._asked_model, texts, self._asks_for)
        try:
            (said,) = self._http.post([msgspec.json.encode(question)], self._headers, seconds_max=seconds_max)
        except NotAnswered as fault:
            failed = _Refused if fault.status in _REFUSING else EmbeddingFailed
            raise failed(f"{self.model} did not answer: {fault}") from None
        try:
            answer = msgspec.json.decode(said, type=_Answer)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise EmbeddingFailed(f"{self.model} answered in another shape than documented") from None
        return unit_vectors(_in_order(answer.data), count=len(texts), dimensions=self._dimensions)

    def _zeros(self) -> Vector:
        return np.zeros(self._dimensions, dtype=np.float32)


class _Refused(EmbeddingFailed):
    """The service answers, and will not take what it was asked."""


def embeddings_address(url: str) -> str:
    """Where to ask, whether the address was given with `/embeddings` or, as clients take it, without."""
    base = url.rstrip("/")
    return base if re.search(r"/embeddings(\?|$)", base) else f"{base}/embeddings"


def _sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which no JSON can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _in_order(data: list[_One]) -> list[list[float]]:
    """The vectors by the places that the service names, or in its order where it names none."""
    places = [one.index for one in data]
    if all(place is None for place in places):
        return [one.embedding for one in data]
    by_place = {one.index: one.embedding for one in data}
    if set(by_place) != set(range(len(data))):
        raise EmbeddingFailed("the service's answer does not say which vector is whose")
    return [by_place[place] for place in range(len(data))]

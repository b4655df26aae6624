"""Models in folders of this machine, by libraries that are installed: sentence-transformers and fastembed.

Both would fetch a model that they do not find; they are given a folder and told to look nowhere else.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from tenure.core.vectors import Vector
from tenure.engines.embedding.unfit import Unfit, missing_extra
from tenure.engines.embedding.vectors_given import unit_vectors
from tenure.usecases.embedding_ports import EmbeddingFailed

SENTENCE_TRANSFORMERS: Final = "sentence-transformers"
FASTEMBED: Final = "fastembed"
_PROBE: Final = "text"

Encode = Callable[[list[str]], Any]
"""What a library does with texts: rows of numbers, one for each."""


class LibraryEmbedder:
    """A model of a library; one text after the other, whoever asks, since few libraries say that two may."""

    is_immediate = False

    def __init__(
        self, name: str, version: str, *, query: Encode, passages: Encode, text_characters_max: int
    ) -> None:
        self._turn = threading.Lock()
        self._query, self._passages = query, passages
        self._text_characters_max = text_characters_max
        self.model = name
        self._dimensions = len(np.asarray(self._computed(passages, [_PROBE]))[0])
        self.model = f"{name}-{self._dimensions}/{version}"

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of memories' texts. Raises EmbeddingFailed."""
        return self._vectors(self._passages, texts)

    def query(self, text: str) -> Vector:
        """The vector of a question. Raises EmbeddingFailed."""
        (vector,) = self._vectors(self._query, [text])
        return vector

    def _vectors(self, encode: Encode, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        given = self._computed(encode, [self._readable(text) for text in texts])
        vectors = unit_vectors(given, count=len(texts), dimensions=self._dimensions)
        return [
            vector if text.strip() else np.zeros_like(vector)
            for vector, text in zip(vectors, texts, strict=True)
        ]

    def _readable(self, text: str) -> str:
        """What the libraries read without an error: no half of a surrogate pair."""
        return text[: self._text_characters_max].encode("utf-8", "replace").decode("utf-8")

    def _computed(self, encode: Encode, texts: list[str]) -> Any:
        try:
            with self._turn:
                return encode(texts)
        except Exception as fault:  # noqa: BLE001
            # Whatever a model's own code raises; its text may quote what it was given.
            raise EmbeddingFailed(f"{self.model} could not compute ({type(fault).__name__})") from None


def sentence_transformers(
    folder: str,
    *,
    version: str,
    batch_size: int,
    text_characters_max: int,
    query_prefix: str = "",
    passage_prefix: str = "",
) -> LibraryEmbedder:
    """A model of sentence-transformers in a folder. Raises Unfit."""
    path = _existing(folder, SENTENCE_TRANSFORMERS)
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 -- an extra
    except ImportError:
        raise missing_extra(SENTENCE_TRANSFORMERS, SENTENCE_TRANSFORMERS) from None
    model = _opened(
        lambda: SentenceTransformer(str(path), device="cpu", local_files_only=True),
        SENTENCE_TRANSFORMERS,
        path,
    )

    def encode(texts: list[str], prefix: str) -> Any:
        said = [prefix + text for text in texts]
        return model.encode(said, batch_size=batch_size, convert_to_numpy=True, show_progress_bar=False)

    return LibraryEmbedder(
        f"{SENTENCE_TRANSFORMERS}:{path.name}",
        version,
        query=lambda texts: encode(texts, query_prefix),
        passages=lambda texts: encode(texts, passage_prefix),
        text_characters_max=text_characters_max,
    )


def fastembed(
    folder: str, *, model_name: str, version: str, batch_size: int, text_characters_max: int
) -> LibraryEmbedder:
    """A model of fastembed, by its name there, in a folder. Raises Unfit."""
    path = _existing(folder, FASTEMBED)
    try:
        from fastembed import TextEmbedding  # noqa: PLC0415 -- an extra
    except ImportError:
        raise missing_extra(FASTEMBED, FASTEMBED) from None
    model = _opened(
        lambda: TextEmbedding(
            model_name, specific_model_path=str(path), local_files_only=True, threads=1, cuda=False
        ),
        FASTEMBED,
        path,
    )
    return LibraryEmbedder(
        f"{FASTEMBED}:{model_name}",
        version,
        query=lambda texts: list(model.query_embed(texts)),
        passages=lambda texts: list(model.passage_embed(texts, batch_size=batch_size)),
        text_characters_max=text_characters_max,
    )


def _existing(folder: str, library: str) -> Path:
    path = Path(folder).resolve()
    if not path.is_dir():
        raise Unfit(f"{folder} is no folder; put a model of {library} there")
    return path


def _opened(open_model: Callable[[], Any], library: str, path: Path) -> Any:
    try:
        return open_model()
    except Exception as fault:
        raise Unfit(f"{library} cannot open a model in {path} ({type(fault).__name__})") from fault

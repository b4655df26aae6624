"""What turns texts into vectors, as the use cases see it: an engine that computes, or one that is asked."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from tenure.core.vectors import Vector

MadeVectors: TypeAlias = Mapping[tuple[str, str], bytes]
"""Packed vectors by model and text, of what is on its way into a store: none is made twice."""


class EmbeddingFailed(Exception):
    """The engine gave no vectors, or such as cannot be used; the message names why and holds no text."""


class Embedder(Protocol):
    """One model. Vectors of one model are only ever compared with vectors of the same (SPEC R2)."""

    @property
    def model(self) -> str:
        """The model's name and version, as it stands beside each of its vectors."""

    @property
    def is_immediate(self) -> bool:
        """Whether it takes about a tenth of a millisecond a text: then it computes with the write."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length 1, or of zeros where nothing is known, for each text.

        Raises EmbeddingFailed.
        """

    def query(self, text: str) -> Vector:
        """The vector of a question. Raises EmbeddingFailed."""

"""The embedder of the package: one vector for each piece of a word, and a text is the mean of its pieces.

The table was distilled from a larger model by `make distill-table`; how much a piece weighs is in the length
of its vector. It is mapped, not read: opening costs nothing, and processes share its memory.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np

from tenure.core.vectors import Matrix, Vector
from tenure.engines.embedding.unfit import Unfit
from tenure.engines.embedding.word_pieces import WordPieces
from tenure.usecases.embedding_ports import EmbeddingFailed

MODEL: Final = "static-minilm-256/1"
CHARACTERS_READ_MAX: Final = 32_768
"""A mean over more says less, and the words of a longer text find it."""
DIMENSIONS: Final = 256
FILES: Final = ("steps.npy", "scales.npy", "vocabulary.txt")
TABLE: Final = Path(__file__).parent / "static_minilm_256"


class BrokenTable(Unfit, EmbeddingFailed):
    """The files of the table are not those of this package."""


class _Table(NamedTuple):
    """A table as it is used: the pieces of words that it knows, and a row of steps and a scale for each."""

    pieces: WordPieces
    steps: Matrix
    scales: Vector


class StaticEmbedder:
    """Computes here, in a twentieth of a millisecond a text; safe for any number of threads.

    The table is opened with the first text. Raises BrokenTable where a file of it is missing.
    """

    model = MODEL
    is_immediate = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not all((folder / name).is_file() for name in FILES):
            raise BrokenTable("A file of the local embedder's table is missing; install Tenure again.")

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length 1, or of zeros where no piece is known, for each text."""
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Vector:
        """The vector of a question, which is read as any text is."""
        table = self._table
        numbers = np.array(table.pieces.numbers(text[:CHARACTERS_READ_MAX]), dtype=np.intp)
        total = table.scales.take(numbers) @ table.steps.take(numbers, axis=0).astype(np.float32)
        length = np.sqrt(total @ total)
        return cast("Vector", total / length if length else total)

    @cached_property
    def _table(self) -> _Table:
        try:
            vocabulary = vocabulary_of(self._folder)
            # A plain view, since the class of mapped arrays costs at every use.
            steps = np.load(self._folder / "steps.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
            scales = np.load(self._folder / "scales.npy", allow_pickle=False)
        except (OSError, ValueError) as fault:
            raise BrokenTable("The local embedder's table cannot be read; install Tenure again.") from fault
        rows = len(vocabulary)
        if steps.shape != (rows, DIMENSIONS) or steps.dtype != np.int8 or scales.shape != (rows,):
            raise BrokenTable("The files of the local embedder do not fit together; install Tenure again.")
        return _Table(WordPieces(vocabulary), steps, scales)


@cache
def shipped_table() -> StaticEmbedder:
    """The embedder of this package, one for the process. Raises BrokenTable."""
    return StaticEmbedder(TABLE)


def vocabulary_of(folder: Path) -> list[str]:
    """The pieces of words that a table has a row for, in the order of its rows."""
    return (folder / "vocabulary.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")

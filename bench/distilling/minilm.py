"""all-MiniLM-L6-v2 in numpy, from its published weights: what it makes of each piece of a word alone.

In double precision, so that another machine's order of additions changes no step of the table that comes of
it. Nothing but numpy is needed.
"""

import json
import math
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = dict[str, Numbers]

LAYERS: Final = 6
HEADS: Final = 12
EPSILON: Final = 1e-12
BEGIN, END = 101, 102
BATCH: Final = 512
_LENGTH_BYTES: Final = 8


def read_weights(file: Path) -> Weights:
    """The tensors of a safetensors file: a length, a head in JSON, then the numbers."""
    raw = file.read_bytes()
    begin = _LENGTH_BYTES + int.from_bytes(raw[:_LENGTH_BYTES], "little")
    head, numbers = json.loads(raw[_LENGTH_BYTES:begin]), memoryview(raw)[begin:]
    return {
        name: np.frombuffer(numbers, "<f4", math.prod(one["shape"]), one["data_offsets"][0])
        .reshape(one["shape"])
        .astype(np.float64)
        for name, one in head.items()
        if name != "__metadata__" and one["dtype"] == "F32"
    }


def alone(weights: Weights, count: int) -> Numbers:
    """The mean of the last layer for each piece between the model's two marks, one row each."""
    rows = [
        _mean(weights, np.array([[BEGIN, piece, END] for piece in range(at, min(at + BATCH, count))]))
        for at in range(0, count, BATCH)
    ]
    return np.concatenate(rows)


def _mean(weights: Weights, pieces: npt.NDArray[np.int64]) -> Numbers:
    states = weights["embeddings.word_embeddings.weight"][pieces]
    states = states + weights["embeddings.position_embeddings.weight"][: pieces.shape[1]]
    states = states + weights["embeddings.token_type_embeddings.weight"][0]
    states = _normed(weights, "embeddings.LayerNorm", states)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        attended = _linear(weights, f"{name}.attention.output.dense", _attended(weights, name, states))
        states = _normed(weights, f"{name}.attention.output.LayerNorm", attended + states)
        widened = _gelu(_linear(weights, f"{name}.intermediate.dense", states))
        narrowed = _linear(weights, f"{name}.output.dense", widened)
        states = _normed(weights, f"{name}.output.LayerNorm", narrowed + states)
    mean: Numbers = states.mean(axis=1)
    return mean


def _attended(weights: Weights, name: str, states: Numbers) -> Numbers:
    count, length, width = states.shape
    query, key, value = (
        _linear(weights, f"{name}.attention.self.{part}", states)
        .reshape(count, length, HEADS, width // HEADS)
        .transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(width // HEADS)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    together: Numbers = (shares @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
    return together


def _linear(weights: Weights, name: str, states: Numbers) -> Numbers:
    flat = states.reshape(-1, states.shape[-1]) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return flat.reshape(*states.shape[:-1], -1)


def _normed(weights: Weights, name: str, states: Numbers) -> Numbers:
    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
    normed: Numbers = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return normed


def _gelu(numbers: Numbers) -> Numbers:
    """By an approximation of the error function that is right to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = np.abs(numbers) / math.sqrt(2)
    share = 1 / (1 + 0.3275911 * size)
    series = np.zeros_like(share)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + factor) * share
    error = np.copysign(1 - series * np.exp(-size * size), numbers)
    gelu: Numbers = numbers * (1 + error) / 2
    return gelu

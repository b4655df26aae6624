"""Vectors as they are kept: one byte a dimension, and one scale for all of them. Pure.

A vector of length 1 loses less than a thousandth of a cosine by this, and takes a quarter of the room.
"""

import struct
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]
Matrix: TypeAlias = npt.NDArray[np.int8]

_STEPS = 127
_SCALE = struct.Struct("<f")
_SCALE_BYTES = _SCALE.size


def packed(vector: Vector) -> bytes:
    """The vector as bytes: its scale (float32, little-endian), then a signed byte for each dimension."""
    scale = np.float32(np.abs(vector).max(initial=0.0) / _STEPS)
    steps = np.rint(vector / scale) if scale else np.zeros_like(vector)
    return _SCALE.pack(scale) + steps.astype(np.int8).tobytes()


def steps_of(packed_vector: bytes) -> Matrix:
    """The steps of one packed vector, as a matrix of one row."""
    return np.frombuffer(packed_vector, dtype=np.int8, offset=_SCALE_BYTES).reshape(1, -1)


def unpacked_or_zeros(rows: Sequence[bytes | None]) -> tuple[Matrix, Vector]:
    """The same, with zeros and a scale of 0 where a row has no vector, or one of another width."""
    size = max((len(one) for one in rows if one is not None), default=_SCALE_BYTES)
    nothing = bytes(size)
    return unpacked([nothing if one is None or len(one) != size else one for one in rows])


def unpacked(rows: Sequence[bytes]) -> tuple[Matrix, Vector]:
    """Packed vectors of one model as a matrix of steps, one row each, and their scales."""
    width = len(rows[0]) if rows else _SCALE_BYTES
    raw = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), width)
    scales = raw[:, :_SCALE_BYTES].copy().view("<f4").reshape(-1).astype(np.float32)
    return raw[:, _SCALE_BYTES:].view(np.int8), scales

"""The rows that passed the hard filters, as ranking takes them: one array a column (SPEC R1). Pure values."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from tenure.core.identity import SourceType
from tenure.core.vectors import Matrix, Vector, unpacked_or_zeros
from tenure.core.vocabulary import Kind

Integers: TypeAlias = npt.NDArray[np.int64]
Scores: TypeAlias = npt.NDArray[np.float64]
Sorts: TypeAlias = npt.NDArray[np.uint8]

SORTS: Final = tuple(product(Kind, SourceType))
"""Every kind with every type of source: what decides how fast a memory is doubted (SPEC T1)."""
_SORT_NUMBERS: Final = {(kind.value, source_type.value): at for at, (kind, source_type) in enumerate(SORTS)}

NO_THREAD = -1
NO_POSITION = -1


class Vectors(NamedTuple):
    """The vectors of one model, one row for each row of a boundary; a scale of 0 says that one is missing."""

    model: str
    steps: Matrix
    scales: Vector


class Rows(NamedTuple):
    """The rows that passed, in the order in which they were written; times in microseconds since 1970 UTC."""

    seqs: Integers
    """Where each memory's first event lies in the log: ascending, each once."""
    ids: tuple[UUID, ...]
    kinds: tuple[str, ...]
    trusts: Integers
    confidences: Scores
    written_at: Integers
    tokens: Integers
    threads: Integers
    """A number for each thread among these rows, NO_THREAD where a memory names none."""
    positions: Integers
    """Where in its thread a memory stood, NO_POSITION where that is not known."""
    sources: Integers
    """A number for the source of each row: equal for equal type and id."""
    sorts: Sorts
    """Where each row's kind and type of source stand in SORTS."""
    vectors: Vectors | None = None


class Postings(NamedTuple):
    """One term of a question, the rows that passed and that it stands in, and how often in each."""

    term: str
    seqs: Integers
    frequencies: Integers


class Searched(NamedTuple):
    """What a boundary has for some questions: every row that passed, and where the questions' terms stand."""

    rows: Rows
    postings: Mapping[str, Postings]


class Column(NamedTuple):
    """One row as a store has it, before it becomes part of the columns."""

    seq: int
    id: UUID
    kind: str
    trust: int
    confidence: float
    written_at: int
    tokens: int
    subject: str
    thread: str | None
    position: int | None
    source_type: str
    source_id: str
    vector: bytes | None


def place_number(*names: str) -> int:
    """A number for a name within others, the same everywhere; two names share one as good as never."""
    digest = hashlib.blake2b("\x1f".join(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def as_rows(found: Sequence[Column], model: str | None) -> Rows:
    """The rows as columns, in the order in which they were written; with ``model``, their vectors in it."""
    found = sorted(found)
    return Rows(
        seqs=_integers(one.seq for one in found),
        ids=tuple(one.id for one in found),
        kinds=tuple(one.kind for one in found),
        trusts=_integers(one.trust for one in found),
        confidences=np.array([one.confidence for one in found], dtype=np.float64),
        written_at=_integers(one.written_at for one in found),
        tokens=_integers(one.tokens for one in found),
        threads=_integers(
            NO_THREAD if one.thread is None else place_number(one.subject, one.thread) for one in found
        ),
        positions=_integers(NO_POSITION if one.position is None else one.position for one in found),
        sources=_integers(place_number(one.source_type, one.source_id) for one in found),
        sorts=np.array([_SORT_NUMBERS[one.kind, one.source_type] for one in found], dtype=np.uint8),
        vectors=None if model is None else _vectors([one.vector for one in found], model),
    )


def taken(rows: Rows, at: Integers) -> Rows:
    """Those of the rows that stand at these places, in this order."""
    places = at.tolist()
    vectors = rows.vectors
    return Rows(
        seqs=rows.seqs[at],
        ids=tuple(rows.ids[place] for place in places),
        kinds=tuple(rows.kinds[place] for place in places),
        trusts=rows.trusts[at],
        confidences=rows.confidences[at],
        written_at=rows.written_at[at],
        tokens=rows.tokens[at],
        threads=rows.threads[at],
        positions=rows.positions[at],
        sources=rows.sources[at],
        sorts=rows.sorts[at],
        vectors=None if vectors is None else Vectors(vectors.model, vectors.steps[at], vectors.scales[at]),
    )


def together(parts: Sequence[Rows]) -> Rows:
    """Rows of several places as one, in the order in which they were written; they share no row."""
    if len(parts) == 1:
        return parts[0]
    model = next((part.vectors.model for part in parts if part.vectors is not None), None)
    whole = Rows(
        seqs=np.concatenate([part.seqs for part in parts]),
        ids=tuple(chain.from_iterable(part.ids for part in parts)),
        kinds=tuple(chain.from_iterable(part.kinds for part in parts)),
        trusts=np.concatenate([part.trusts for part in parts]),
        confidences=np.concatenate([part.confidences for part in parts]),
        written_at=np.concatenate([part.written_at for part in parts]),
        tokens=np.concatenate([part.tokens for part in parts]),
        threads=np.concatenate([part.threads for part in parts]),
        positions=np.concatenate([part.positions for part in parts]),
        sources=np.concatenate([part.sources for part in parts]),
        sorts=np.concatenate([part.sorts for part in parts]),
        vectors=None if model is None else _joined([part for part in parts if len(part.ids)], model),
    )
    if bool(np.all(whole.seqs[1:] > whole.seqs[:-1])):
        return whole
    return taken(whole, np.argsort(whole.seqs, kind="stable"))


def no_rows(model: str | None) -> Rows:
    """A boundary that has nothing to show."""
    return as_rows((), model)


def _joined(parts: Sequence[Rows], model: str) -> Vectors:
    found = [part.vectors for part in parts if part.vectors is not None]
    width = max((one.steps.shape[1] for one in found), default=0)
    steps = [_widened(one.steps, width) for one in found]
    if not steps:
        return _vectors([], model)
    return Vectors(model, np.concatenate(steps), np.concatenate([one.scales for one in found]))


def _widened(steps: Matrix, width: int) -> Matrix:
    """A block in which no row has a vector has no width yet."""
    return steps if steps.shape[1] == width else np.zeros((len(steps), width), dtype=np.int8)


def _vectors(packed: Sequence[bytes | None], model: str) -> Vectors:
    """The vectors of rows as a matrix; where a row has none, zeros."""
    return Vectors(model, *unpacked_or_zeros(packed))


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)

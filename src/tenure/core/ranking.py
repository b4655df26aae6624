"""In which order the rows that passed are shown, and why: words, meaning and place, then trust and age.

Laws (SPEC R1-R3): every statistic comes from the rows that passed, and from nothing else; equal rows and
questions give equal scores on every machine and engine, and ties are broken by id; the order in which terms
or questions were given changes no score; more trust, more confidence or a younger date never lowers a score;
the parts add up to the score, which lies between 0 and 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tenure.core.boundary_rows import (
    NO_POSITION,
    NO_THREAD,
    SORTS,
    Integers,
    Postings,
    Rows,
    Scores,
    Vectors,
)
from tenure.core.truth import PLAIN, HalfLives
from tenure.core.vectors import Vector
from tenure.core.vocabulary import Trust

PARTS: Final = ("words", "meaning", "place", "trust", "freshness", "confidence")

PASSAGE_TOKENS: Final = 80
"""In a passage of this length a word that stands there once gains half of what it can gain at most."""
SHORT_TOKENS: Final = 40
"""Shorter rows are treated as this long: being short is no merit."""
WORDS: Final = 0.7
MEANING: Final = 0.3
"""Together 1. Without a vector of the question, words have all of it."""
NEIGHBOURS: Final = (0.3, 0.15)
"""For each of the two rows beside a row in its thread, and for each of the next two."""
THREAD: Final = 0.6
"""For the best two rows of its thread."""
TRUST: Final = 0.1
FRESHNESS: Final = 0.05
CONFIDENCE: Final = 0.05
"""These three order what the others leave close; they are added, for a factor would bury what is found."""
NEAR: Final = 0.25
"""A cosine that counts as near. Where no row comes so close, the closest is not taken for a find."""

_PLACE: Final = 2 * sum(NEIGHBOURS) + THREAD
_WHOLE: Final = WORDS + MEANING + _PLACE + TRUST + FRESHNESS + CONFIDENCE
_DIGITS: Final = 9
_COSINE_DIGITS: Final = 6
"""Machines differ in how they round, above all sums of many short numbers, but not so early."""
_APART: Final = 0.1
"""Closer to the mean than this there is no direction from it, only what rounding left."""
_BLOCK_ROWS: Final = 256
_AVERAGED_ROWS: Final = 4_096
_LOW_BITS: Final = (1 << 64) - 1
Block: TypeAlias = npt.NDArray[np.float32]
Places: TypeAlias = npt.NDArray[np.intp]


class Question(NamedTuple):
    """What is asked: where its terms stand, each once, and its vector in the model of the rows' vectors."""

    postings: Sequence[Postings]
    vector: Vector | None


class Ranking(NamedTuple):
    """Row indexes, best first; the scores and what they are made of, by row index."""

    order: Integers
    scores: Scores
    parts: Mapping[str, Scores]


class _Line(NamedTuple):
    """The rows that stand in threads, each thread in its own order, one after another."""

    places: Places
    """Which row stands here."""
    beside: tuple[npt.NDArray[np.bool_], ...]
    """For each distance: whether the row here and the one so far behind it stand in one line."""
    starts: Places
    """Where each thread begins."""
    lengths: Places


def rank(rows: Rows, questions: Sequence[Question], now: int, half_lives: HalfLives = PLAIN) -> Ranking:
    """Every row, best first; of several questions each row counts by the one it answers best."""
    count = len(rows.ids)
    line = _line(rows)
    nearness = _nearness(rows.vectors, [question.vector for question in questions])
    best = np.zeros((3, count))
    for question, near in zip(questions, nearness, strict=True):
        found = _found(rows, line, question, near)
        best = found if len(questions) == 1 else np.where(found.sum(0) > best.sum(0), found, best)
    parts = np.vstack((best, _standing(rows, now, half_lives)))
    parts = np.round(parts / _WHOLE, _DIGITS)
    scores = np.round(parts.sum(0), _DIGITS)
    return Ranking(_ordered(rows, scores), scores, dict(zip(PARTS, parts, strict=True)))


def _found(rows: Rows, line: _Line, question: Question, near: Scores | None) -> Scores:
    """What words, meaning and place give every row for one question."""
    words = _shared_words(rows, question.postings)
    found = np.zeros((3, len(words)))
    if near is None:
        found[0] = words * (WORDS + MEANING)
    else:
        found[0] = words * WORDS
        found[1] = near * MEANING
    found[2] = _placed(line, found[0] + found[1])
    return found


def _shared_words(rows: Rows, postings: Sequence[Postings]) -> Scores:
    """BM25 with the length of a passage instead of the mean length, the best row being 1.

    A long row is worth what a passage of it is worth. Rows and how many have a term are those that passed.
    """
    count, standing = len(rows.ids), sorted(postings, key=lambda posting: posting.term)
    if not count or not standing:
        return np.zeros(count)
    seqs = np.concatenate([one.seqs for one in standing])
    frequencies = np.concatenate([one.frequencies for one in standing])
    terms = np.repeat(np.arange(len(standing)), [len(one.seqs) for one in standing])
    places = np.searchsorted(rows.seqs, seqs)
    passed = rows.seqs[np.minimum(places, count - 1)] == seqs
    if not passed.all():
        places, frequencies, terms = places[passed], frequencies[passed], terms[passed]
    having = np.bincount(terms, minlength=len(standing))
    rarities = np.log1p((count - having + 0.5) / (having + 0.5))
    lengths = np.maximum(rows.tokens, SHORT_TOKENS) / PASSAGE_TOKENS
    gains = rarities[terms] * frequencies / (frequencies + lengths[places])
    return _of_the_best(np.bincount(places, weights=gains, minlength=count).astype(np.float64, copy=False))


def _nearness(vectors: Vectors | None, asked: Sequence[Vector | None]) -> list[Scores | None]:
    """How near each row's meaning is to each question's, the best row being 1; None where that is unknown.

    Both are seen from the mean of the rows' vectors: what all rows of a boundary have in common tells none
    of them apart. A row without a vector is as near as the mean is: 0, like all that are farther.
    """
    near: list[Scores | None] = [None] * len(asked)
    if vectors is None:
        return near
    width = vectors.steps.shape[1]
    known = [place for place, vector in enumerate(asked) if _is_usable(vector, width)]
    if known and vectors.scales.any():
        directions = np.stack([_unit(asked[place]) for place in known])
        for place, cosines in zip(known, _cosines(vectors, directions), strict=True):
            near[place] = _of_the_best(np.maximum(cosines, 0.0), NEAR)
    return near


def _cosines(vectors: Vectors, directions: Block) -> Scores:
    """The cosine of each direction with each row, both seen from the mean of the rows."""
    mean = _mean(vectors)
    moved = directions - mean
    moved /= np.maximum(np.sqrt((moved * moved).sum(1, keepdims=True)), np.float32(_APART))
    columns = np.vstack((moved, mean)).T
    products = np.concatenate([block @ columns for _, block in _blocks(vectors)]).T * vectors.scales
    # Rows have length 1, so their distance from the mean follows from the product with it.
    distances = np.sqrt(np.maximum(1 + mean @ mean - 2 * products[-1], np.float32(_APART**2)))
    cosines = (products[:-1] - (moved @ mean)[:, np.newaxis]) / distances
    cosines[:, vectors.scales == 0] = 0.0
    rounded: Scores = np.round(cosines.astype(np.float64), _COSINE_DIGITS)
    return rounded


def _mean(vectors: Vectors) -> Vector:
    """The mean of the vectors that there are; of very many, of some thousands of them, evenly spread."""
    some = slice(None, None, len(vectors.steps) // _AVERAGED_ROWS + 1)
    spread = Vectors(vectors.model, vectors.steps[some], vectors.scales[some])
    total = np.zeros(spread.steps.shape[1], dtype=np.float32)
    for scales, block in _blocks(spread):
        total += scales @ block
    return total / np.float32(max(int(np.count_nonzero(spread.scales)), 1))


def _blocks(vectors: Vectors) -> Iterator[tuple[Vector, Block]]:
    """Scales and steps as numbers that a processor multiplies fast, a cacheful at a time.

    Each block takes the place of the last one, which saves the time that fresh memory costs.
    """
    wide = np.empty((_BLOCK_ROWS, vectors.steps.shape[1]), dtype=np.float32)
    for start in range(0, len(vectors.steps), _BLOCK_ROWS):
        steps = vectors.steps[start : start + _BLOCK_ROWS]
        block = wide[: len(steps)]
        np.copyto(block, steps)
        yield vectors.scales[start : start + _BLOCK_ROWS], block


def _placed(line: _Line, relevance: Scores) -> Scores:
    """What a row gains from the rows beside it and from the best two of its thread (SPEC R2a).

    Where none stands beside it, its own relevance counts in their place: a memory of no thread loses nothing.
    """
    gains = relevance * _PLACE
    if not len(line.places):
        return gains
    here = relevance[line.places]
    gained = here * 0.0
    for distance, (weight, beside) in enumerate(zip(NEIGHBOURS, line.beside, strict=True), start=1):
        difference = (here[distance:] - here[:-distance]) * beside * weight
        gained[:-distance] += difference
        gained[distance:] -= difference
    thread = np.repeat(_best_two(here, line.starts, line.lengths), line.lengths)
    gains[line.places] += gained + THREAD * (thread - here)
    return gains


def _best_two(here: Scores, starts: Places, lengths: Places) -> Scores:
    """For each thread the mean of its best two rows, or its only row."""
    best = np.maximum.reduceat(here, starts)
    at_best = np.flatnonzero(here == np.repeat(best, lengths))
    threads = np.searchsorted(starts, at_best, side="right")
    others = here.copy()
    # Backwards, so that of several rows that are the best the first is taken out.
    first = np.empty(len(starts), dtype=np.intp)
    first[threads[::-1] - 1] = at_best[::-1]
    others[first] = -1.0
    second = np.maximum.reduceat(others, starts)
    return np.where(second < 0, best, (best + second) / 2)


def _line(rows: Rows) -> _Line:
    """Each thread in the order of its positions, or where there are none, of writing."""
    places = np.flatnonzero(rows.threads != NO_THREAD)
    threads = rows.threads[places]
    by_thread = threads.argsort(kind="stable")
    places, threads = places[by_thread], threads[by_thread]
    positions, together = rows.positions[places], threads[1:] == threads[:-1]
    if (together & (positions[1:] < positions[:-1])).any():
        places = places[np.lexsort((positions, threads))]
        positions = rows.positions[places]
    is_placed = positions != NO_POSITION
    beside = tuple(
        (threads[distance:] == threads[:-distance]) & (is_placed[distance:] == is_placed[:-distance])
        for distance in range(1, len(NEIGHBOURS) + 1)
    )
    ends = np.append(np.flatnonzero(~together) + 1, len(places))
    starts = np.concatenate(([0], ends[:-1]))
    return _Line(places, beside, starts, ends - starts)


def _standing(rows: Rows, now: int, half_lives: HalfLives) -> Scores:
    """What trust, freshness and confidence give every row."""
    by_sort = _PLAIN_BY_SORT if half_lives == PLAIN else _by_sort(half_lives)
    ages = np.maximum(now - rows.written_at, 0)
    return np.vstack(
        (
            rows.trusts * (TRUST / Trust.REVIEWER_VERIFIED.rank),
            np.exp2(-ages / by_sort[rows.sorts]) * FRESHNESS,
            rows.confidences * CONFIDENCE,
        )
    )


def _by_sort(half_lives: HalfLives) -> Scores:
    """The half-life of each sort of memory, in microseconds."""
    return np.array([half_lives.of(*sort).total_seconds() * 1_000_000 for sort in SORTS], dtype=np.float64)


_PLAIN_BY_SORT: Final = _by_sort(PLAIN)


def _ordered(rows: Rows, scores: Scores) -> Integers:
    """The rows by score, best first; equal ones by id."""
    order = np.argsort(-scores)
    ranked = scores[order]
    equal = ranked[1:] == ranked[:-1]
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
        numbers = [rows.ids[place].int for place in order[tied].tolist()]
        high = np.array([number >> 64 for number in numbers], dtype=np.uint64)
        low = np.array([number & _LOW_BITS for number in numbers], dtype=np.uint64)
        order[tied] = order[tied][np.lexsort((low, high, -ranked[tied]))]
    return order.astype(np.int64, copy=False)


def _of_the_best(scores: Scores, least: float = 0.0) -> Scores:
    """Scores of 0 and more as shares of the best one, or of the least that may be the best."""
    best = scores.max(initial=least)
    return scores / best if best > 0 else scores


def _is_usable(vector: Vector | None, width: int) -> bool:
    return vector is not None and len(vector) == width and bool(vector.any())


def _unit(vector: Vector | None) -> Vector:
    """The vector with a length of 1."""
    direction = np.zeros(1) if vector is None else vector.astype(np.float64)
    return (direction / np.linalg.norm(direction)).astype(np.float32)

"""Whether two memories say the same, contradict each other, or only look alike (SPEC T2, T3). Pure.

    near(candidates, vector)            those that a new text may be a copy or a contradiction of
    near_before(rows, places)           the same for rows that stand already, each beside those before it
    verdict(new, old, cosine=…)         Duplicate | Contradiction | Support | Unrelated

Laws: a verdict does not depend on which of the two was first; nothing below the cosine for merging is a
duplicate, and nothing at all whose texts differ in what could change what is said (a number, date, version,
host, port, unit, name, denial, or the order of words); what lies in another boundary, scope, kind or valid
time is no duplicate. Likeness finds candidates and the vetoes decide, since vectors of
words hardly tell "port 80" from "port 81". Cosines come from whole numbers: they are equal on every machine.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import msgspec
import numpy as np

from tenure.core.boundary_rows import Integers, Rows, Scores
from tenure.core.candidates import Candidates, Wide, lengths, widened
from tenure.core.claim_differences import Apart, told_apart
from tenure.core.claim_values import Differs
from tenure.core.claims import found_opposed
from tenure.core.denials import is_denied_by
from tenure.core.statements import Statement
from tenure.core.validity import share_an_instant
from tenure.core.vectors import steps_of


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """How alike two memories must be; the defaults are measured for the embedder that is built in."""

    merge_cosine: float = 0.97
    """From here on two memories may be one, where nothing else speaks against it."""
    near_cosine: float = 0.90
    """Above this a memory is looked at for a contradiction."""
    neighbours: int = 5
    """How many neighbours of each trust are looked at."""
    several: frozenset[str] = frozenset()
    """Attributes of which one thing can have several values at once, so that another is no contradiction."""
    forgives_words: bool = False
    """Whether texts are one that differ in words which are neither values, names, denials nor choices."""


class Neighbour(NamedTuple):
    """A row to compare with; ``cosine`` is None where one of the two has no vector."""

    memory_id: UUID
    cosine: float | None


class Because(StrEnum):
    """Why two memories are not one."""

    BOUNDARY = "boundary"
    SCOPE = "scope"
    KIND = "kind"
    VALID_TIME = "valid_time"
    CLAIM = "claim"
    VALUE = "value"
    NEGATION = "negation"
    MOOD = "mood"
    NAME = "name"
    CHOICE = "choice"
    ORDER = "order"
    LENGTH = "length"
    WORDS = "words"
    LIKENESS = "likeness"


class Duplicate(msgspec.Struct, frozen=True):
    """Both say the same of the same, in the same words but for what carries no meaning."""


class Contradiction(msgspec.Struct, frozen=True):
    """Both cannot be true: other values of one thing, or one denies what the other says."""

    because: Because


class Support(msgspec.Struct, frozen=True):
    """They are two memories, and one bears out a claim of the other."""


class Unrelated(msgspec.Struct, frozen=True):
    """Nothing follows from one for the other."""

    because: Because


Verdict: TypeAlias = Duplicate | Contradiction | Support | Unrelated

_LIKENESS: Final = Likeness()


def near(
    candidates: Candidates,
    vector: bytes | None,
    *,
    like: Likeness = _LIKENESS,
    same_claim: Iterable[UUID] = (),
) -> tuple[Neighbour, ...]:
    """Those above the cosine for candidates, and those of an equal (entity, attribute); nearest first.

    So many of each trust are taken, so that a crowd of untrusted neighbours hides no trusted one. The vector
    is packed, as those of the candidates are kept.
    """
    ids, trusts, _, long = candidates
    cosines = _cosines(candidates, vector)
    taken = set(_nearest(ids, trusts, _above(cosines, like), like)) if cosines is not None else set()
    wanted = frozenset(same_claim)
    if wanted:
        taken.update(place for place, one in enumerate(ids) if one in wanted)
    found = (
        Neighbour(ids[place], float(cosines[place]) if cosines is not None and long[place] > 0 else None)
        for place in taken
    )
    return tuple(sorted(found, key=lambda one: (-(one.cosine or 0.0), one.memory_id)))


class Near(NamedTuple):
    """Rows above the cosine for candidates, by their places, and their cosines."""

    places: Integers
    cosines: Scores


def near_before(
    rows: Rows, places: Sequence[int], *, like: Likeness = _LIKENESS, beside_all: Collection[int] = ()
) -> list[Near]:
    """For each of these places the rows before it that are above the cosine for candidates, all of them.

    Those ``beside_all`` have the rows behind them as well. The cosines are those of ``near``, to the last
    bit; ``chosen`` takes of them what a write looks at.
    """
    vectors, count = rows.vectors, len(rows.ids)
    if vectors is None or not places:
        return [_NONE_NEAR] * len(places)
    ends = np.array([count if place in beside_all else place for place in places], dtype=np.int64)
    asked = widened(vectors.steps[np.asarray(places)])
    found = [
        _above_in(asked, widened(vectors.steps[first : first + _AT_ONCE]), first, like)
        for first in range(0, int(ends.max()), _AT_ONCE)
    ]
    if not found:
        return [_NONE_NEAR] * len(places)
    who, which, cosines = (np.concatenate(parts) for parts in zip(*found, strict=True))
    is_asked = (which < ends[who]) & (which != np.asarray(places)[who])
    who, which, cosines = who[is_asked], which[is_asked], cosines[is_asked]
    order = np.argsort(who, kind="stable")
    cuts = np.searchsorted(who[order], np.arange(1, len(places)))
    return [
        Near(*one) for one in zip(np.split(which[order], cuts), np.split(cosines[order], cuts), strict=True)
    ]


def chosen(rows: Rows, found: Near, *, like: Likeness = _LIKENESS) -> tuple[Neighbour, ...]:
    """So many of each trust, as ``near`` takes them; nearest first."""
    cosine_at = dict(zip(found.places.tolist(), found.cosines.tolist(), strict=True))
    picked = (
        Neighbour(rows.ids[place], cosine_at[place]) for place in _nearest(rows.ids, rows.trusts, found, like)
    )
    return tuple(sorted(picked, key=lambda one: (-(one.cosine or 0.0), one.memory_id)))


def verdict(new: Statement, old: Statement, *, cosine: float | None, like: Likeness = _LIKENESS) -> Verdict:
    """What one memory is to another. Without vectors only equal texts are copies."""
    apart = _apart(new, old)
    if apart is Because.BOUNDARY:
        return Unrelated(apart)
    if not share_an_instant(new.valid, old.valid):
        return Unrelated(Because.VALID_TIME)
    against = _contradicted_by(new, old, cosine, like)
    if against is not None:
        return Contradiction(against)
    kept_apart = apart or _told_apart(new, old, cosine, like)
    if kept_apart is None:
        return Duplicate()
    return Support() if _agrees(new, old) else Unrelated(kept_apart)


def _apart(new: Statement, old: Statement) -> Because | None:
    """What of their places keeps two memories from being one."""
    sides = (
        (Because.BOUNDARY, new.boundary, old.boundary),
        (Because.SCOPE, new.scope, old.scope),
        (Because.KIND, new.kind, old.kind),
        (Because.VALID_TIME, new.valid, old.valid),
    )
    return next((side for side, mine, theirs in sides if mine != theirs), None)


def _contradicted_by(new: Statement, old: Statement, cosine: float | None, like: Likeness) -> Because | None:
    for name, found in _compared(new, old).items():
        if name[1] not in like.several and Differs.YES in found and Differs.NO not in found:
            return Because.CLAIM
    is_near = cosine is not None and cosine > like.near_cosine
    return Because.NEGATION if is_near and is_denied_by(new.content, old.content) else None


def _told_apart(new: Statement, old: Statement, cosine: float | None, like: Likeness) -> Because | None:
    """What of their claims, words or likeness keeps two memories from being one."""
    if new.claimed != old.claimed:
        return Because.CLAIM
    if _bare(new.content) == _bare(old.content):
        return None
    if cosine is None or cosine < like.merge_cosine:
        return Because.LIKENESS
    apart = told_apart(new.content, old.content)
    return None if apart is None or (apart is Apart.WORDS and like.forgives_words) else Because(apart)


def _bare(content: str) -> str:
    """The text without what no reader would miss: a full stop at its end, and more than one blank."""
    return " ".join(content.split()).removesuffix(".")


def _agrees(new: Statement, old: Statement) -> bool:
    """Whether both say the same of something."""
    return any(Differs.NO in found for found in _compared(new, old).values())


def _compared(new: Statement, old: Statement) -> Mapping[tuple[str, str], set[Differs]]:
    """What the claims of both are to each other, by what they are about: a proxy may listen on two ports."""
    found: dict[tuple[str, str], set[Differs]] = {}
    for mine, theirs in product(new.claims, old.claims):
        name = (mine.entity, mine.attribute)
        if name == (theirs.entity, theirs.attribute):
            found.setdefault(name, set()).add(found_opposed(mine, theirs))
    return found


def _above(cosines: Scores, like: Likeness) -> Near:
    places = np.flatnonzero(cosines > like.near_cosine)
    return Near(places, cosines[places])


def _nearest(ids: Sequence[UUID], trusts: Integers, found: Near, like: Likeness) -> Iterator[int]:
    """The places of so many of each trust, those of equal cosine by id."""
    if not len(found.places):
        return
    trusts = trusts[found.places]
    for trust in np.unique(trusts):
        is_of_it = trusts == trust
        places, cosines = found.places[is_of_it], found.cosines[is_of_it]
        if len(places) > like.neighbours:
            least = np.partition(cosines, -like.neighbours)[-like.neighbours]
            places, cosines = places[cosines >= least], cosines[cosines >= least]
        pairs = zip(cosines.tolist(), places.tolist(), strict=True)
        ordered = sorted(pairs, key=lambda pair: (-pair[0], ids[pair[1]]))
        yield from (place for _, place in ordered[: like.neighbours])


def _cosines(candidates: Candidates, vector: bytes | None) -> Scores | None:
    """The cosine of each candidate and the vector; None where there is none to compare."""
    if vector is None:
        return None
    asked, steps, long = widened(steps_of(vector)), candidates.steps, candidates.lengths
    length = float(lengths(asked)[0])
    if not length or steps.shape[1] != asked.shape[1]:
        return None
    products = np.zeros(candidates.size, dtype=np.float64)
    # Block by block, so that what is widened stays near the processor.
    for part in (slice(first, first + _WIDENED) for first in range(0, candidates.size, _WIDENED)):
        products[part] = widened(steps[part]) @ asked[0]
    return np.divide(products, long * length, out=products, where=long > 0)


def _above_in(asked: Wide, block: Wide, first: int, like: Likeness) -> tuple[Integers, Integers, Scores]:
    """Which pairs with a block of rows are above the cosine for candidates, and their cosines."""
    products, mine, theirs = asked @ block.T, lengths(asked), lengths(block)
    # A little below: what is above is told by the quotient that a single row is measured by. A row without a
    # vector has the product 0, and is above nothing.
    least = np.outer((mine * (like.near_cosine - _MARGIN)).astype(np.float32), theirs.astype(np.float32))
    who, which = np.nonzero(products > np.maximum(least, 0.5))
    quotients = np.asarray(products[who, which] / (theirs[which] * mine[who]), dtype=np.float64)
    is_above = quotients > like.near_cosine
    return who[is_above], which[is_above] + first, quotients[is_above]


_WIDENED: Final = 1_024
_AT_ONCE: Final = 4_096
_MARGIN: Final = 1e-5
_NONE_NEAR: Final = Near(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float64))

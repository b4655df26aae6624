"""How good a list of turns is, held against the turns that answer the question. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

CUTS: Final = (5, 10, 20)
ALL: Final = "all"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a ranker gave for a question: turns, best first, and those that a token budget has room for."""

    category: str
    evidence: frozenset[str]
    ranked: tuple[str, ...]
    within_budget: frozenset[str] | None = None
    """Those whose bare texts fit; None where that was not asked."""
    in_context: frozenset[str] | None = None
    """Those in a context that fits with its frame and all that stands around the texts; Tenure's only."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The means over the questions of one category."""

    category: str
    questions: int
    recall_at: dict[int, float]
    reciprocal_rank: float
    within_budget: float | None
    in_context: float | None


def scores(answers: Sequence[Answer]) -> list[Score]:
    """By category, in the order of the alphabet, and over all questions first."""
    categories = sorted({answer.category for answer in answers})
    return [_score(ALL, answers)] + [
        _score(category, [one for one in answers if one.category == category]) for category in categories
    ]


def evidence_recall(answer: Answer, cut: int) -> float:
    """The share of the evidence that is among the first so many."""
    return _share(answer, frozenset(answer.ranked[:cut]))


def reciprocal_rank(answer: Answer) -> float:
    """One over the place of the first turn that is evidence, within the longest cut; 0 where none is."""
    for place, turn in enumerate(answer.ranked[: CUTS[-1]], start=1):
        if turn in answer.evidence:
            return 1 / place
    return 0.0


def _score(category: str, answers: Sequence[Answer]) -> Score:
    count = max(1, len(answers))
    return Score(
        category=category,
        questions=len(answers),
        recall_at={cut: sum(evidence_recall(one, cut) for one in answers) / count for cut in CUTS},
        reciprocal_rank=sum(map(reciprocal_rank, answers)) / count,
        within_budget=_mean_share(answers, [one.within_budget for one in answers]),
        in_context=_mean_share(answers, [one.in_context for one in answers]),
    )


def _mean_share(answers: Sequence[Answer], given: Sequence[frozenset[str] | None]) -> float | None:
    """The mean share of the evidence; None where it was not asked of each."""
    asked = [(answer, turns) for answer, turns in zip(answers, given, strict=True) if turns is not None]
    return sum(_share(*one) for one in asked) / len(asked) if asked else None


def _share(answer: Answer, given: frozenset[str]) -> float:
    return len(answer.evidence & given) / len(answer.evidence)

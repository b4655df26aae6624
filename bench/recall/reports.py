"""What a run of evidence recall says: records for programs, Markdown for people."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from bench.recall.scoring import ALL, CUTS, Score


class Ranker(msgspec.Struct, frozen=True, kw_only=True):
    """One ranker over all questions of one file."""

    name: str
    scores: list[Score]
    fill_seconds: float | None = None
    question_seconds: float | None = None


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one file of conversations."""

    file: str
    conversations: int
    turns: int
    questions: int
    kept_out: dict[str, int]
    """How many turns the gate held back, by its rules; a question that needs one of them misses it."""
    rankers: list[Ranker]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    measurement: Literal["recall"] = "recall"
    facts: dict[str, str]
    budget_tokens: int
    parts: list[Part]


def shown(part: Part) -> Iterator[str]:
    """A part as lines: what was asked, what the gate held back, and one table."""
    asked = f"{part.turns:,} turns, {part.questions:,} questions"
    yield f"\n{part.file}: {part.conversations} conversations, {asked}"
    held = sum(part.kept_out.values())
    rules = ", ".join(f"{count} {name}" for name, count in part.kept_out.items())
    yield f"turns that the gate held back: {held}{f' ({rules})' if rules else ''}; they count as missed\n"
    cuts = " | ".join(f"R@{cut}" for cut in CUTS)
    yield f"| ranker | category | questions | {cuts} | MRR | texts within the budget | context within it |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for ranker in part.rankers:
        for score in ranker.scores:
            recalls = " | ".join(f"{score.recall_at[cut]:.3f}" for cut in CUTS)
            name = ranker.name if score.category == ALL else ""
            budget = f"{_optional(score.within_budget)} | {_optional(score.in_context)}"
            yield (
                f"| {name} | {score.category} | {score.questions:,} | {recalls}"
                f" | {score.reciprocal_rank:.3f} | {budget} |"
            )
    yield ""
    for ranker in part.rankers:
        if ranker.fill_seconds is not None and ranker.question_seconds is not None:
            yield (
                f"{ranker.name}: {part.turns / ranker.fill_seconds:,.0f} turns/s in, "
                f"{ranker.question_seconds * 1_000:.1f} ms for what is asked of a question"
            )


def _optional(share: float | None) -> str:
    return "" if share is None else f"{share:.3f}"

"""Measuring on sources that the model has not seen: each source is scored by a model of all the others.

Nothing is trained and tested on the same source, and the threshold is chosen so that rules and classifier
find no more than a share of all held-out benign lines. `transferred` holds the source out of that choice too.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

import msgspec

from bench.classifier.examples import Example
from bench.classifier.learning import learn
from tenure.core.scanning import scan
from tenure.core.scanning.classifying import Classifier
from tenure.core.scanning.decoding import views_of
from tenure.core.scanning.normalising import fold, plain

MARGIN: Final = 0.01


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """An example, its score by a model that knows nothing of its source, and whether rules found anything."""

    example: Example
    score: float
    by_rules: bool


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one label of one source: by rules, by the classifier, and by it beyond the rules."""

    source: str
    attack: bool
    lines: int
    by_rules: int
    alone: int
    added: int


def score_held_out(examples: Sequence[Example], own: Sequence[Example]) -> list[Scored]:
    """Every example with the score of the model of all other sources; disguised copies teach nothing."""
    scored: list[Scored] = []
    for source in sorted({one.source for one in examples}):
        others = [one for one in examples if one.source != source and not one.disguised]
        classifier = Classifier(learn([*others, *own], version="held-out"))
        scored += [
            Scored(example=one, score=score_of(classifier, one.text), by_rules=bool(scan(one.text)))
            for one in examples
            if one.source == source
        ]
    return scored


def score_of(classifier: Classifier, text: str) -> float:
    """The highest score of any view of the text, or of its plain form where no scanner gets to see views."""
    try:
        views = [view.folded for view in views_of(text)]
    except ValueError:
        views = [fold(plain(text))]
    return max(map(classifier.highest, views))


def threshold_together(scored: Sequence[Scored], *, false_alarms: float) -> float:
    """Where rules and classifier together find at most this share of the benign lines.

    It stands a little above the highest line that must pass, so that one hardly different passes as well.
    """
    benign = [one for one in scored if not one.example.attack]
    left = max(0, int(false_alarms * len(benign)) - sum(one.by_rules for one in benign))
    highest = sorted((one.score for one in benign if not one.by_rules), reverse=True)
    return round(highest[left] + MARGIN, 3)


def transferred(
    scored: Sequence[Scored], counted: Sequence[Scored] | None = None, *, false_alarms: float
) -> list[Row]:
    """A row for each label of each source counted, at the threshold that the other sources choose."""
    rows: list[Row] = []
    for source in sorted({one.example.source for one in scored}):
        others = [one for one in scored if one.example.source != source]
        here = [one for one in (scored if counted is None else counted) if one.example.source == source]
        rows += table(here, threshold_together(others, false_alarms=false_alarms))
    return rows


def table(scored: Sequence[Scored], threshold: float) -> list[Row]:
    """A row for each label of each source."""
    by_source = sorted(scored, key=lambda one: (one.example.attack, one.example.source))
    return [
        _row(source, list(group), threshold, attack=attack)
        for (attack, source), group in groupby(
            by_source, key=lambda one: (one.example.attack, one.example.source)
        )
    ]


def total(rows: Sequence[Row], *, attack: bool) -> Row:
    """All rows of one label as one."""
    chosen = [row for row in rows if row.attack is attack]
    return Row(
        source="all",
        attack=attack,
        lines=sum(row.lines for row in chosen),
        by_rules=sum(row.by_rules for row in chosen),
        alone=sum(row.alone for row in chosen),
        added=sum(row.added for row in chosen),
    )


def _row(source: str, scored: Sequence[Scored], threshold: float, *, attack: bool) -> Row:
    return Row(
        source=source,
        attack=attack,
        lines=len(scored),
        by_rules=sum(one.by_rules for one in scored),
        alone=sum(one.score >= threshold for one in scored),
        added=sum(one.score >= threshold and not one.by_rules for one in scored),
    )

"""The page about ranking says what the formula does."""

import re
from pathlib import Path

import pytest

from tenure.core import ranking

PAGE = (Path(__file__).parents[2] / "docs" / "capabilities" / "retrieval.md").read_text(encoding="utf-8")
PLACE = 2 * sum(ranking.NEIGHBOURS) + ranking.THREAD
WEIGHTS = {
    "words": ranking.WORDS,
    "meaning": ranking.MEANING,
    "place": PLACE,
    "trust": ranking.TRUST,
    "freshness": ranking.FRESHNESS,
    "confidence": ranking.CONFIDENCE,
}


def test_the_page_has_each_part_with_the_most_that_it_can_give() -> None:
    """SPEC R2: what `explain` shows is documented, all of it."""
    described = {
        part: float(most) for part, most in re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE, re.MULTILINE)
    }

    whole = sum(WEIGHTS.values())
    assert tuple(described) == ranking.PARTS
    assert described == {part: pytest.approx(weight / whole, abs=0.0006) for part, weight in WEIGHTS.items()}


def test_the_page_has_the_measures_of_words_and_of_place() -> None:
    """SPEC R2, R2a: the numbers of the formula are not a secret."""
    shares = [float(share) for share in re.findall(r"^\| the [^|]+ \| ([\d.]+) \|$", PAGE, re.MULTILINE)]

    assert shares == [*ranking.NEIGHBOURS, ranking.THREAD]
    assert f"max(tokens, {ranking.SHORT_TOKENS}) / {ranking.PASSAGE_TOKENS}" in PAGE
    assert f"or by {ranking.NEAR} where" in PAGE

"""No source crowds the others out of a recall: the share that the operator set holds (SPEC R2, R3)."""

import pytest
from msgspec.structs import replace
from tests.usecases.asking import BOT, question, source, written

from tenure.core.identity import SourceType
from tenure.core.vocabulary import Kind
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL

QUESTION = "how do I return goods?"


@pytest.fixture
def crowded(pipeline: Pipeline) -> Pipeline:
    """Ten wishes of one visitor, made of nothing but the question, and a fact of three handbooks each."""
    for number in range(10):
        written(
            pipeline,
            f"Likes 9{number}9. How do I return goods? Return goods, goods return, how to return goods.",
            kind=Kind.PREFERENCE,
            source=source(SourceType.DIRECT_USER, "visitor-7"),
        )
    for number in range(3):
        written(
            pipeline,
            f"Goods of shelf {number} are returned at the counter of the hall they came from.",
            source=source(id_=f"handbook-{number}"),
        )
    return pipeline


def shown(pipeline: Pipeline, limit: int, **sides: float) -> list[str]:
    """The sources of what a recall returns, in order."""
    pipeline.rules = replace(pipeline.rules, **sides)
    found = pipeline.run(RECALL, BOT, question(QUESTION, limit=limit))
    return [item.memory.source.id for item in found.items]


def test_one_source_has_no_more_than_its_share_of_the_first_five(crowded: Pipeline) -> None:
    """SPEC R3: what is most like the question comes first, and others have the places behind it."""
    first_five = shown(crowded, 5)

    assert first_five.count("visitor-7") == 2
    assert {"handbook-0", "handbook-1", "handbook-2"} <= set(first_five)


def test_nothing_is_lost_by_it(crowded: Pipeline) -> None:
    """SPEC R4: what stood back follows, as far as the recall goes."""
    assert sorted(shown(crowded, 13)) == sorted(shown(crowded, 13, source_share_max=1.0))


def test_an_operator_may_leave_the_order_to_likeness_alone(crowded: Pipeline) -> None:
    """SPEC R2: a share of 1 bounds nothing."""
    assert shown(crowded, 5, source_share_max=1.0) == ["visitor-7"] * 5

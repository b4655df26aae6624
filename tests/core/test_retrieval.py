"""What a question may be."""

import pytest
from msgspec.structs import replace

from tenure.core.errors import InvalidRequest
from tenure.core.retrieval import Recall, check_recall

QUESTION = Recall(agent="support", purpose="service", query="which notebook?")


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("query", {"query": ""}),
        ("query", {"query": " \n"}),
        ("query", {"query": "x" * 10_001}),
        ("query", {"query": "a\x00b"}),
        ("query", {"query": "a\ud800b"}),
        ("limit", {"limit": 0}),
        ("limit", {"limit": -1}),
        ("limit", {"limit": 21}),
        ("budget_tokens", {"budget_tokens": 0}),
        ("budget_tokens", {"budget_tokens": 1_000_001}),
    ],
)
def test_a_bad_question_is_refused_by_its_field(field: str, change: dict[str, object]) -> None:
    """SPEC S2, R4: at most 20 items."""
    with pytest.raises(InvalidRequest) as caught:
        check_recall(replace(QUESTION, **change), items_max=20)

    assert caught.value.field == field


@pytest.mark.parametrize(
    "change", [{}, {"limit": 1}, {"limit": 20}, {"query": "x" * 10_000}, {"budget_tokens": 1}]
)
def test_a_question_within_the_limits_is_well_formed(change: dict[str, object]) -> None:
    """SPEC R4: a limit is where it is said to be."""
    check_recall(replace(QUESTION, **change), items_max=20)

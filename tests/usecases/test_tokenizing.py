"""Which counter a recall gets: the one that is named, or the estimate."""

import pytest
from tests.usecases.asking import BOT, question, written

from tenure.core.errors import InvalidRequest
from tenure.core.token_estimate import estimate_tokens
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.retrieval import RECALL
from tenure.usecases.tokenizing import NoTokenizers, counter


class OneTokenizer:
    """Counts a token for each word."""

    names = ("words_base",)

    def count(self, name: str, text: str) -> int:
        """As many as there are words."""
        assert name in self.names
        return len(text.split())


@pytest.mark.parametrize("name", [None, "estimate"])
def test_without_a_name_the_estimate_counts(name: str | None) -> None:
    """SPEC R4: a documented estimate where the tokenizer is unknown."""
    assert counter(OneTokenizer(), name)("one two") == estimate_tokens("one two")


def test_a_named_tokenizer_counts() -> None:
    """SPEC R4: the target model's tokenizer."""
    assert counter(OneTokenizer(), "words_base")("one two three") == 3


@pytest.mark.parametrize("name", ["o200k", "WORDS_BASE", "../words_base", ""])
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    """What would be left aside in silence would be believed."""
    with pytest.raises(InvalidRequest, match="there are: estimate, words_base") as refused:
        counter(OneTokenizer(), name)

    assert refused.value.details["field"] == "tokenizer"


def test_without_the_extra_the_hint_says_how_to_get_one() -> None:
    """An error says what to do."""
    with pytest.raises(InvalidRequest) as refused:
        counter(NoTokenizers(), "o200k_base")

    assert refused.value.hint is not None
    assert "tenure[tokenizers]" in refused.value.hint
    with pytest.raises(LookupError):
        NoTokenizers().count("o200k_base", "text")


@pytest.mark.parametrize("budget", [4, 10, 11, 40])
def test_a_budget_is_kept_by_the_tokenizer_that_was_named(pipeline: Pipeline, budget: int) -> None:
    """SPEC R4: what is told and what is kept to are counted by the same one."""
    pipeline.tokenizers = OneTokenizer()
    for number in range(6):
        written(pipeline, f"Ticket {number} was closed without a word")

    found = pipeline.run(RECALL, BOT, question("ticket", budget_tokens=budget, tokenizer="words_base"))

    assert found.tokens == len(found.context.split())
    assert found.tokens <= budget
    assert len(found.items) + found.skipped.budget == 6

"""Packing: a budget is filled as far as it goes and never overrun, and each item explains itself."""

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of, memory, texts

from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.ranking import PARTS
from tenure.core.retrieval import Beside, Candidate, Contradicted, Opposing, Ranked, Recall, pack
from tenure.core.rows import microseconds
from tenure.core.token_estimate import estimate_tokens
from tenure.core.truth import PLAIN, Doubt, HalfLives
from tenure.core.vocabulary import Kind

QUESTION = Recall(agent="support", purpose="service", query="which notebook?")
RECEIPT = id_of(0xABCDEF)
DOUBT = Doubt()


def ranked_first(number: int, *, written: datetime = NOW) -> Ranked:
    """The row of a memory of this number, ranked."""
    candidate = Candidate(number, id_of(number), "preference", microseconds(written))
    parts = dict.fromkeys(PARTS, 0.1)
    return Ranked(candidate, sum(parts.values()), parts)


def shown(*contents: str) -> list[tuple[Ranked, Memory]]:
    """Ranked memories with these contents, best first."""
    return [
        (ranked_first(number), memory(id=id_of(number), content=content))
        for number, content in enumerate(contents, start=1)
    ]


def contents_in(context: str) -> list[str]:
    """What the block shows, in order."""
    if not context:
        return []
    return [item["content"] for item in json.loads(context[context.index("[") : context.rindex("]") + 1])]


def cost_of(*contents: str) -> int:
    """The tokens of a block that shows exactly these."""
    return pack(shown(*contents), QUESTION, RECEIPT, NOW, DOUBT).tokens


def test_each_item_explains_itself_when_asked_to() -> None:
    """SPEC R2: the score is shown in its parts, which add up to it."""
    told = pack(shown("a", "b"), replace(QUESTION, explain=True), RECEIPT, NOW, DOUBT)
    silent = pack(shown("a"), QUESTION, RECEIPT, NOW, DOUBT)

    for item in told.items:
        assert item.why is not None
        assert tuple(item.why) == PARTS
        assert sum(item.why.values()) == pytest.approx(item.score, abs=1e-5)
    assert silent.items[0].why is None


@MODEST
@given(
    contents=st.lists(texts | st.text('漢字<&\n"x ', max_size=300), max_size=6),
    budget=st.integers(min_value=1, max_value=400),
)
def test_packing_never_overruns_the_budget_nor_loses_count(contents: list[str], budget: int) -> None:
    """SPEC R4: packing to a token budget; what does not fit is skipped and counted."""
    found = pack(shown(*contents), replace(QUESTION, budget_tokens=budget), RECEIPT, NOW, DOUBT)

    assert found.tokens == (estimate_tokens(found.context) if found.context else 0)
    assert found.tokens <= budget
    assert len(found.items) + found.skipped.budget == len(contents)
    assert contents_in(found.context) == [item.memory.content for item in found.items]


def test_an_item_that_does_not_fit_is_skipped_and_the_smaller_ones_behind_it_still_enter() -> None:
    """SPEC R4: the budget is filled as far as it can be."""
    big = "notebook " * 200
    budget = cost_of("first", "third", "fourth") + 10

    found = pack(
        shown("first", big, "third", "fourth"), replace(QUESTION, budget_tokens=budget), RECEIPT, NOW, DOUBT
    )

    assert [item.memory.content for item in found.items] == ["first", "third", "fourth"]
    assert (found.skipped.budget, found.skipped.scan, found.skipped.together) == (1, 0, 0)


@pytest.mark.parametrize(("limit", "expected"), [(1, ["a"]), (2, ["a", "b"]), (20, ["a", "b", "c"])])
def test_no_more_items_than_the_limit_are_shown_and_the_rest_is_not_called_skipped(
    limit: int, expected: list[str]
) -> None:
    """SPEC R4: the limit is what was asked for, not what was held back."""
    found = pack(shown("a", "b", "c"), replace(QUESTION, limit=limit), RECEIPT, NOW, DOUBT)

    assert expected == [item.memory.content for item in found.items]
    assert found.skipped.budget == 0


def test_nothing_found_is_an_empty_answer_with_a_receipt() -> None:
    """SPEC R7: every recall has a receipt."""
    found = pack([], QUESTION, RECEIPT, NOW, DOUBT)

    assert (found.receipt_id, found.items, found.context, found.tokens) == (RECEIPT, (), "", 0)


def test_a_stale_item_carries_its_banner_into_the_context() -> None:
    """SPEC T5: age, source, written date, verify before acting."""
    old = NOW - timedelta(days=30)
    ranked = ranked_first(1, written=old)

    found = pack([(ranked, memory(created_at=old))], QUESTION, RECEIPT, NOW, DOUBT)

    (item,) = found.items
    assert item.stale
    assert item.banner is not None
    assert "(30 days ago), source direct_user" in item.banner
    assert item.banner in found.context


@pytest.mark.parametrize(
    ("days", "half_lives", "expected"),
    [
        (0, PLAIN, (1.0, False)),
        (-3, PLAIN, (1.0, False)),
        (6, PLAIN, (round(0.5 ** (6 / 90), 4), False)),
        (90, PLAIN, (0.5, True)),
        (6, HalfLives(source_types={SourceType.DIRECT_USER: timedelta(days=2)}), (0.125, True)),
        (6, HalfLives(source_types={SourceType.WEB: timedelta(days=2)}), (round(0.5 ** (6 / 90), 4), False)),
        (6, HalfLives(kinds={Kind.PREFERENCE: timedelta(days=3)}), (0.25, True)),
    ],
)
def test_each_item_says_how_fresh_it_is(
    days: int, half_lives: HalfLives, expected: tuple[float, bool]
) -> None:
    """SPEC T1, T5: a number beside each item, from the half-life of its kind and its type of source."""
    written = NOW - timedelta(days=days)
    one = (ranked_first(1, written=written), memory(created_at=written))

    [item] = pack([one], QUESTION, RECEIPT, NOW, DOUBT, half_lives=half_lives).items

    assert (item.freshness, item.stale) == expected


def test_what_contradicts_an_item_is_told_beside_it_and_counts() -> None:
    """SPEC T3, R4: in the item, in the context and in the budget."""
    opposing = Opposing(id=id_of(7), other=id_of(8), shown=False)
    beside = Beside(contradicted={id_of(1): Contradicted("Contradicted by memory 8.", (opposing,))})
    bare = cost_of("a", "b")

    told = pack(shown("a", "b"), QUESTION, RECEIPT, NOW, DOUBT, beside=beside)
    tight = replace(QUESTION, budget_tokens=bare)
    squeezed = pack(shown("a", "b"), tight, RECEIPT, NOW, DOUBT, beside=beside)

    assert [(item.note, item.contradictions) for item in told.items] == [
        ("Contradicted by memory 8.", (opposing,)),
        (None, ()),
    ]
    assert told.context.count('"note":"Contradicted by memory 8."') == 1
    assert told.tokens > bare
    assert (len(squeezed.items), squeezed.skipped.budget) == (1, 1)
    assert squeezed.tokens <= bare


def test_a_memory_that_was_revised_is_dated_by_its_present_text() -> None:
    """SPEC T5, R6: the line says when the text that it shows was written, as the banner does."""
    born, rewritten = NOW - timedelta(days=40), NOW - timedelta(days=30)
    ranked = ranked_first(1, written=rewritten)

    found = pack([(ranked, memory(created_at=born))], QUESTION, RECEIPT, NOW, DOUBT)

    (line,) = json.loads(found.context[found.context.index("[") : found.context.rindex("]") + 1])
    assert line["written"] == rewritten.date().isoformat()
    assert "(30 days ago)" in line["banner"]


def test_the_block_carries_a_nonce_of_this_recall() -> None:
    """SPEC R6: two recalls of the same memories have two closing tags."""
    one = pack(shown("a"), QUESTION, RECEIPT, NOW, DOUBT)
    other = pack(shown("a"), QUESTION, id_of(0xFEDCBA), NOW, DOUBT)

    assert one.context.splitlines()[-1] != other.context.splitlines()[-1]
    assert one.items == other.items

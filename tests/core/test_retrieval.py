"""Ranking: words find, the rest orders, and the same question has the same answer."""

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of

from tenure.core.errors import InvalidRequest
from tenure.core.retrieval import (
    Candidate,
    Hit,
    Recall,
    Statistics,
    best_rows,
    check_recall,
    rank,
    words,
)
from tenure.core.rows import microseconds
from tenure.core.vocabulary import Kind

NOW_MICROSECONDS = microseconds(NOW)
QUESTION = Recall(agent="support", purpose="service", query="which notebook?")

hits = st.lists(
    st.builds(
        Hit,
        term=st.sampled_from(["notebook", "blue", "red"]),
        frequency=st.integers(min_value=1, max_value=9),
        created_seq=st.integers(min_value=1, max_value=6),
        tokens=st.integers(min_value=1, max_value=60),
    ),
    max_size=12,
    unique_by=lambda hit: (hit.term, hit.created_seq),
)
candidates = st.builds(
    Candidate,
    created_seq=st.integers(min_value=1, max_value=9),
    memory_id=st.uuids(),
    kind=st.sampled_from([kind.value for kind in Kind]),
    trust=st.integers(min_value=0, max_value=3),
    confidence=st.floats(min_value=0, max_value=1),
    written_at=st.integers(min_value=0, max_value=2 * NOW_MICROSECONDS),
    tokens=st.integers(min_value=1, max_value=60),
)
scores = st.dictionaries(
    st.integers(min_value=1, max_value=9), st.floats(min_value=0, max_value=1), max_size=9
)


def candidate(number: int = 1, *, seq: int = 1, trust: int = 1, written: datetime = NOW) -> Candidate:
    """A row that passed the filters."""
    return Candidate(seq, id_of(number), "preference", trust, 1.0, microseconds(written), 5)


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


@MODEST
@given(found=hits, rows=st.integers(min_value=0, max_value=50), seed=st.randoms(use_true_random=False))
def test_word_scores_are_shares_of_the_best_whatever_order_the_hits_came_in(
    found: list[Hit], rows: int, seed: random.Random
) -> None:
    """SPEC R1, R2: equal rows give equal scores; a statistic that is too small breaks nothing."""
    statistics = Statistics(rows=rows, tokens=rows * 20)
    shuffled = list(found)
    seed.shuffle(shuffled)

    scored = words(found, statistics)

    assert set(scored) == {hit.created_seq for hit in found}
    assert all(0 < score <= 1 for score in scored.values())
    assert max(scored.values(), default=1.0) == 1.0
    assert words(shuffled, statistics) == pytest.approx(scored)


@MODEST
@given(
    fewer=st.integers(min_value=1, max_value=50),
    more=st.integers(min_value=1, max_value=50),
    tokens=st.integers(min_value=1, max_value=500),
    rows=st.integers(min_value=2, max_value=1_000),
)
def test_a_row_that_says_a_word_more_often_scores_no_less(
    fewer: int, more: int, tokens: int, rows: int
) -> None:
    """SPEC R2: BM25 grows with frequency in rows of one length."""
    fewer, more = sorted((fewer, more))

    scored = words([Hit("a", fewer, 1, tokens), Hit("a", more, 2, tokens)], Statistics(rows, rows * 20))

    assert scored[2] == 1.0
    assert (scored[1] < 1.0) == (fewer < more)


@MODEST
@given(shorter=st.integers(min_value=1, max_value=500), longer=st.integers(min_value=1, max_value=500))
def test_a_longer_row_that_says_a_word_as_often_scores_no_more(shorter: int, longer: int) -> None:
    """SPEC R2: BM25 falls with length."""
    shorter, longer = sorted((shorter, longer))

    scored = words([Hit("a", 1, 1, longer), Hit("a", 1, 2, shorter)], Statistics(10, 200))

    assert scored[1] <= scored[2] == 1.0


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    """SPEC R1: document frequencies come from the rows that passed the filters."""
    common = [Hit("common", 1, seq, 10) for seq in range(1, 9)]

    scored = words([*common, Hit("rare", 1, 9, 10)], Statistics(10, 100))

    assert scored[9] == 1.0
    assert scored[1] < 0.5


def test_the_best_rows_are_the_highest_and_equal_ones_the_oldest() -> None:
    """SPEC R2: which candidates are opened is no accident."""
    found = {1: 0.5, 2: 1.0, 3: 0.5, 4: 0.1}

    assert best_rows(found, 3) == [2, 1, 3]
    assert best_rows(found, 0) == []
    assert best_rows({}, 5) == []


@MODEST
@given(
    found=st.lists(candidates, max_size=8, unique_by=lambda one: one.memory_id),
    shared=scores,
    seed=st.randoms(use_true_random=False),
)
def test_the_rank_order_is_the_same_whatever_order_the_candidates_came_in(
    found: list[Candidate], shared: dict[int, float], seed: random.Random
) -> None:
    """SPEC R2: equal requests give equal answers, and ties are broken by id."""
    shuffled = list(found)
    seed.shuffle(shuffled)

    ranked = rank(found, shared, NOW_MICROSECONDS)

    assert ranked == rank(shuffled, shared, NOW_MICROSECONDS)
    keys = [(-one.score, one.candidate.memory_id.int) for one in ranked]
    assert keys == sorted(keys)
    assert all(one.score == pytest.approx(sum(one.parts)) for one in ranked)
    assert all(0 <= one.score <= 1 + 1e-9 for one in ranked)


def test_of_two_that_differ_in_nothing_but_their_id_the_smaller_id_is_first() -> None:
    """SPEC R2: a tie has one answer."""
    ranked = rank([candidate(2), candidate(1)], {}, NOW_MICROSECONDS)

    assert [one.candidate.memory_id for one in ranked] == [id_of(1), id_of(2)]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (candidate(9, trust=3), candidate(1, trust=1)),
        (candidate(9), candidate(1, written=NOW - timedelta(days=60))),
        (candidate(9), candidate(1)._replace(confidence=0.2)),
        (candidate(9, seq=7), candidate(1, trust=3)),
    ],
)
def test_words_find_and_trust_freshness_and_confidence_order_what_words_leave_equal(
    better: Candidate, worse: Candidate
) -> None:
    """SPEC R2, R3: trust is a part of the score; no part but words outweighs a word that is shared."""
    ranked = rank([worse, better], {7: 1.0}, NOW_MICROSECONDS)

    assert [one.candidate for one in ranked] == [better, worse]

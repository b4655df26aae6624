"""Ranking: words, meaning and place find; trust and age only order; the same question has the same answer."""

import math
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST, NOW, id_of

from tenure.core.boundary_rows import Column, Postings, Rows, as_rows, no_rows, taken
from tenure.core.identity import SourceType
from tenure.core.ranking import (
    CONFIDENCE,
    FRESHNESS,
    MEANING,
    NEIGHBOURS,
    PARTS,
    PASSAGE_TOKENS,
    SHORT_TOKENS,
    THREAD,
    TRUST,
    WORDS,
    Question,
    Ranking,
    rank,
)
from tenure.core.rows import microseconds
from tenure.core.truth import PLAIN, HalfLives, freshness
from tenure.core.vectors import Vector, packed
from tenure.core.vocabulary import Kind

NOW_MICROSECONDS = microseconds(NOW)
DAY = 86_400 * 1_000_000
PLACE = 2 * sum(NEIGHBOURS) + THREAD
WHOLE = WORDS + MEANING + PLACE + TRUST + FRESHNESS + CONFIDENCE


class Row(NamedTuple):
    """A row as the tests write it: how often each of the words stands in it, and where it stood."""

    words: tuple[int, int] = (0, 0)
    tokens: int = 20
    thread: str | None = None
    position: int | None = None
    trust: int = 1
    confidence: float = 0.8
    age_days: int = 0
    kind: Kind = Kind.FACT
    direction: tuple[float, float, float] | None = None


def unit(*numbers: float) -> Vector:
    """The direction of these numbers as a vector of length 1."""
    vector = np.array(numbers, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def columns(rows: list[Row], ids: list[UUID] | None = None, model: str | None = "m") -> Rows:
    """The rows in the order in which they were written, three places of the log apart."""
    return as_rows(
        [
            Column(
                seq=10 + 3 * number,
                id=ids[number] if ids else id_of(number),
                kind=row.kind.value,
                trust=row.trust,
                confidence=row.confidence,
                written_at=NOW_MICROSECONDS - row.age_days * DAY,
                tokens=row.tokens,
                subject="customer-1",
                thread=row.thread,
                position=row.position,
                source_type="direct_user",
                source_id="customer-1",
                vector=None if row.direction is None else packed(unit(*row.direction)),
            )
            for number, row in enumerate(rows)
        ],
        model,
    )


def asked(rows: list[Row], *direction: float) -> Question:
    """A question for both words, and for a direction when one is given."""
    postings = []
    for at, term in enumerate(("notebook", "blue")):
        found = [(10 + 3 * number, row.words[at]) for number, row in enumerate(rows) if row.words[at]]
        seqs, frequencies = ([pair[side] for pair in found] for side in (0, 1))
        postings.append(Postings(term, np.array(seqs, dtype=np.int64), np.array(frequencies, dtype=np.int64)))
    return Question(postings, unit(*direction) if direction else None)


def ranked(rows: list[Row], *direction: float) -> Ranking:
    """The rows ranked by that question."""
    return rank(columns(rows), [asked(rows, *direction)], NOW_MICROSECONDS)


def plainly(rows: list[Row]) -> list[float]:
    """Words and place as the documentation says them, row by row."""
    count = len(rows)
    words = [0.0] * count
    for at in (0, 1):
        having = sum(1 for row in rows if row.words[at])
        rarity = math.log(1 + (count - having + 0.5) / (having + 0.5))
        for number, row in enumerate(rows):
            length = max(row.tokens, SHORT_TOKENS) / PASSAGE_TOKENS
            words[number] += rarity * row.words[at] / (row.words[at] + length) if row.words[at] else 0.0
    best = max(words, default=0.0) or 1.0
    words = [one / best for one in words]
    totals = []
    for number, row in enumerate(rows):
        total = words[number] * (1 + PLACE)
        if row.thread is not None:
            thread = [other for other in range(count) if rows[other].thread == row.thread]
            line = [other for other in thread if (rows[other].position is None) == (row.position is None)]
            line.sort(key=lambda other: (rows[other].position or 0, other))
            at = line.index(number)
            for distance, weight in enumerate(NEIGHBOURS, start=1):
                for beside in (at - distance, at + distance):
                    if 0 <= beside < len(line):
                        total += weight * (words[line[beside]] - words[number])
            two = sorted((words[other] for other in thread), reverse=True)[:2]
            total += THREAD * (sum(two) / len(two) - words[number])
        totals.append(total / WHOLE)
    return totals


plain_rows = st.lists(
    st.builds(
        Row,
        words=st.tuples(st.integers(min_value=0, max_value=3), st.integers(min_value=0, max_value=3)),
        tokens=st.integers(min_value=1, max_value=2_000),
        thread=st.sampled_from([None, "a", "b"]),
        position=st.none() | st.integers(min_value=0, max_value=5),
        trust=st.integers(min_value=0, max_value=3),
        confidence=st.floats(min_value=0, max_value=1),
        age_days=st.integers(min_value=-1, max_value=400),
        kind=st.sampled_from(list(Kind)),
        direction=st.none()
        | st.tuples(*[st.integers(min_value=-3, max_value=3)] * 3)
        .filter(any)
        .map(lambda three: tuple(map(float, three))),
    ),
    max_size=12,
)


@MODEST
@given(rows=plain_rows)
def test_words_and_place_give_what_the_documentation_says(rows: list[Row]) -> None:
    """SPEC R2, R2a: against the same rules written out row by row."""
    parts = ranked(rows).parts

    assert (parts["words"] + parts["place"]).tolist() == pytest.approx(plainly(rows), abs=1e-8)


@MODEST
@given(rows=plain_rows)
def test_the_parts_add_up_to_a_score_between_0_and_1(rows: list[Row]) -> None:
    """SPEC R2: each item's score is shown in its parts."""
    ranking = ranked(rows, 1, 2, 3)

    assert tuple(ranking.parts) == PARTS
    assert np.sum(list(ranking.parts.values()), axis=0).tolist() == pytest.approx(
        ranking.scores.tolist(), abs=1e-8
    )
    assert all(0 <= part <= 1 for values in ranking.parts.values() for part in values)
    assert all(0 <= score <= 1 for score in ranking.scores)


@MODEST
@given(rows=plain_rows, salt=st.integers(min_value=0, max_value=2**64))
def test_every_row_is_shown_once_best_first_and_equal_ones_by_id(rows: list[Row], salt: int) -> None:
    """SPEC R2: equal requests give equal answers; the low and the high half of an id both count."""
    ids = [
        UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + salt) % 2**128) for number in range(len(rows))
    ]
    placed = columns(rows, ids)

    ranking = rank(placed, [asked(rows, 1, 2, 3)], NOW_MICROSECONDS)

    expected = sorted(range(len(rows)), key=lambda number: (-ranking.scores[number], ids[number].int))
    assert ranking.order.tolist() == expected


def test_rows_that_nothing_tells_apart_stand_in_the_order_of_their_ids() -> None:
    """SPEC R2: ties are broken by id."""
    ids = [UUID(int=number) for number in (2**100 + 1, 5, 2**64, 2**100, 4)]

    ranking = rank(columns([Row()] * 5, ids), [asked([Row()] * 5)], NOW_MICROSECONDS)

    assert ranking.order.tolist() == [4, 1, 2, 3, 0]


@MODEST
@given(rows=plain_rows)
def test_the_order_of_terms_and_of_questions_changes_no_score(rows: list[Row]) -> None:
    """SPEC R2: equal requests give equal answers."""
    one, other = asked(rows, 1, 2, 3), asked(rows)
    turned = one._replace(postings=one.postings[::-1])

    first = rank(columns(rows), [one, other], NOW_MICROSECONDS)
    second = rank(columns(rows), [other, turned], NOW_MICROSECONDS)

    assert first.order.tolist() == second.order.tolist()
    assert first.scores.tolist() == second.scores.tolist()


@MODEST
@given(rows=plain_rows, hidden=st.sets(st.integers(min_value=0, max_value=11)))
def test_what_did_not_pass_counts_for_nothing(rows: list[Row], hidden: set[int]) -> None:
    """SPEC R1: no statistic comes from rows that the filters held back, wherever the terms stand."""
    left = [number for number in range(len(rows)) if number not in hidden]
    passed = taken(columns(rows), np.array(left, dtype=np.int64))
    everywhere = asked(rows, 1, 2, 3)
    here = [
        Postings(one.term, one.seqs[inside], one.frequencies[inside])
        for one in everywhere.postings
        for inside in [np.isin(one.seqs, passed.seqs)]
    ]

    ranking = rank(passed, [everywhere], NOW_MICROSECONDS)

    alone = rank(passed, [everywhere._replace(postings=here)], NOW_MICROSECONDS)
    assert ranking.scores.tolist() == alone.scores.tolist()
    assert ranking.order.tolist() == alone.order.tolist()


@MODEST
@given(rows=plain_rows.filter(bool), at=st.integers(min_value=0, max_value=11))
@pytest.mark.parametrize("part", ["trust", "confidence", "age_days"])
def test_more_trust_more_confidence_and_a_younger_date_lower_no_score(
    part: str, rows: list[Row], at: int
) -> None:
    """SPEC R2, R3: monotone, and nobody else's score moves."""
    number = at % len(rows)
    better = list(rows)
    better[number] = {
        "trust": rows[number]._replace(trust=3),
        "confidence": rows[number]._replace(confidence=1.0),
        "age_days": rows[number]._replace(age_days=-1),
    }[part]

    before, after = ranked(rows, 1, 2, 3).scores, ranked(better, 1, 2, 3).scores

    assert after[number] >= before[number]
    others = [other for other in range(len(rows)) if other != number]
    assert after[others].tolist() == before[others].tolist()


def test_trust_and_age_have_less_than_a_tenth_of_a_score() -> None:
    """SPEC R3: similarity is relevance, never trust, and the other way round."""
    assert (TRUST + FRESHNESS + CONFIDENCE) / WHOLE < 0.1
    trusted, found = Row(trust=3, confidence=1.0), Row(words=(1, 1), trust=0, confidence=0.0, age_days=400)

    assert ranked([trusted, found]).order.tolist() == [1, 0]


@pytest.mark.parametrize("kind", list(Kind))
def test_freshness_is_that_of_the_kind(kind: Kind) -> None:
    """SPEC T1: halved with every half-life."""
    parts = ranked([Row(kind=kind, age_days=30)]).parts

    expected = FRESHNESS / WHOLE * freshness(timedelta(days=30), PLAIN.of(kind, SourceType.DIRECT_USER))
    assert parts["freshness"].tolist() == pytest.approx([expected], abs=1e-8)


def test_a_type_of_source_can_make_doubt_quicker() -> None:
    """SPEC T1: where an operator set it; only that part of the score changes, for those rows alone."""
    rows, now = columns([Row(kind=kind, age_days=30) for kind in Kind]), NOW_MICROSECONDS
    quick = HalfLives(source_types={SourceType.DIRECT_USER: timedelta(days=10)})
    others = HalfLives(source_types={SourceType.WEB: timedelta(days=10)})

    plain, doubted, same = (rank(rows, [asked([])], now, lives) for lives in (PLAIN, quick, others))

    expected = [
        FRESHNESS / WHOLE * freshness(timedelta(days=30), quick.of(kind, SourceType.DIRECT_USER))
        for kind in Kind
    ]
    assert doubted.parts["freshness"].tolist() == pytest.approx(expected, abs=1e-8)
    assert (doubted.scores <= plain.scores).all()
    assert same.scores.tolist() == plain.scores.tolist()
    assert rank(rows, [asked([])], now).scores.tolist() == plain.scores.tolist()


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Row(words=(1, 1)), Row(words=(1, 0))),
        (Row(words=(2, 0)), Row(words=(1, 0))),
        (Row(words=(1, 0), tokens=80), Row(words=(1, 0), tokens=800)),
        (Row(words=(0, 1)), Row(words=(1, 0))),
        (Row(direction=(1.0, 0.0, 0.0)), Row(direction=(0.0, 1.0, 0.0))),
        (Row(words=(1, 0)), Row(direction=(1.0, 0.0, 0.0))),
    ],
    ids=["both words", "more often", "shorter", "the rarer word", "nearer", "words before meaning"],
)
def test_what_finds_better_comes_first(better: Row, worse: Row) -> None:
    """SPEC R2: words first, meaning second. Ids speak for the worse; the last rows make one word common."""
    rows = [worse, better, Row(words=(1, 0), tokens=1_500), Row(direction=(0.0, 0.0, 1.0))]

    order = ranked(rows, 1, 0, 0).order.tolist()

    assert order.index(1) < order.index(0)


def test_being_short_is_no_merit() -> None:
    """SPEC R2: a word in a row of two tokens says no more than one in a sentence."""
    words = ranked([Row(words=(1, 0), tokens=2), Row(words=(1, 0), tokens=SHORT_TOKENS)]).parts["words"]

    assert words[0] == words[1]


def test_a_row_beside_a_hit_comes_before_one_far_from_it() -> None:
    """SPEC R2a: neighbours count, in the order of positions, whatever the order of writing."""
    places = (5, 0, 3, 4, 1, 2)
    rows = [Row(words=(int(at == 3), 0), thread="talk", position=at) for at in places]

    ranking = ranked(rows)

    place = dict(zip(places, ranking.parts["place"].tolist(), strict=True))
    assert place[4] == place[2] > place[5] == place[1] > place[0] > 0


def test_a_thread_with_two_hits_counts_for_more_than_one_with_a_single_hit() -> None:
    """SPEC R2a: the mean of the best two."""
    hits = {("a", 0), ("a", 9), ("b", 0)}
    rows = [
        Row(words=(int((thread, at) in hits), 0), thread=thread, position=at)
        for thread in ("a", "b")
        for at in range(10)
    ]

    place = ranked(rows).parts["place"]

    assert place[5] == pytest.approx(2 * place[15])


def test_a_memory_of_no_thread_loses_nothing() -> None:
    """SPEC R2a: what stands alone counts as much as what stands among its like."""
    rows = [Row(words=(1, 0)), *[Row(words=(1, 0), thread="talk", position=at) for at in range(3)]]

    assert len(set(ranked(rows).parts["place"].tolist())) == 1


@pytest.mark.parametrize("direction", [(), (0.0, 0.0), (1.0, 0.0)], ids=["none", "empty", "of another width"])
def test_without_a_usable_vector_words_have_all_of_the_weight(direction: tuple[float, ...]) -> None:
    """SPEC R2: the best row by words has the same score as one that words and meaning find."""
    rows = [Row(words=(1, 1), direction=(1.0, 0.0, 0.0)), Row(direction=(0.0, 1.0, 0.0))]
    question = asked(rows)._replace(vector=np.array(direction, dtype=np.float32) if direction else None)

    ranking = rank(columns(rows), [question], NOW_MICROSECONDS)

    assert ranking.parts["meaning"].tolist() == [0.0, 0.0]
    assert ranking.parts["words"][0] == pytest.approx((WORDS + MEANING) / WHOLE)
    assert (
        rank(columns(rows, model=None), [question], NOW_MICROSECONDS).scores.tolist()
        == ranking.scores.tolist()
    )


def test_a_row_without_a_vector_is_neither_near_nor_lost() -> None:
    """SPEC R2: what has no vector yet is found by words and place."""
    rows = [Row(words=(1, 1)), Row(direction=(1.0, 0.0, 0.0)), Row(direction=(0.0, 1.0, 0.0))]

    ranking = ranked(rows, 1, 0, 0)

    assert ranking.parts["meaning"].tolist() == [0.0, pytest.approx(MEANING / WHOLE), 0.0]
    assert ranking.order.tolist() == [0, 1, 2]


def test_what_all_rows_have_in_common_makes_none_of_them_near() -> None:
    """SPEC R1: meaning is seen from the boundary's own mean; equal vectors tell nothing apart."""
    meaning = ranked([Row(direction=(1.0, 2.0, 3.0))] * 3, 3, 2, 1).parts["meaning"]

    assert meaning.tolist() == pytest.approx([0.0] * 3, abs=1e-5)


def test_of_several_questions_each_row_counts_by_the_one_it_answers_best() -> None:
    """SPEC R2: a second question takes nothing from what the first one found."""
    rows = [Row(words=(1, 0)), Row(words=(0, 1)), Row()]
    notebook, blue = (Question([one], None) for one in asked(rows).postings)
    alone = [rank(columns(rows), [question], NOW_MICROSECONDS).scores for question in (notebook, blue)]

    together = rank(columns(rows), [notebook, blue], NOW_MICROSECONDS)

    assert together.scores.tolist() == np.maximum(*alone).tolist()
    assert together.order.tolist() == [0, 1, 2]


def test_nothing_asked_leaves_the_youngest_and_most_trusted_first_and_nothing_there_is_no_error() -> None:
    """SPEC R2: without a question only what a memory is worth of itself remains."""
    rows = [Row(age_days=9), Row(), Row(trust=3, age_days=9)]

    assert rank(columns(rows), [], NOW_MICROSECONDS).order.tolist() == [2, 1, 0]
    assert rank(no_rows("m"), [asked([], 1, 0, 0)], NOW_MICROSECONDS).order.tolist() == []


def test_thousands_of_rows_are_ranked_as_few_are() -> None:
    """SPEC R2: rows are taken by blocks, and the mean of many is that of some of them."""
    rows = [
        Row(direction=(math.sin(at), math.cos(at), at % 7 - 3.0), thread=str(at // 20)) for at in range(5_000)
    ]
    rows[4_321] = Row(words=(1, 1), direction=(5.0, -4.0, 1.0))

    ranking = ranked(rows, 5, -4, 1)

    assert ranking.order[0] == 4_321
    assert sorted(ranking.order.tolist()) == list(range(5_000))

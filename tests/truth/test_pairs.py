"""The table of pairs is sound, and the pure rules get nothing wrong by it."""

from collections import Counter

import pytest
from tests.truth.pairs import Happened, Label, Pair, Side, judged, pairs, sides

from tenure.core.claim_differences import told_apart
from tenure.core.claim_values import Differs
from tenure.core.claims import extracted, found_opposed
from tenure.core.statements import as_found

PAIRS = pairs()
PAIRS_MIN = 140
OF_EACH_LABEL_MIN = 35


def by_the_rules(first: Side, second: Side) -> Happened:
    """What the claims and wordings alone would have become of two memories, with no meaning asked."""
    if (first.tenant, first.subject, first.purpose) != (second.tenant, second.subject, second.purpose):
        return Happened.APART
    if first.claim is not None and second.claim is not None:
        if found_opposed(as_found(first.claim), as_found(second.claim)) is Differs.YES:
            return Happened.CONTRADICTION
    elif any(
        found_opposed(mine, theirs) is Differs.YES
        for mine in extracted(first.content)
        for theirs in extracted(second.content)
    ):
        return Happened.CONTRADICTION
    return Happened.MERGED if told_apart(first.content, second.content) is None else Happened.APART


def test_the_table_has_enough_of_each_label_and_half_near_misses() -> None:
    """SPEC T2, T3: a table of easy pairs would prove nothing."""
    counts = Counter(pair.label for pair in PAIRS)

    assert len(PAIRS) >= PAIRS_MIN
    assert set(counts) == set(Label)
    assert min(counts.values()) >= OF_EACH_LABEL_MIN
    assert 2 * sum(pair.near_miss for pair in PAIRS) >= len(PAIRS)


def test_no_pair_stands_twice() -> None:
    """A pair counts once, whichever side comes first."""
    keys = [
        (
            frozenset((pair.a, pair.b)),
            pair.b_tenant,
            pair.b_subject,
            pair.b_purpose,
            pair.a_claim,
            pair.b_claim,
        )
        for pair in PAIRS
    ]

    assert [key for key, count in Counter(keys).items() if count > 1] == []


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{at}-{pair.label}" for at, pair in enumerate(PAIRS)])
def test_every_pair_says_why_and_is_a_pair(pair: Pair) -> None:
    """A label without its reason cannot be argued with."""
    assert pair.why
    assert pair.a.strip() == pair.a
    assert pair.b.strip() == pair.b
    assert pair.a != pair.b or not pair.shares_boundary
    assert (pair.a_claim is None) is (pair.b_claim is None)
    assert pair.shares_boundary or pair.label is Label.UNRELATED


def test_both_orders_of_a_pair_are_tried() -> None:
    """SPEC T3: the order of writes does not change what is found."""
    pair = next(pair for pair in PAIRS if not pair.shares_boundary)

    assert sides(pair, turned=True) == sides(pair)[::-1]


def test_the_judge_counts_what_is_wrong_and_what_is_missed() -> None:
    """SPEC T2, T3: who merges all and who does nothing are both caught."""
    merging = judged(PAIRS, lambda _, __: Happened.MERGED)
    idle = judged(PAIRS, lambda _, __: Happened.APART)

    assert len(merging.wrong_merges) == len(PAIRS) - merging.duplicates
    assert len(merging.missed_contradictions) == merging.contradictions
    assert merging.missed_duplicates == ()
    assert len(idle.missed_duplicates) == idle.duplicates
    assert idle.summary().startswith("0 wrong merges, 0 wrong contradictions, 0 of ")


def test_the_rules_merge_nothing_and_contradict_nothing_wrongly() -> None:
    """SPEC T2, T3: zero wrong merges and zero wrong contradictions, and most of the true ones found."""
    judgement = judged(PAIRS, by_the_rules)

    assert judgement.wrong_merges == ()
    assert judgement.wrong_contradictions == ()
    assert judgement.duplicates - len(judgement.missed_duplicates) >= 30
    assert judgement.contradictions - len(judgement.missed_contradictions) >= 30

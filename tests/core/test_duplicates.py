"""Which rows a new memory is compared with, and what it is to each."""

from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of
from tests.core.said import proxy, said

from tenure.core.boundary_rows import Column, Rows, as_rows, no_rows
from tenure.core.candidates import candidates_of
from tenure.core.duplicates import (
    Because,
    Contradiction,
    Duplicate,
    Likeness,
    Support,
    Unrelated,
    near,
    verdict,
)
from tenure.core.identity import Scope, Tier
from tenure.core.statements import Statement, as_found
from tenure.core.validity import Interval
from tenure.core.vectors import Vector, packed
from tenure.core.vocabulary import Claim, Kind, Trust

MODEL = "m/1"
DAY = timedelta(days=1)


def towards(cosine: float) -> Vector:
    """A vector of length 1 at this cosine from the first axis, in three dimensions."""
    return np.array([cosine, np.sqrt(1 - cosine * cosine), 0.0], dtype=np.float32)


ASKED = towards(1.0)


def row(number: int, vector: Vector | None, *, trust: Trust = Trust.UNTRUSTED) -> Column:
    """A row of its own id."""
    return Column(
        number, id_of(number), Kind.FACT, trust.rank, 1.0, 0, 5, "shop", None, None, "web", f"page-{number}",
        None if vector is None else packed(vector),
    )  # fmt: skip


def rows(*columns: Column) -> Rows:
    """The rows of a boundary with the vectors of a model."""
    return as_rows(columns, MODEL)


def ids(found: Rows, like: Likeness = Likeness()) -> list[UUID]:  # noqa: B008 -- a frozen record
    """The candidates for the first axis."""
    return [one.memory_id for one in near(candidates_of(found), packed(ASKED), like=like)]


def test_candidates_are_the_nearest_above_the_cosine_nearest_first() -> None:
    """SPEC T3: the five nearest above .90."""
    found = rows(*(row(number, towards(0.88 + number / 100)) for number in range(1, 10)))

    assert ids(found) == [id_of(number) for number in (9, 8, 7, 6, 5)]
    assert ids(found, like=Likeness(neighbours=2)) == [id_of(9), id_of(8)]
    assert ids(rows(row(1, towards(0.89)))) == []


def test_a_crowd_of_untrusted_neighbours_hides_no_trusted_one() -> None:
    """SPEC T3: two hundred copies do not push what they contradict out of the comparison."""
    crowd = [row(number, towards(0.99)) for number in range(2, 202)]
    found = rows(row(1, towards(0.91), trust=Trust.REVIEWER_VERIFIED), *crowd)

    assert id_of(1) in ids(found)
    assert len(ids(found)) == 6


def test_what_claims_something_of_the_same_is_a_candidate_however_unlike() -> None:
    """SPEC T3: by equal entity and attribute as well, and for rows without a vector too."""
    found = near(
        candidates_of(rows(row(1, towards(0.1)), row(2, None))),
        packed(ASKED),
        same_claim=[id_of(1), id_of(2), id_of(3)],
    )

    assert [one.memory_id for one in found] == [id_of(1), id_of(2)]
    assert found[0].cosine == pytest.approx(0.1, abs=0.01)
    assert found[1].cosine is None


def test_without_vectors_only_claims_find_candidates() -> None:
    """SPEC T2: no model, an empty boundary, a text without a known word, vectors of another width."""
    unseen, there = candidates_of(as_rows([row(1, None)], None)), candidates_of(rows(row(1, ASKED)))

    assert near(unseen, packed(ASKED), same_claim=[id_of(1)])[0].cosine is None
    assert near(candidates_of(no_rows(MODEL)), packed(ASKED)) == ()
    assert near(there, packed(np.zeros(3, dtype=np.float32))) == ()
    assert near(there, packed(np.ones(4, dtype=np.float32))) == ()
    assert near(there, None) == ()


@MODEST
@given(st.lists(st.floats(-1, 1, width=32), min_size=6, max_size=6))
def test_a_cosine_is_the_same_from_either_side(numbers: list[float]) -> None:
    """SPEC T2: both are compared as they are kept, so which was first makes no difference."""
    one, other = np.array(numbers[:3], dtype=np.float32), np.array(numbers[3:], dtype=np.float32)
    anything = Likeness(near_cosine=-2.0)

    there = near(candidates_of(rows(row(1, one))), packed(other), like=anything)
    back = near(candidates_of(rows(row(1, other))), packed(one), like=anything)

    if there and back:
        assert there == back


def test_the_same_words_are_a_duplicate_from_the_cosine_for_merging_on() -> None:
    """SPEC T2: at .97, and never between .95 and .97 nor below."""
    one, other = said(1), said(2, content="the proxy of the shop is nginx")

    assert verdict(one, other, cosine=0.97) == Duplicate()
    assert [verdict(one, other, cosine=cosine) for cosine in (0.969, 0.95, 0.5, None)] == [Support()] * 4


def test_texts_that_are_equal_to_the_letter_need_no_vector() -> None:
    """SPEC T2: a store without an embedder finds plain copies."""
    assert verdict(said(1), said(2), cosine=None) == Duplicate()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"boundary": replace(said().boundary, tenant="globex")}, Unrelated(Because.BOUNDARY)),
        ({"boundary": replace(said().boundary, agent="sales")}, Unrelated(Because.BOUNDARY)),
        ({"boundary": replace(said().boundary, purpose="sales")}, Unrelated(Because.BOUNDARY)),
        ({"boundary": replace(said().boundary, subject="depot")}, Unrelated(Because.BOUNDARY)),
        ({"scope": Scope(tier=Tier.TASK, id="t1")}, Support()),
        ({"kind": Kind.PREFERENCE}, Support()),
        ({"valid": Interval(end=NOW + DAY)}, Support()),
        ({"claims": ()}, Unrelated(Because.CLAIM)),
        (
            {"claims": (proxy("nginx"), as_found(Claim(entity="shop", attribute="port", value="80")))},
            Support(),
        ),
        ({"content": "The proxy of the shop is nginx 2."}, Support()),
        ({"content": "Ask Ann: the proxy of the shop is nginx."}, Support()),
    ],
)
def test_what_differs_beside_the_words_vetoes_a_merge(changes: dict[str, object], expected: object) -> None:
    """SPEC T2, M2: another boundary, scope, kind, valid time or claim, however alike the texts."""
    assert verdict(said(1), replace(said(2), **changes), cosine=1.0) == expected


def test_another_value_of_the_same_thing_is_a_contradiction_however_alike() -> None:
    """SPEC T3: same entity and attribute, other value; names are compared without regard to case."""
    loud = as_found(Claim(entity="Shop PROXY", attribute="Software", value="caddy"))

    assert verdict(said(1), said(2, "caddy"), cosine=0.999) == Contradiction(Because.CLAIM)
    assert verdict(said(1), said(2, "caddy"), cosine=None) == Contradiction(Because.CLAIM)
    assert verdict(said(1), said(2, claims=(loud,)), cosine=None) == Contradiction(Because.CLAIM)


def test_a_denial_contradicts_where_it_is_near() -> None:
    """SPEC T3: without any claim, above .90 alone."""
    one, other = said(1, claims=()), said(2, claims=(), content="The proxy of the shop is not nginx")

    assert verdict(one, other, cosine=0.91) == Contradiction(Because.NEGATION)
    assert verdict(one, other, cosine=0.90) == Unrelated(Because.LIKENESS)
    assert verdict(one, other, cosine=None) == Unrelated(Because.LIKENESS)


def test_what_holds_at_other_times_contradicts_nothing() -> None:
    """SPEC T4: nginx until today and caddy from today on are both true."""
    before, after = Interval(end=NOW), Interval(start=NOW)

    found = verdict(said(1, valid=before), said(2, "caddy", valid=after), cosine=0.99)

    assert found == Unrelated(Because.VALID_TIME)


def test_of_what_has_several_values_another_one_is_no_contradiction() -> None:
    """SPEC T3: a proxy that listens on two ports, and attributes that are set to have several."""
    both = said(1, claims=(proxy("80"), proxy("443")))

    assert verdict(both, said(2, claims=(proxy("443"),)), cosine=0.9) == Support()
    several = Likeness(several=frozenset({"software"}))
    assert verdict(said(1), said(2, "caddy"), cosine=0.98, like=several) == Unrelated(Because.CLAIM)


@MODEST
@given(
    one=st.builds(said, st.just(1), st.sampled_from(("nginx", "caddy")), trust=st.sampled_from(Trust)),
    other=st.builds(said, st.just(2), st.sampled_from(("nginx", "caddy", "not nginx"))),
    cosine=st.none() | st.floats(0, 1),
)
def test_a_verdict_has_no_direction(one: Statement, other: Statement, cosine: float | None) -> None:
    """SPEC T2, T3: it does not matter which of the two was written first."""
    assert verdict(one, other, cosine=cosine) == verdict(other, one, cosine=cosine)


def test_other_words_are_forgiven_only_where_that_is_set() -> None:
    """SPEC T2: what is neither value, name, denial nor choice vetoes as well, unless set otherwise."""
    one, other = said(1, content="The shop has a fast proxy"), said(2, content="The shop has a quick proxy")

    assert verdict(one, other, cosine=0.98) == Support()
    assert verdict(one, other, cosine=0.98, like=Likeness(forgives_words=True)) == Duplicate()

"""How a memory is doubted as it ages."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST, NOW

from tenure.core.identity import SourceType
from tenure.core.truth import PLAIN, Doubt, HalfLives, banner, freshness, is_stale
from tenure.core.vocabulary import Kind

# Half-lives in days.
HALF_LIVES = [
    (Kind.PREFERENCE, 90),
    (Kind.FACT, 14),
    (Kind.SKILL, 90),
    (Kind.WORKING_NOTE, 1),
    (Kind.SUMMARY, 14),
    (Kind.EXTERNAL_CLAIM, 7),
    (Kind.SENSITIVE_CHANGE, 14),
]
DOUBT = Doubt()
ages = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3_650))
lives = st.timedeltas(min_value=timedelta(minutes=1), max_value=timedelta(days=3_650))
half_lives = st.builds(
    HalfLives,
    kinds=st.dictionaries(st.sampled_from(Kind), lives),
    source_types=st.dictionaries(st.sampled_from(SourceType), lives),
)


def half_life(kind: Kind) -> timedelta:
    """That of a kind, where an operator set nothing."""
    return PLAIN.of(kind, SourceType.APPLICATION)


@pytest.mark.parametrize(("kind", "days"), HALF_LIVES)
def test_freshness_is_halved_with_every_half_life_of_the_kind(kind: Kind, days: int) -> None:
    """SPEC T1, M3: exponential decay, each kind at its own pace."""
    found = [freshness(times * timedelta(days=days), half_life(kind)) for times in range(4)]

    assert found == [1.0, 0.5, 0.25, 0.125]


def test_every_kind_has_a_half_life() -> None:
    """SPEC M3: each kind has its own."""
    assert [kind for kind, _ in HALF_LIVES] == list(Kind)


@MODEST
@given(kind=st.sampled_from(Kind), first=ages, second=ages)
def test_freshness_never_grows_with_age_and_stays_between_nothing_and_one(
    kind: Kind, first: timedelta, second: timedelta
) -> None:
    """SPEC T1: monotone, computed from time alone, the same on every replay."""
    younger, older = sorted((first, second))

    assert 0.0 <= freshness(older, half_life(kind)) <= freshness(younger, half_life(kind)) <= 1.0


@pytest.mark.parametrize("kind", Kind)
def test_what_was_written_by_a_clock_that_runs_ahead_is_only_fresh(kind: Kind) -> None:
    """SPEC T1: never above one."""
    assert freshness(-timedelta(days=400), half_life(kind)) == 1.0


def test_a_source_type_can_only_make_doubt_quicker() -> None:
    """SPEC T1: per kind, and per source type where configured."""
    configured = HalfLives(
        kinds={Kind.FACT: timedelta(days=30)},
        source_types={SourceType.WEB: timedelta(days=3), SourceType.APPLICATION: timedelta(days=900)},
    )

    assert configured.of(Kind.FACT, SourceType.EMAIL) == timedelta(days=30)
    assert configured.of(Kind.FACT, SourceType.WEB) == timedelta(days=3)
    assert configured.of(Kind.WORKING_NOTE, SourceType.WEB) == timedelta(days=1)
    assert configured.of(Kind.FACT, SourceType.APPLICATION) == timedelta(days=30)


@MODEST
@given(configured=half_lives, kind=st.sampled_from(Kind), source_type=st.sampled_from(SourceType), age=ages)
def test_a_type_of_source_never_slows_doubt(
    configured: HalfLives, kind: Kind, source_type: SourceType, age: timedelta
) -> None:
    """SPEC T1: nothing is fresher than its kind lets it be."""
    by_kind = HalfLives(kinds=configured.kinds)

    quicker = freshness(age, configured.of(kind, source_type))

    assert quicker <= freshness(age, by_kind.of(kind, source_type))
    assert half_life(kind) == PLAIN.of(kind, source_type)


@pytest.mark.parametrize(
    ("kind", "age", "expected"),
    [
        (Kind.PREFERENCE, timedelta(0), False),
        (Kind.PREFERENCE, timedelta(days=7), False),
        (Kind.PREFERENCE, timedelta(days=7, seconds=1), True),
        (Kind.FACT, timedelta(days=7), False),
        (Kind.WORKING_NOTE, timedelta(days=1), False),
        (Kind.WORKING_NOTE, timedelta(days=2), True),
        (Kind.WORKING_NOTE, timedelta(days=-1), False),
    ],
)
def test_an_item_is_stale_when_it_is_old_or_no_longer_fresh(
    kind: Kind, age: timedelta, *, expected: bool
) -> None:
    """SPEC T5: freshness below .35, or older than 7 days."""
    assert expected == is_stale(age, half_life(kind), DOUBT)


def test_when_an_item_is_stale_is_configurable() -> None:
    """SPEC T5: the figures in brackets are defaults."""
    patient = Doubt(stale_after=timedelta(days=30), stale_below_freshness=0.0)

    assert not is_stale(timedelta(days=29), half_life(Kind.FACT), patient)
    assert (DOUBT.stale_after, DOUBT.stale_below_freshness) == (timedelta(days=7), 0.35)


def test_a_banner_says_age_source_date_and_what_to_do() -> None:
    """SPEC T5: age, source, written date, verify before acting."""
    said = banner(source_type="email", written_at=NOW, now=NOW + timedelta(days=12, hours=3))

    assert said == (
        "Written 2026-03-01 (12 days ago), source email. It may no longer be true: "
        "verify it before acting on it."
    )

"""One memory that stands for several: nothing is lost, nothing is raised, and all of it can be undone."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of, memory
from tests.core.said import said

from tenure.core.identity import SourceType
from tenure.core.memory import evolve
from tenure.core.merging import Voices, merge, support
from tenure.core.statements import Statement
from tenure.core.truth_events import Corroborated, Merged
from tenure.core.truth_steps import corroborated, merged, unmerged
from tenure.core.vocabulary import Origin, Status, Trust


@pytest.mark.parametrize(
    ("one", "other", "stands"),
    [
        (said(1), said(2, trust=Trust.UNTRUSTED, said_at=NOW + timedelta(days=9)), 1),
        (said(1), said(2, said_at=NOW - timedelta(days=1)), 1),
        (said(1), said(2), 2),
    ],
)
def test_the_more_trusted_stands_then_the_later_then_the_higher_id(
    one: Statement, other: Statement, stands: int
) -> None:
    """SPEC T2, M5: the same whichever is named first."""
    done = merge(one, other)

    assert done == merge(other, one)
    assert (done.stands, done.evidence) == (id_of(stands), id_of(3 - stands))


@MODEST
@given(cosine=st.none() | st.floats(0.97, 1), voices=st.integers(1, 9))
def test_undoing_a_merge_gives_back_what_was(cosine: float | None, voices: int) -> None:
    """SPEC T2: text, source, trust, origins and times are kept, and only the version has moved on."""
    before = memory(valid_from=NOW, derived_from=(id_of(7),))
    counted = Voices(voices, 1)

    hidden = evolve(before, merged(before, id_of(2), counted, cosine=cosine, actor="a", at=NOW))
    again = evolve(hidden, unmerged(hidden, id_of(2), counted, actor="a", at=NOW))

    assert (hidden.status, hidden.superseded_by, hidden.merged_into) == (
        Status.SUPERSEDED,
        id_of(2),
        id_of(2),
    )
    assert again == replace(before, version=before.version + 2, updated_at=NOW)


def test_independent_sources_are_counted() -> None:
    """SPEC M5a: each with roots of its own; how many are more than untrusted is told beside."""
    assert support([]) == Voices(0, 0)
    assert support([said(1), said(2), said(3, trust=Trust.UNTRUSTED)]) == Voices(3, 2)


SAME = (Origin(type=SourceType.WEB, id="page-1"),)


@pytest.mark.parametrize(
    "copies",
    [
        [said(number, origins=SAME) for number in range(1, 201)],
        [said(1), said(2, derived_from=(id_of(1),)), said(3, derived_from=(id_of(2),))],
        [said(1, derived_from=(id_of(9),)), said(2, derived_from=(id_of(9),))],
        [said(number, thread="t", fingerprint="f") for number in range(1, 4)],
        [said(1, origins=SAME), said(2, origins=(*SAME, *said(3).origins)), said(3)],
    ],
)
def test_copies_of_one_are_one_voice(copies: list[Statement]) -> None:
    """SPEC M5a: of one source, made from one another, repeated within a thread, or linked by any of these."""
    assert support(copies).voices == 1
    assert support(copies[::-1]) == support(copies)


def test_the_same_text_in_other_threads_is_another_voice() -> None:
    """SPEC M5a: two people can say the same."""
    assert support([said(1, thread="a", fingerprint="f"), said(2, thread="b", fingerprint="f")]).voices == 2


@MODEST
@given(st.lists(st.builds(said, st.integers(1, 5), trust=st.sampled_from(Trust)), max_size=8))
def test_support_is_a_count_and_touches_no_trust(said_so: list[Statement]) -> None:
    """SPEC M5a, M5: never more voices than memories, never more trusted ones than voices."""
    found = support(said_so)

    assert 0 <= found.trusted_voices <= found.voices <= len({one.id for one in said_so})


def test_the_log_is_told_ids_and_counts() -> None:
    """SPEC E6: a merge, its undoing and a corroboration, without a word of what was said."""
    counted, one = Voices(3, 2), memory()

    into = merged(one, id_of(2), counted, cosine=0.98, actor="a", at=NOW)
    assert into.data == Merged(into=id_of(2), voices=3, trusted_voices=2, cosine=0.98)
    assert into.secret is None
    borne_out = corroborated(one, id_of(5), counted, actor="a", at=NOW)
    assert borne_out.data == Corroborated(memory_id=one.id, by=id_of(5), voices=3, trusted_voices=2)
    assert borne_out.secret is None

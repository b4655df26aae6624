"""The contract of what goes with memories: their claims, who says so, and how they stand to others."""

import pytest
from tests.stores.engine import Opened
from tests.stores.forgetting_items import (
    LEAF,
    compacted,
    erasure_begun,
    expired,
    giraffe,
    hold_placed,
    hold_released,
    memory_forgotten,
)
from tests.stores.items import (
    SUBJECT,
    TENANT,
    created,
    forgotten,
    put,
)
from tests.stores.looking import AT, standing
from tests.stores.truth_items import (
    CITY,
    DIET,
    a_story,
    merged,
    pruned,
)
from tests.stores.truth_looking import edges, everything, things

from tenure.core.rows import (
    CORROBORATES,
    DERIVED,
    MERGED,
)
from tenure.usecases.ports import Appended, Stale

OF_CUSTOMER_8 = ([(5, CITY), (6, CITY)], [(5, 6, MERGED)], {5: (2, 1)}, [22])
"""All that is kept of the second subject of ``a_story``."""


def test_forgetting_what_stands_takes_its_evidence_and_what_was_made_from_that(opened: Opened) -> None:
    """SPEC T2, F9: the evidence says the same, so that it would come back by it."""
    a_story(opened)

    assert put(opened, memory_forgotten(opened.keyring, 1)) == [Appended(seq=13, dropped=3)]

    assert standing(opened) == {4, 5, 6}
    assert everything(opened) == (
        [(4, CITY), (5, CITY), (6, CITY)],
        [(2, 3, DERIVED), (5, 6, MERGED)],
        {5: (2, 1)},
        [22],
    )


def test_forgetting_evidence_leaves_what_stands_with_what_others_say(opened: Opened) -> None:
    """SPEC F9: the edge goes with the evidence, and so do contradictions of what goes."""
    a_story(opened)

    put(opened, memory_forgotten(opened.keyring, 2))

    assert standing(opened) == {1, 4, 5, 6}
    assert everything(opened) == (
        [(1, CITY), (1, DIET), (4, CITY), (5, CITY), (6, CITY)],
        [(1, 4, CORROBORATES), (2, 3, DERIVED), (5, 6, MERGED)],
        {1: (2, 1), 5: (2, 1)},
        [22, 21],
    )


@pytest.mark.parametrize("erases", [False, True])
def test_what_is_kept_about_a_subject_goes_with_it(opened: Opened, erases: bool) -> None:  # noqa: FBT001 -- a parameter of the test
    """SPEC F1, F7: and nothing of anybody else; only an erasure takes what was made from what."""
    a_story(opened)
    keys = opened.keyring

    put(opened, erasure_begun(keys, 30) if erases else forgotten(keys))

    kept, around, counted, listed = everything(opened)
    assert (kept, counted, listed) == (OF_CUSTOMER_8[0], OF_CUSTOMER_8[2], OF_CUSTOMER_8[3])
    assert around == [*([] if erases else [(2, 3, DERIVED)]), *OF_CUSTOMER_8[1]]
    with opened.store.reading() as reading:
        assert reading.claims_left(TENANT, SUBJECT, 1_000) == 0
        assert reading.claims_left(TENANT, "customer-8", 1_000) == 4


def test_what_is_pruned_leaves_without_a_floor_and_without_what_was_made_from_it(opened: Opened) -> None:
    """SPEC T7: nothing is forgotten: the same may be written again, and what came of it stands."""
    a_story(opened)
    with opened.store.reading() as reading:
        before = reading.forgot_seq(TENANT)

    put(opened, pruned(opened.keyring, 2, to_version=3))

    assert standing(opened) == {1, 3, 4, 5, 6}
    assert edges(opened, parents=[1, 2]) == [(1, 4, CORROBORATES), (2, 3, DERIVED)]
    assert things(opened, 2) == []
    with opened.store.reading() as reading:
        assert reading.forgot_seq(TENANT) == before


def test_a_scope_that_is_over_keeps_what_has_evidence(opened: Opened) -> None:
    """SPEC F9, T2: a forgetting must find the evidence again, whatever scope that is in."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1, scope=LEAF, things=(DIET,)),
        giraffe(keys, 2, things=(DIET,)),
        giraffe(keys, 3, scope=LEAF, things=(CITY,)),
        merged(keys, 2, 1),
        expired(keys, 1),
        expired(keys, 3),
    )
    with opened.store.reading() as reading:
        ended = reading.scopes_ended(AT + 99 * 24 * 3_600_000_000, 50)
    assert [one.scope_id for one in ended] == [LEAF.id]

    put(opened, compacted(keys))

    assert standing(opened) == {1, 2}
    assert things(opened, 1, 2, 3) == [(1, DIET), (2, DIET)]
    with opened.store.reading() as reading:
        assert reading.scopes_ended(AT + 99 * 24 * 3_600_000_000, 50) == []


def test_what_is_under_a_hold_is_not_pruned_whenever_that_was_placed(opened: Opened) -> None:
    """SPEC F10, T7: upkeep looks first and stores later, and a hold between the two keeps the memory."""
    keys = opened.keyring
    put(opened, created(keys, 1), created(keys, 2), created(keys, 3, subject="customer-8"))

    together = put(opened, hold_placed(keys), pruned(keys, 1), pruned(keys, 3, subject="customer-8"))
    later = put(opened, pruned(keys, 1))

    assert [type(result) for result in together] == [Appended, Stale, Appended]
    assert [type(result) for result in later] == [Stale]
    assert standing(opened) == {1, 2}
    assert put(opened, hold_released(keys), pruned(keys, 1))[1:] == [Appended(seq=7, dropped=1)]
    assert put(opened, pruned(keys, 2)) == [Appended(seq=8, dropped=1)]
    assert standing(opened) == set()

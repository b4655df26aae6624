"""The contract of what is kept about claims, merges and contradictions, and how it is asked."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.clock import START
from tests.stores.engine import Opened
from tests.stores.forgetting_items import (
    expired,
    giraffe,
)
from tests.stores.items import (
    DIFFERENT,
    HOUR,
    SUBJECT,
    TENANT,
    created,
    number,
    put,
    revoked,
    source_revoked,
)
from tests.stores.looking import AT
from tests.stores.truth_items import (
    CITY,
    DIET,
    a_story,
    contradiction_found,
    contradiction_resolved,
    corroborated,
    merged,
    superseded,
    unmerged,
    valid_until,
)
from tests.stores.truth_looking import (
    claiming,
    contradictions,
    contradictions_beside,
    contradictions_of,
    edges,
    stranded,
    support,
    things,
)

from tenure.core.identity import SourceType
from tenure.core.rows import (
    CORROBORATES,
    DERIVED,
    FOREVER,
    MERGED,
    SUPERSEDES,
    ContradictionRow,
    DerivationRow,
)
from tenure.core.vocabulary import Trust


def test_the_most_trusted_claims_of_a_thing_come_first_and_of_those_the_newest(opened: Opened) -> None:
    """SPEC T3: each memory once, whatever number of the things it claims something of."""
    keys = opened.keyring
    put(
        opened,
        created(keys, 1, things=(DIET, CITY), trust=Trust.USER_ASSERTED),
        created(keys, 2, things=(DIET,)),
        created(keys, 3, things=(CITY,)),
        created(keys, 4, things=(b"something else..",)),
        created(keys, 5),
    )

    assert claiming(opened, DIET, CITY) == [3, 2, 1]
    assert claiming(opened, DIET) == [2, 1]
    assert claiming(opened, DIET, CITY, limit=2) == [3, 2]
    assert claiming(opened) == []


@pytest.mark.parametrize(
    "difference", [name for name in DIFFERENT if name not in {"another kind", "another scope"}]
)
def test_a_claim_is_compared_within_its_walls_and_while_it_stands(opened: Opened, difference: str) -> None:
    """SPEC M2, T3: neither over a wall nor with what waits or is over; validity is the caller's to weigh."""
    sides = DIFFERENT[difference]
    put(opened, created(opened.keyring, 1, things=(DIET,), **sides))

    is_compared = difference in {"less trust", "not valid yet", "valid no more"}

    assert claiming(opened, DIET) == ([1] if is_compared else [])


def test_what_ended_claims_nothing_any_more(opened: Opened) -> None:
    """SPEC T2, T3: nor does what has expired without being marked."""
    keys = opened.keyring
    put(opened, *(created(keys, one, things=(DIET,)) for one in (1, 2, 3, 4)))
    put(opened, merged(keys, 2, 1), superseded(keys, 3, 4), valid_until(keys, 4, 1))

    assert claiming(opened, DIET) == [4, 1]
    assert claiming(opened, DIET, now=AT + 31 * 24 * 3_600_000_000) == []


def test_what_a_memory_claims_is_kept_by_digest_in_an_order(opened: Opened) -> None:
    """SPEC T3: a thing that is named twice is kept once."""
    put(opened, created(opened.keyring, 1, things=(DIET, CITY, DIET)), created(opened.keyring, 2))

    assert things(opened, 1, 2) == [(1, CITY), (1, DIET)]
    with opened.store.reading() as reading:
        assert {row.subject for row in reading.things_of(TENANT, [number(1)])} == {SUBJECT}
        assert reading.things_of("globex", [number(1)]) == []


def test_edges_are_told_apart_by_their_kind_also_between_the_same_two(opened: Opened) -> None:
    """SPEC T2, M5a: what was made from a memory may also stand behind it, and bear it out."""
    keys = opened.keyring
    put(
        opened,
        giraffe(keys, 1),
        giraffe(keys, 2, derived_from=(number(1),)),
        giraffe(keys, 3, supersedes=number(1)),
        corroborated(keys, 1, 2),
        merged(keys, 2, 1),
    )

    assert edges(opened, parents=[1]) == [
        (1, 2, CORROBORATES),
        (1, 2, DERIVED),
        (1, 2, MERGED),
        (1, 3, SUPERSEDES),
    ]
    assert edges(opened, [MERGED], parents=[1], children=[2]) == [(1, 2, MERGED)]
    assert edges(opened, [SUPERSEDES, MERGED], children=[2, 3]) == [(1, 2, MERGED), (1, 3, SUPERSEDES)]
    assert edges(opened, parents=[2], children=[1]) == edges(opened) == edges(opened, [], parents=[1]) == []


def test_the_last_count_of_who_says_so_is_kept(opened: Opened) -> None:
    """SPEC M5a: one row for what more than one says, whether the others merged or bear it out."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), giraffe(keys, 2), giraffe(keys, 3), corroborated(keys, 1, 3, voices=2))
    put(opened, merged(keys, 2, 1, voices=3, trusted_voices=2))

    assert support(opened, 1, 2, 3) == {1: (3, 2)}
    put(opened, unmerged(keys, 2, 1))
    assert support(opened, 1, 2, 3) == {1: (1, 1)}


def test_undoing_a_merge_takes_that_edge_alone(opened: Opened) -> None:
    """SPEC T2: it can be merged again, also in the same batch."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1), giraffe(keys, 2, derived_from=(number(1),)), corroborated(keys, 1, 2))
    put(opened, merged(keys, 2, 1), unmerged(keys, 2, 1))
    assert edges(opened, parents=[1]) == [(1, 2, CORROBORATES), (1, 2, DERIVED)]

    put(opened, merged(keys, 2, 1, to_version=4))

    assert edges(opened, [MERGED], parents=[1]) == [(1, 2, MERGED)]


def test_a_contradiction_is_kept_as_it_was_found_first(opened: Opened) -> None:
    """SPEC T3: finding it again changes nothing, whether or not a person has decided."""
    keys = opened.keyring
    put(opened, contradiction_found(keys, 20, 1, 2), contradiction_found(keys, 20, 2, 1, effect="held"))
    expected = ContradictionRow(
        TENANT,
        number(20),
        "support",
        "answering",
        SUBJECT,
        number(1),
        number(2),
        "doubted",
        "claim",
        FOREVER,
        1,
        AT,
    )
    with opened.store.reading() as reading:
        assert reading.contradiction(TENANT, number(20)) == expected
        assert reading.contradiction(TENANT, number(21)) is None
        assert reading.contradiction("globex", number(20)) is None

    put(opened, contradiction_resolved(keys, 20, 1), contradiction_found(keys, 20, 1, 2))

    with opened.store.reading() as reading:
        assert reading.contradiction(TENANT, number(20)) == replace(expected, resolved_seq=3, kept=number(1))
    put(opened, contradiction_found(keys, 23, 3, 4), contradiction_resolved(keys, 23))
    with opened.store.reading() as reading:
        both = reading.contradiction(TENANT, number(23))
    assert both is not None
    assert (both.resolved_seq > 0, both.kept) == (True, None)


def test_the_contradictions_of_a_memory_are_those_on_either_side(opened: Opened) -> None:
    """SPEC T3: open or decided, each once, newest first."""
    keys = opened.keyring
    put(
        opened,
        contradiction_found(keys, 20, 1, 2),
        contradiction_found(keys, 21, 3, 1),
        contradiction_found(keys, 22, 3, 4),
        contradiction_resolved(keys, 20, 1),
    )

    assert contradictions_of(opened, 1) == [21, 20]
    assert contradictions_of(opened, 1, 2, 3) == [22, 21, 20]
    assert contradictions_of(opened, 5) == contradictions_of(opened) == []


def test_beside_memories_stand_contradictions_with_what_stands_and_then_those_with_what_waits(
    opened: Opened,
) -> None:
    """SPEC T3: a crowd of rumours hides nothing; what was decided counts for a past alone."""
    keys = opened.keyring
    put(
        opened,
        contradiction_found(keys, 20, 1, 2, effect="both"),
        *(contradiction_found(keys, 30 + one, 1, 10 + one, effect="waits") for one in range(3)),
        contradiction_found(keys, 21, 3, 1, effect="superseded"),
        contradiction_found(keys, 22, 3, 4),
        contradiction_resolved(keys, 20, 1),
    )

    assert contradictions_beside(opened, 1) == [21, 32, 31, 30]
    assert contradictions_beside(opened, 1, limit=2) == [21, 32]
    assert contradictions_beside(opened, 1, 3, limit=2) == [22, 21]
    assert contradictions_beside(opened, 1, found_by=FOREVER) == [21, 20, 32, 31, 30]
    assert contradictions_beside(opened, 1, found_by=0) == contradictions_beside(opened) == []


def test_a_page_of_contradictions_is_newest_first_and_goes_on_behind_the_last(opened: Opened) -> None:
    """SPEC T3: what waits for a person, what was decided, or both."""
    keys = opened.keyring
    put(opened, *(contradiction_found(keys, one, 1, one) for one in (20, 21, 22, 23)))
    put(opened, contradiction_resolved(keys, 21, 1))

    assert contradictions(opened) == [23, 22, 20]
    assert contradictions(opened, is_open=False) == [21]
    assert contradictions(opened, is_open=None) == [23, 22, 21, 20]
    assert contradictions(opened, limit=2) == [23, 22]
    assert contradictions(opened, before_seq=3) == [20]
    assert contradictions(opened, is_open=None, before_seq=3, limit=1) == [21]


@pytest.mark.parametrize(
    ("where", "sides"),
    [
        ({"agent": "sales"}, {"agents": frozenset({"sales"})}),
        ({"purpose": "selling"}, {"purposes": frozenset({"selling", "other"})}),
        ({"subject": "customer-8"}, {"subjects": frozenset({"customer-8"})}),
        ({"tenant": "globex"}, {"tenant": "globex"}),
    ],
    ids=["agent", "purpose", "subject", "tenant"],
)
@pytest.mark.parametrize("is_open", [True, None])
def test_a_page_of_contradictions_is_narrowed_to_what_somebody_may_see(
    opened: Opened,
    where: dict[str, str],
    sides: dict[str, Any],
    is_open: bool | None,  # noqa: FBT001 -- a parameter of the test
) -> None:
    """SPEC A2, M2: on each side, and to nobody by an empty one."""
    keys = opened.keyring
    put(opened, contradiction_found(keys, 20, 1, 2), contradiction_found(keys, 21, 3, 4, **where))

    assert contradictions(opened, is_open=is_open, **sides) == [21]
    assert contradictions(opened, is_open=is_open, agents=frozenset()) == []


def test_evidence_is_stranded_once_what_stands_for_it_was_revoked_or_expired(opened: Opened) -> None:
    """SPEC T2: of any tenant; what has longest to live comes first, and nothing that was undone."""
    keys = opened.keyring
    put(opened, *(giraffe(keys, one) for one in (1, 2, 3, 4, 5)))
    put(opened, giraffe(keys, 6, expires_at=START + 99 * 24 * HOUR))
    put(opened, *(giraffe(keys, one, tenant="globex") for one in (1, 2)))
    put(opened, merged(keys, 2, 1), merged(keys, 4, 3), merged(keys, 6, 5))
    put(opened, merged(keys, 2, 1, tenant="globex"))
    assert stranded(opened) == []

    put(
        opened,
        revoked(keys, 1, to_version=2),
        expired(keys, 5),
        revoked(keys, 1, to_version=2, tenant="globex"),
    )

    assert stranded(opened)[0] == (TENANT, 5, 6)
    assert sorted(stranded(opened)) == [(TENANT, 1, 2), (TENANT, 5, 6), ("globex", 1, 2)]
    assert stranded(opened, limit=1) == [(TENANT, 5, 6)]
    put(opened, unmerged(keys, 2, 1), revoked(keys, 2, to_version=3, tenant="globex"))
    assert stranded(opened) == [(TENANT, 5, 6)]


def test_a_source_that_is_being_revoked_strands_what_stood_behind_its_memories(opened: Opened) -> None:
    """SPEC I1, T2: evidence of another source is not withdrawn with it, and can stand before all is."""
    keys = opened.keyring
    put(opened, giraffe(keys, 1, source_id="crm-9"), giraffe(keys, 2), merged(keys, 2, 1))

    put(opened, source_revoked(keys, "crm-9"))

    with opened.store.reading() as reading:
        rows = {row.memory_id.int: row.status for row in reading.rows_of(TENANT, [number(1), number(2)])}
        taken = reading.source_memories(TENANT, SourceType.APPLICATION, "crm-9")
    assert rows == {1: "revoking", 2: "superseded"}
    assert [one.memory_id for one in taken] == [number(1)]
    assert stranded(opened) == [(TENANT, 1, 2)]


def test_an_edge_says_whose_it_is(opened: Opened) -> None:
    """SPEC F7: so that it goes with its subject."""
    a_story(opened)

    with opened.store.reading() as reading:
        assert reading.edges(TENANT, [MERGED], parents=[number(5)]) == [
            DerivationRow(TENANT, number(5), number(6), "customer-8", MERGED)
        ]
        assert reading.edges("globex", [MERGED], parents=[number(5)]) == []

"""Where a read looks, and which memory a key means there: outward only, and the innermost wins."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.examples import MODEST

from tenure.core.identity import Scope, Tier
from tenure.core.scopes import (
    ANY,
    Keyed,
    Place,
    Suppressed,
    covers,
    floor_places,
    hidden,
    places,
    winners,
)

SUBJECT = "customer-7"
ALL_THE_WAY = frozenset({Tier.TASK, Tier.SESSION})
NOWHERE: frozenset[Tier] = frozenset()
KEY, OTHER_KEY = b"a" * 16, b"b" * 16
TASK, SESSION, USER = Place("task", "t"), Place("session", "s"), Place("user", "u")
OUTWARD = (TASK, SESSION, USER)
ORDER = [str(tier) for tier in Tier]

names = st.sampled_from(["t", "s", "u", "v"])
scopes = st.builds(
    Scope, tier=st.sampled_from(Tier), id=names, session=st.none() | names, user=st.none() | names
)
ladders = st.frozensets(st.sampled_from(Tier))
somewhere = st.builds(Place, st.sampled_from(ORDER), names)
digests = st.sampled_from([KEY, OTHER_KEY])
held_rows = st.lists(
    st.builds(Keyed, st.integers(1, 30), digests, somewhere),
    max_size=8,
    unique_by=lambda row: row.created_seq,
)
markers = st.lists(st.builds(Suppressed, digests, somewhere, st.integers(1, 30)), max_size=4)


def texts(found: Sequence[Place]) -> list[str]:
    """Places as they are written down."""
    return [str(place) for place in found]


@pytest.mark.parametrize(
    ("scope", "inherits", "expected"),
    [
        (Scope(tier=Tier.TASK, id="t"), ALL_THE_WAY, ["task:t", f"user:{SUBJECT}"]),
        (
            Scope(tier=Tier.TASK, id="t", session="s"),
            ALL_THE_WAY,
            ["task:t", "session:s", f"user:{SUBJECT}"],
        ),
        (
            Scope(tier=Tier.TASK, id="t", session="s", user="u"),
            ALL_THE_WAY,
            ["task:t", "session:s", "user:u"],
        ),
        (Scope(tier=Tier.SESSION, id="s"), ALL_THE_WAY, ["session:s", f"user:{SUBJECT}"]),
        (Scope(tier=Tier.USER, id="u"), ALL_THE_WAY, ["user:u"]),
        (Scope(tier=Tier.TASK, id="t", session="s"), NOWHERE, ["task:t"]),
        (Scope(tier=Tier.TASK, id="t", session="s"), frozenset({Tier.TASK}), ["task:t", "session:s"]),
        (Scope(tier=Tier.TASK, id="t", session="s"), frozenset({Tier.SESSION}), ["task:t"]),
        (Scope(tier=Tier.SESSION, id="s"), frozenset({Tier.SESSION}), ["session:s", f"user:{SUBJECT}"]),
        (Scope(tier=Tier.SESSION, id="s"), frozenset({Tier.TASK}), ["session:s"]),
    ],
)
def test_a_read_looks_in_its_own_scope_and_outward_as_the_ladder_inherits(
    scope: Scope, inherits: frozenset[Tier], expected: list[str]
) -> None:
    """SPEC F3: the ladder and the inheritance are configuration; the user scope is the subject's own."""
    assert expected == texts(places(scope, SUBJECT, inherits))


def test_without_a_subject_an_unnamed_user_scope_is_nobodys() -> None:
    """SPEC F3, M2: a recall for every subject looks in no user scope that it did not name."""
    assert texts(places(Scope(tier=Tier.TASK, id="t", session="s"), None, ALL_THE_WAY)) == [
        "task:t",
        "session:s",
    ]


@pytest.mark.parametrize(
    ("scope", "inherits", "expected"),
    [
        (Scope(tier=Tier.TASK, id="t"), ALL_THE_WAY, ["task:t", "session:*", "user:*"]),
        (
            Scope(tier=Tier.TASK, id="t", session="s", user="u"),
            ALL_THE_WAY,
            ["task:t", "session:s", "user:u"],
        ),
        (Scope(tier=Tier.SESSION, id="s"), ALL_THE_WAY, ["session:s", "user:*"]),
        (Scope(tier=Tier.USER, id="u"), ALL_THE_WAY, ["user:u"]),
        (Scope(tier=Tier.TASK, id="t"), NOWHERE, ["task:t"]),
        (Scope(tier=Tier.TASK, id="t"), frozenset({Tier.TASK}), ["task:t", "session:*"]),
    ],
)
def test_a_floor_lies_wherever_a_later_read_at_the_scope_could_be_served_from(
    scope: Scope, inherits: frozenset[Tier], expected: list[str]
) -> None:
    """SPEC F4: an outer scope that is not named is every one of its tier."""
    assert expected == texts(floor_places(scope, inherits))


@MODEST
@given(scope=scopes, subject=st.none() | names, inherits=ladders)
def test_a_read_never_looks_inward_or_sideways(
    scope: Scope, subject: str | None, inherits: frozenset[Tier]
) -> None:
    """SPEC F3: itself first, then one place of each outer tier at most, each the one that was named."""
    found = places(scope, subject, inherits)
    tiers = [ORDER.index(place.tier) for place in found]

    assert found[0] == Place(scope.tier, scope.id)
    assert tiers == sorted(set(tiers))
    named = {"session": scope.session, "user": scope.user or subject}
    assert all(place.id == named[place.tier] for place in found[1:])


@MODEST
@given(scope=scopes, subject=names, session=names, inherits=ladders)
def test_the_floors_of_a_forget_cover_every_place_that_the_same_read_looks_in(
    scope: Scope, subject: str, session: str, inherits: frozenset[Tier]
) -> None:
    """SPEC F4, F5: the scope again, with whatever outer scopes a later reader names where none was named."""
    floors = floor_places(scope, inherits)
    later = Scope(tier=scope.tier, id=scope.id, session=scope.session or session, user=scope.user)

    for place in places(later, subject, inherits):
        assert any(covers(floor, place) for floor in floors)


@MODEST
@given(scope=scopes, inherits=ladders, fewer=ladders)
def test_inheriting_less_never_looks_further(
    scope: Scope, inherits: frozenset[Tier], fewer: frozenset[Tier]
) -> None:
    """SPEC F3: inheritance is configuration, and narrows by being taken away."""
    assert set(places(scope, SUBJECT, inherits & fewer)) <= set(places(scope, SUBJECT, inherits))


@pytest.mark.parametrize(
    ("floor", "place", "holds"),
    [
        (Place("user", "u"), Place("user", "u"), True),
        (Place("user", "u"), Place("user", "v"), False),
        (Place("user", ANY), Place("user", "v"), True),
        (Place("session", ANY), Place("user", "v"), False),
        (Place("session", "u"), Place("user", "u"), False),
    ],
)
def test_a_floor_covers_its_own_place_or_its_whole_tier(floor: Place, place: Place, *, holds: bool) -> None:
    """SPEC F4a: by tier and id, or every id of the tier."""
    assert covers(floor, place) is holds


@MODEST
@given(place=st.builds(Place, st.sampled_from(ORDER), st.text(min_size=1, max_size=20)))
def test_a_place_is_read_as_it_was_written(place: Place) -> None:
    """SPEC E1: whatever its id, colons included."""
    assert Place.read(str(place)) == place


@pytest.mark.parametrize(
    ("rows", "suppressed", "expected"),
    [
        ([], [], None),
        ([Keyed(1, KEY, USER)], [], 1),
        ([Keyed(1, KEY, USER), Keyed(2, KEY, TASK)], [], 2),
        ([Keyed(1, KEY, TASK), Keyed(2, KEY, USER)], [], 1),
        ([Keyed(1, KEY, USER), Keyed(2, KEY, USER)], [], 2),
        ([Keyed(1, KEY, Place("task", "another"))], [], None),
        ([Keyed(1, KEY, USER)], [Suppressed(KEY, TASK, 5)], None),
        ([Keyed(9, KEY, USER)], [Suppressed(KEY, TASK, 5)], 9),
        ([Keyed(1, KEY, TASK)], [Suppressed(KEY, TASK, 5)], None),
        ([Keyed(9, KEY, TASK), Keyed(1, KEY, USER)], [Suppressed(KEY, TASK, 5)], 9),
        ([Keyed(1, KEY, USER)], [Suppressed(KEY, Place("task", "another"), 5)], 1),
        ([Keyed(1, KEY, USER)], [Suppressed(OTHER_KEY, TASK, 5)], 1),
        ([Keyed(1, KEY, TASK), Keyed(2, KEY, USER)], [Suppressed(KEY, SESSION, 5)], 1),
        ([Keyed(7, KEY, TASK)], [Suppressed(KEY, TASK, 8), Suppressed(KEY, TASK, 5)], None),
    ],
)
def test_the_innermost_place_wins_and_a_suppression_ends_the_way_outward(
    rows: list[Keyed], suppressed: list[Suppressed], expected: int | None
) -> None:
    """SPEC F3, F4: what was written at the leaf after its forget is fresh, and served."""
    served = winners(rows, OUTWARD, suppressed).get(KEY)

    assert (served.created_seq if served else None) == expected


@MODEST
@given(rows=held_rows, suppressed=markers)
def test_of_each_key_one_memory_at_most_is_served_and_all_others_are_hidden(
    rows: list[Keyed], suppressed: list[Suppressed]
) -> None:
    """SPEC F3: served and hidden are two halves of one answer, whatever the order of what was read."""
    served = winners(rows, OUTWARD, suppressed)

    assert all(row.key_digest == digest and row.place in OUTWARD for digest, row in served.items())
    gone = hidden(rows, OUTWARD, suppressed)
    assert gone == {row.created_seq for row in rows} - {row.created_seq for row in served.values()}
    assert served == winners(rows[::-1], OUTWARD, suppressed[::-1])


@MODEST
@given(rows=held_rows, suppressed=markers)
def test_nothing_that_is_served_has_a_nearer_memory_or_a_later_marker_before_it(
    rows: list[Keyed], suppressed: list[Suppressed]
) -> None:
    """SPEC F3: the innermost wins, of equals the newest, and no later marker lies before it."""
    for digest, winner in winners(rows, OUTWARD, suppressed).items():
        nearer = OUTWARD[: OUTWARD.index(winner.place)]
        marked = [one for one in suppressed if one.key_digest == digest]
        on_the_way = [one.seq for one in marked if one.place in (*nearer, winner.place)]
        assert all(seq < winner.created_seq for seq in on_the_way)
        mine = [row for row in rows if row.key_digest == digest]
        for row in mine:
            if row.place in nearer:
                inward = OUTWARD[: OUTWARD.index(row.place) + 1]
                assert any(one.place in inward and one.seq >= row.created_seq for one in marked)
        here = [row.created_seq for row in mine if row.place == winner.place]
        assert winner.created_seq == max(here)


@MODEST
@given(rows=held_rows)
def test_without_a_marker_every_key_that_lies_on_the_way_is_served(rows: list[Keyed]) -> None:
    """SPEC F3: a read resolves outward until it finds something."""
    expected = {row.key_digest for row in rows if row.place in OUTWARD}

    assert expected == set(winners(rows, OUTWARD, []))

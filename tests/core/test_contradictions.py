"""What follows where two memories cannot both be true: by trust first, whatever the order of writes."""

from datetime import timedelta
from itertools import combinations, permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of
from tests.core.said import Beliefs, believed, said

from tenure.core.contradictions import (
    Conflict,
    Effect,
    Ending,
    Open,
    Plan,
    Rival,
    Showing,
    Shown,
    Weighed,
    pair_id,
    resolve,
    shown,
    weigh,
)
from tenure.core.duplicates import Because, Contradiction, verdict
from tenure.core.identity import Scope, Tier
from tenure.core.statements import Standing, Statement
from tenure.core.validity import Interval
from tenure.core.vocabulary import Status, Trust

DAY = timedelta(days=1)
OLD = said(1)
NEW = said(2, "caddy", said_at=NOW + DAY)


def against(*olds: Statement) -> list[Rival]:
    """Each of them contradicts the new one by its claim."""
    return [Rival(old, Because.CLAIM) for old in olds]


def found(believed_id: int, doubted: int, effect: Effect, **changes: object) -> Conflict:
    """A contradiction of two memories by their numbers."""
    return replace(
        Conflict(
            id=pair_id(id_of(believed_id), id_of(doubted)),
            believed=id_of(believed_id),
            doubted=id_of(doubted),
            effect=effect,
            because=Because.CLAIM,
        ),
        **changes,
    )


def test_a_memory_that_contradicts_nothing_changes_nothing() -> None:
    """SPEC T3: the plain case."""
    assert weigh(NEW, [], now=NOW) == Weighed()


@pytest.mark.parametrize("old_trust", Trust)
@pytest.mark.parametrize("new_trust", Trust)
def test_the_older_is_superseded_only_by_at_least_its_own_trust(old_trust: Trust, new_trust: Trust) -> None:
    """SPEC T3, L10: otherwise the newer waits; either way it is recorded for a person."""
    weighed = weigh(replace(NEW, trust=new_trust), against(replace(OLD, trust=old_trust)), now=NOW + DAY)

    if new_trust.rank >= old_trust.rank:
        assert (weighed.waits, weighed.superseded_by) == (False, None)
        assert weighed.ends == (Ending(OLD.id, NOW + DAY, supersedes=True),)
        assert weighed.found == (found(2, 1, Effect.SUPERSEDED),)
    else:
        assert (weighed.waits, weighed.ends) == (True, ())
        assert weighed.found == (found(1, 2, Effect.WAITS),)


def test_what_waits_displaces_not_even_the_untrusted() -> None:
    """SPEC L10: a memory that is held back supersedes nothing until it is promoted."""
    weak, strong = said(1, trust=Trust.UNTRUSTED), said(3, "envoy", trust=Trust.REVIEWER_VERIFIED)

    weighed = weigh(NEW, against(weak, strong), now=NOW)

    assert (weighed.waits, weighed.ends) == (True, ())
    assert [one.effect for one in weighed.found] == [Effect.WAITS, Effect.WAITS]


def test_an_older_word_that_comes_late_stands_behind_the_newer_one() -> None:
    """SPEC T3: an import of last year's mail corrects nothing of this year's."""
    late = replace(NEW, said_at=NOW - DAY)

    weighed = weigh(late, against(OLD), now=NOW)

    assert (weighed.superseded_by, weighed.ends) == (OLD.id, ())
    assert weighed.found == (found(1, 2, Effect.SUPERSEDED),)


def test_what_begins_later_only_closes_the_older_until_then() -> None:
    """SPEC T4: nobody is without a proxy between the announcement and the day."""
    announced = replace(NEW, valid=Interval(start=NOW + 9 * DAY))

    weighed = weigh(announced, against(OLD), now=NOW + DAY)

    assert weighed.ends == (Ending(OLD.id, NOW + 9 * DAY, supersedes=False),)
    assert weighed.found == (found(2, 1, Effect.CLOSED),)
    assert weighed.valid_from is None


def test_a_memory_that_names_no_beginning_holds_from_when_it_was_said() -> None:
    """SPEC T4: so that no day has two answers."""
    assert weigh(NEW, against(OLD), now=NOW + DAY).valid_from == NOW + DAY


@pytest.mark.parametrize(
    "aside",
    [
        replace(NEW, valid=Interval(end=NOW + 3 * DAY)),
        replace(NEW, scope=Scope(tier=Tier.TASK, id="task-1")),
    ],
)
def test_an_exception_displaces_nothing(aside: Statement) -> None:
    """SPEC T3, F3: what is about a shorter time or a narrower place stands beside the rule."""
    weighed = weigh(aside, against(OLD), now=NOW + DAY)

    assert (weighed.ends, weighed.waits, weighed.superseded_by) == ((), False, None)
    assert [one.effect for one in weighed.found] == [Effect.BOTH]


def test_an_exception_of_less_trust_waits_like_everything_else() -> None:
    """SPEC T3: a narrow scope is no way round the trust rule."""
    aside = replace(NEW, scope=Scope(tier=Tier.TASK, id="task-1"), trust=Trust.UNTRUSTED)

    assert weigh(aside, against(OLD), now=NOW).waits


def test_a_pair_has_one_id_whichever_is_named_first() -> None:
    """SPEC T3: recorded once, by the write and by the worker."""
    assert pair_id(id_of(1), id_of(2)) == pair_id(id_of(2), id_of(1)) != pair_id(id_of(1), id_of(3))


CLOSED_BEFORE = NOW + 30 * DAY


@pytest.mark.parametrize(
    ("effect", "doubted_is", "keep", "expected"),
    [
        (Effect.WAITS, Status.QUARANTINED, 1, Plan(reject=id_of(2))),
        (Effect.WAITS, Status.QUARANTINED, 2, Plan(promote=id_of(2), supersede=id_of(1), by=id_of(2))),
        (Effect.WAITS, Status.QUARANTINED, None, Plan(promote=id_of(2))),
        (Effect.WAITS, Status.REJECTED, 1, Plan()),
        (Effect.SUPERSEDED, Status.SUPERSEDED, 1, Plan()),
        (Effect.SUPERSEDED, Status.SUPERSEDED, None, Plan(reinstate=id_of(2), valid_to=CLOSED_BEFORE)),
        (Effect.CLOSED, Status.ACTIVE, None, Plan(reopen=id_of(2), valid_to=CLOSED_BEFORE)),
        (Effect.BOTH, Status.ACTIVE, 1, Plan(supersede=id_of(2), by=id_of(1))),
        (Effect.BOTH, Status.ACTIVE, 2, Plan(supersede=id_of(1), by=id_of(2))),
        (Effect.BOTH, Status.ACTIVE, None, Plan()),
        (Effect.BOTH, Status.REVOKED, None, Plan()),
    ],
)
def test_a_person_keeps_one_or_both(
    effect: Effect, doubted_is: Status, keep: int | None, expected: Plan
) -> None:
    """SPEC T3, L7: what their word takes, by where the doubted one stands now."""
    contradiction = Open(id_of(1), id_of(2), effect, CLOSED_BEFORE)

    kept = None if keep is None else id_of(keep)

    assert resolve(contradiction, keep=kept, doubted_is=doubted_is) == expected


def test_a_person_can_take_a_supersession_back() -> None:
    """SPEC T3: nothing is overwritten for good without a person's word."""
    contradiction = Open(id_of(1), id_of(2), Effect.SUPERSEDED, None)

    plan = resolve(contradiction, keep=id_of(2), doubted_is=Status.SUPERSEDED)

    assert plan == Plan(reinstate=id_of(2), supersede=id_of(1), by=id_of(2))


STANDINGS: dict[UUID, Standing] = {one.id: one.standing for one in (OLD, said(3), NEW)}
BESIDE = Open(NEW.id, OLD.id, Effect.BOTH)


def test_of_two_that_stand_the_trusted_one_is_shown_with_a_note() -> None:
    """SPEC T3: the default."""
    answer = shown(STANDINGS, [BESIDE], Showing.TRUSTED)

    assert answer == Shown(
        (id_of(3), NEW.id),
        {NEW.id: f"Contradicted by memory {OLD.id} (not shown); a person has not decided yet."},
    )


def test_both_can_be_shown_each_with_a_note() -> None:
    """SPEC T3: configurable; the order of the answer stays."""
    answer = shown(STANDINGS, [BESIDE], Showing.BOTH)

    assert answer.ids == tuple(STANDINGS)
    assert sorted(answer.notes) == [OLD.id, NEW.id]
    assert "(shown as well)" in answer.notes[OLD.id]


@pytest.mark.parametrize("showing", Showing)
def test_what_waits_is_named_beside_what_stands_and_never_shown(showing: Showing) -> None:
    """SPEC L6, T3: of a pair whose other side is not in the answer, the one that stands carries the note."""
    answer = shown(STANDINGS, [Open(OLD.id, id_of(9), Effect.WAITS)], showing)

    assert (answer.ids, list(answer.notes)) == (tuple(STANDINGS), [OLD.id])


def test_what_is_hidden_itself_hides_nothing() -> None:
    """SPEC T3: of three in a row, the first and the last stand."""
    pairs = [Open(NEW.id, id_of(3), Effect.BOTH), Open(id_of(3), OLD.id, Effect.BOTH)]

    assert shown(STANDINGS, pairs, Showing.TRUSTED).ids == (OLD.id, NEW.id)


def test_a_crowd_of_contradictions_does_not_fill_the_answer() -> None:
    """SPEC T3: the first three are named, and the others counted."""
    crowd = [Open(OLD.id, id_of(number), Effect.WAITS) for number in range(10, 210)]

    note = shown(STANDINGS, crowd, Showing.TRUSTED).notes[OLD.id]

    assert note.count("not shown") == 3
    assert " and 197 more; " in note


written = st.lists(
    st.tuples(st.sampled_from(("nginx", "caddy", "envoy")), st.sampled_from(Trust), st.integers(0, 1)),
    min_size=2,
    max_size=4,
)


@MODEST
@given(written=written)
def test_the_order_of_writes_does_not_change_what_is_believed(written: list[tuple[str, Trust, int]]) -> None:
    """SPEC T3: at equal times and trusts, and at any; it is what the rule says of all at once."""
    statements = [
        said(number, value, trust=trust, said_at=NOW - day * DAY)
        for number, (value, trust, day) in enumerate(written, start=1)
    ]
    rivalries = [
        frozenset({one.id, other.id})
        for one, other in combinations(statements, 2)
        if isinstance(verdict(one, other, cosine=None), Contradiction)
    ]
    chosen = believed(statements, rivalries)

    for order in permutations(statements):
        beliefs = Beliefs()
        for statement in order:
            beliefs.write(statement)
        assert beliefs.believed() == {one.content for one in statements if one.id in chosen}
        assert len(beliefs.believed()) == 1

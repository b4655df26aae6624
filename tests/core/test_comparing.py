"""What follows once a memory was compared: what waits, ends and merges, and in which order (SPEC T2, T3)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST, NOW, id_of, memory
from tests.core.said import days, proxy, said, trusts, values

from tenure.core.comparing import FOUND_MAX, Compared, carried_out, what_follows
from tenure.core.contradictions import Effect
from tenure.core.duplicates import Because, Contradiction, Duplicate, Support, verdict
from tenure.core.events import Superseded
from tenure.core.memory import STEP_OF, Memory
from tenure.core.merging import Voices
from tenure.core.statements import Statement
from tenure.core.truth_events import ContradictionFound, Corroborated, Merged
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Status, Trust

RULES: Final = TruthRules()
DENIED: Final = Contradiction(Because.CLAIM)


def memory_of(statement: Statement) -> Memory:
    """The memory that makes a statement."""
    return memory(
        id=statement.id,
        tenant=statement.boundary.tenant,
        agent=statement.boundary.agent,
        purpose=statement.boundary.purpose,
        subject=statement.boundary.subject or "",
        scope=statement.scope,
        kind=statement.kind,
        content=statement.content,
        trust=statement.trust,
    )


def old(number: int, value: str = "nginx", **changes: object) -> Compared:
    """A memory that stands, compared with the new one."""
    statement = said(number, value, **changes)
    told = DENIED if value != "caddy" else Duplicate()
    return Compared(memory=memory_of(statement), statement=statement, verdict=told, cosine=0.99)


def follows_of(new: Statement, *compared: Compared, stands: bool = True) -> list[str]:
    """The kinds of events that follow, in their order."""
    follows = what_follows(new, compared, RULES, stands=stands, now=NOW)
    _, events = carried_out(follows, new, memory_of(new), compared, actor="key:bot", at=NOW)
    return [type(one.data).__name__ for one in events]


NEW: Final = said(9, "caddy")


def test_the_older_of_equal_trust_is_ended_and_the_pair_recorded() -> None:
    """SPEC T3: in this order, each in its own stream."""
    assert follows_of(NEW, old(1)) == ["Superseded", "ContradictionFound"]


def test_what_contradicts_more_trust_waits_and_merges_with_nothing() -> None:
    """SPEC T3: contradictions come first, so that what waits stands for nobody."""
    new = replace(NEW, trust=Trust.USER_ASSERTED)
    same = old(2, "caddy", trust=Trust.USER_ASSERTED)
    follows = what_follows(new, [old(1), same], RULES, stands=True, now=NOW)

    assert follows.waits
    assert follows.merges == ()
    assert [one.effect for one in follows.weighed.found] == [Effect.WAITS]


def test_what_the_gate_held_back_ends_and_merges_nothing() -> None:
    """SPEC L6, T3: whatever its trust; that it contradicts is recorded."""
    assert follows_of(NEW, old(1), old(2, "caddy"), stands=False) == ["ContradictionFound"]


def test_what_stands_before_every_duplicate_has_them_all_behind_it() -> None:
    """SPEC T2: the word said last stands, each other one is evidence."""
    assert follows_of(NEW, old(1, "caddy"), old(2, "caddy")) == ["Merged", "Merged"]


def test_what_was_said_before_goes_behind_the_best_of_its_duplicates_alone() -> None:
    """SPEC T2: the others are duplicates of one another, which is not for this one to settle."""
    new = replace(NEW, said_at=NOW - timedelta(days=3))
    follows = what_follows(new, [old(1, "caddy"), old(2, "caddy")], RULES, stands=True, now=NOW)
    left, events = carried_out(
        follows, new, memory_of(new), [old(1, "caddy"), old(2, "caddy")], actor="a", at=NOW
    )

    assert (left.status, left.merged_into, left.version) == (Status.SUPERSEDED, id_of(2), 2)
    assert [one.stream for one in events] == [new.id]


def test_voices_count_all_that_is_behind() -> None:
    """SPEC T2, M5a: what stood behind a duplicate goes on to count."""
    behind = said(3, "caddy")
    compared = replace(old(1, "caddy"), behind=(behind,))
    follows = what_follows(NEW, [compared], RULES, stands=True, now=NOW)
    _, (event,) = carried_out(follows, NEW, memory_of(NEW), [compared], actor="a", at=NOW)

    assert isinstance(event.data, Merged)
    assert Voices(event.data.voices, event.data.trusted_voices) == Voices(3, 3)


def test_of_those_it_bears_out_the_most_believed_counts_it() -> None:
    """SPEC M5a: one event, however many say so."""
    compared = [
        replace(old(number, trust=trust), verdict=Support())
        for number, trust in ((1, Trust.USER_ASSERTED), (2, Trust.REVIEWER_VERIFIED))
    ]
    follows = what_follows(NEW, compared, RULES, stands=True, now=NOW)
    _, (event,) = carried_out(follows, NEW, memory_of(NEW), compared, actor="a", at=NOW)

    assert isinstance(event.data, Corroborated)
    assert (event.data.memory_id, event.data.by, event.data.voices) == (id_of(2), NEW.id, 2)
    assert (event.stream, event.version) == (None, None)


def test_a_pair_is_recorded_once() -> None:
    """SPEC T3: what a person was told of, and may have decided, is not found again."""
    assert follows_of(NEW, replace(old(1), is_recorded=True)) == []


def test_a_crowd_is_recorded_up_to_a_bound_the_most_believed_first() -> None:
    """SPEC T3: nobody fills the log by saying otherwise in many ways."""
    crowd = [old(number) for number in range(10, 10 + FOUND_MAX + 5)]
    best = old(99, trust=Trust.REVIEWER_VERIFIED)
    follows = what_follows(NEW, [*crowd, best], RULES, stands=True, now=NOW)

    assert len(follows.weighed.found) == FOUND_MAX
    assert follows.waits
    assert follows.weighed.found[0].believed == id_of(99)


def test_merging_can_be_left_out() -> None:
    """SPEC T2: an operator may keep duplicates apart."""
    follows = what_follows(NEW, [old(1, "caddy")], TruthRules(merges=False), stands=True, now=NOW)

    assert follows.merges == ()


@MODEST
@given(
    others=st.lists(st.tuples(values, trusts, days), max_size=6),
    value=values,
    trust=trusts,
    stands=st.booleans(),
)
def test_each_memory_gets_one_event_at_most_that_moves_it(
    others: Sequence[tuple[str, Trust, datetime]], value: str, trust: Trust, *, stands: bool
) -> None:
    """SPEC L8, T3: so that all of it can be stored in one step, and no trust or text changes."""
    new = said(99, value, trust=trust)
    standing = [
        said(number, name, trust=rank, said_at=min(at, NOW), claims=(proxy(name),))
        for number, (name, rank, at) in enumerate(others, start=1)
    ]
    compared = [
        Compared(memory=memory_of(one), statement=one, verdict=told)
        for one in standing
        if isinstance(told := verdict(new, one, cosine=1.0), Contradiction | Duplicate | Support)
    ]
    follows = what_follows(new, compared, RULES, stands=stands, now=NOW)
    left, events = carried_out(follows, new, memory_of(new), compared, actor="a", at=NOW)

    moved = [one.stream for one in events if type(one.data) in STEP_OF]
    assert len(moved) == len(set(moved))
    assert (left.trust, left.content) == (new.trust, new.content)
    ended = {one.stream for one in events if isinstance(one.data, Superseded | Merged)} - {new.id}
    assert all(one.trust.rank <= trust.rank for one in standing if one.id in ended)
    assert sum(isinstance(one.data, ContradictionFound) for one in events) == len(follows.contradictions)
    if not stands or follows.waits:
        assert moved == []

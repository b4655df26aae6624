"""Folding a past: which rows stood, which filters they pass, and which floors they lie below (SPEC R8)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import NOW, admitted, event, id_of
from tests.core.histories import histories

from tenure.core.events import Event, MemoryForgotten, Revoked
from tenure.core.memory import evolve
from tenure.core.retrieval import Filter
from tenure.core.rows import FloorRow, MemoryRow, microseconds
from tenure.core.time_travel import Recorded, lies_below, passes, revoked_with, stood, until


def recorded(events: list[Event]) -> list[Recorded]:
    """Events in the log, one behind the other."""
    return [Recorded(seq, one) for seq, one in enumerate(events, start=5)]


def row() -> MemoryRow:
    """The row of a memory that was just admitted."""
    found = stood(recorded([event(admitted())]), NOW)
    assert found is not None
    return found


@given(life=histories(), minutes=st.integers(min_value=-1, max_value=8))
def test_a_row_is_what_the_events_until_then_make_of_it(life: list[Event], minutes: int) -> None:
    """SPEC E1, R8: the same fold as the memory itself, cut off at the moment."""
    at = NOW + timedelta(minutes=minutes)
    memory = None
    for one in life:
        if one.at <= at:
            memory = evolve(memory, one)

    found = stood(recorded(life), at)

    assert (found is None) == (memory is None)
    if found is not None and memory is not None:
        assert (found.status, found.version, found.trust) == (
            memory.status,
            memory.version,
            memory.trust.rank,
        )
        assert found.expires_at == microseconds(memory.expires_at)
        assert found.created_seq == 5


def test_what_was_forgotten_later_stood_at_no_moment() -> None:
    """SPEC R8, F1: the forget needs not have happened by then."""
    later = replace(event(MemoryForgotten()), version=None, at=NOW + timedelta(days=9))

    assert stood(recorded([event(admitted()), later]), NOW) is None


def test_an_event_of_the_very_moment_had_happened() -> None:
    """SPEC R8: up to and including the moment; one microsecond sooner it had not."""
    life = recorded([event(admitted())])

    assert list(until(life, NOW)) == life
    assert list(until(life, NOW - timedelta(microseconds=1))) == []


def test_a_revocation_names_the_one_of_its_source() -> None:
    """SPEC I1: where it has one."""
    alone, with_source = (event(Revoked(because_of=seq), version=2) for seq in (None, 3))

    assert revoked_with(recorded([event(admitted()), alone])) == frozenset()
    assert revoked_with(recorded([event(admitted()), with_source])) == {3}


DIFFERENT: dict[str, dict[str, Any]] = {
    "tenant": {"tenant": "globex"},
    "agent": {"agent": "sales"},
    "purpose": {"purpose": "selling"},
    "subject": {"subject": "customer-8"},
    "status": {"status": "quarantined"},
    "expired": {"expires_at": microseconds(NOW)},
    "not yet valid": {"valid_from": microseconds(NOW) + 1},
    "no longer valid": {"valid_to": microseconds(NOW)},
    "trust": {"trust": 0},
    "kind": {"kind": "working_note"},
    "scope": {"scope_id": "elsewhere"},
    "hidden": {"created_seq": 99},
}


@pytest.mark.parametrize("because", DIFFERENT)
def test_a_row_that_differs_in_one_thing_does_not_pass(because: str) -> None:
    """SPEC R1, R8: the hard filters of the present are those of the past."""
    one = row()
    where = Filter(
        tenant=one.tenant,
        agent=one.agent,
        purpose=one.purpose,
        subjects=frozenset({one.subject}),
        kinds=(one.kind,),
        trust_min=1,
        scopes=((one.scope_tier, one.scope_id),),
        hidden=frozenset({99}),
        now=microseconds(NOW),
    )

    assert passes(one, where)
    assert not passes(replace(one, **DIFFERENT[because]), where)


def test_a_floor_takes_what_was_written_before_it_alone() -> None:
    """SPEC F4a: a fresh write after the forget is a new memory."""
    floors = [FloorRow("acme", "customer-7", "subject", "customer-7", seq, 0) for seq in (4, 5)]

    assert not lies_below(row(), floors[:1])
    assert lies_below(row(), floors)
    assert row().memory_id == id_of(1)

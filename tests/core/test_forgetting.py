"""Forgetting a subject or a memory: one idempotent event, an answer that never calls it erasure, floors."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import FINGERPRINT, LATER, MODEST, NOW, caller, id_of, memory, moment, proposal

from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import InvalidRequest, VersionConflict
from tenure.core.events import MemoryForgotten, SubjectForgotten
from tenure.core.forgetting import (
    SOURCE_RULE,
    VALUE_RULE,
    ForgetFacts,
    Forgetting,
    Forgotten,
    MemoryFacts,
    below,
    forget_memory,
    forget_subject,
    write_targets,
)
from tenure.core.identity import Role, Scope, Tier
from tenure.core.rows import FloorRow, microseconds
from tenure.core.views import key_target, value_target
from tenure.core.vocabulary import Status

OFFICER = caller(Role.PRIVACY_OFFICER)
SECOND = timedelta(seconds=1)
TASK = Scope(tier=Tier.TASK, id="task-1")


@pytest.mark.parametrize(
    ("memories", "forgotten_before", "status", "events"),
    [
        (3, False, "forgotten", 1),
        (0, False, "forgotten", 1),
        (2, True, "forgotten", 1),
        (0, True, "already_forgotten", 0),
    ],
)
def test_the_answer_says_how_many_and_whether_it_was_done_before(
    memories: int, status: str, events: int, *, forgotten_before: bool
) -> None:
    """SPEC F1: one idempotent event; doing it again says already forgotten."""
    facts = ForgetFacts(memories=memories, forgotten_before=forgotten_before)

    decision = forget_subject("customer-7", facts, OFFICER, moment(now=LATER))

    assert (decision.answer.status, decision.answer.forgotten) == (status, memories)
    assert len(decision.events) == events


def test_the_event_is_of_the_subject_and_of_no_single_memory() -> None:
    """SPEC F1: every memory of it, whatever its status, is out of every read at once."""
    facts = ForgetFacts(memories=3, forgotten_before=False)

    (event,) = forget_subject("customer-7", facts, OFFICER, moment(now=LATER)).events

    assert event.data == SubjectForgotten()
    assert (event.tenant, event.subject, event.stream, event.version) == ("acme", "customer-7", None, None)
    assert (event.actor, event.at, event.secret) == ("caller-1", LATER, None)


def test_forgetting_a_subject_is_durable_and_shadowed_by_no_scope() -> None:
    """SPEC F4: a subject's floor is kept for ever and covers every scope."""
    facts = ForgetFacts(memories=1, forgotten_before=False)

    answer = forget_subject("customer-7", facts, OFFICER, moment()).answer

    assert (answer.durable, answer.anchored_at, answer.shadowed) == (True, "subject", ())


def test_the_answer_never_speaks_of_erasure() -> None:
    """SPEC F2: a tombstone is never called erasure."""
    assert [name for name in Forgotten.__struct_fields__ if "eras" in name] == []


@pytest.mark.parametrize("subject", ["", " a", "a\n", "x" * 201])
def test_a_subject_that_is_no_name_is_refused(subject: str) -> None:
    """SPEC S2: the field is named."""
    with pytest.raises(InvalidRequest) as caught:
        forget_subject(subject, ForgetFacts(memories=0, forgotten_before=False), OFFICER, moment())

    assert caught.value.field == "subject"


def test_forgetting_a_memory_is_one_event_at_the_version_that_was_seen() -> None:
    """SPEC F4, L8: it holds only while the memory is as it was read."""
    decided = forget_memory(
        MemoryFacts(memory=memory(), stands=True, gone=False), 1, OFFICER, moment(now=LATER)
    )

    assert isinstance(decided, Decided)
    assert decided.answer == Forgotten(status=Forgetting.FORGOTTEN, forgotten=1, anchored_at="memory")
    assert decided.needs == (Needs(memory_id=id_of(1), version=1),)
    (event,) = decided.events
    assert (event.data, event.stream, event.subject) == (MemoryForgotten(), id_of(1), "customer-7")
    assert (event.tenant, event.actor, event.at, event.secret) == ("acme", "caller-1", LATER, None)


def test_a_memory_of_another_version_is_not_forgotten_unseen() -> None:
    """SPEC L8: the conflict says the current version, and changes nothing."""
    refused = forget_memory(
        MemoryFacts(memory=memory(version=3), stands=True, gone=False), 2, OFFICER, moment()
    )

    assert isinstance(refused, Refused)
    assert isinstance(refused.error, VersionConflict)
    assert (refused.error.expected_version, refused.error.current_version) == (2, 3)


@pytest.mark.parametrize("expected_version", [1, 7])
def test_a_memory_that_is_out_of_every_read_was_forgotten_already(expected_version: int) -> None:
    """SPEC F1: idempotent, whichever version the caller once saw."""
    decided = forget_memory(
        MemoryFacts(memory=memory(), stands=False, gone=True), expected_version, OFFICER, moment()
    )

    assert isinstance(decided, Decided)
    assert decided.answer == Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0, anchored_at="memory")
    assert decided.events == ()


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PROPOSED])
def test_a_memory_is_forgotten_whatever_its_status(status: Status) -> None:
    """SPEC F1: what waits, ended or was turned down as well."""
    decided = forget_memory(
        MemoryFacts(memory=memory(status=status), stands=True, gone=False), 1, OFFICER, moment()
    )

    assert isinstance(decided, Decided)
    assert decided.answer.durable
    assert len(decided.events) == 1


def floor(kind: str, *, at: datetime = NOW) -> FloorRow:
    """A floor of this kind."""
    return FloorRow("acme", "customer-7", kind, "target", 12, microseconds(at))


@pytest.mark.parametrize("kind", ["subject", "key"])
@pytest.mark.parametrize(
    ("observed_at", "refused"),
    [
        (None, False),
        (NOW - SECOND, True),
        (NOW, True),
        (NOW + timedelta(microseconds=1), False),
        (NOW + SECOND, False),
    ],
)
def test_what_was_observed_before_a_floor_is_the_old_memory_on_another_way(
    kind: str, observed_at: datetime | None, *, refused: bool
) -> None:
    """SPEC F4a: its source is at or below the floor; what was observed since is a fresh write."""
    reason = f"its source was observed before the {kind} was forgotten"

    assert below(observed_at, [floor(kind)]) == ((SOURCE_RULE, reason) if refused else None)


@pytest.mark.parametrize("observed_at", [None, NOW - SECOND, NOW, LATER])
def test_a_value_below_a_floor_stays_there_whenever_it_was_observed(observed_at: datetime | None) -> None:
    """SPEC F4b: a value that was rejected or forgotten stays so."""
    expected = (VALUE_RULE, "this value was rejected or forgotten here before")

    assert below(observed_at, [floor("value")]) == expected


def test_without_a_floor_nothing_is_refused() -> None:
    """SPEC F4a: a name that was never forgotten is free."""
    assert below(NOW, []) is None


@MODEST
@given(
    kinds=st.lists(st.sampled_from(["subject", "key"]), max_size=4),
    hours=st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    seen=st.integers(-6, 6),
)
def test_one_floor_above_is_enough(kinds: list[str], hours: list[int], seen: int) -> None:
    """SPEC F4a: whatever the order in which floors are read."""
    floors = [floor(kind, at=NOW + timedelta(hours=hour)) for kind, hour in zip(kinds, hours, strict=False)]
    observed_at = NOW + timedelta(hours=seen)

    expected = any(microseconds(observed_at) <= one.floor_at for one in floors)
    assert (below(observed_at, floors) is not None) is expected
    assert (below(observed_at, floors[::-1]) is not None) is expected


def test_a_write_may_lie_below_its_subject_its_value_and_its_key_here_or_anywhere_in_the_tier() -> None:
    """SPEC F4a, F4b: the floors that are asked for, and no other."""
    digest = b"k" * 16

    found = write_targets(proposal(), TASK, FINGERPRINT, digest)

    assert found == [
        ("subject", "customer-7"),
        ("value", value_target("support", "service", FINGERPRINT)),
        ("key", key_target("support", "service", digest, "task:task-1")),
        ("key", key_target("support", "service", digest, "task:*")),
    ]
    assert write_targets(proposal(), TASK, FINGERPRINT, None) == found[:2]


@pytest.mark.parametrize("side", ["agent", "purpose"])
def test_a_floor_of_one_boundary_is_no_other_ones(side: str) -> None:
    """SPEC M2, F4a: agent and purpose are walls; a subject is forgotten in all of them."""
    here, there = (
        write_targets(replace(proposal(), **changes), TASK, FINGERPRINT, b"k" * 16)
        for changes in ({}, {side: "another"})
    )

    assert set(here) & set(there) == {("subject", "customer-7")}

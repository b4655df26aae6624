"""Forgetting a subject: one idempotent event, and an answer that never calls it erasure."""

import pytest
from tests.core.examples import LATER, caller, moment

from tenure.core.errors import InvalidRequest
from tenure.core.events import SubjectForgotten
from tenure.core.forgetting import ForgetFacts, Forgotten, forget_subject
from tenure.core.identity import Role

OFFICER = caller(Role.PRIVACY_OFFICER)


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

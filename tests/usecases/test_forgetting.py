"""Forgetting a subject: one event, everything of it out of every read at once (SPEC F1, F2)."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import (
    BOT,
    OFFICER,
    REVIEWER,
    SUBJECT,
    caller,
    happened,
    held,
    judgement,
    proposal,
    question,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.forgetting import Forgetting, Forgotten
from tenure.core.identity import Role
from tenure.core.vocabulary import Kind
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, QUEUE, REJECT, REVOKE
from tenure.usecases.upkeep import expiry_round

FORGET = ForgetSubject(subject=SUBJECT)


def forget(pipeline: Pipeline, subject: str = SUBJECT) -> Forgotten:
    """Forget a subject as the privacy officer."""
    return pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=subject))


def test_memories_of_every_status_are_gone_and_counted(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F1: active, waiting, superseded, revoked, rejected and expired ones alike, wherever they were."""
    old = written(pipeline)
    written(pipeline, supersedes=old.id)
    held(pipeline)
    for judge in (REJECT, REVOKE):
        pipeline.run(judge, REVIEWER, judgement(held(pipeline).id, 1))
    written(pipeline, ttl_seconds=60, agent="sales", purpose="selling")
    clock.pass_time(seconds=60)
    expiry_round(pipeline, batch_size=10)
    other = written(pipeline, subject="customer-8")

    answer = forget(pipeline)

    assert answer == Forgotten(status=Forgetting.FORGOTTEN, forgotten=6)
    assert [memory.id for memory in pipeline.run(LIST, REVIEWER, ListMemories()).items] == [other.id]
    found = pipeline.run(RECALL, BOT, question(subject=None)).items
    assert [item.memory.id for item in found] == [other.id]
    assert pipeline.run(QUEUE, REVIEWER, ListMemories()).items == ()


def test_forgetting_is_one_event(pipeline: Pipeline) -> None:
    """SPEC F1: however many memories there were."""
    for number in range(5):
        written(pipeline, f"Memory {number}")
    forget(pipeline)

    assert happened(pipeline) == ["memory.admitted"] * 5 + ["subject.forgotten"]


def test_forgetting_again_says_so_and_writes_nothing(pipeline: Pipeline) -> None:
    """SPEC F1: idempotent."""
    written(pipeline)
    forget(pipeline)

    assert forget(pipeline) == Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0)
    assert happened(pipeline).count("subject.forgotten") == 1


def test_a_subject_that_was_never_heard_of_is_forgotten_for_later(pipeline: Pipeline) -> None:
    """SPEC F4a: the floor stands before anything comes in late."""
    assert forget(pipeline, "nobody") == Forgotten(status=Forgetting.FORGOTTEN, forgotten=0)
    assert forget(pipeline, "nobody").status is Forgetting.ALREADY_FORGOTTEN


def test_a_fresh_write_after_the_forgetting_is_a_new_memory(pipeline: Pipeline) -> None:
    """SPEC F4a: it stands, and forgetting again takes it."""
    written(pipeline)
    forget(pipeline)
    fresh = written(pipeline, "A fresh start")

    assert [memory.id for memory in pipeline.run(LIST, BOT, ListMemories()).items] == [fresh.id]
    assert forget(pipeline) == Forgotten(status=Forgetting.FORGOTTEN, forgotten=1)


def test_nothing_brings_a_forgotten_memory_back(pipeline: Pipeline) -> None:
    """SPEC F4a, L10, M5a: no promotion, correction or derived memory finds it."""
    waiting, stood = held(pipeline), written(pipeline)
    forget(pipeline)

    with pytest.raises(NotFound):
        pipeline.run(PROMOTE, REVIEWER, judgement(waiting.id, 1))
    for sides in ({"supersedes": stood.id}, {"derived_from": (stood.id,), "kind": Kind.SUMMARY}):
        with pytest.raises(NotFound):
            pipeline.run(REMEMBER, BOT, proposal(**sides))


def test_the_retry_of_a_write_that_was_forgotten_brings_nothing_back(pipeline: Pipeline) -> None:
    """SPEC L9, F4a: the first answer cannot be given any more, and nothing is written again."""
    pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k")
    forget(pipeline)

    with pytest.raises(NotFound):
        pipeline.run(REMEMBER, BOT, proposal(), idempotency_key="k")

    assert pipeline.run(LIST, BOT, ListMemories()).items == ()


def test_one_tenants_forgetting_is_no_other_tenants(pipeline: Pipeline) -> None:
    """SPEC M2: the same name in another tenant is somebody else."""
    stranger = caller(Role.PRIVACY_OFFICER, tenant="globex")
    memory = written(pipeline)

    pipeline.run(FORGET_SUBJECT, stranger, FORGET)

    assert [one.id for one in pipeline.run(LIST, BOT, ListMemories()).items] == [memory.id]


def test_a_person_may_have_themselves_forgotten_and_nobody_else(pipeline: Pipeline) -> None:
    """SPEC L14, A2: within what was granted; a reviewer or writer may not forget at all."""
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})
    written(pipeline)

    with pytest.raises(Forbidden):
        pipeline.run(FORGET_SUBJECT, person, ForgetSubject(subject="customer-8"))
    for who in (BOT, REVIEWER):
        with pytest.raises(Forbidden):
            pipeline.run(FORGET_SUBJECT, who, FORGET)

    assert pipeline.run(FORGET_SUBJECT, person, FORGET).forgotten == 1


def test_a_name_that_is_no_name_is_refused(pipeline: Pipeline) -> None:
    """SPEC S2: the field is named, and nothing is written."""
    with pytest.raises(InvalidRequest) as refusal:
        forget(pipeline, "two\nlines")

    assert refusal.value.field == "subject"
    assert happened(pipeline) == []


class SomebodyWritesFirst:
    """A store to which another writer gets just before a forgetting does."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers, once the other memory is there."""
        written(self._pipeline, "Written in between")
        return list(self._pipeline.store.append(items))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._pipeline.store, name)


def test_a_retry_counts_what_the_first_call_took_and_not_what_it_expected(pipeline: Pipeline) -> None:
    """SPEC L9, F1: the first answer is given again, with what was written between reading and forgetting."""
    written(pipeline)
    contended = Pipeline(
        store=SomebodyWritesFirst(pipeline),
        keyring=pipeline.keyring,
        clock=pipeline.clock,
        rules=pipeline.rules,
    )

    first = contended.run(FORGET_SUBJECT, OFFICER, FORGET, idempotency_key="k")
    again = pipeline.run(FORGET_SUBJECT, OFFICER, FORGET, idempotency_key="k")

    assert first == Forgotten(status=Forgetting.FORGOTTEN, forgotten=2)
    assert again == first

"""Forgetting a subject or a memory: one event, all of it out of every read at once (SPEC F1, F2, F4)."""

from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.stores.concurrently import at_once
from tests.stores.engine import Engine, Opened
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    caller,
    happened,
    held,
    judgement,
    log,
    proposal,
    question,
    source,
    written,
)
from tests.usecases.overtaking import overtaken_by

from tenure.core.errors import (
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    VersionConflict,
)
from tenure.core.forgetting import ForgetKey, Forgetting, Forgotten
from tenure.core.identity import Role, Scope, SourceType, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Kind
from tenure.usecases.forgetting import FORGET_KEY, FORGET_MEMORY, FORGET_SUBJECT, ForgetMemory, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REJECT, REVOKE
from tenure.usecases.review_queue import QUEUE
from tenure.usecases.upkeep import upkeep_round

FORGET = ForgetSubject(subject=SUBJECT)


def forget(pipeline: Pipeline, subject: str = SUBJECT) -> Forgotten:
    """Forget a subject as the privacy officer."""
    return pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=subject))


def test_memories_of_every_status_are_gone_and_counted(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F1: active, waiting, superseded, revoked, rejected and expired ones alike, wherever they were."""
    old = written(pipeline)
    written(pipeline, supersedes=old.id)
    held(pipeline)
    for judge, content in ((REJECT, "Pays by card now"), (REVOKE, "Pays in cash now")):
        pipeline.run(judge, REVIEWER, judgement(held(pipeline, content).id, 1))
    written(pipeline, ttl_seconds=60, agent="sales", purpose="selling")
    clock.pass_time(seconds=60)
    upkeep_round(pipeline, batch_size=10)
    other = written(pipeline, subject="customer-8")

    answer = forget(pipeline)

    assert answer == Forgotten(status=Forgetting.FORGOTTEN, forgotten=6)
    assert [memory.id for memory in pipeline.run(LIST, REVIEWER, ListMemories()).items] == [other.id]
    found = pipeline.run(RECALL, BOT, question(subject=None)).items
    assert [item.memory.id for item in found] == [other.id]
    assert pipeline.run(QUEUE, REVIEWER, AskQueue()).items == ()


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


def test_a_retry_counts_what_the_first_call_took_and_not_what_it_expected(pipeline: Pipeline) -> None:
    """SPEC L9, F1: the first answer is given again, with what was written between reading and forgetting."""
    written(pipeline)
    contended = overtaken_by(pipeline, lambda: written(pipeline, "Written in between"))

    first = contended.run(FORGET_SUBJECT, OFFICER, FORGET, idempotency_key="k")
    again = pipeline.run(FORGET_SUBJECT, OFFICER, FORGET, idempotency_key="k")

    assert first == Forgotten(status=Forgetting.FORGOTTEN, forgotten=2)
    assert again == first


def forget_memory(pipeline: Pipeline, memory: Memory, version: int | None = None) -> Forgotten:
    """Forget one memory as the privacy officer, at its version unless another is said."""
    expected_version = memory.version if version is None else version
    command = ForgetMemory(memory_id=memory.id, expected_version=expected_version)
    return pipeline.run(FORGET_MEMORY, OFFICER, command)


def listed(pipeline: Pipeline) -> set[UUID]:
    """The ids of all that any list shows."""
    return {memory.id for memory in pipeline.run(LIST, REVIEWER, ListMemories()).items}


def test_a_memory_is_forgotten_with_what_was_made_from_it(pipeline: Pipeline) -> None:
    """SPEC F9: through two steps and from two inputs; one event, and nothing else goes."""
    first, second = written(pipeline), written(pipeline, "Pays on time")
    child = written(pipeline, "Writes and pays", kind=Kind.SUMMARY, derived_from=(first.id, second.id))
    written(pipeline, "Is reliable", kind=Kind.SUMMARY, derived_from=(child.id,))

    answer = forget_memory(pipeline, first)

    assert answer == Forgotten(status=Forgetting.FORGOTTEN, forgotten=3, anchored_at="memory")
    assert listed(pipeline) == {second.id}
    found = pipeline.run(RECALL, BOT, question("reliable, writes and pays")).items
    assert [item.memory.id for item in found] == [second.id]
    assert happened(pipeline)[4] == "memory.forgotten"
    assert pipeline.store.rebuild().identical
    assert listed(pipeline) == {second.id}


def test_forgetting_a_memory_again_says_so_and_writes_nothing(pipeline: Pipeline) -> None:
    """SPEC F1: whatever version is said, and also when it went with its subject or its parent."""
    parent = written(pipeline)
    child = written(pipeline, "Writes much", kind=Kind.SUMMARY, derived_from=(parent.id,))
    forget_memory(pipeline, parent)
    again = Forgotten(status=Forgetting.ALREADY_FORGOTTEN, forgotten=0, anchored_at="memory")

    assert forget_memory(pipeline, parent) == forget_memory(pipeline, parent, 9) == again
    assert forget_memory(pipeline, child) == again
    other = written(pipeline, "Prefers the phone")
    forget(pipeline)
    assert forget_memory(pipeline, other) == again
    assert happened(pipeline).count("memory.forgotten") == 1


def test_a_memory_is_forgotten_only_as_it_was_seen(pipeline: Pipeline) -> None:
    """SPEC L8: a conflict says the current version, and changes nothing."""
    memory = written(pipeline)

    with pytest.raises(VersionConflict) as refused:
        forget_memory(pipeline, memory, 7)

    assert refused.value.current_version == 1
    assert listed(pipeline) == {memory.id}


def test_a_memory_that_nobody_wrote_or_that_lies_elsewhere_is_not_found(pipeline: Pipeline) -> None:
    """SPEC A2, M2: what a caller cannot see is absent for it, not forbidden."""
    memory = written(pipeline)
    strangers = (
        caller(Role.PRIVACY_OFFICER, tenant="globex"),
        caller(Role.SUBJECT, subjects={"customer-8"}),
        caller(Role.PRIVACY_OFFICER, agents={"sales"}),
    )

    for who in strangers:
        with pytest.raises(NotFound):
            pipeline.run(FORGET_MEMORY, who, ForgetMemory(memory_id=memory.id, expected_version=1))
    with pytest.raises(NotFound):
        pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=UUID(int=1), expected_version=1))

    assert listed(pipeline) == {memory.id}


def test_a_person_may_have_a_memory_about_themselves_forgotten(pipeline: Pipeline) -> None:
    """SPEC L14: by their own credential."""
    memory = written(pipeline)
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})

    command = ForgetMemory(memory_id=memory.id, expected_version=1)
    assert pipeline.run(FORGET_MEMORY, person, command).forgotten == 1


@pytest.mark.parametrize("way", ["memory", "subject", "rejected"])
def test_a_value_that_was_forgotten_or_rejected_stays_so(pipeline: Pipeline, way: str) -> None:
    """SPEC F4b: under another id and in other letters; another value, boundary or subject is free."""
    content = "Pays by card now"
    if way == "rejected":
        pipeline.run(REJECT, REVIEWER, judgement(held(pipeline, content).id, 1))
    else:
        memory = written(pipeline, content)
        _ = forget(pipeline) if way == "subject" else forget_memory(pipeline, memory)

    for words in (content, "  pays by CARD  now "):
        with pytest.raises(MemoryRejected) as refused:
            written(pipeline, words, source=source(SourceType.APPLICATION, "crm-2"))
        assert refused.value.details["rule"] == "forgotten-value"

    for sides in ({"agent": "sales"}, {"purpose": "selling"}, {"subject": "customer-8"}):
        written(pipeline, content, **sides)
    written(pipeline, "Pays by invoice now")
    assert "card" not in repr([event.data for event in log(pipeline)])


def test_a_revision_to_a_forgotten_value_is_refused_too(pipeline: Pipeline) -> None:
    """SPEC F4b: a value does not come back as a new version of something else."""
    forget_memory(pipeline, written(pipeline, "Pays by card now"))
    memory = written(pipeline, "Pays by invoice now")
    revise = Revise(expected_version=1, content="Pays by card now", source=source())

    with pytest.raises(MemoryRejected) as refused:
        pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))

    assert refused.value.details["rule"] == "forgotten-value"
    assert pipeline.run(GET, BOT, Get(memory_id=memory.id)).version == 1


def test_what_was_observed_before_its_subject_was_forgotten_is_refused(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F4a: a late import of old data; what was seen since is fresh."""
    forget(pipeline)
    forgotten_at = clock.now()
    clock.pass_time(days=1)

    with pytest.raises(MemoryRejected) as refused:
        written(pipeline, source=source(observed_at=forgotten_at))
    assert refused.value.details["rule"] == "forgotten-source"
    assert happened(pipeline)[-1] == "memory.refused"

    written(pipeline, source=source(observed_at=forgotten_at + timedelta(microseconds=1)))
    written(pipeline, source=source(observed_at=forgotten_at), subject="customer-8")


def test_a_dry_run_knows_what_was_forgotten(pipeline: Pipeline) -> None:
    """SPEC F4b: what would be refused is not said to be admitted, whoever forgot it and wherever."""
    forget_memory(pipeline, written(pipeline))

    decided = pipeline.preview(REMEMBER, BOT, proposal())

    assert decided.error is not None
    assert decided.answer.decision.rule == "forgotten-value"


def test_the_first_answer_to_a_forget_is_given_again(pipeline: Pipeline) -> None:
    """SPEC L9: with its count, whatever was written since; the key of another command is an error."""
    memory = written(pipeline)
    command = ForgetMemory(memory_id=memory.id, expected_version=1)
    first = pipeline.run(FORGET_MEMORY, OFFICER, command, idempotency_key="k")

    again = pipeline.run(FORGET_MEMORY, OFFICER, command, idempotency_key="k")

    assert first == again
    assert first.forgotten == 1
    with pytest.raises(IdempotencyMismatch):
        pipeline.run(FORGET_SUBJECT, OFFICER, FORGET, idempotency_key="k")


def test_two_who_forget_one_memory_at_once_take_it_once(pipeline: Pipeline) -> None:
    """SPEC L8, F1: one answer says forgotten, every other that it was."""
    memory = written(pipeline)

    answers = at_once(*[partial(forget_memory, pipeline, memory)] * 4)

    assert sorted(answer.forgotten for answer in answers) == [0, 0, 0, 1]
    assert happened(pipeline).count("memory.forgotten") == 1


def test_a_key_that_was_written_just_before_its_first_forget_is_said_to_be_forgotten(
    pipeline: Pipeline,
) -> None:
    """SPEC F1, F4a: the status says what the transaction did, not what was read before it."""
    command = ForgetKey(
        agent=AGENT,
        purpose=PURPOSE,
        subject=SUBJECT,
        key="contact",
        scope=Scope(tier=Tier.USER, id=SUBJECT),
    )
    slow = overtaken_by(pipeline, lambda: written(pipeline, key="contact"))

    answer = slow.run(FORGET_KEY, OFFICER, command)

    assert (answer.status, answer.forgotten) == (Forgetting.FORGOTTEN, 1)
    assert listed(pipeline) == set()


def test_a_write_that_was_decided_before_a_forget_is_decided_again_and_refused(
    pipeline: Pipeline,
) -> None:
    """SPEC F4a: the write comes after the forget, so its old source or forgotten value is refused."""
    old = source(observed_at=pipeline.clock.now())
    memory = written(pipeline, "Pays by card now")

    with pytest.raises(MemoryRejected) as by_source:
        overtaken_by(pipeline, lambda: forget(pipeline, "customer-8")).run(
            REMEMBER, BOT, proposal(subject="customer-8", source=old)
        )
    with pytest.raises(MemoryRejected) as by_value:
        overtaken_by(pipeline, lambda: forget_memory(pipeline, memory)).run(
            REMEMBER, BOT, proposal("Pays by card now")
        )

    assert by_source.value.details["rule"] == "forgotten-source"
    assert by_value.value.details["rule"] == "forgotten-value"
    assert listed(pipeline) == set()


def test_a_write_that_was_decided_before_a_forget_is_decided_again_and_let_in(
    pipeline: Pipeline,
) -> None:
    """SPEC F4a: a fresh write is a new memory, in whichever order the two came; it is written once."""
    written(pipeline)

    fresh = overtaken_by(pipeline, lambda: forget(pipeline)).run(REMEMBER, BOT, proposal("A fresh start"))

    assert fresh.memory is not None
    assert listed(pipeline) == {fresh.memory.id}
    assert happened(pipeline) == ["memory.admitted", "subject.forgotten", "memory.admitted"]


def test_what_is_derived_while_its_input_is_forgotten_is_not_written(pipeline: Pipeline) -> None:
    """SPEC F9, L8: nothing is made from what is out of every read."""
    parent = written(pipeline)
    slow = overtaken_by(pipeline, lambda: forget_memory(pipeline, parent))

    with pytest.raises(NotFound):
        slow.run(REMEMBER, BOT, proposal("Writes much", kind=Kind.SUMMARY, derived_from=(parent.id,)))

    assert listed(pipeline) == set()


def test_another_node_knows_of_a_forget_that_it_did_not_see(
    pipeline: Pipeline, engine: Engine, node: Opened, clock: MovableClock
) -> None:
    """SPEC F4a: also after a restart, with nothing at hand."""
    forget_memory(pipeline, written(pipeline))
    node.close()
    again = engine.open(clock)

    try:
        with pytest.raises(MemoryRejected):
            written(again.pipeline)
        written(again.pipeline, "Prefers the phone")
    finally:
        again.close()

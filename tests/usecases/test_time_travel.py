"""Recall as of a moment, and of what held at a time: two clocks, and what never comes back (SPEC R8, T4)."""

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace
from tests.clock import START, MovableClock
from tests.stores.engine import Opened
from tests.usecases.asking import (
    AGENT,
    BOT,
    OFFICER,
    OPERATOR,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    TENANT,
    caller,
    held,
    judgement,
    log,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import InvalidRequest
from tenure.core.events import Event, Recalled, Revoked
from tenure.core.forgetting import ForgetKey, Forgetting
from tenure.core.identity import Caller, Role, Scope, SourceType, Tier
from tenure.core.incident_events import SourceRevoked
from tenure.core.memory import Memory
from tenure.core.retrieval import Found
from tenure.core.vocabulary import Kind, Status, Trust
from tenure.usecases import time_travel
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.forgetting import (
    FORGET_KEY,
    FORGET_MEMORY,
    FORGET_SUBJECT,
    ForgetMemory,
    ForgetSubject,
)
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REVOKE
from tenure.usecases.sealing import fold, seal
from tenure.usecases.upkeep import upkeep_round

INVESTIGATOR = caller(Role.READER, Role.REVIEWER, name="ivy")
"""Recalls, and may read what is withheld."""
USER = Scope(tier=Tier.USER, id=SUBJECT)
TASK = Scope(tier=Tier.TASK, id="t-1")


def recalled(pipeline: Pipeline, query: str = "proxy", who: Caller = BOT, **sides: Any) -> Found:
    """What a question finds."""
    return pipeline.run(RECALL, who, question(query, **sides))


def contents(found: Found) -> list[str | None]:
    """What was shown, best first."""
    return [item.memory.content for item in found.items]


def corrected(pipeline: Pipeline, old: Memory, content: str, **sides: Any) -> Memory:
    """A memory in an old one's place."""
    return written(pipeline, content, supersedes=old.id, **sides)


def test_what_we_believed_and_what_was_true_are_two_questions(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T4, R8: the proxy was replaced on day 10; we learned of it on day 12."""
    day = {number: START + timedelta(days=number) for number in range(30)}
    old = written(pipeline, "The proxy is nginx", valid_from=day[0], valid_to=day[20])
    clock.pass_time(days=12)
    written(pipeline, "The proxy is envoy", valid_from=day[10])
    pipeline.run(REVOKE, OPERATOR, judgement(old.id, 1, "it was said to hold until day 20"))
    written(pipeline, "The proxy was nginx until day 10", valid_from=day[0], valid_to=day[10])
    clock.pass_time(days=1)

    def asked(**moments: Any) -> list[str | None]:
        return sorted(contents(recalled(pipeline, who=INVESTIGATOR, **moments)), key=str)

    assert asked() == ["The proxy is envoy"]
    assert asked(as_of=day[11]) == ["The proxy is nginx"]
    assert asked(valid_at=day[11]) == ["The proxy is envoy"]
    assert asked(valid_at=day[5]) == ["The proxy was nginx until day 10"]
    assert asked(as_of=day[11], valid_at=day[5]) == ["The proxy is nginx"]
    assert asked(as_of=day[11], valid_at=day[20]) == []


def test_before_a_correction_the_old_memory_is_the_answer(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R8, L10: and it says where it stands now."""
    old = written(pipeline, "The proxy is nginx")
    before = clock.now()
    clock.pass_time(hours=1)
    new = corrected(pipeline, old, "The proxy is envoy")

    past, present = recalled(pipeline, as_of=before), recalled(pipeline, as_of=clock.now())

    assert [(item.memory, item.status_now) for item in past.items] == [(old, Status.SUPERSEDED)]
    assert [(item.memory.id, item.status_now) for item in present.items] == [(new.id, Status.ACTIVE)]
    assert past.as_of == before
    assert recalled(pipeline).items[0].status_now is None


def test_the_context_of_a_past_says_so_and_warns_of_what_has_ended(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC R6, R8: nobody is to act on the past as if it were the present."""
    old = written(pipeline, "The proxy is nginx")
    before = clock.now()
    clock.pass_time(hours=1)
    corrected(pipeline, old, "The proxy is envoy")

    context = recalled(pipeline, as_of=before).context
    line = json.loads(context.splitlines()[1])[0]

    assert f'as-of="{before.isoformat()}"' in context.splitlines()[0]
    assert line["status_now"] == "superseded"
    assert "Do not act on it" in line["warning"]
    assert "as-of" not in recalled(pipeline).context


@pytest.mark.parametrize(("field", "value"), [("as_of", timedelta(seconds=1)), ("valid_at", None)])
def test_a_moment_that_nobody_can_know_is_refused(
    pipeline: Pipeline, clock: MovableClock, field: str, value: timedelta | None
) -> None:
    """SPEC S2: the future of the record, a time before all records, and a time without its zone."""
    moment = clock.now() + value if value is not None else datetime.fromisoformat("1969-12-31T23:00:00Z")
    for wrong in (moment, datetime(2031, 1, 1)):  # noqa: DTZ001 -- what is refused
        with pytest.raises(InvalidRequest) as refused:
            pipeline.run(RECALL, BOT, replace(question("proxy"), **{field: wrong}))
        assert refused.value.details["field"] == field


def test_what_will_hold_can_be_asked_for(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T4: a change that is announced holds from its day on, while the record is the present one."""
    soon = clock.now() + timedelta(days=3)
    written(pipeline, "The proxy moves to Leeds", valid_from=soon)

    assert contents(recalled(pipeline)) == []
    assert contents(recalled(pipeline, valid_at=soon)) == ["The proxy moves to Leeds"]
    assert contents(recalled(pipeline, valid_at=soon - timedelta(microseconds=1))) == []


def test_a_receipt_says_of_which_past_it_is(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R7: whoever looks at what shaped a response sees that it was no present."""
    written(pipeline, "The proxy is nginx")
    moment = clock.now()
    clock.pass_time(hours=1)
    recalled(pipeline, as_of=moment, valid_at=START)

    receipt = log(pipeline)[-1].data

    assert isinstance(receipt, Recalled)
    assert (receipt.as_of, receipt.valid_at) == (moment, START)


def test_what_was_revoked_since_is_listed_and_its_text_reaches_who_may_judge_it(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC R8, L6: it was believed then; what is withheld of it now is withheld of its past too."""
    memory = written(pipeline, "The proxy is nginx")
    before = clock.now()
    clock.pass_time(hours=1)
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 1))

    judged, read = (recalled(pipeline, who=who, as_of=before) for who in (INVESTIGATOR, BOT))

    assert [(item.memory.id, item.status_now) for item in read.items] == [(memory.id, Status.REVOKED)]
    assert [item.score for item in read.items] == [item.score for item in judged.items]
    assert contents(judged) == ["The proxy is nginx"]
    assert "nginx" in judged.context
    assert "nginx" not in repr(read)
    assert read.context == ""
    assert contents(recalled(pipeline, who=INVESTIGATOR, as_of=clock.now())) == []


def test_what_waited_then_was_not_shown_and_is_not_now(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L6, R8: a promotion counts from its own moment."""
    memory = held(pipeline, "The proxy is nginx")
    before = clock.now()
    clock.pass_time(hours=1)
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1))

    assert contents(recalled(pipeline, as_of=before)) == []
    [item] = recalled(pipeline, as_of=clock.now()).items
    assert item.memory.trust is Trust.REVIEWER_VERIFIED


def test_a_source_that_is_revoked_takes_its_memories_at_its_own_moment(
    node: Opened, clock: MovableClock
) -> None:
    """SPEC I1, R8: before each memory has an event of its own, and after."""
    pipeline = node.pipeline
    memory = written(pipeline, "The proxy is nginx", source=source(id_="crm-9"))
    before = clock.now()
    clock.pass_time(hours=1)
    revoked = SourceRevoked(source_type="application", source_id="crm-9", reason="hacked")
    event = Event(tenant=TENANT, at=clock.now(), actor="key:ops", data=revoked)
    [stored] = node.store.append([Append(tenant=TENANT, events=(seal(event, node.keyring),))])
    assert isinstance(stored, Appended)
    at = clock.now()

    def seen(moment: datetime) -> list[tuple[UUID, Status | None]]:
        items = recalled(pipeline, who=INVESTIGATOR, as_of=moment).items
        return [(item.memory.id, item.status_now) for item in items]

    for _ in range(2):
        assert seen(before) == [(memory.id, Status.REVOKED)]
        assert seen(at) == []
        clock.pass_time(hours=1)
        with node.store.reading() as reading:
            row = reading.memory_row(TENANT, memory.id)
        if row is not None and row.status == "revoking":
            own = msgspec.structs.replace(
                event,
                at=clock.now(),
                data=Revoked(because_of=stored.seq),
                stream=memory.id,
                version=row.version + 1,
                subject=SUBJECT,
            )
            node.store.append([Append(tenant=TENANT, events=(seal(own, node.keyring),))])
    assert contents(recalled(pipeline, as_of=at - timedelta(microseconds=1))) == [None]


def forget_subject(pipeline: Pipeline, _memory: Memory) -> Forgetting:
    """Everything about the subject."""
    return pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT)).status


def forget_memory(pipeline: Pipeline, memory: Memory) -> Forgetting:
    """The memory itself, whatever became of it."""
    with pipeline.store.reading() as reading:
        last = fold(reading, pipeline.keyring, TENANT, memory.id)
    assert last is not None
    command = ForgetMemory(memory_id=memory.id, expected_version=last.version)
    return pipeline.run(FORGET_MEMORY, OFFICER, command).status


def forget_key(pipeline: Pipeline, memory: Memory) -> Forgetting:
    """Its key, where it lies and outward."""
    command = ForgetKey(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="proxy", scope=memory.scope)
    return pipeline.run(FORGET_KEY, OFFICER, command).status


def erase_subject(pipeline: Pipeline, _memory: Memory) -> Forgetting:
    """Everything about the subject, for good."""
    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))
    return Forgetting.FORGOTTEN


@pytest.mark.parametrize("where", ["standing", "compacted"])
@pytest.mark.parametrize("way", [forget_subject, forget_memory, forget_key, erase_subject])
def test_nothing_forgotten_or_erased_comes_back_from_the_past(
    pipeline: Pipeline, clock: MovableClock, way: Any, where: str
) -> None:
    """SPEC R8, F1, F4, F7: nor what had left the working set before, nor what is forgotten a second time."""
    is_compacted = where == "compacted"
    for _ in range(2):
        memory = written(pipeline, f"The proxy is nginx {clock.now():%H%M}", scope=TASK, key="proxy")
        clock.pass_time(minutes=1)
        moment = clock.now()
        clock.pass_time(hours=2 if is_compacted else 0, seconds=1)
        for _round in range(2):
            upkeep_round(pipeline, batch_size=50)
        with pipeline.store.reading() as reading:
            assert (reading.memory_row(TENANT, memory.id) is None) == is_compacted
        assert len(contents(recalled(pipeline, as_of=moment))) == 1

        way(pipeline, memory)

        assert contents(recalled(pipeline, as_of=moment, who=INVESTIGATOR)) == []
        if way is not erase_subject:
            assert way(pipeline, memory) is Forgetting.ALREADY_FORGOTTEN
        clock.pass_time(seconds=1)


def test_what_was_made_from_something_forgotten_is_gone_with_it(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC F9, R8: also where it had left the working set before its parent was forgotten."""
    parent = written(pipeline, "The proxy is nginx")
    child = written(pipeline, "The proxy was seen", kind=Kind.SUMMARY, derived_from=(parent.id,), scope=TASK)
    grandchild = written(pipeline, "A proxy", kind=Kind.SUMMARY, derived_from=(child.id,), scope=TASK)
    moment = clock.now()
    clock.pass_time(hours=2)
    for _round in range(3):
        upkeep_round(pipeline, batch_size=50)
    with pipeline.store.reading() as reading:
        assert reading.memory_row(TENANT, grandchild.id) is None
    assert len(recalled(pipeline, as_of=moment).items) == 3

    forget_memory(pipeline, parent)

    assert recalled(pipeline, as_of=moment).items == ()


def test_what_only_left_the_working_set_is_in_the_past(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC R8, F3: what belonged to a task that is over was shown while it ran, and no longer."""
    memory = written(pipeline, "The proxy is nginx", scope=TASK)
    moment = clock.now()
    clock.pass_time(hours=2)
    for _round in range(2):
        upkeep_round(pipeline, batch_size=50)

    [item] = recalled(pipeline, as_of=moment).items

    assert (item.memory, item.status_now) == (memory, Status.EXPIRED)
    assert recalled(pipeline, as_of=moment + timedelta(hours=1)).items == ()


def test_the_ladder_of_scopes_is_climbed_as_it_stood(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC F3, F4, R8: the innermost memory of a key shadows outer ones, a leaf-only forget hides them."""
    written(pipeline, "The outer proxy", key="proxy", scope=USER)
    moments = [clock.now()]
    clock.pass_time(minutes=1)
    written(pipeline, "The inner proxy", key="proxy", scope=TASK)
    moments.append(clock.now())
    clock.pass_time(hours=2)
    moments.append(clock.now())
    assert contents(recalled(pipeline, as_of=moments[1], scope=TASK)) == ["The inner proxy"]
    clock.pass_time(minutes=1)
    command = ForgetKey(
        agent=AGENT, purpose=PURPOSE, subject=SUBJECT, key="proxy", scope=TASK, leaf_only=True
    )
    pipeline.run(FORGET_KEY, OFFICER, command)
    clock.pass_time(minutes=1)
    moments.append(clock.now())
    then = [contents(recalled(pipeline, as_of=moment, scope=TASK)) for moment in moments]
    clock.pass_time(hours=3)
    for _round in range(3):
        upkeep_round(pipeline, batch_size=50)

    later = [contents(recalled(pipeline, as_of=moment, scope=TASK)) for moment in moments]

    # The inner one was forgotten since: what lies outward of it is what is left.
    assert then == [["The outer proxy"], ["The outer proxy"], ["The outer proxy"], []]
    assert later == then
    assert contents(recalled(pipeline, scope=TASK)) == ["The outer proxy"]


def test_too_many_memories_are_refused_by_saying_what_to_do(
    pipeline: Pipeline, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: a limit on everything; one subject fewer is one question that can be answered."""
    monkeypatch.setattr(time_travel, "MEMORIES_MAX", 3)
    for subject in ("ann", "bob"):
        for number in range(2):
            written(pipeline, f"The proxy is number {number}", subject=subject)

    with pytest.raises(InvalidRequest) as refused:
        recalled(pipeline, subject=None, as_of=clock.now())

    assert refused.value.hint == "Name a subject."
    assert len(recalled(pipeline, subject="ann", as_of=clock.now()).items) == 2


def test_a_past_is_read_through_the_grants_of_today(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC A2, R1: neither another subject's memories nor their words are in it."""
    mine = written(pipeline, "The proxy is nginx", subject="ann")
    narrow = caller(subjects={"ann"})
    alone = recalled(pipeline, who=narrow, subject=None, as_of=clock.now(), explain=True).items
    for number in range(5):
        written(pipeline, f"A proxy, a proxy, a proxy {number}", subject="eve")

    assert [item.memory.id for item in alone] == [mine.id]
    again = recalled(pipeline, who=narrow, subject=None, as_of=clock.now(), explain=True).items
    assert again == alone


def test_kinds_and_trust_narrow_a_past_as_they_do_the_present(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC R1, R8: the same hard filters."""
    written(pipeline, "The proxy is nginx", kind=Kind.SKILL)
    pipeline.run(
        REMEMBER,
        BOT,
        proposal("The proxy is nice", kind=Kind.PREFERENCE, source=source(SourceType.DIRECT_USER)),
    )
    moment = clock.now()
    clock.pass_time(minutes=1)

    assert contents(recalled(pipeline, as_of=moment, kinds=(Kind.SKILL,))) == ["The proxy is nginx"]
    assert contents(recalled(pipeline, as_of=moment, min_trust=Trust.APPLICATION_VERIFIED)) == [
        "The proxy is nginx"
    ]

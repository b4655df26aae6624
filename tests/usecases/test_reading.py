"""Single memories, lists and histories: what a caller sees, and what is absent for it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    OFFICER,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
    source,
    written,
)

from tenure.core.errors import Forbidden, InvalidRequest, NotFound
from tenure.core.identity import Caller, Role, SourceType
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Claim, Kind, Status
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, HISTORY, LIST, Get, Happened, ListMemories
from tenure.usecases.remembering import REVISE, ReviseMemory
from tenure.usecases.review import PROMOTE, REJECT, REVOKE
from tenure.usecases.upkeep import upkeep_round

MODEL = caller(Role.READER, Role.REVIEWER, name="model", model_driven=True)
"""Has a role that must judge, and is steered by what it reads."""
NARROW = {
    "another tenant": caller(tenant="globex"),
    "another agent": caller(agents={"sales"}),
    "another purpose": caller(purposes={"selling"}),
    "another subject": caller(subjects={"customer-8"}),
}


def read(pipeline: Pipeline, who: Caller, memory_id: UUID) -> Memory:
    """A memory as somebody sees it."""
    return pipeline.run(GET, who, Get(memory_id=memory_id))


def history(pipeline: Pipeline, who: Caller, memory_id: UUID) -> tuple[Happened, ...]:
    """What happened to a memory as somebody sees it, oldest first."""
    return pipeline.run(HISTORY, who, Get(memory_id=memory_id)).items


def listed(pipeline: Pipeline, who: Caller = BOT, **narrowed: Any) -> list[UUID]:
    """The ids on one page."""
    return [memory.id for memory in pipeline.run(LIST, who, ListMemories(**narrowed)).items]


@pytest.mark.parametrize("who", NARROW)
def test_a_memory_outside_the_callers_grants_is_absent(pipeline: Pipeline, who: str) -> None:
    """SPEC M2, A2: not found, exactly as an id that never was; its existence is not shown."""
    memory = written(pipeline)
    commands = [Get(memory_id=memory_id) for memory_id in (memory.id, UUID(int=9))]
    answers: list[Any] = [
        *pipeline.run_many(GET, NARROW[who], [(command, None) for command in commands]),
        *pipeline.run_many(HISTORY, NARROW[who], [(command, None) for command in commands]),
    ]

    assert [type(answer) for answer in answers] == [NotFound] * 4
    assert len({(answer.message, answer.hint, *answer.details) for answer in answers}) == 1
    assert listed(pipeline, NARROW[who]) == []


def test_reading_needs_a_role_that_reads(pipeline: Pipeline) -> None:
    """SPEC A4: an auditor sees the log and no memory."""
    memory = written(pipeline)

    with pytest.raises(Forbidden):
        read(pipeline, AUDITOR, memory.id)
    with pytest.raises(Forbidden):
        listed(pipeline, AUDITOR)


@pytest.mark.parametrize("status", [Status.QUARANTINED, Status.REVOKED, Status.REJECTED])
def test_withheld_content_reaches_only_who_must_judge_it(pipeline: Pipeline, status: Status) -> None:
    """SPEC L6, L13: readers see that it is there, reviewers the text; of rejected ones nobody does."""
    claim = Claim(entity="Okapi", attribute="likes", value="Quokka")
    memory = held(pipeline, "Likes the Axolotl", claim=claim)
    if status is not Status.QUARANTINED:
        judge = REVOKE if status is Status.REVOKED else REJECT
        pipeline.run(judge, REVIEWER, judgement(memory.id, 1))

    seen = read(pipeline, BOT, memory.id)
    judged = read(pipeline, REVIEWER, memory.id)
    [on_the_list] = pipeline.run(LIST, BOT, ListMemories()).items
    told = repr((seen, history(pipeline, BOT, memory.id)))

    assert seen == on_the_list
    assert seen.status is status
    assert not any(word in told for word in ("Okapi", "Quokka", "Axolotl"))
    assert (judged.content is None) == (status is Status.REJECTED)


@pytest.mark.parametrize("status", [Status.QUARANTINED, Status.REVOKED, Status.REJECTED])
def test_what_quotes_a_withheld_memory_is_withheld_with_it(pipeline: Pipeline, status: Status) -> None:
    """SPEC L6, L13: nor does its key or the address of its source carry the text out."""
    mail = source(SourceType.EMAIL, "mail-1", uri="https://mail.example/Axolotl")
    memory = written(pipeline, "Likes the Okapi", key="Quokka", source=mail)
    if status is not Status.QUARANTINED:
        judge = REVOKE if status is Status.REVOKED else REJECT
        pipeline.run(judge, REVIEWER, judgement(memory.id, 1, reason="there is no Pangolin"))
    for who in (BOT, MODEL, REVIEWER):
        seen = read(pipeline, who, memory.id)
        listed_too = pipeline.run(LIST, who, ListMemories()).items
        said = repr((seen, listed_too, history(pipeline, who, memory.id)))

        judged = who is REVIEWER and status is not Status.REJECTED
        words = ("Okapi", "Quokka", "Axolotl")
        assert [word in said for word in words] == [judged] * 3
        assert ("Pangolin" in said) == (judged and status is Status.REVOKED)
        assert (seen.source.type, seen.source.id) == (SourceType.EMAIL, "mail-1")


def test_the_history_of_a_revoked_memory_gives_its_text_to_reviewers_alone(pipeline: Pipeline) -> None:
    """SPEC L12, L6: revocation counts for the text and the reasons of earlier events too."""
    memory = held(pipeline, "Likes the Axolotl")
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1, reason="they said Axolotl"))
    before = history(pipeline, BOT, memory.id)
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 2, reason="it was no Axolotl"))

    assert (before[1].reason, before[1].status) == ("they said Axolotl", Status.ACTIVE)
    for who in (BOT, MODEL):
        items = history(pipeline, who, memory.id)
        assert "Axolotl" not in repr(items)
        assert [one.event for one in items] == ["memory.quarantined", "memory.promoted", "memory.revoked"]
    judged = history(pipeline, REVIEWER, memory.id)
    assert judged[0].content == "Likes the Axolotl"
    assert [one.reason for one in judged[1:]] == ["they said Axolotl", "it was no Axolotl"]


def test_every_version_of_a_revoked_memory_is_withheld(pipeline: Pipeline) -> None:
    """SPEC L12: what was revised before it was withdrawn was withdrawn with its earlier texts."""
    memory = written(pipeline, "Likes the Axolotl")
    revise = Revise(expected_version=1, source=source(), content="Likes the Okapi")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))
    texts = ["Likes the Axolotl", "Likes the Okapi"]
    assert [one.content for one in history(pipeline, BOT, memory.id)] == texts
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 2))

    assert [one.content for one in history(pipeline, BOT, memory.id)] == [None] * 3
    assert [one.content for one in history(pipeline, REVIEWER, memory.id)] == [*texts, None]


def test_the_history_of_a_rejected_memory_gives_text_and_reason_to_nobody(pipeline: Pipeline) -> None:
    """SPEC L13: a record without its content; the policy's own words quote nothing and stay."""
    memory = held(pipeline, "Likes the Axolotl")
    pipeline.run(REJECT, REVIEWER, judgement(memory.id, 1, reason="nobody likes an Axolotl"))
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})

    for who in (BOT, MODEL, REVIEWER, OFFICER, person):
        first, last = history(pipeline, who, memory.id)
        assert "Axolotl" not in repr((first, last))
        assert (first.rule, first.reason) == ("external_source", memory.decision.reason)
        assert (last.event, last.actor, last.reason) == ("memory.rejected", REVIEWER.id, None)


def test_the_history_of_what_waited_too_long_stays_withheld(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L6, L11: expiry shows nobody what was never let in, before upkeep came and after."""
    memory = held(pipeline, "Likes the Axolotl", ttl_seconds=60)
    clock.pass_time(seconds=60)
    for _round in range(2):
        assert "Axolotl" not in repr((read(pipeline, BOT, memory.id), history(pipeline, BOT, memory.id)))
        assert history(pipeline, REVIEWER, memory.id)[0].content == "Likes the Axolotl"
        upkeep_round(pipeline, batch_size=10)

    assert history(pipeline, BOT, memory.id)[-1].event == "memory.expired"


def test_the_reason_for_withholding_is_withheld_with_the_text(pipeline: Pipeline) -> None:
    """SPEC L6, L12: a reviewer's reason may quote what is withheld, so it is for who may read that."""
    memory = written(pipeline)
    reason = "it is not true that the customer likes the Axolotl"
    pipeline.run(REVOKE, REVIEWER, judgement(memory.id, 1, reason))

    assert read(pipeline, BOT, memory.id).decision_reason is None
    assert history(pipeline, BOT, memory.id)[-1].reason is None
    assert read(pipeline, REVIEWER, memory.id).decision_reason == reason
    assert history(pipeline, REVIEWER, memory.id)[-1].reason == reason


def test_the_person_whom_it_is_about_sees_what_is_held_of_them(pipeline: Pipeline) -> None:
    """SPEC L14: quarantined memories too; and never what is held of somebody else."""
    person = caller(Role.SUBJECT, name="customer", subjects={SUBJECT})
    mine = [written(pipeline).id, held(pipeline, "Pays by invoice now").id]
    written(pipeline, subject="customer-8")

    assert sorted(listed(pipeline, person)) == sorted(mine)
    assert read(pipeline, person, mine[1]).content == "Pays by invoice now"


def test_a_list_shows_the_newest_first_and_narrows_as_asked(pipeline: Pipeline) -> None:
    """SPEC L14: by agent, purpose, subject, status, kind, source and key."""
    one = written(pipeline, kind=Kind.SKILL, key="name")
    two = written(
        pipeline, agent="sales", purpose="selling", subject="customer-8", source=source(id_="crm-2")
    )
    three = held(pipeline)

    assert listed(pipeline) == [three.id, two.id, one.id]
    assert listed(pipeline, agent="sales") == [two.id]
    assert listed(pipeline, purpose="selling") == [two.id]
    assert listed(pipeline, subject="customer-8") == [two.id]
    assert listed(pipeline, status=Status.QUARANTINED) == [three.id]
    assert listed(pipeline, kind=Kind.SKILL) == [one.id]
    assert listed(pipeline, source_type=SourceType.EMAIL) == [three.id]
    assert listed(pipeline, source_id="crm-2") == [two.id]
    assert listed(pipeline, key="name") == [one.id]
    assert listed(pipeline, key="other") == []


def test_a_list_holds_to_the_grants_whatever_it_leaves_open(pipeline: Pipeline) -> None:
    """SPEC A2: what is not asked for is narrowed to what was granted."""
    mine = written(pipeline)
    for side in ("agent", "purpose", "subject"):
        written(pipeline, **{side: "other"})
    narrow = caller(agents={"support"}, purposes={"answering"}, subjects={SUBJECT, "customer-9"})

    assert listed(pipeline, narrow) == [mine.id]


def test_pages_join_without_gap_or_overlap(pipeline: Pipeline) -> None:
    """SPEC L14: the last page says that nothing follows; what is written meanwhile moves nothing."""
    ids = [written(pipeline, f"Memory {number}").id for number in range(7)]
    seen: list[UUID] = []
    cursor: str | None = None
    for _page in range(4):
        page = pipeline.run(LIST, BOT, ListMemories(limit=2, cursor=cursor))
        seen += [memory.id for memory in page.items]
        cursor = page.next_cursor
        written(pipeline, "Written meanwhile")

    assert seen == ids[::-1]
    assert cursor is None


@pytest.mark.parametrize(
    ("narrowed", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"cursor": "7"}, "cursor"),
        ({"cursor": "after:"}, "cursor"),
        ({"cursor": "after:-1"}, "cursor"),
        ({"cursor": "after:" + "9" * 19}, "cursor"),
        ({"cursor": "after:٣"}, "cursor"),
    ],
    ids=str,
)
def test_a_page_that_cannot_be_is_refused(pipeline: Pipeline, narrowed: dict[str, Any], field: str) -> None:
    """SPEC S2: the field is named."""
    with pytest.raises(InvalidRequest) as refusal:
        listed(pipeline, **narrowed)

    assert refusal.value.field == field


def test_time_passes_for_readers_before_upkeep_comes(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: at the instant of its expiry a memory is expired, wherever it is read."""
    memory = written(pipeline, ttl_seconds=60)
    clock.pass_time(seconds=59, microseconds=999_999)
    before = (read(pipeline, BOT, memory.id).status, listed(pipeline, status=Status.ACTIVE))
    clock.pass_time(microseconds=1)

    assert before == (Status.ACTIVE, [memory.id])
    assert read(pipeline, BOT, memory.id).status is Status.EXPIRED
    assert listed(pipeline, status=Status.ACTIVE) == []
    assert listed(pipeline, status=Status.EXPIRED) == [memory.id]


def test_a_history_tells_who_did_what_when_and_why(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L10, L7: every event of the memory, oldest first, with the text as it was then."""
    memory = held(pipeline, "Pays by invoice")
    clock.pass_time(hours=1)
    pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1, reason="called back"))
    clock.pass_time(hours=1)
    correction = written(pipeline, "Pays by card", source=source(SourceType.EMAIL), supersedes=memory.id)
    pipeline.run(PROMOTE, REVIEWER, judgement(correction.id, 1))

    items = history(pipeline, REVIEWER, memory.id)

    assert [(one.event, one.actor, one.version, one.status) for one in items] == [
        ("memory.quarantined", BOT.id, 1, Status.QUARANTINED),
        ("memory.promoted", REVIEWER.id, 2, Status.ACTIVE),
        ("memory.superseded", REVIEWER.id, 3, Status.SUPERSEDED),
    ]
    assert [one.at - START for one in items] == [timedelta(hours=hours) for hours in (0, 1, 2)]
    assert (items[0].content, items[0].rule) == ("Pays by invoice", "external_source")
    assert items[1].reason == "called back"
    assert [one.seq for one in items] == sorted(one.seq for one in items)


def test_what_was_forgotten_is_absent_for_everybody(pipeline: Pipeline) -> None:
    """SPEC F1: by id, in lists and in histories, whatever the role."""
    memory = written(pipeline)
    pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=SUBJECT))

    for who in (BOT, REVIEWER, OFFICER):
        assert listed(pipeline, who) == []
        with pytest.raises(NotFound):
            read(pipeline, who, memory.id)
        with pytest.raises(NotFound):
            history(pipeline, who, memory.id)

"""Contradictions: the list of what waits for a person, and a person's word (SPEC T3, A5)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine
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
    source,
    written,
)

from tenure.config import Review, Settings
from tenure.core.contradictions import pair_id
from tenure.core.errors import (
    Forbidden,
    IdempotencyMismatch,
    IllegalTransition,
    InvalidRequest,
    NotFound,
)
from tenure.core.identity import Caller, Role, SourceType
from tenure.core.memory import Memory
from tenure.core.resolving import Resolve
from tenure.core.review_queue import AskQueue
from tenure.core.vocabulary import Claim, Kind, Status, Trust
from tenure.usecases import contradictions
from tenure.usecases.contradictions import (
    CONTRADICTIONS,
    RESOLVE,
    Contradiction,
    ContradictionPage,
    ListContradictions,
    Resolved,
    Which,
)
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.forgetting import FORGET_MEMORY, ForgetMemory
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, HISTORY, Get
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.review import PROMOTE, REJECT, REVOKE
from tenure.usecases.review_queue import QUEUE


def claims(value: str) -> Claim:
    """Which proxy the shop has."""
    return Claim(entity="shop", attribute="proxy", value=value)


def said(pipeline: Pipeline, value: str, **sides: Any) -> Memory:
    """A memory of an application that claims which proxy it is."""
    return written(pipeline, f"The proxy of the shop is {value}", claim=claims(value), **sides)


def mailed(pipeline: Pipeline, value: str, **sides: Any) -> Memory:
    """One that waits, since it came with a mail."""
    return held(pipeline, f"The proxy of the shop is {value}", claim=claims(value), **sides)


def page(pipeline: Pipeline, who: Caller = REVIEWER, **asked: Any) -> ContradictionPage:
    """A page of contradictions, as a reviewer sees it."""
    return pipeline.run(CONTRADICTIONS, who, ListContradictions(**asked))


def listed(pipeline: Pipeline, which: Which = Which.OPEN, **asked: Any) -> list[UUID]:
    """Every contradiction by its id, from the first page to the last."""
    ids: list[UUID] = []
    cursor: str | None = None
    while True:
        found = page(pipeline, open=which, cursor=cursor, **asked)
        ids += [one.id for one in found.items]
        cursor = found.next_cursor
        if cursor is None:
            return ids


def only(pipeline: Pipeline, which: Which = Which.OPEN) -> Contradiction:
    """The one contradiction that there is."""
    (one,) = page(pipeline, open=which).items
    return one


def resolved(
    pipeline: Pipeline, contradiction_id: UUID, keep: UUID | None, who: Caller = REVIEWER, **more: Any
) -> Resolved:
    """What a reviewer's word leads to."""
    command = Resolve(contradiction_id=contradiction_id, keep=keep, reason="looked at the host")
    return pipeline.run(RESOLVE, who, command, **more)


def read(pipeline: Pipeline, memory: Memory) -> Memory:
    """A memory as a reviewer sees it."""
    return pipeline.run(GET, REVIEWER, Get(memory_id=memory.id))


def recalled(pipeline: Pipeline, **asked: Any) -> list[UUID]:
    """The ids that a recall shows."""
    found = pipeline.run(RECALL, BOT, question("which proxy has the shop?", **asked))
    return [item.memory.id for item in found.items]


def test_what_was_displaced_is_listed_with_what_took_its_place(
    pipeline: Pipeline, clock: MovableClock
) -> None:
    """SPEC T3: both as they stand, why, since when, and what became of them."""
    nginx = said(pipeline, "nginx")
    clock.pass_time(days=1)
    caddy = said(pipeline, "caddy")

    one = only(pipeline)

    assert one.id == pair_id(nginx.id, caddy.id)
    assert (one.agent, one.purpose, one.subject) == (caddy.agent, caddy.purpose, SUBJECT)
    assert (one.believed.id, one.believed.content, one.believed.status) == (
        caddy.id,
        caddy.content,
        Status.ACTIVE,
    )
    assert (one.doubted.id, one.doubted.content, one.doubted.status) == (
        nginx.id,
        nginx.content,
        Status.SUPERSEDED,
    )
    assert (one.doubted.version, one.doubted.superseded_by, one.doubted.claim) == (2, caddy.id, nginx.claim)
    assert (one.effect, one.because, one.found_at) == ("superseded", "claim", START + timedelta(days=1))
    assert (one.resolved_at, one.kept) == (None, None)


def test_a_reviewer_can_take_a_supersession_back(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T3, T4: it stands again with the time that it had, is recalled, and the other one is not."""
    nginx = said(pipeline, "nginx")
    clock.pass_time(days=1)
    caddy = said(pipeline, "caddy")
    clock.pass_time(days=1)

    answer = resolved(pipeline, only(pipeline).id, nginx.id)

    assert recalled(pipeline) == [nginx.id]
    assert [(one.id, one.status) for one in answer.memories] == [
        (nginx.id, Status.ACTIVE),
        (caddy.id, Status.SUPERSEDED),
    ]
    again, gone = read(pipeline, nginx), read(pipeline, caddy)
    assert (again.valid_from, again.valid_to, again.superseded_by) == (None, None, None)
    assert (gone.superseded_by, gone.valid_to) == (nginx.id, START + timedelta(days=1))
    assert recalled(pipeline, valid_at=START + timedelta(days=1, hours=1)) == [nginx.id]
    told = answer.contradiction
    assert (told.kept, told.resolved_by) == (str(nginx.id), REVIEWER.id)
    assert (told.resolved_at, told.reason) == (START + timedelta(days=2), "looked at the host")
    assert only(pipeline, Which.DECIDED) == told
    assert (listed(pipeline), listed(pipeline, Which.ALL)) == ([], [told.id])


def test_a_reviewer_can_agree_with_what_was_done(pipeline: Pipeline) -> None:
    """SPEC T3: nothing moves, and nobody is asked again."""
    nginx, caddy = said(pipeline, "nginx"), said(pipeline, "caddy")

    answer = resolved(pipeline, only(pipeline).id, caddy.id)

    assert answer.memories == ()
    assert (read(pipeline, nginx).version, read(pipeline, caddy).version) == (2, 1)
    assert listed(pipeline) == []
    assert happened(pipeline)[-1] == "contradiction.resolved"


def test_both_are_kept_where_both_are_right(pipeline: Pipeline) -> None:
    """SPEC T3: the one that was superseded stands beside the other, and is recalled."""
    nginx, caddy = said(pipeline, "nginx"), said(pipeline, "caddy")

    answer = resolved(pipeline, only(pipeline).id, None)

    assert answer.contradiction.kept == "both"
    assert sorted(recalled(pipeline)) == sorted([nginx.id, caddy.id])


def test_what_waits_is_let_in_with_the_reviewers_trust(pipeline: Pipeline) -> None:
    """SPEC T3, L7: and what was believed is superseded, where the kept one begins."""
    nginx, caddy = said(pipeline, "nginx"), mailed(pipeline, "caddy")
    one = only(pipeline)
    answer = resolved(pipeline, one.id, caddy.id)

    assert (one.effect, one.believed.id, one.doubted.status) == ("waits", nginx.id, Status.QUARANTINED)
    assert recalled(pipeline) == [caddy.id]
    let_in = read(pipeline, caddy)
    assert (let_in.trust, let_in.reviewed_by) == (Trust.REVIEWER_VERIFIED, REVIEWER.id)
    assert let_in.decision_reason == "looked at the host"
    assert read(pipeline, nginx).superseded_by == caddy.id
    assert {one.id for one in answer.memories} == {nginx.id, caddy.id}
    assert listed(pipeline) == []


def test_what_waits_is_turned_down(pipeline: Pipeline) -> None:
    """SPEC T3, L13: its text is shown to nobody any more, and no more is the reason, which may quote it."""
    nginx, caddy = said(pipeline, "nginx"), mailed(pipeline, "caddy")

    answer = resolved(pipeline, only(pipeline).id, nginx.id)

    told = answer.contradiction
    assert (told.doubted.status, told.doubted.content, told.doubted.claim) == (Status.REJECTED, None, None)
    assert (told.kept, told.reason) == (str(nginx.id), None)
    assert [(one.id, one.content) for one in answer.memories] == [(caddy.id, None)]
    assert recalled(pipeline) == [nginx.id]


def test_both_are_kept_where_one_of_them_waits(pipeline: Pipeline) -> None:
    """SPEC T3: it is promoted, and displaces nothing."""
    nginx, caddy = said(pipeline, "nginx"), mailed(pipeline, "caddy")

    resolved(pipeline, only(pipeline).id, None)

    assert sorted(recalled(pipeline)) == sorted([nginx.id, caddy.id])


def test_a_word_that_was_said_is_not_said_again(pipeline: Pipeline) -> None:
    """SPEC T3: the second one is told what was decided; nothing moves."""
    nginx, caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    resolved(pipeline, one.id, nginx.id)

    with pytest.raises(IllegalTransition) as refusal:
        resolved(pipeline, one.id, caddy.id)

    assert refusal.value.details["kept"] == str(nginx.id)
    assert recalled(pipeline) == [nginx.id]


def test_a_retried_word_gets_its_first_answer(pipeline: Pipeline) -> None:
    """SPEC L9: also when the memories have moved on since; another word under its key is refused."""
    nginx, caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    first = resolved(pipeline, one.id, nginx.id, idempotency_key="k-1")
    pipeline.run(REVOKE, REVIEWER, judgement(nginx.id, read(pipeline, nginx).version))

    assert resolved(pipeline, one.id, nginx.id, idempotency_key="k-1") == first
    with pytest.raises(IdempotencyMismatch):
        resolved(pipeline, one.id, caddy.id, idempotency_key="k-1")
    assert happened(pipeline).count("contradiction.resolved") == 1


def test_the_history_of_what_stands_again_says_why(pipeline: Pipeline) -> None:
    """SPEC T3, L2: with the person's reason."""
    nginx, _caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    resolved(pipeline, only(pipeline).id, nginx.id)

    last = pipeline.run(HISTORY, REVIEWER, Get(memory_id=nginx.id)).items[-1]

    assert (last.event, last.actor, last.reason) == (
        "memory.reinstated",
        REVIEWER.id,
        "looked at the host",
    )


@pytest.mark.parametrize("wrong", ["contradiction", "keep", "reason"])
def test_a_word_on_nothing_is_refused(pipeline: Pipeline, wrong: str) -> None:
    """SPEC S2: each by its own error, and nothing is changed."""
    nginx, _caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    command = Resolve(contradiction_id=one.id, keep=nginx.id, reason="looked at the host")
    for field, value, error in (
        ("contradiction", {"contradiction_id": nginx.id}, NotFound),
        ("keep", {"keep": one.id}, InvalidRequest),
        ("reason", {"reason": "\n"}, InvalidRequest),
    ):
        if field == wrong:
            changed = Resolve(**{name: getattr(command, name) for name in command.__struct_fields__} | value)
            with pytest.raises(error):
                pipeline.run(RESOLVE, REVIEWER, changed)

    assert listed(pipeline) == [one.id]
    assert read(pipeline, nginx).version == 2


@pytest.mark.parametrize("side", ["agents", "purposes", "subjects"])
def test_what_lies_beyond_the_grants_is_neither_listed_nor_decided(pipeline: Pipeline, side: str) -> None:
    """SPEC M2, A2: it is absent, as if there were none."""
    nginx, _caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    narrowed: dict[str, Any] = {side: {"else"}}
    narrow = caller(Role.REVIEWER, name="narrow", **narrowed)
    other = caller(Role.REVIEWER, name="other", tenant="other")

    for who in (narrow, other):
        assert page(pipeline, who) == ContradictionPage(items=())
        with pytest.raises(NotFound):
            resolved(pipeline, one.id, nginx.id, who)
    assert listed(pipeline) == [one.id]


def test_a_reviewer_alone_lists_and_decides(pipeline: Pipeline) -> None:
    """SPEC A4, A5: neither a writer nor what a model drives."""
    nginx, _caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    model = caller(Role.REVIEWER, name="model", model_driven=True)

    for who in (BOT, OFFICER, model):
        with pytest.raises(Forbidden):
            page(pipeline, who)
        with pytest.raises(Forbidden):
            resolved(pipeline, one.id, nginx.id, who)


def test_nobody_lets_in_their_own_by_deciding_for_it(pipeline: Pipeline) -> None:
    """SPEC A5: not even with the reviewer's role; turning it down is allowed."""
    nginx = said(pipeline, "nginx")
    both = caller(Role.WRITER, Role.REVIEWER, name="both")
    mail = source(SourceType.EMAIL, "mail-1")
    proposed = pipeline.run(
        REMEMBER,
        both,
        proposal("The proxy of the shop is caddy", claim=claims("caddy"), source=mail),
    ).memory
    assert proposed is not None
    one = only(pipeline)

    for keep in (proposed.id, None):
        with pytest.raises(Forbidden):
            resolved(pipeline, one.id, keep, both)
    assert read(pipeline, proposed).status is Status.QUARANTINED
    resolved(pipeline, one.id, nginx.id, both)
    assert read(pipeline, proposed).status is Status.REJECTED


def test_where_two_reviewers_are_needed_one_word_is_not_enough(engine: Engine, clock: MovableClock) -> None:
    """SPEC A5: it goes through the review first; what was let in there is decided here."""
    settings = Settings(review=Review(second_reviewer_kinds=(Kind.FACT,)))
    with engine.open(clock, settings) as node:
        pipeline = node.pipeline
        nginx, caddy = said(pipeline, "nginx"), mailed(pipeline, "caddy")
        one = only(pipeline)
        with pytest.raises(IllegalTransition) as refusal:
            resolved(pipeline, one.id, caddy.id)
        pipeline.run(PROMOTE, REVIEWER, judgement(caddy.id, 1))
        with pytest.raises(Forbidden):
            resolved(pipeline, one.id, caddy.id)
        bea = caller(Role.REVIEWER, name="bea")
        resolved(pipeline, one.id, caddy.id, bea)

        assert "two reviewers" in refusal.value.message
        assert recalled(pipeline) == [caddy.id]
        assert read(pipeline, nginx).superseded_by == caddy.id


def test_what_has_expired_does_not_stand_again(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: the error says so, and the other one can be kept."""
    nginx = said(pipeline, "nginx", ttl_seconds=60)
    caddy = said(pipeline, "caddy")
    one = only(pipeline)
    clock.pass_time(seconds=60)

    for keep in (nginx.id, None):
        with pytest.raises(IllegalTransition) as refusal:
            resolved(pipeline, one.id, keep)
        assert "expired" in refusal.value.message
    assert resolved(pipeline, one.id, caddy.id).contradiction.kept == str(caddy.id)


@pytest.mark.parametrize("ended", ["rejected", "revoked", "expired", "forgotten"])
def test_what_cannot_be_decided_any_more_is_not_open(
    pipeline: Pipeline, clock: MovableClock, ended: str
) -> None:
    """SPEC T3: nobody is asked about what is gone; the record stays, where its memories do."""
    said(pipeline, "nginx")
    caddy = mailed(pipeline, "caddy", ttl_seconds=60)
    one = only(pipeline)
    if ended == "rejected":
        pipeline.run(REJECT, REVIEWER, judgement(caddy.id, 1))
    elif ended == "revoked":
        pipeline.run(REVOKE, REVIEWER, judgement(caddy.id, 1))
    elif ended == "expired":
        clock.pass_time(seconds=60)
    else:
        pipeline.run(FORGET_MEMORY, OFFICER, ForgetMemory(memory_id=caddy.id, expected_version=1))

    assert listed(pipeline) == []
    assert listed(pipeline, Which.ALL) == ([] if ended == "forgotten" else [one.id])
    assert listed(pipeline, Which.DECIDED) == []


def test_nothing_is_left_of_an_erased_subject(pipeline: Pipeline) -> None:
    """SPEC F7: its contradictions go with it, decided or not."""
    nginx, _caddy = said(pipeline, "nginx"), said(pipeline, "caddy")
    one = only(pipeline)
    resolved(pipeline, one.id, nginx.id, idempotency_key="k-1")
    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert listed(pipeline, Which.ALL) == []
    with pytest.raises(NotFound):
        resolved(pipeline, one.id, nginx.id)
    with pytest.raises(NotFound):
        resolved(pipeline, one.id, nginx.id, idempotency_key="k-1")


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_pages_miss_and_repeat_nothing(pipeline: Pipeline, limit: int) -> None:
    """SPEC S2: newest first, narrowed as it is asked."""
    pairs = []
    for number in range(3):
        subject = f"shop-{number}"
        one, other = said(pipeline, "nginx", subject=subject), said(pipeline, "caddy", subject=subject)
        pairs.append(pair_id(one.id, other.id))

    assert listed(pipeline, limit=limit) == pairs[::-1]
    assert listed(pipeline, limit=limit, subject="shop-1") == [pairs[1]]
    assert listed(pipeline, limit=limit, agent="support", purpose="else") == []
    assert page(pipeline, limit=3).next_cursor is None


def test_what_is_looked_through_is_bounded_and_the_cursor_goes_on(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: a crowd of what is over hides nothing, and holds nothing up."""
    monkeypatch.setattr(contradictions, "_BATCH", 2)
    monkeypatch.setattr(contradictions, "LOOKED_AT_MAX", 2)
    nginx = said(pipeline, "nginx")
    kept = mailed(pipeline, "caddy")
    for number in range(5):
        turned_down = mailed(pipeline, f"envoy-{number}")
        pipeline.run(REJECT, REVIEWER, judgement(turned_down.id, 1))

    first = page(pipeline)

    assert (first.items, first.next_cursor is None) == ((), False)
    assert listed(pipeline) == [pair_id(nginx.id, kept.id)]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"cursor": "after:1"}, "cursor"),
        ({"cursor": ""}, "cursor"),
        ({"subject": ""}, "subject"),
    ],
)
def test_an_odd_page_is_refused(pipeline: Pipeline, asked: dict[str, Any], field: str) -> None:
    """SPEC S2: by the field at fault."""
    with pytest.raises(InvalidRequest) as refusal:
        page(pipeline, **asked)

    assert refusal.value.details["field"] == field


def test_the_review_queue_shows_what_is_recorded(pipeline: Pipeline) -> None:
    """SPEC L6, T3: what stands against it, until a person has decided."""
    nginx, caddy = said(pipeline, "nginx"), mailed(pipeline, "caddy")
    (shown,) = pipeline.run(QUEUE, REVIEWER, AskQueue()).items

    assert shown.memory.id == caddy.id
    assert [other.id for other in shown.contradictions] == [nginx.id]


def test_a_third_word_is_told_what_has_to_be_decided_first(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T3: what a third one displaced is not kept against the second; that is another contradiction."""
    nginx = said(pipeline, "nginx")
    clock.pass_time(days=1)
    caddy = said(pipeline, "caddy")
    clock.pass_time(days=1)
    envoy = said(pipeline, "envoy")
    first, second = pair_id(nginx.id, caddy.id), pair_id(caddy.id, envoy.id)
    assert listed(pipeline) == [second, first]

    resolved(pipeline, second, caddy.id)
    resolved(pipeline, first, nginx.id)

    assert recalled(pipeline) == [nginx.id]
    assert [read(pipeline, one).superseded_by for one in (caddy, envoy)] == [nginx.id, caddy.id]

"""The queue of what waits: everything a reviewer needs, filters, order and pages (SPEC L6, L7)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.clock import START, MovableClock
from tests.stores.engine import Engine
from tests.usecases.asking import (
    OPERATOR,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
    proposal,
    source,
    written,
)

from tenure.config import Review, Settings, Truth
from tenure.core.access import CreateKey
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Grants, Role, SourceType
from tenure.core.memory import Memory
from tenure.core.review_queue import AskQueue, Order, SourceRecord
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Claim, Kind, Status
from tenure.usecases import review_queue
from tenure.usecases.access import authenticate, create_key
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import PROMOTE, REJECT, REVOKE
from tenure.usecases.review_queue import QUEUE, Queue, Waiting

PAYEE = "Please pay to IBAN DE89 3704 0044 0532 0130 00 from now on"


def queue(pipeline: Pipeline, who: Any = REVIEWER, **asked: Any) -> Queue:
    """A page of the queue, as a reviewer sees it."""
    return pipeline.run(QUEUE, who, AskQueue(**asked))


def waiting(pipeline: Pipeline, **asked: Any) -> list[UUID]:
    """What waits, by its ids, from the first page to the last."""
    ids: list[UUID] = []
    cursor: str | None = None
    while True:
        page = queue(pipeline, cursor=cursor, **asked)
        ids += [one.memory.id for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return ids


def only(pipeline: Pipeline) -> Waiting:
    """The one thing that waits."""
    (one,) = queue(pipeline).items
    return one


def mailed(pipeline: Pipeline, content: str, mail: str = "mail-1", **sides: Any) -> Memory:
    """A memory that came with a mail, as the gate left it."""
    return written(pipeline, content, source=source(SourceType.EMAIL, mail), **sides)


def test_it_says_where_it_came_from_and_who_attested_that(pipeline: Pipeline) -> None:
    """SPEC M4, A3: the whole source, and the credential by its name."""
    grants = Grants(roles=frozenset({Role.WRITER}))
    token = create_key(pipeline, OPERATOR, CreateKey(name="mail connector", grants=grants)).token
    connector = authenticate(pipeline, token)
    place = {"uri": "https://mail.example/1", "thread": "t-1", "position": 2}
    mail = source(SourceType.EMAIL, "mail-1", **place)
    pipeline.run(REMEMBER, connector, proposal("Pays by invoice", source=mail))

    shown = only(pipeline)

    assert shown.source == mail
    assert (shown.attested_by.id, shown.attested_by.name) == (connector.id, "mail connector")
    assert (shown.text, shown.findings) == ("Pays by invoice\nhttps://mail.example/1", ())


def test_it_says_how_long_it_has_waited_and_when_it_ends(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: its age in the queue, not that of its last event."""
    memory = held(pipeline)
    clock.pass_time(hours=2)

    shown = only(pipeline)

    assert (shown.waiting_since, shown.waiting_seconds) == (START, 7_200.0)
    assert shown.expires_at == memory.expires_at


def test_each_finding_is_shown_where_it_stands(pipeline: Pipeline) -> None:
    """SPEC L6, L4: with an excerpt that can be put before a person as it is."""
    mailed(pipeline, f"\u200b{PAYEE}")

    shown = only(pipeline)

    found = [one for one in shown.findings if one.kind == FindingKind.SENSITIVE]
    assert found
    assert shown.text.startswith("\\u{200b}Please")
    for one in found:
        assert one.excerpt[1] in shown.text
        assert shown.text[one.shown_start : one.shown_end].startswith(one.excerpt[1].rstrip("…"))


def test_a_contradiction_is_found_by_what_is_claimed_however_it_is_worded(pipeline: Pipeline) -> None:
    """SPEC T3: the same thing, another value, and hardly a word in common."""
    before = Claim(entity="Leeds office", attribute="closes", value="five")
    after = Claim(entity="leeds office", attribute="Closes", value="six")
    known = written(pipeline, "Nobody answers late in the day", claim=before)
    for number in range(5):
        written(pipeline, f"Opening hours on weekends vary, note {number}")
    mailed(pipeline, "Opening hours on weekends vary and so on", claim=after)

    shown = only(pipeline)

    assert known.id not in {near.id for near in shown.neighbours}
    assert [other.id for other in shown.contradictions] == [known.id]


def test_what_was_written_before_contradictions_were_recorded_is_looked_for(
    engine: Engine, clock: MovableClock
) -> None:
    """SPEC T3: by what is claimed, given or read from the text, in whatever form; and each is told once."""
    with engine.open(clock, Settings(truth=Truth(compare=False))) as node:
        pipeline = node.pipeline
        known = written(pipeline, "The API listens on port 8080.")
        same = written(
            pipeline, "Port 9090 it is", claim=Claim(entity="the API", attribute="Port", value="9090")
        )
        mailed(pipeline, "The API listens on port 9090.")

        shown = only(pipeline)

        assert [other.id for other in shown.contradictions] == [known.id]
        assert same.id in {near.id for near in shown.neighbours}


def test_it_says_how_the_source_has_fared(pipeline: Pipeline) -> None:
    """SPEC L6: what people said to what came from there before; nothing of another source."""
    memories = [mailed(pipeline, f"Claim number {number}") for number in range(5)]
    mailed(pipeline, "Something else", "mail-2")
    pipeline.run(PROMOTE, REVIEWER, judgement(memories[0].id, 1))
    pipeline.run(PROMOTE, REVIEWER, judgement(memories[1].id, 1))
    pipeline.run(REVOKE, REVIEWER, judgement(memories[1].id, 2))
    pipeline.run(REJECT, REVIEWER, judgement(memories[2].id, 1))

    records = {one.source.id: one.source_record for one in queue(pipeline).items}

    assert records["mail-1"] == SourceRecord(proposals=5, waiting=2, promoted=2, rejected=1, revoked=1)
    assert records["mail-2"] == SourceRecord(proposals=1, waiting=1)


def test_a_record_tells_nothing_of_what_a_reviewer_may_not_see(pipeline: Pipeline) -> None:
    """SPEC M2, A2: not even how many there are of another agent's."""
    mailed(pipeline, "One")
    mailed(pipeline, "Two", agent="sales")
    narrow = caller(Role.REVIEWER, name="narrow", agents={"support"})

    (one,) = queue(pipeline, narrow).items

    assert one.source_record.proposals == 1


def test_the_count_of_a_source_is_bounded_and_says_so(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC L6: a source with a million memories does not hold the queue up."""
    monkeypatch.setattr(review_queue, "SOURCE_MEMORIES_MAX", 2)
    for number in range(4):
        mailed(pipeline, f"Claim number {number}")

    record = queue(pipeline).items[0].source_record

    assert (record.proposals, record.is_whole) == (2, False)


def test_the_filters_narrow_it(pipeline: Pipeline) -> None:
    """SPEC L6: by source, kind, rule, and what was found."""
    plain = mailed(pipeline, "Likes tea").id
    skill = mailed(pipeline, "Restart the printer first", "mail-2", kind=Kind.SKILL).id
    page = written(pipeline, "Opens at nine", source=source(SourceType.WEB, "page-1")).id
    payee = mailed(pipeline, PAYEE, "mail-3").id
    change = written(pipeline, "New phone number", kind=Kind.SENSITIVE_CHANGE).id
    every = [change, payee, page, skill, plain]

    assert waiting(pipeline) == every
    assert waiting(pipeline, source_type=SourceType.WEB) == [page]
    assert waiting(pipeline, source_type=SourceType.EMAIL, source_id="mail-2") == [skill]
    assert waiting(pipeline, kind=Kind.SENSITIVE_CHANGE) == [change]
    assert waiting(pipeline, rule="external_source", kind=Kind.FACT, source_id="mail-1") == [plain]
    assert waiting(pipeline, rule="no-such-rule") == []
    assert waiting(pipeline, finding=FindingKind.SENSITIVE) == [payee]
    assert waiting(pipeline, finding=FindingKind.ATTACK) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_each_order_comes_in_pages_that_miss_and_repeat_nothing(pipeline: Pipeline, limit: int) -> None:
    """SPEC L6: newest, oldest, riskiest; what is equally risky by its age."""
    first, second = mailed(pipeline, "Likes tea").id, mailed(pipeline, "Likes coffee").id
    payee = mailed(pipeline, PAYEE).id
    third = mailed(pipeline, "Likes water").id
    change = written(pipeline, "New phone number", kind=Kind.SENSITIVE_CHANGE).id

    assert waiting(pipeline, limit=limit) == [change, third, payee, second, first]
    assert waiting(pipeline, limit=limit, order=Order.OLDEST) == [first, second, payee, third, change]
    assert waiting(pipeline, limit=limit, order=Order.RISKIEST) == [payee, change, first, second, third]
    assert waiting(pipeline, limit=limit, order=Order.RISKIEST, kind=Kind.FACT)[0] == payee


def test_what_is_looked_through_is_bounded_and_the_cursor_goes_on(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC L6: a page may be short or empty, and the last one is where there is no cursor."""
    monkeypatch.setattr(review_queue, "_BATCH", 2)
    monkeypatch.setattr(review_queue, "RANKED_MAX", 2)
    payee = mailed(pipeline, PAYEE).id
    for number in range(5):
        mailed(pipeline, f"Likes tea number {number}")

    first = queue(pipeline, finding=FindingKind.SENSITIVE)

    assert (first.items, first.next_cursor is None) == ((), False)
    assert waiting(pipeline, finding=FindingKind.SENSITIVE) == [payee]
    assert waiting(pipeline, finding=FindingKind.SENSITIVE, order=Order.OLDEST) == [payee]
    ranked = queue(pipeline, order=Order.RISKIEST)
    assert (ranked.items[0].memory.id, len(ranked.items)) == (payee, 2)
    assert (ranked.is_whole, first.is_whole) == (False, True)


@pytest.mark.parametrize(
    ("order", "cursor"),
    [
        (Order.NEWEST, "behind:3"),
        (Order.OLDEST, "after:3"),
        (Order.RISKIEST, "after:3"),
        (Order.RISKIEST, "below:x"),
        (Order.NEWEST, ""),
    ],
)
def test_a_cursor_is_of_the_order_that_gave_it(pipeline: Pipeline, order: Order, cursor: str) -> None:
    """SPEC S2: another one would show a part that nobody asked for."""
    with pytest.raises(InvalidRequest) as refusal:
        queue(pipeline, order=order, cursor=cursor)

    assert refusal.value.details["field"] == "cursor"


def test_what_has_run_out_of_time_waits_no_more(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L11: from its instant, in every order."""
    held(pipeline, ttl_seconds=60)
    kept = held(pipeline, "Something else").id
    clock.pass_time(seconds=60)

    assert [waiting(pipeline, order=order) for order in Order] == [[kept]] * 3


def test_it_says_that_two_reviewers_are_needed_and_who_was_the_first(
    engine: Engine, clock: MovableClock
) -> None:
    """SPEC A5: the first yes is no promotion; the same person's second yes is none either."""
    settings = Settings(review=Review(second_reviewer_kinds=(Kind.SENSITIVE_CHANGE,)))
    with engine.open(clock, settings) as node:
        pipeline = node.pipeline
        memory = written(pipeline, "New phone number", kind=Kind.SENSITIVE_CHANGE)
        clock.pass_time(hours=1)
        endorsed = pipeline.run(PROMOTE, REVIEWER, judgement(memory.id, 1))
        shown = only(pipeline)
        again = pipeline.run(PROMOTE, caller(Role.REVIEWER, name="bea"), judgement(memory.id, 2))

        assert (endorsed.status, endorsed.version) == (Status.QUARANTINED, 2)
        assert (shown.takes_two_reviewers, shown.waiting_since) == (True, START)
        assert shown.endorsed_by is not None
        assert (shown.endorsed_by.id, shown.memory.endorsed_at) == (REVIEWER.id, START + timedelta(hours=1))
        assert (again.status, again.version, again.endorsed_by) == (Status.ACTIVE, 3, REVIEWER.id)
        assert waiting(pipeline) == []


def test_a_page_says_up_to_which_event_it_shows(pipeline: Pipeline) -> None:
    """SPEC L8: so that a word on many memories can say what was seen."""
    held(pipeline)
    with pipeline.store.reading() as reading:
        head = reading.head("acme")[0]

    assert queue(pipeline).seen_until == head


def test_nothing_of_it_is_shown_to_whoever_may_not_review(pipeline: Pipeline) -> None:
    """SPEC A4, L6: a subject is asked for in the open, and only within what was granted."""
    held(pipeline)
    narrow = caller(Role.REVIEWER, name="narrow", subjects={"customer-8"})

    assert queue(pipeline, narrow).items == ()
    assert queue(pipeline, subject=SUBJECT).items != ()

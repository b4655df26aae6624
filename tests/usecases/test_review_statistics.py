"""Statistics of reviewers, read from the log (SPEC L7, A5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.clock import START, MovableClock
from tests.usecases.asking import (
    AUDITOR,
    BOT,
    JUDGES,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    caller,
    held,
    judgement,
)

from tenure.core.access import CreateKey
from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.identity import Caller, Grants, Role
from tenure.core.incidents import RevokeSource
from tenure.core.review_statistics import AskStatistics, ReviewerStatistics, ReviewStatistics
from tenure.usecases import review_statistics
from tenure.usecases.access import authenticate, create_key
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.review import REJECT
from tenure.usecases.review_statistics import STATISTICS
from tenure.usecases.sources import revoke_source

BEA = caller(Role.REVIEWER, name="bea")


def statistics(pipeline: Pipeline, who: Caller = AUDITOR, **asked: Any) -> ReviewStatistics:
    """The statistics as an auditor sees them."""
    return pipeline.run(STATISTICS, who, AskStatistics(**asked))


def of(told: ReviewStatistics, reviewer: Caller) -> ReviewerStatistics:
    """Those of one reviewer."""
    (one,) = [one for one in told.reviewers if one.reviewer == reviewer.id]
    return one


def decided(pipeline: Pipeline, clock: MovableClock, reviewer: Caller, *, hours: int, is_yes: bool) -> None:
    """A memory waits for so long, and is decided on."""
    memory = held(pipeline, f"Claim at {clock.now()}")
    clock.pass_time(hours=hours)
    pipeline.run(JUDGES["promote" if is_yes else "reject"], reviewer, judgement(memory.id, 1))


def test_it_says_what_each_decided_how_fast_and_how_well(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC L7, L12: the share of later revoked yeses is what tells a careless reviewer."""
    decided(pipeline, clock, REVIEWER, hours=1, is_yes=True)
    decided(pipeline, clock, REVIEWER, hours=3, is_yes=False)
    last = clock.now()
    revoke_source(pipeline, OPERATOR, RevokeSource(source_id="mail-1", reason="phished"))
    clock.pass_time(hours=1)

    told = statistics(pipeline)

    assert (told.since, told.until) == (clock.now() - timedelta(days=30), clock.now())
    ann = of(told, REVIEWER)
    assert (ann.promoted, ann.rejected, ann.endorsed) == (1, 1, 0)
    assert (ann.revoked_later, ann.share_revoked_later) == (1, 1.0)
    assert (ann.median_seconds_in_queue, ann.last_active_at) == (2 * 3_600.0, last)
    assert [one.reviewer for one in told.reviewers] == [REVIEWER.id]


def test_it_names_the_credential(pipeline: Pipeline) -> None:
    """SPEC A1: an auditor sees a name beside the id."""
    grants = Grants(roles=frozenset({Role.REVIEWER}))
    token = create_key(pipeline, OPERATOR, CreateKey(name="Ann", grants=grants)).token
    ann = authenticate(pipeline, token)
    pipeline.run(REJECT, ann, judgement(held(pipeline).id, 1))

    assert of(statistics(pipeline), ann).name == "Ann"


def test_only_decisions_since_then_count(pipeline: Pipeline, clock: MovableClock) -> None:
    """The window is of decisions, and by default a month."""
    decided(pipeline, clock, REVIEWER, hours=1, is_yes=True)
    clock.pass_time(days=29)
    decided(pipeline, clock, BEA, hours=1, is_yes=True)
    clock.pass_time(days=2)

    assert [one.reviewer for one in statistics(pipeline).reviewers] == [BEA.id]
    assert len(statistics(pipeline, since=START).reviewers) == 2
    assert statistics(pipeline, since=clock.now()).reviewers == ()


def test_it_reads_the_log_in_pages_and_no_more_than_so_much(
    pipeline: Pipeline, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for more is told how much more, and to ask from a later time."""
    monkeypatch.setattr(review_statistics, "PAGE", 2)
    monkeypatch.setattr(review_statistics, "STREAMS", 1)
    for _ in range(3):
        decided(pipeline, clock, REVIEWER, hours=1, is_yes=False)
    told = statistics(pipeline)
    monkeypatch.setattr(review_statistics, "EVENTS_MAX", 5)

    with pytest.raises(InvalidRequest) as refusal:
        statistics(pipeline)

    assert (of(told, REVIEWER).rejected, told.events_read) == (3, 6)
    assert refusal.value.details["field"] == "since"
    assert refusal.value.hint == "Ask from a later time."


@pytest.mark.parametrize("since", [START + timedelta(days=400), datetime(2026, 3, 1)])  # noqa: DTZ001 -- the point
def test_a_time_that_cannot_be_is_refused(pipeline: Pipeline, since: datetime) -> None:
    """SPEC S2: neither one to come nor one without a zone."""
    with pytest.raises(InvalidRequest) as refusal:
        statistics(pipeline, since=since)

    assert refusal.value.details["field"] == "since"


def test_it_is_for_those_who_read_the_log(pipeline: Pipeline) -> None:
    """SPEC A4: reviewers do not grade one another, and a part of the tenant is not the whole."""
    narrow = caller(Role.AUDITOR, name="narrow", subjects={SUBJECT})

    for who in (REVIEWER, BOT, narrow):
        with pytest.raises(Forbidden):
            statistics(pipeline, who)
    assert statistics(pipeline, OPERATOR).reviewers == ()

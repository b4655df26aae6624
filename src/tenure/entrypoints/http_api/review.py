"""The calls of reviewers: the queue, a person's word on one memory or many, statistics (SPEC L6, L7, L12)."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.bulk_review import DECIDED_MAX, Action, DecideMany, Decisions, OfSource, Seen
from tenure.core.errors import IdempotencyMismatch, IllegalTransition, NotFound, VersionConflict
from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.review import Judge
from tenure.core.review_queue import QUEUE_ITEMS_MAX, AskQueue, Order
from tenure.core.review_statistics import AskStatistics, ReviewStatistics
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind
from tenure.entrypoints.http_api.calls import Answer, Ask, Call, F, Visit, plainly
from tenure.entrypoints.http_api.fields import WHOLE_NUMBER_MAX, Reason, Time, Version, utc
from tenure.entrypoints.http_api.memories import MemoryAnswer, with_memory
from tenure.usecases import review
from tenure.usecases.bulk_review import decide_many
from tenure.usecases.pipeline import UseCase
from tenure.usecases.review import JudgeMemory
from tenure.usecases.review_queue import QUEUE, Queue
from tenure.usecases.review_statistics import STATISTICS


class JudgeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The version that was looked at, and why it is decided so."""

    expected_version: Version
    reason: Reason


class ReviewQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of the queue to show, and in which order."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    kind: Kind | None = None
    source_type: SourceType | None = None
    source_id: str | None = None
    rule: Annotated[str, Meta(description="The rule of the policy that held it back.")] | None = None
    finding: Annotated[FindingKind, Meta(description="A kind of finding that is among its own.")] | None = (
        None
    )
    order: Order = Order.NEWEST
    limit: Annotated[int, Meta(ge=1, le=QUEUE_ITEMS_MAX)] = 50
    cursor: str | None = None


class BulkBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One word on many memories: those named, or what waits from a source; and what of them was seen."""

    action: Action
    reason: Reason
    source: OfSource | None = None
    ids: Annotated[tuple[UUID, ...], Meta(max_length=DECIDED_MAX)] = ()
    expected: Annotated[tuple[Seen, ...], Meta(max_length=DECIDED_MAX)] = ()
    seen_until: Annotated[int, Meta(ge=0, le=WHOLE_NUMBER_MAX)] | None = None


class StatisticsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Since when decisions count; 30 days where it is left out."""

    since: Time | None = None


def _queue(visit: Visit[ReviewQuery]) -> Ask[Any, Any, Any]:
    return Ask(QUEUE, AskQueue(**msgspec.structs.asdict(visit.given)), plainly)


def _bulk(visit: Visit[BulkBody]) -> Answer:
    command = DecideMany(**msgspec.structs.asdict(visit.given))
    return Answer(200, decide_many(visit.pipeline, visit.caller, command))


def _statistics(visit: Visit[StatisticsQuery]) -> Ask[Any, Any, Any]:
    return Ask(STATISTICS, AskStatistics(since=utc(visit.given.since, field="since")), plainly)


def _judged(
    visit: Visit[JudgeBody], use_case: UseCase[JudgeMemory, F, Memory]
) -> Ask[JudgeMemory, F, Memory]:
    judge = Judge(expected_version=visit.given.expected_version, reason=visit.given.reason)
    command = JudgeMemory(memory_id=visit.id("memory_id"), judge=judge)
    return Ask(use_case, command, with_memory)


def _judgement(word: str, summary: str, use_case: UseCase[JudgeMemory, F, Memory]) -> Call[JudgeBody]:
    return Call(
        method="POST",
        path=f"/v1/memories/{{memory_id:str}}/{word}",
        name=f"{word}_memory",
        summary=summary,
        work=lambda visit: _judged(visit, use_case),
        takes=JudgeBody,
        answers={200: MemoryAnswer},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition),
        takes_idempotency_key=True,
    )


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/review",
        name="review_queue",
        summary="What waits in quarantine, with what a reviewer needs to judge it.",
        work=_queue,
        takes=ReviewQuery,
        answers={200: Queue},
    ),
    Call(
        method="POST",
        path="/v1/review/bulk",
        name="review_bulk",
        summary="Decide on many memories at once, each on its own; a result for each.",
        work=_bulk,
        takes=BulkBody,
        answers={200: Decisions},
    ),
    Call(
        method="GET",
        path="/v1/review/statistics",
        name="review_statistics",
        summary="What each reviewer decided, how fast, and how much of it was revoked later.",
        work=_statistics,
        takes=StatisticsQuery,
        answers={200: ReviewStatistics},
    ),
    _judgement("promote", "Let a quarantined memory in, with a reviewer's trust.", review.PROMOTE),
    _judgement("reject", "Turn a quarantined memory down.", review.REJECT),
    _judgement("revoke", "Take a memory out of every read, from the next one on.", review.REVOKE),
)

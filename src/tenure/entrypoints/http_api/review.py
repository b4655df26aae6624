"""The calls of reviewers: the queue of what waits, and a person's word on one memory (SPEC L6, L7, L12)."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tenure.core.errors import IdempotencyMismatch, IllegalTransition, NotFound, VersionConflict
from tenure.core.memory import Memory
from tenure.core.review import Judge
from tenure.core.vocabulary import Status
from tenure.entrypoints.http_api.calls import Ask, Call, F, Visit, plainly
from tenure.entrypoints.http_api.fields import Reason, Version
from tenure.entrypoints.http_api.memories import MemoryAnswer, with_memory
from tenure.usecases import review
from tenure.usecases.pipeline import UseCase
from tenure.usecases.reading import PAGE_ITEMS_MAX, ListMemories
from tenure.usecases.review import JudgeMemory, Queue


class JudgeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The version that was looked at, and why it is decided so."""

    expected_version: Version
    reason: Reason


class ReviewQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of the queue to show, newest first."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    limit: Annotated[int, Meta(ge=1, le=PAGE_ITEMS_MAX)] = 50
    cursor: str | None = None


def _queue(visit: Visit[ReviewQuery]) -> Ask[Any, Any, Any]:
    given = visit.given
    command = ListMemories(
        agent=given.agent,
        purpose=given.purpose,
        subject=given.subject,
        status=Status.QUARANTINED,
        limit=given.limit,
        cursor=given.cursor,
    )
    return Ask(review.QUEUE, command, plainly)


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
    _judgement("promote", "Let a quarantined memory in, with a reviewer's trust.", review.PROMOTE),
    _judgement("reject", "Turn a quarantined memory down.", review.REJECT),
    _judgement("revoke", "Take a memory out of every read, from the next one on.", review.REVOKE),
)

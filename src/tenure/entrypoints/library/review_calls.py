"""What reviewers do beyond one memory: the queue, many at once, statistics (SPEC L6, L7)."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from tenure.core.bulk_review import Action, DecideMany, Decisions, OfSource, Seen
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Caller, SourceType
from tenure.core.memory import Memory
from tenure.core.review_queue import AskQueue, Order
from tenure.core.review_statistics import AskStatistics, ReviewStatistics
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Source
from tenure.entrypoints.library.client_request import Request, a_read, a_write, given
from tenure.usecases import bulk_review, review_queue, review_statistics
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.review_queue import Queue

W = TypeVar("W", bound=StrEnum)


class ReviewSession:
    """The part of a Session that works on the queue."""

    _pipeline: Pipeline
    caller: Caller
    _subject: str | None

    def review(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kind: str | Kind | None = None,
        source_type: str | SourceType | None = None,
        source_id: str | None = None,
        rule: str | None = None,
        finding: str | FindingKind | None = None,
        order: str | Order | None = None,
    ) -> Queue:
        """What waits in quarantine, with what is needed to judge it; newest, oldest or riskiest first.

        A page may be short: go on while it has a ``next_cursor``.
        """
        ask = AskQueue(
            subject=self._subject,
            source_type=_word(SourceType, source_type, "source_type"),
            source_id=source_id,
            kind=_word(Kind, kind, "kind"),
            rule=rule,
            finding=_word(FindingKind, finding, "finding"),
            order=_word(Order, order, "order") or Order.NEWEST,
            limit=limit,
            cursor=cursor,
        )
        return self._pipeline.run(review_queue.QUEUE, self.caller, ask)

    def decide_many(
        self,
        action: str | Action,
        *,
        reason: str,
        source: Source | None = None,
        memory_ids: Iterable[UUID] = (),
        expected: Iterable[Memory] = (),
        seen_until: int | None = None,
    ) -> Decisions:
        """Promote, reject or revoke many memories, each on its own; the answer has a result for each.

        They are those named, or what waits from a source. What was seen is said by ``expected``, the memories
        as they were shown, or by the ``seen_until`` of a page of the queue: nothing else is decided on.
        """
        command = DecideMany(
            action=_needed(_word(Action, action, "action")),
            reason=reason,
            source=_of(source),
            ids=tuple(memory_ids),
            expected=_seen(expected),
            seen_until=seen_until,
        )
        return bulk_review.decide_many(self._pipeline, self.caller, command)

    def review_statistics(self, *, since: datetime | None = None) -> ReviewStatistics:
        """What each reviewer decided since a time (30 days ago), and what became of it; for auditors."""
        return self._pipeline.run(review_statistics.STATISTICS, self.caller, AskStatistics(since=since))


class ReviewRequests:
    """The same calls of a client."""

    __slots__ = ()

    def review(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kind: str | Kind | None = None,
        source_type: str | SourceType | None = None,
        source_id: str | None = None,
        rule: str | None = None,
        finding: str | FindingKind | None = None,
        order: str | Order | None = None,
    ) -> Request[Queue]:
        """What waits in quarantine, with what is needed to judge it; newest, oldest or riskiest first.

        A page may be short: go on while it has a ``next_cursor``.
        """
        asked = given(
            limit=limit,
            cursor=cursor,
            kind=kind,
            source_type=source_type,
            source_id=source_id,
            rule=rule,
            finding=finding,
            order=order,
        )
        return a_read("/v1/review", self._boundary(None) | asked, read=_QUEUE.decode)

    def decide_many(
        self,
        action: str | Action,
        *,
        reason: str,
        source: Source | None = None,
        memory_ids: Iterable[UUID] = (),
        expected: Iterable[Memory] = (),
        seen_until: int | None = None,
    ) -> Request[Decisions]:
        """Promote, reject or revoke many memories, each on its own; the answer has a result for each.

        They are those named, or what waits from a source. What was seen is said by ``expected``, the memories
        as they were shown, or by the ``seen_until`` of a page of the queue: nothing else is decided on.
        """
        ids, seen = tuple(memory_ids), _seen(expected)
        body = given(
            action=action,
            reason=reason,
            source=_of(source),
            ids=ids or None,
            expected=seen or None,
            seen_until=seen_until,
        )
        return a_write("/v1/review/bulk", body, read=_DECISIONS.decode)

    def review_statistics(self, *, since: datetime | None = None) -> Request[ReviewStatistics]:
        """What each reviewer decided since a time (30 days ago), and what became of it; for auditors."""
        return a_read("/v1/review/statistics", given(since=since), read=_STATISTICS.decode)

    def _boundary(self, subject: str | None) -> dict[str, object]:
        raise NotImplementedError


def _of(source: Source | None) -> OfSource | None:
    return OfSource(type=source.type, id=source.id) if source is not None else None


def _seen(memories: Iterable[Memory]) -> tuple[Seen, ...]:
    return tuple(Seen(id=memory.id, version=memory.version) for memory in memories)


def _word(words: type[W], value: str | None, field: str) -> W | None:
    if value is None:
        return None
    try:
        return words(value)
    except ValueError:
        known = ", ".join(words)
        raise InvalidRequest(
            f"{field} is not one of its words", field=field, hint=f"Known: {known}."
        ) from None


def _needed(action: Action | None) -> Action:
    if action is None:
        raise InvalidRequest("action is missing", field="action")
    return action


# A new server may say more than this client knows; what it adds is passed over.
_QUEUE: Final = msgspec.json.Decoder(Queue)
_DECISIONS: Final = msgspec.json.Decoder(Decisions)
_STATISTICS: Final = msgspec.json.Decoder(ReviewStatistics)

"""Statistics of reviewers, read from the log in pages: what they decided, and what became of it (SPEC L7).

Laws: no body of an event is opened; so much of the log is read and no more, and who asks for more is told to
ask from a later time.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from tenure.core import review_statistics
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.events import NAMES, Event, decode_event, decode_header
from tenure.core.identity import Caller
from tenure.core.proposals import check_time
from tenure.core.review_statistics import (
    DECISIONS,
    EVENTS_MAX,
    SINCE_DEFAULT,
    AskStatistics,
    ReviewStatistics,
    Word,
)
from tenure.usecases.log_times import position_before
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.reading import credential_name
from tenure.usecases.recording import Showed

PAGE: Final = 2_000
STREAMS: Final = 500
_TOLD: Final = tuple(f'"{NAMES[kind][0]}"'.encode() for kind in DECISIONS)


def _gather(world: World, caller: Caller, ask: AskStatistics) -> ReviewStatistics:
    now, tenant = world.moment.now, caller.tenant
    since = ask.since if ask.since is not None else now - SINCE_DEFAULT
    check_time(since, field="since")
    if since > now:
        raise InvalidRequest("since lies in the future", field="since")
    head = world.reading.head(tenant)[0]
    after = position_before(world.reading, tenant, since, low=0, high=head)
    if head - after > EVENTS_MAX:
        raise InvalidRequest(
            f"the log has {head - after:,} events since then, and one call reads {EVENTS_MAX:,}",
            field="since",
            hint="Ask from a later time.",
        )
    streams = list(dict.fromkeys(_decided_on(world, tenant, after=after, up_to=head)))
    words = list(_words(world, tenant, streams, since))
    return ReviewStatistics(
        since=since,
        until=now,
        reviewers=review_statistics.by_reviewer(words, lambda actor: credential_name(world, tenant, actor)),
        events_read=head - after,
    )


def _decided_on(world: World, tenant: str, *, after: int, up_to: int) -> Iterator[UUID]:
    """The memories that somebody decided on between two positions."""
    while after < up_to:
        page = world.reading.log(tenant, after=after, limit=min(PAGE, up_to - after))
        if not page:
            return
        for stored in page:
            # Most events are of other kinds: they are told by their bytes, without being decoded.
            if any(name in stored.header for name in _TOLD):
                header = decode_header(stored.header)
                if header.stream is not None:
                    yield header.stream
        after = page[-1].seq


def _words(world: World, tenant: str, streams: list[UUID], since: datetime) -> Iterator[Word]:
    for start in range(0, len(streams), STREAMS):
        batch = streams[start : start + STREAMS]
        events: dict[UUID, list[Event]] = {}
        for stored in world.reading.events_of(tenant, batch):
            event = decode_event(decode_header(stored.header), None)
            if event.stream is not None:
                events.setdefault(event.stream, []).append(event)
        for memory_id in batch:
            yield from review_statistics.words_on(events.get(memory_id, ()), since)


STATISTICS: UseCase[AskStatistics, ReviewStatistics, ReviewStatistics] = UseCase(
    name="review-statistics",
    permission=Permission.READ_LOG,
    target=lambda _ask: Target(everything=True),
    gather=_gather,
    decide=lambda _ask, told, _caller, _moment, _rules: Decided(answer=told),
    showed=lambda told: Showed(len(told.reviewers)),
)

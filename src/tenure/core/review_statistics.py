"""How reviewers decide: counts and times by reviewer, told from events without content (SPEC L7, A5). Pure.

Laws: every decision counts for whoever made it, once; whether a yes was right is told by what became of the
memory later; nothing of a memory's text has a part in it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from tenure.core.events import Endorsed, Event, Promoted, Quarantined, Rejected, Revoked
from tenure.core.incident_events import Held

SINCE_DEFAULT: Final = timedelta(days=30)
EVENTS_MAX: Final = 200_000
"""So many events of the log one call reads."""
DECISIONS: Final = (Endorsed, Promoted, Rejected)


class AskStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions since a time; 30 days ago where it is left out."""

    since: datetime | None = None


class ReviewerStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What one reviewer decided.

    ``revoked_later`` are those of the promoted ones that were revoked since, by whomever, alone or with their
    source; the share is of all that they promoted. ``median_seconds_in_queue`` is of the memories that they
    decided on, until they did.
    """

    reviewer: str
    last_active_at: datetime
    name: str | None = None
    endorsed: int = 0
    promoted: int = 0
    rejected: int = 0
    revoked_later: int = 0
    share_revoked_later: float | None = None
    median_seconds_in_queue: float | None = None


class ReviewStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions between two times, by reviewer; and how many events were read for it."""

    since: datetime
    until: datetime
    reviewers: tuple[ReviewerStatistics, ...]
    events_read: int


class Word(NamedTuple):
    """One decision: whose, what, when, after how long, and whether the memory was revoked later."""

    reviewer: str
    kind: type
    at: datetime
    seconds_in_queue: float
    is_revoked_later: bool


def words_on(events: Iterable[Event], since: datetime) -> Iterator[Word]:
    """The decisions since a time among the events of one memory, which are given oldest first."""
    lived = list(events)
    waiting_since: datetime | None = None
    for place, event in enumerate(lived):
        if isinstance(event.data, Quarantined | Held):
            waiting_since = event.at
        elif isinstance(event.data, DECISIONS) and event.at >= since:
            waited = (event.at - (waiting_since or event.at)).total_seconds()
            yield Word(
                reviewer=event.actor,
                kind=type(event.data),
                at=event.at,
                seconds_in_queue=max(0.0, waited),
                is_revoked_later=isinstance(event.data, Promoted) and _is_revoked(lived[place:]),
            )


def by_reviewer(
    words: Iterable[Word], name_of: Callable[[str], str | None]
) -> tuple[ReviewerStatistics, ...]:
    """The decisions counted, by the reviewer's id."""
    theirs: dict[str, list[Word]] = {}
    for word in words:
        theirs.setdefault(word.reviewer, []).append(word)
    return tuple(_counted(reviewer, theirs[reviewer], name_of(reviewer)) for reviewer in sorted(theirs))


def _is_revoked(events: Iterable[Event]) -> bool:
    return any(isinstance(event.data, Revoked) for event in events)


def _counted(reviewer: str, words: list[Word], name: str | None) -> ReviewerStatistics:
    # Loaded when needed: it loads arithmetic that nothing else needs, and every store starts without it.
    from statistics import median  # noqa: PLC0415

    promoted = sum(word.kind is Promoted for word in words)
    revoked_later = sum(word.is_revoked_later for word in words)
    return ReviewerStatistics(
        reviewer=reviewer,
        last_active_at=max(word.at for word in words),
        name=name,
        endorsed=sum(word.kind is Endorsed for word in words),
        promoted=promoted,
        rejected=sum(word.kind is Rejected for word in words),
        revoked_later=revoked_later,
        share_revoked_later=round(revoked_later / promoted, 4) if promoted else None,
        median_seconds_in_queue=round(median(word.seconds_in_queue for word in words), 3),
    )

"""Legal holds: a subject that may not be erased or pruned for now (SPEC F10). Pure.

A hold never stops forgetting: what is forgotten is out of every read, and its keys stay until the release.
"""

from datetime import datetime

import msgspec

from tenure.core.decision import Decided, Refused
from tenure.core.errors import InvalidRequest, NotFound, OnHold
from tenure.core.events import Event, HoldPlaced, HoldReleased, Secret
from tenure.core.identity import Caller, Moment, checked_name
from tenure.core.proposals import check_time
from tenure.core.retention import checked_reason
from tenure.core.rows import HoldRow, from_microseconds


class PlaceHold(msgspec.Struct, frozen=True, kw_only=True):
    """Keep everything about a subject from being erased or pruned, for a reason."""

    subject: str
    reason: str
    review_at: datetime | None = None


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold as it stands, or as it stood until its release. The reason is in the log, sealed."""

    subject: str
    placed_by: str
    placed_at: datetime
    review_at: datetime | None = None
    released_at: datetime | None = None


def place(command: PlaceHold, caller: Caller, moment: Moment) -> Decided[Hold]:
    """Place a hold; on a subject that is held, the reason and the date of review are the new ones."""
    checked_name(command.subject, field="subject")
    if command.review_at is not None:
        check_time(command.review_at, field="review_at")
        if command.review_at <= moment.now:
            raise InvalidRequest("review_at must lie in the future", field="review_at")
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        data=HoldPlaced(review_at=command.review_at),
        subject=command.subject,
        secret=Secret(reason=checked_reason(command.reason)),
    )
    hold = Hold(
        subject=command.subject,
        placed_by=caller.id,
        placed_at=moment.now,
        review_at=command.review_at,
    )
    return Decided(answer=hold, events=(event,))


def release(
    subject: str, reason: str, present: HoldRow | None, caller: Caller, moment: Moment
) -> Decided[Hold] | Refused:
    """End a hold; raises NotFound where there is none."""
    if present is None:
        return Refused(NotFound("there is no hold on this subject", subject=subject))
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        data=HoldReleased(),
        subject=subject,
        secret=Secret(reason=checked_reason(reason)),
    )
    hold = standing(present)
    return Decided(answer=msgspec.structs.replace(hold, released_at=moment.now), events=(event,))


def standing(row: HoldRow) -> Hold:
    """A hold as it is told."""
    return Hold(
        subject=row.subject,
        placed_by=row.placed_by,
        placed_at=from_microseconds(row.placed_at),
        review_at=from_microseconds(row.review_at) if row.review_at is not None else None,
    )


def forbids(row: HoldRow) -> OnHold:
    """Why an erasure is refused (SPEC F10)."""
    hold = standing(row)
    return OnHold(
        "this subject is under a legal hold and cannot be erased; nothing was changed",
        hint="Forget the subject now: that is allowed and takes everything out of every read. "
        "Erase it once the hold is released.",
        placed_at=hold.placed_at.isoformat(),
        review_at=hold.review_at.isoformat() if hold.review_at else None,
    )


def halts(row: HoldRow) -> OnHold:
    """Why an erasure that had begun before the hold goes no further (SPEC F10)."""
    hold = standing(row)
    return OnHold(
        "this subject came under a legal hold while it was being erased: it is out of every read, and its "
        "keys stay until the release",
        hint="Nothing more is to do: the erasure goes on by itself once the hold is released.",
        placed_at=hold.placed_at.isoformat(),
        review_at=hold.review_at.isoformat() if hold.review_at else None,
    )

"""Alerts: what a person should look at, newest first (SPEC F6, I3)."""

from datetime import datetime
from typing import Final

import msgspec

from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest
from tenure.core.identity import Caller
from tenure.core.rows import from_microseconds
from tenure.usecases.paging import position
from tenure.usecases.pipeline import UseCase, World
from tenure.usecases.recording import Showed

ALERT_PAGE_MAX: Final = 200
_CURSOR: Final = "before:"


class ReadAlerts(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a tenant's alerts, newest first: those about subjects that the caller was granted."""

    limit: int = 50
    cursor: str | None = None
    kind: str | None = None


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a person should look at; ``about`` is the id of what it concerns."""

    seq: int
    kind: str
    message: str
    raised_at: datetime
    about: str | None = None


class AlertPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the alerts, and where the next page begins."""

    items: tuple[Alert, ...]
    next_cursor: str | None = None


def _gather(world: World, caller: Caller, command: ReadAlerts) -> AlertPage:
    if not 0 < command.limit <= ALERT_PAGE_MAX:
        raise InvalidRequest(f"limit must be 1 to {ALERT_PAGE_MAX}", field="limit")
    before = position(command.cursor, word=_CURSOR)
    rows = world.reading.alerts(
        caller.tenant,
        subjects=caller.grants.subjects,
        before_seq=before,
        limit=command.limit + 1,
        kind=command.kind,
    )
    page = rows[: command.limit]
    return AlertPage(
        items=tuple(
            Alert(
                seq=row.seq,
                kind=row.kind,
                message=row.message,
                about=row.about,
                raised_at=from_microseconds(row.raised_at),
            )
            for row in page
        ),
        next_cursor=f"{_CURSOR}{page[-1].seq}" if len(rows) > command.limit else None,
    )


READ_ALERTS: UseCase[ReadAlerts, AlertPage, AlertPage] = UseCase(
    name="read-alerts",
    permission=Permission.READ_ALERTS,
    target=lambda _command: Target(),
    gather=_gather,
    decide=lambda _command, page, _caller, _moment, _rules: Decided(answer=page),
    showed=lambda page: Showed(len(page.items)),
)

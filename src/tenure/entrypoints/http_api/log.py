"""The call that reads the event log, without content (SPEC E1, E6)."""

from typing import Annotated, Any, Final

from msgspec import Meta

from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.entrypoints.http_api.fields import WHOLE_NUMBER_MAX
from tenure.usecases.evidence import LOG_PAGE_MAX, READ_LOG, LogPage, ReadLog


class LogQuery(ReadLog, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of the log to read: what comes after a position."""

    after: Annotated[int, Meta(ge=0, le=WHOLE_NUMBER_MAX)] = 0
    limit: Annotated[int, Meta(ge=1, le=LOG_PAGE_MAX)] = 100


def _log(visit: Visit[LogQuery]) -> Ask[Any, Any, Any]:
    return Ask(READ_LOG, visit.given, plainly)


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/log",
        name="read_log",
        summary="The tenant's events, oldest first, without the content of any memory.",
        work=_log,
        takes=LogQuery,
        answers={200: LogPage},
    ),
)

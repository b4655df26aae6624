"""The call that reads what a person should look at (SPEC F6, I3)."""

from typing import Annotated, Any, Final

from msgspec import Meta

from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.usecases.alerts import ALERT_PAGE_MAX, READ_ALERTS, AlertPage, ReadAlerts


class AlertQuery(ReadAlerts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which alerts to read, newest first."""

    limit: Annotated[int, Meta(ge=1, le=ALERT_PAGE_MAX)] = 50


def _alerts(visit: Visit[AlertQuery]) -> Ask[Any, Any, Any]:
    return Ask(READ_ALERTS, visit.given, plainly)


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/alerts",
        name="read_alerts",
        summary="What a person should look at, newest first.",
        work=_alerts,
        takes=AlertQuery,
        answers={200: AlertPage},
    ),
)

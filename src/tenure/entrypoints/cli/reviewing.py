"""`tenure review`: how reviewers decide (SPEC L7). Deciding itself takes a reviewer's own credential."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, say

if TYPE_CHECKING:
    # Only named here: loading it is for the command that runs.
    from tenure.core.review_statistics import ReviewerStatistics

app = typer.Typer(help="How reviewers decide.", rich_markup_mode=None)

Since = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        metavar="TIME",
        formats=["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M", "%Y-%m-%d"],
        help="Decisions from then on: 2027-01-31; UTC unless it says otherwise. [default: 30 days ago]",
    ),
]

_HEADER = ("reviewer", "endorsed", "promoted", "rejected", "revoked later", "median wait", "last active")


@app.callback()
def review() -> None:
    """How reviewers decide."""


@app.command("statistics")
def statistics(
    *,
    tenant: options.Tenant,
    since: Since = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Count what each reviewer decided, how long it waited, and how much of it was revoked later."""
    from tenure.core.review_statistics import ReviewStatistics
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.reviews import ReviewStatisticsArguments

    if since is not None:
        since = since.replace(tzinfo=UTC) if since.tzinfo is None else since.astimezone(UTC)
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        arguments = ReviewStatisticsArguments(tenant=tenant, since=since)
        told = answer(reached, arguments, ReviewStatistics)
    rows = [_row(one) for one in told.reviewers]
    nobody = [f"Nobody decided on anything since {told.since:%Y-%m-%d %H:%M} UTC."]
    say(told, columns(_HEADER, rows) if rows else nobody, as_json=as_json)


def _row(one: "ReviewerStatistics") -> tuple[str, ...]:
    share = f" ({one.share_revoked_later:.0%})" if one.share_revoked_later is not None else ""
    waited = f"{one.median_seconds_in_queue or 0:,.0f} s"
    return (
        f"{one.name} ({one.reviewer})" if one.name else one.reviewer,
        f"{one.endorsed:,}",
        f"{one.promoted:,}",
        f"{one.rejected:,}",
        f"{one.revoked_later:,}{share}",
        waited,
        f"{one.last_active_at:%Y-%m-%d %H:%M}",
    )

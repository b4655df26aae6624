"""`tenure hold`: a subject that may not be erased or pruned for now (SPEC F10)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import say

if TYPE_CHECKING:
    # Only named here: loading them is for the command that runs.
    from tenure.core.holds import Hold
    from tenure.entrypoints.control.arguments import Arguments

app = typer.Typer(help="Legal holds.", rich_markup_mode=None)

ReviewAt = Annotated[
    datetime | None,
    typer.Option(
        "--review-at",
        metavar="TIME",
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"],
        help="When to look at it again: 2027-01-31, or with a time; UTC unless it says otherwise.",
    ),
]


@app.command("place")
def place(
    *,
    tenant: options.Tenant,
    subject: options.Subject,
    reason: options.Reason,
    review_at: ReviewAt = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Keep a subject from being erased or pruned; again, with a new reason or date.

    Forgetting stays possible.
    """
    from tenure.entrypoints.control.subjects import PlaceHoldArguments

    if review_at is not None:
        review_at = review_at.replace(tzinfo=UTC) if review_at.tzinfo is None else review_at.astimezone(UTC)
    arguments = PlaceHoldArguments(tenant=tenant, subject=subject, reason=reason, review_at=review_at)
    _tell(_asked(arguments, data=data, database_url=database_url), as_json=as_json)


@app.command("release")
def release(
    *,
    tenant: options.Tenant,
    subject: options.Subject,
    reason: options.Reason,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """End the hold on a subject."""
    from tenure.entrypoints.control.subjects import ReleaseHoldArguments

    arguments = ReleaseHoldArguments(tenant=tenant, subject=subject, reason=reason)
    _tell(_asked(arguments, data=data, database_url=database_url), as_json=as_json)


@app.command("show")
def show(
    *,
    tenant: options.Tenant,
    subject: options.Subject,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Show the hold on a subject; exits with 1 where there is none."""
    from tenure.entrypoints.control.subjects import ShowHoldArguments

    arguments = ShowHoldArguments(tenant=tenant, subject=subject)
    _tell(_asked(arguments, data=data, database_url=database_url), as_json=as_json)


def _asked(arguments: "Arguments", *, data: Path | None, database_url: str | None) -> "Hold":
    from tenure.core.holds import Hold
    from tenure.entrypoints.control.reaching import answer, reach

    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        return answer(reached, arguments, Hold)


def _tell(hold: "Hold", *, as_json: bool) -> None:
    state = "is on hold no longer" if hold.released_at else "is on hold: it cannot be erased or pruned"
    lines = [f"{hold.subject} {state}", f"placed    {hold.placed_at:%Y-%m-%d %H:%M} UTC by {hold.placed_by}"]
    if hold.review_at is not None:
        lines.append(f"review    {hold.review_at:%Y-%m-%d %H:%M} UTC")
    if hold.released_at is not None:
        lines.append(f"released  {hold.released_at:%Y-%m-%d %H:%M} UTC")
    say(hold, lines, as_json=as_json)

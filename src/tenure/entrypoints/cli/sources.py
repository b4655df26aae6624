"""`tenure source`: what a source has touched, and revoking all that came from it (SPEC I1, I2)."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, say

if TYPE_CHECKING:
    # Only named here: loading them is for the command that runs.
    from tenure.core.incidents import Impact, SourceRevocation

app = typer.Typer(help="Sources that went bad.", rich_markup_mode=None)

NAMED_MAX = 5
"""So many ids of a kind a person is shown; --json has them all."""

SourceType = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="A source type, or connector for what a credential brought in. [default: every source type]",
    ),
]
SourceId = Annotated[
    str, typer.Option("--id", metavar="ID", help="The message, document or call; of a connector, its key.")
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; it stands in the log in the open.")
]
DetectedAt = Annotated[
    datetime | None,
    typer.Option(
        "--detected-at",
        metavar="TIME",
        formats=["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M", "%Y-%m-%d"],
        help="When somebody noticed: 2027-01-31T09:30:00; UTC unless it says otherwise.",
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", help="At most so many ids of each kind, up to 10000.")
]


@app.command("impact")
def impact(
    *,
    tenant: options.Tenant,
    source_id: SourceId,
    source_type: SourceType = None,
    limit: Limit = 1_000,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Show what a source has touched: memories, recalls, responses, tool calls, agents and subjects."""
    from tenure.core.incidents import AskImpact, Impact
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.sources import ImpactArguments

    ask = AskImpact(source_type=source_type, source_id=source_id, limit=limit)
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        found = answer(reached, ImpactArguments(tenant=tenant, ask=ask), Impact)
    say(found, _touched(found), as_json=as_json)


@app.command("revoke")
def revoke(
    *,
    tenant: options.Tenant,
    source_id: SourceId,
    reason: Reason,
    source_type: SourceType = None,
    detected_at: DetectedAt = None,
    limit: Limit = 1_000,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Take all that came from a source out of every read, at once; what it writes later is refused.

    What was made from it goes too, through however many steps.
    """
    from tenure.core.incidents import RevokeSource, SourceRevocation
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.sources import RevokeSourceArguments

    command = RevokeSource(
        source_type=source_type, source_id=source_id, reason=reason, detected_at=_in_utc(detected_at)
    )
    arguments = RevokeSourceArguments(tenant=tenant, revoke=command, limit=limit)
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        revocation = answer(reached, arguments, SourceRevocation)
    say(revocation, [*_done(revocation), *_touched(revocation.impact)], as_json=as_json)


def _in_utc(time: datetime | None) -> datetime | None:
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _done(revocation: "SourceRevocation") -> Iterator[str]:
    if revocation.status == "already_revoked":
        yield f"the source was revoked before, at event {revocation.revoked_seq}; nothing new came from it"
    else:
        memories = "memory" if revocation.revoked == 1 else "memories"
        by = f"by event {revocation.revoked_seq}"
        yield f"the source is revoked: {revocation.revoked:,} {memories} withdrawn, {by}"
    if revocation.seconds_to_revocation is not None:
        since = "detection" if revocation.detected_at is not None else "the call"
        yield f"{revocation.seconds_to_revocation:,.1f} s from {since} until no read found any of it"


def _touched(impact: "Impact") -> list[str]:
    counts = impact.counts
    calls = (f"{call.name} {call.id}" for call in impact.tool_calls)
    rows = [
        ("memories", counts.memories, map(str, impact.memories)),
        ("recalls", counts.recalls, map(str, impact.recalls)),
        ("responses", counts.responses, impact.responses),
        ("tool calls", counts.tool_calls, calls),
        ("agents", counts.agents, impact.agents),
        ("subjects", counts.subjects, impact.subjects),
        ("displaced", counts.displaced, map(str, impact.displaced)),
    ]
    return columns(("touched", "how many", "which"), [_row(*row) for row in rows])


def _row(what: str, count: int, names: Iterable[str]) -> tuple[str, str, str]:
    shown = [name for name, _ in zip(names, range(NAMED_MAX), strict=False)]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return what, f"{count:,}", ", ".join(shown) + more

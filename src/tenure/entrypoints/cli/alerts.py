"""`tenure alerts`: what a person should look at (SPEC F6, I3)."""

from typing import Annotated

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, note, say


def alerts(
    *,
    tenant: options.Tenant,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many, up to 200.")] = 50,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="CURSOR", help="Those before this place.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Of this kind alone, such as write_surge.")
    ] = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """List what a person should look at, newest first."""
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.subjects import ReadAlertsArguments
    from tenure.usecases.alerts import AlertPage

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        arguments = ReadAlertsArguments(tenant=tenant, limit=limit, cursor=cursor, kind=kind)
        page = answer(reached, arguments, AlertPage)
    rows = [
        (f"{alert.raised_at:%Y-%m-%d %H:%M}", alert.kind, alert.about or "", alert.message)
        for alert in page.items
    ]
    header = ("raised", "kind", "about", "message")
    say(page, columns(header, rows) if rows else ["There are no alerts."], as_json=as_json)
    if page.next_cursor is not None and not as_json:
        note(f"there are more: --cursor {page.next_cursor}")

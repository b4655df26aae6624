"""`tenure log` and `tenure rebuild`: the event log as evidence, and what comes of it (SPEC E1, E2, E4)."""

from typing import Annotated

import msgspec
import typer

from tenure.entrypoints.cli import options, verifying
from tenure.entrypoints.cli.files import STANDARD_OUTPUT, destination, refuse_json_beside
from tenure.entrypoints.cli.output import progress, say

app = typer.Typer(help="The event log.", rich_markup_mode=None)

_PROGRESS_EVERY = 1_000


@app.command("export")
def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to write it; - is standard output.")],
    *,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Write the log as JSON Lines, oldest event first.

    Contents stay sealed in it, and no key leaves the store.
    """
    from tenure.entrypoints.control.operations import Exported, ExportLogArguments
    from tenure.entrypoints.control.reaching import reach

    refuse_json_beside(file, as_json=as_json)
    settings = options.existing(options.loaded(data, database_url).settings)
    exported = Exported(events=0, tenants=0)
    with (
        reach(settings) as reached,
        destination(file) as target,
        progress("exporting", unit="events") as advance,
    ):
        done, total = 0, None
        for line in reached.lines(ExportLogArguments(tenant=tenant)):
            if line.progress is not None:
                total = line.progress.total
            elif isinstance(line.item, msgspec.Raw):
                target.write(line.item)
                target.write(b"\n")
                done += 1
                if done % _PROGRESS_EVERY == 0:
                    advance(done, total)
            elif isinstance(line.result, msgspec.Raw):
                exported = msgspec.json.decode(line.result, type=Exported)
    if file != STANDARD_OUTPUT:
        said = {"file": file, "events": exported.events, "tenants": exported.tenants}
        say(said, [f"{exported.events:,} events of {exported.tenants} tenants in {file}"], as_json=as_json)


app.command("verify")(verifying.verify)
app.command("import")(verifying.import_log)


def rebuild(
    *, data: options.Data = None, database_url: options.DatabaseUrl = None, as_json: options.Json = False
) -> None:
    """Rebuild every projection from the log.

    Drops what is there, replays the log, and says whether it came out identical.
    """
    from tenure.entrypoints.control.operations import RebuildArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.ports import Rebuilt

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached, progress("replaying the log", unit="events"):
        rebuilt = answer(reached, RebuildArguments(), Rebuilt)
    came_out = (
        "identical" if rebuilt.identical else "DIFFERENT from what was there; the log's word now stands"
    )
    say(rebuilt, [f"{rebuilt.events:,} events replayed: {came_out}"], as_json=as_json)

"""`tenure export`: everything held about a subject, for the subject (SPEC F12)."""

from typing import Annotated

import msgspec
import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.files import STANDARD_OUTPUT, destination, refuse_json_beside, safe_name
from tenure.entrypoints.cli.output import say


def export(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Where to write it; - is standard output. [default: ./export-SUBJECT.json]",
            show_default=False,
        ),
    ] = None,
    *,
    tenant: options.Tenant,
    subject: options.Subject,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Write everything held about a subject as one JSON document, with its sources and who was shown it.

    What is forgotten but not erased is in it. The file holds contents, and its owner alone may read it.
    """
    from tenure.entrypoints.control.reaching import reach
    from tenure.entrypoints.control.subjects import ExportedSubject, ExportSubjectArguments

    named = file if file is not None else f"export-{safe_name(subject)}.json"
    refuse_json_beside(named, as_json=as_json)
    settings = options.existing(options.loaded(data, database_url).settings)
    found = ExportedSubject(memories=0, recalls=0, events=0)
    with reach(settings) as reached, destination(named) as target:
        for line in reached.lines(ExportSubjectArguments(tenant=tenant, subject=subject)):
            if isinstance(line.item, msgspec.Raw):
                target.write(msgspec.json.decode(line.item, type=str).encode())
            elif isinstance(line.result, msgspec.Raw):
                found = msgspec.json.decode(line.result, type=ExportedSubject)
        target.write(b"\n")
    if named != STANDARD_OUTPUT:
        said = {"file": named} | msgspec.structs.asdict(found)
        counts = f"{found.memories:,} memories, {found.recalls:,} recalls, {found.events:,} events"
        say(said, [f"{counts} of {subject} in {named}"], as_json=as_json)

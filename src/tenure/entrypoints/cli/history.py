"""`tenure history`: the story of one memory: who did what, why, and by which rule (SPEC L2)."""

from typing import Annotated
from uuid import UUID

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import say


def history(
    memory_id: Annotated[UUID, typer.Argument(metavar="MEMORY_ID", help="The memory.")],
    *,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Tell what happened to a memory, oldest first.

    What the memory said is not printed; --json has it.
    """
    from tenure.entrypoints.control.histories import HistoryArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.reading import History

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        story = answer(reached, HistoryArguments(memory_id=memory_id, tenant=tenant), History)
    lines = [f"{one.at:%Y-%m-%d %H:%M}  v{one.version:<3} {one.text}" for one in story.items]
    say(story, lines, as_json=as_json)

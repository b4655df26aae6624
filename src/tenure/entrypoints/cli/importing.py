"""`tenure import`: conversations from a file into the store, each turn through the gate (SPEC L1, A3)."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tenure.core.errors import TenureError
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import note, progress, say

if TYPE_CHECKING:
    # Only named here: loading them is for the command that imports.
    from tenure.entrypoints.cli.chat_files import ChatFile
    from tenure.entrypoints.control.reaching import Reached
    from tenure.usecases.importing import Conversion, Proposed


app = typer.Typer(rich_markup_mode=None)


@app.callback()
def imports() -> None:
    """Data from elsewhere; all of it passes the gate."""


@app.command("chat")
def chat(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Conversations as JSON; may be gzipped.")],
    *,
    tenant: options.Tenant,
    agent: Annotated[str, typer.Option("--agent", metavar="AGENT", help="The agent it is for.")],
    purpose: Annotated[str, typer.Option("--purpose", metavar="PURPOSE", help="The purpose it is for.")],
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", metavar="SUBJECT", help="Whom it is about. [default: each conversation's id]"
        ),
    ] = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Import conversations, one memory a turn.

    You vouch for the file: its turns count as an application's. Importing the same file again doubles
    nothing. What was imported before a mistake in the file stays.
    """
    from tenure.entrypoints.cli.chat_files import ChatFile
    from tenure.entrypoints.control.reaching import reach
    from tenure.usecases.importing import Conversion, local_import

    settings = options.loaded(data, database_url).settings
    local_import(tenant)
    conversion = Conversion(
        agent=agent,
        purpose=purpose,
        subject=subject,
        characters_max=settings.admission.content_characters_max,
    )
    with ChatFile(file) as chats:
        run = _Run(chats, conversion)
        with reach(settings) as reached:
            try:
                run.through(reached, tenant)
            except TenureError as error:
                error.details["imported"] = msgspec.to_builtins(run.total)
                note(f"{run.summary()}; this stays")
                raise
            except KeyboardInterrupt:
                note(f"stopped; {run.summary()}; this stays")
                raise
    said = {"file": str(file), "turns": chats.turns_read, **msgspec.to_builtins(run.total)}
    say(said, [run.summary(), *run.details()], as_json=as_json)


class _Run:
    """One import: what of the file is in the store, whatever happens on the way.

    A file that is wrong from its start raises here, before a store is opened for it.
    """

    def __init__(self, chats: "ChatFile", conversion: "Conversion") -> None:
        from tenure.usecases.importing import Imported

        self._chats = chats
        self._batches = _batches(
            proposal for scope_id, turn in chats.turns() for proposal in conversion.proposals(scope_id, turn)
        )
        self._first = list(islice(self._batches, 1))
        self.total: Imported = Imported()

    def through(self, reached: "Reached", tenant: str) -> None:
        """Send the file batch by batch; each is durable before the next is read."""
        from tenure.entrypoints.control.operations import ImportArguments
        from tenure.entrypoints.control.reaching import answer
        from tenure.usecases.importing import Imported

        with progress("importing", unit="turns") as advance:
            for batch in chain(self._first, self._batches):
                done = answer(reached, ImportArguments(tenant=tenant, items=batch), Imported)
                self.total = self.total.plus(done)
                advance(self._chats.bytes_read, self._chats.bytes_total, self._chats.turns_read)

    def summary(self) -> str:
        """The counts in one line."""
        total = self.total
        rejected, refused = sum(total.rejected.values()), sum(total.refused.values())
        counts = (
            (total.admitted, "admitted"),
            (total.quarantined, "quarantined"),
            (rejected, "rejected"),
            (total.repeated, "imported before"),
            (total.forgotten, "forgotten since an earlier import"),
            (refused, "refused"),
        )
        said = ", ".join(f"{count:,} {name}" for count, name in counts if count) or "nothing imported"
        return f"{self._chats.turns_read:,} turns read: {said}"

    def details(self) -> Iterator[str]:
        """Why turns were rejected or refused, rule by rule and the first of them by name."""
        for rule, count in sorted(self.total.rejected.items()):
            yield f"  rejected by {rule}: {count:,}"
        for trouble in self.total.problems:
            yield f"  {trouble.source_id}: {trouble.message}"


def _batches(proposed: "Iterable[Proposed]") -> "Iterator[list[Proposed]]":
    """Batches of proposals; those before a mistake in the file come before its error."""
    from tenure.usecases.importing import BATCH_ITEMS_MAX

    batch: list[Proposed] = []
    try:
        for proposal in proposed:
            batch.append(proposal)
            if len(batch) == BATCH_ITEMS_MAX:
                yield batch
                batch = []
    except TenureError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch

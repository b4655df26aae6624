"""`tenure contradictions`, `tenure unmerge`: what cannot both be true, what is not the same (SPEC T2, T3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import note, printable, say

if TYPE_CHECKING:
    # Only named here: loading them is for the command that runs.
    from tenure.usecases.contradictions import Contradiction, Side

_LIST = "list"


class ListsByDefault(TyperGroup):
    """A group whose command is to list where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; options alone are those of the list."""
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=ListsByDefault, help="Memories that cannot both be true.", rich_markup_mode=None)

AnyAgent = Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="Of this agent alone.")]
AnyPurpose = Annotated[
    str | None, typer.Option("--purpose", metavar="PURPOSE", help="Of this purpose alone.")
]
AnySubject = Annotated[
    str | None, typer.Option("--subject", metavar="SUBJECT", help="About this subject alone.")
]
Open = Annotated[
    str,
    typer.Option(
        "--open", metavar="WORD", help="true: what waits for a person; false: what was decided; all: both."
    ),
]
KeyFile = Annotated[
    Path,
    typer.Option("--key-file", metavar="FILE", help="The file that holds the reviewer's own key, or token."),
]


@app.callback()
def contradictions() -> None:
    """Memories that cannot both be true."""


@app.command(_LIST)
def list_contradictions(
    *,
    tenant: options.Tenant,
    agent: AnyAgent = None,
    purpose: AnyPurpose = None,
    subject: AnySubject = None,
    is_open: Open = "true",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many, up to 200.")] = 50,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="CURSOR", help="Those before this place.")
    ] = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """List memories that cannot both be true, newest first."""
    from tenure.entrypoints.control.contradictions import ContradictionsArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.contradictions import ContradictionPage, Which

    arguments = ContradictionsArguments(
        tenant=tenant,
        agent=agent,
        purpose=purpose,
        subject=subject,
        open=options.word(Which, is_open, "open"),
        limit=limit,
        cursor=cursor,
    )
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        page = answer(reached, arguments, ContradictionPage)
    lines = [line for one in page.items for line in _lines(one)]
    say(page, lines or ["There are no contradictions."], as_json=as_json)
    if page.next_cursor is not None and not as_json:
        note(f"there may be more: --cursor {page.next_cursor}")


@app.command("resolve")
def resolve(
    contradiction_id: Annotated[UUID, typer.Argument(metavar="CONTRADICTION_ID", help="The contradiction.")],
    *,
    keep: Annotated[str, typer.Option("--keep", metavar="ID", help="The memory that is kept, or: both.")],
    reason: options.Reason,
    key_file: KeyFile,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Decide which of two memories is kept, or that both are right."""
    from tenure.entrypoints.control.contradictions import ResolveArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.contradictions import Resolved

    arguments = ResolveArguments(
        token=_key(key_file), contradiction_id=contradiction_id, keep=keep, reason=reason
    )
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        resolved = answer(reached, arguments, Resolved)
    moved = [f"memory {one.id} is {one.status}" for one in resolved.memories]
    kept = f"kept: {resolved.contradiction.kept}"
    say(resolved, [kept, *moved], as_json=as_json)


def unmerge(
    memory_id: Annotated[UUID, typer.Argument(metavar="MEMORY_ID", help="The memory.")],
    *,
    reason: options.Reason,
    key_file: KeyFile,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Let a memory that was merged with another stand for itself again."""
    from tenure.core.memory import Memory
    from tenure.entrypoints.control.contradictions import UnmergeArguments
    from tenure.entrypoints.control.reaching import answer, reach

    arguments = UnmergeArguments(token=_key(key_file), memory_id=memory_id, reason=reason)
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        memory = answer(reached, arguments, Memory)
    say(memory, [f"memory {memory.id} is {memory.status}, at version {memory.version}"], as_json=as_json)


def _key(file: Path) -> str:
    """The key in a file, without the space around it; no error repeats what the file holds."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise InvalidRequest(
            "--key-file cannot be read", field="key-file", hint="Name a file that holds the key alone."
        ) from None


def _lines(one: "Contradiction") -> Iterator[str]:
    decided = f", decided: {one.kept}" if one.kept is not None else ""
    yield f"{one.found_at:%Y-%m-%d %H:%M}  {one.id}  {one.effect}{decided}"
    yield _line("believed", one.believed)
    yield _line("doubted", one.doubted)


def _line(word: str, side: "Side") -> str:
    said = printable(side.content).replace("\n", " ") if side.content is not None else "(not shown)"
    return f"  {word:<8}  {side.id}  {side.status or 'gone'}  {said}"

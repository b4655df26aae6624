"""What commands say: text or one JSON object on standard output, errors and progress where they belong."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec
import typer

from tenure.core.errors import TenureError
from tenure.entrypoints.replies import problem


class Advance(Protocol):
    """Moves a bar on."""

    def __call__(self, done: int, total: int | None, shown: int | None = None) -> None:
        """So much of the total is done; ``shown`` stands beside the bar where it counts something else."""


def say(value: object, lines: Iterable[str], *, as_json: bool) -> None:
    """The answer of a command: the value as JSON, or these lines for a person."""
    if as_json:
        typer.echo(msgspec.json.encode(value, order="deterministic").decode())
    else:
        for line in lines:
            typer.echo(line)


def complain(error: TenureError, *, as_json: bool) -> None:
    """Why a command failed: the problem as JSON, or a line with its hint on standard error."""
    if as_json:
        typer.echo(msgspec.json.encode(problem(error), order="deterministic").decode())
        return
    typer.echo(f"tenure: {error.message}", err=True)
    if error.hint:
        typer.echo(f"  {error.hint}", err=True)


def note(text: str) -> None:
    """Something worth knowing beside the answer."""
    typer.echo(f"tenure: {text}", err=True)


def printable(text: str) -> str:
    """Text that moves no cursor and turns no line around: what cannot be seen is spelled out."""
    return "".join(one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text)


def columns(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as aligned lines that nothing is cut off from, so that they can be searched as well as read."""
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


@contextmanager
def progress(doing: str, *, unit: str) -> Iterator[Advance]:
    """A bar on standard error where that is a terminal, else nothing; call what it gives to move it on."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.fields[shown]:,}} {unit}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(doing, total=None, shown=0)

        def advance(done: int, total: int | None, shown: int | None = None) -> None:
            bar.update(task, completed=done, total=total, shown=done if shown is None else shown)

        yield advance


def _silent(done: int, total: int | None, shown: int | None = None) -> None:
    """Move nothing on."""

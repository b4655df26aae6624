"""`tenure demo`: the life of a memory, told step by step and checked, on a store that is thrown away."""

import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import typer

from tenure.core.errors import TenureError
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.demo_stage import Check, Stage, Step
from tenure.entrypoints.cli.output import say
from tenure.entrypoints.replies import EXIT_FAILED

WIDTH = 78


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A step as it went."""

    title: str
    story: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that was checked is so; nothing checked is nothing shown."""
        return bool(self.checks) and all(check.holds for check in self.checks)


def demo(*, as_json: options.Json = False) -> None:
    """Tell the life of a memory, step by step and checked.

    Plays on a store that is thrown away, and exits with 1 if any step does not hold.
    """
    from tenure.entrypoints.cli.demo_story import STORY

    told: list[Told] = []
    if not as_json:
        typer.echo("The life of a memory, on a store that is thrown away at the end.")
    with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
        for each in tell(STORY, Path(folder)):
            told.append(each)
            if not as_json:
                _print(len(told), each)
    holds = len(told) == len(STORY) and all(each.holds for each in told)
    checks = [check for each in told for check in each.checks]
    kept = sum(check.holds for check in checks)
    said = {"holds": holds, "steps": told, "checks": len(checks), "checks_that_hold": kept}
    end = f"{kept} of {len(checks)} checks hold in {len(told)} of {len(STORY)} steps."
    say(said, ["", end], as_json=as_json)
    if not holds:
        raise typer.Exit(EXIT_FAILED)


def tell(story: Iterable[Step], folder: Path) -> Iterator[Told]:
    """Each step with what was checked; one that breaks off ends the story, since the next build on it."""
    with Stage(folder) as stage:
        for step in story:
            checks: list[Check] = []
            try:
                checks.extend(step.act(stage))
            except Exception as fault:  # noqa: BLE001 -- whatever it is, the step does not hold
                checks.append(Check(what=f"the step broke off: {_said(fault)}", holds=False))
                yield Told(title=step.title, story=step.story, checks=tuple(checks))
                return
            yield Told(title=step.title, story=step.story, checks=tuple(checks))


def _said(fault: Exception) -> str:
    """An error's message; of anything else only its kind, since its text may quote a memory."""
    return fault.message if isinstance(fault, TenureError) else type(fault).__name__


def _print(number: int, told: Told) -> None:
    typer.echo()
    typer.echo(typer.style(f"{number:>2}  {told.title}", bold=True))
    for line in textwrap.wrap(told.story, WIDTH - 4):
        typer.echo(f"    {line}")
    for check in told.checks:
        mark = typer.style(_mark(holds=check.holds), fg="green" if check.holds else "red")
        first, *rest = textwrap.wrap(check.what, WIDTH - 6)
        typer.echo(f"    {mark} {first}")
        for line in rest:
            typer.echo(f"      {line}")


def _mark(*, holds: bool) -> str:
    """A mark that the terminal can show."""
    try:
        "✓✗".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "+" if holds else "!"
    return "✓" if holds else "✗"

"""`tenure redteam`: attacks over several sessions against a real server that is thrown away."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, progress, say
from tenure.entrypoints.replies import EXIT_FAILED

if TYPE_CHECKING:
    from tenure.entrypoints.redteam.table import Counts, Row


def redteam(
    *,
    scenario: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario", metavar="FILE", help="A scenario of your own, instead of those that ship."
        ),
    ] = None,
    only: Annotated[
        list[int] | None, typer.Option("--only", metavar="N", help="Only the scenarios of these numbers.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", metavar="FILE", help="The policy that is tried. [default: the one that ships]"
        ),
    ] = None,
    without_gate: Annotated[
        bool,
        typer.Option(
            "--without-gate", help="Let everything in and guard no tool: shows what the attacks do."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Attack a server that is thrown away, and see where each attack is stopped.

    Exits with 1 if any attack has its effect, goes unrecorded or cannot be undone, or if a benign twin fails.
    """
    from tenure.entrypoints.redteam import script, table

    scenarios = tuple(map(script.load, scenario)) if scenario else table.shipped()
    chosen = [one for one in scenarios if not only or one.number in only]
    if not chosen:
        raise InvalidRequest("there is no scenario of that number", field="only")
    rows: list[Row] = []
    with progress("attacking", unit="scenarios") as advance:
        for row in table.played(chosen, gate=not without_gate, policy=policy):
            rows.append(row)
            advance(len(rows), len(chosen))
    counts = table.counted(rows)
    say({"counts": counts, "rows": rows}, _lines(rows, counts), as_json=as_json)
    if not counts.holds:
        raise typer.Exit(EXIT_FAILED)


def _lines(rows: "list[Row]", counts: "Counts") -> list[str]:
    header = ("#", "class", "attack", "stopped at", "effect", "twin")
    table = [
        (
            str(row.number),
            row.kind,
            row.attack,
            ", ".join(row.stopped_at) or "nowhere",
            "EFFECT" if row.effect else "none",
            "FAILS" if row.twin else "passes",
        )
        for row in rows
    ]
    return [
        *columns(header, table),
        "",
        *[f"{row.number}: {said}" for row in rows for said in _faults(row)],
        _ending(counts),
    ]


def _ending(counts: "Counts") -> str:
    return (
        f"{counts.stopped} of {counts.scenarios} attacks stopped, {counts.effects} with effect; "
        f"{counts.twins_pass} of {counts.scenarios} benign twins pass; "
        f"{counts.unaudited} not in the audit, {counts.not_undone} not undone."
    )


def _faults(row: "Row") -> list[str]:
    """What is wrong with a row, each as a line."""
    named = {"EFFECT": row.effect, "not in the audit": row.unaudited, "not undone": row.not_undone}
    said = [f"{name}: {fault}" for name, fault in named.items() if fault]
    said += [f"the benign twin FAILS: {row.twin}"] if row.twin else []
    return said + [f"went otherwise: {one}" for one in row.unexpected]

"""The `tenure` command: which commands there are; each lives in the file of its word."""

from typing import Annotated

import typer

from tenure.entrypoints.cli import (
    access,
    alerts,
    asking,
    backup,
    certificates,
    checkpoints,
    configuring,
    contradictions,
    demo,
    erasing,
    evidence,
    exporting,
    forgetting,
    history,
    holding,
    importing,
    keyring,
    policies,
    redteam,
    reviewing,
    serving,
    sources,
)
from tenure.entrypoints.cli.guard import GuardedGroup
from tenure.entrypoints.replies import EXIT_FINE, EXIT_USAGE

app = typer.Typer(
    name="tenure",
    cls=GuardedGroup,
    help="Governed memory for AI agents.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)
app.command("serve")(serving.serve)
app.command("demo")(demo.demo)
app.command("redteam")(redteam.redteam)
app.add_typer(access.app, name="key")
app.add_typer(keyring.app, name="keyring")
evidence.app.command("checkpoint")(checkpoints.checkpoint)
evidence.app.command("proof")(checkpoints.proof)
evidence.app.command("key")(checkpoints.key)
app.add_typer(evidence.app, name="log")
app.add_typer(policies.app, name="policy")
app.command("rebuild")(evidence.rebuild)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.add_typer(importing.app, name="import")
app.command("export")(exporting.export)
app.command("forget")(forgetting.forget)
app.command("erase")(erasing.erase)
app.add_typer(certificates.app, name="certificate")
app.add_typer(holding.app, name="hold")
app.add_typer(sources.app, name="source")
app.add_typer(reviewing.app, name="review")
app.add_typer(contradictions.app, name="contradictions")
app.command("unmerge")(contradictions.unmerge)
app.command("alerts")(alerts.alerts)
app.command("history")(history.history)
app.command("recall")(asking.recall)
app.command("neighbours")(asking.neighbours)
app.command("config")(configuring.config)
app.command("version")(configuring.version)


@app.callback()
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Governed memory for AI agents."""
    if version:
        configuring.version()
        raise typer.Exit(EXIT_FINE)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(EXIT_USAGE)


def run() -> None:
    """The console script."""
    app()

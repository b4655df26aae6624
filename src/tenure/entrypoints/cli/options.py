"""The options that commands share, and the settings that come of them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tenure import config
from tenure.config import Loaded
from tenure.core.errors import NotFound, Unavailable

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Data folder of the store. [default: ./tenure-data]"),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="PostgreSQL database of a store with many nodes; see also TENURE_DATABASE_URL.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object on standard output.")]
Tenant = Annotated[str, typer.Option("--tenant", metavar="TENANT", help="The tenant it is for.")]
AnyTenant = Annotated[
    str | None, typer.Option("--tenant", metavar="TENANT", help="Only this tenant. [default: all]")
]
Subject = Annotated[str, typer.Option("--subject", metavar="SUBJECT", help="Whom it is about.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept sealed in the log.")]


def loaded(
    data: Path | None, database_url: str | None, *, host: str | None = None, port: int | None = None
) -> Loaded:
    """The settings in force; raises ConfigError, which lists every mistake."""
    overrides = {
        "data_dir": data,
        "database_url": database_url,
        "server.host": host,
        "server.port": port,
    }
    return config.load(environment=os.environ, overrides=overrides)


def existing(settings: config.Settings) -> config.Settings:
    """The settings, if they name a store that is there; raises NotFound, so that a slip makes no new one.

    A database is somebody's own making, so opening it says whether it is there.
    """
    if settings.database_url is not None:
        return settings
    folder = Path(settings.data_dir)
    try:
        is_there = (folder / "log.db").exists()
    except OSError as fault:
        raise Unavailable(
            f"the data folder {folder} cannot be looked into ({fault.strerror})",
            hint="Run the command as the user that the store belongs to.",
        ) from None
    if not is_there:
        raise NotFound(
            f"there is no store in {folder}",
            hint="Name its folder with --data or TENURE_DATA_DIR; 'tenure serve' makes a new one.",
        )
    return settings

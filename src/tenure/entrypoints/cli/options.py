"""The options that commands share, and the settings that come of them."""

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from tenure import config
from tenure.config import Loaded
from tenure.core.errors import InvalidRequest, NotFound, ScopeNotNamed, Unavailable
from tenure.core.identity import Scope, Tier

W = TypeVar("W", bound=StrEnum)

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
InSession = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="The session around a task's scope. [default: any]"),
]
OfUser = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="The user around the scope. [default: any]")
]
TIME_FORMATS: Final = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M", "%Y-%m-%d"]
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


def scope_of(text: str | None, session: str | None, user: str | None) -> Scope | None:
    """A scope as it is spelled on the command line."""
    if text is None:
        if session is not None or user is not None:
            raise ScopeNotNamed("--session and --user go with --scope only", hint="Say --scope TIER:ID.")
        return None
    tier, colon, name = text.partition(":")
    if not colon or tier not in list(Tier):
        raise InvalidRequest(
            "--scope must be a tier, a colon and an id", field="scope", hint=f"Tiers: {', '.join(Tier)}."
        )
    return Scope(tier=Tier(tier), id=name, session=session, user=user)


def in_utc(time: datetime | None) -> datetime | None:
    """A time of the command line: in UTC unless it says otherwise."""
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def word(known: type[W], value: str, option: str) -> W:
    """One of the words that an option takes; raises InvalidRequest that names them."""
    try:
        return known(value)
    except ValueError:
        words = ", ".join(member.value for member in known)
        raise InvalidRequest(f"--{option} is unknown", field=option, hint=f"Known: {words}.") from None

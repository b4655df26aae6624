"""`tenure key`: callers' credentials, made, listed and ended (SPEC A1-A5)."""

from typing import Annotated
from uuid import UUID

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import columns, say

app = typer.Typer(help="Callers' credentials.", rich_markup_mode=None)

Roles = Annotated[
    list[str],
    typer.Option("--role", metavar="ROLE", help="What it may do: writer, reader, reviewer, …; repeatable."),
]
Agents = Annotated[
    list[str] | None, typer.Option("--agent", metavar="AGENT", help="Only as these agents; repeatable.")
]
Purposes = Annotated[
    list[str] | None, typer.Option("--purpose", metavar="PURPOSE", help="Only for these; repeatable.")
]
Subjects = Annotated[
    list[str] | None, typer.Option("--subject", metavar="SUBJECT", help="Only about these; repeatable.")
]
SourceTypes = Annotated[
    list[str] | None,
    typer.Option("--source-type", metavar="TYPE", help="Sources it may attest: direct_user, …; repeatable."),
]
ModelDriven = Annotated[bool, typer.Option("--model-driven", help="A model steers it: it can never review.")]


@app.command("create")
def create(
    *,
    tenant: options.Tenant,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What to call it in the audit.")],
    roles: Roles,
    agents: Agents = None,
    purposes: Purposes = None,
    subjects: Subjects = None,
    source_types: SourceTypes = None,
    model_driven: ModelDriven = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Make a credential. The token is shown this once and kept nowhere."""
    from tenure.entrypoints.control.operations import CreatedKey, CreateKeyArguments
    from tenure.entrypoints.control.reaching import answer, reach

    arguments = CreateKeyArguments(
        tenant=tenant,
        name=name,
        roles=roles,
        agents=agents or [],
        purposes=purposes or [],
        subjects=subjects or [],
        source_types=source_types or [],
        model_driven=model_driven,
    )
    # Before the store is opened, so that a slip makes no new one.
    arguments.grants()
    with reach(options.loaded(data, database_url).settings) as reached:
        created = answer(reached, arguments, CreatedKey)
    lines = [f"key    {created.id}", f"token  {created.token}", "The token is shown this once: keep it now."]
    say(created, lines, as_json=as_json)


@app.command("list")
def list_(
    *,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """List credentials, the revoked ones included, without their tokens."""
    from tenure.core.access import Key
    from tenure.entrypoints.control.operations import ListKeysArguments
    from tenure.entrypoints.control.reaching import items, reach

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        keys = list(items(reached, ListKeysArguments(tenant=tenant), Key))
    rows = [
        (
            str(key.id),
            key.tenant,
            key.name,
            ",".join(sorted(key.grants.roles)),
            f"{key.created_at:%Y-%m-%d %H:%M}",
            f"revoked {key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else "holds",
        )
        for key in keys
    ]
    header = ("id", "tenant", "name", "roles", "created", "state")
    say({"items": keys}, columns(header, rows) if rows else ["There are no keys."], as_json=as_json)


@app.command("revoke")
def revoke(
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="The key's id, from 'tenure key list'.")],
    *,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="TENANT", help="Its tenant. [default: whichever has it]")
    ] = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """End a credential: it opens nothing from the next request on."""
    from tenure.core.access import Key
    from tenure.entrypoints.control.operations import RevokeKeyArguments
    from tenure.entrypoints.control.reaching import answer, reach

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        key = answer(reached, RevokeKeyArguments(key_id=key_id, tenant=tenant), Key)
    say(key, [f"key {key.id} ({key.name}) holds no longer"], as_json=as_json)

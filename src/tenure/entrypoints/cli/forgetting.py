"""`tenure forget`: a subject, a memory or a key out of every read (SPEC F1-F5). It does not erase."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import say

if TYPE_CHECKING:
    # Only named here: loading them is for the command that forgets.
    from tenure.core.forgetting import ForgetKey, Forgotten
    from tenure.entrypoints.control.arguments import Arguments
    from tenure.usecases.forgetting import ForgetMemory, ForgetSubject

OneSubject = Annotated[
    str | None,
    typer.Option("--subject", metavar="SUBJECT", help="Everything about them; with --key, whose key it is."),
]
MemoryId = Annotated[UUID | None, typer.Option("--memory-id", metavar="ID", help="This memory.")]
ExpectedVersion = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="N", help="The memory's version, as you looked at it."),
]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="What is known under this key.")]
AtScope = Annotated[
    str | None,
    typer.Option(
        "--scope", metavar="TIER:ID", help="At this scope and outward: task:ID, session:ID, user:ID."
    ),
]
Agent = Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="Whose agent's key it is.")]
Purpose = Annotated[str | None, typer.Option("--purpose", metavar="PURPOSE", help="The key's purpose.")]
LeafOnly = Annotated[
    bool,
    typer.Option("--leaf-only", help="At the scope alone: not for good, and the answer says until when."),
]


def forget(
    *,
    tenant: options.Tenant,
    subject: OneSubject = None,
    memory_id: MemoryId = None,
    expected_version: ExpectedVersion = None,
    key: Key = None,
    scope: AtScope = None,
    session: options.InSession = None,
    user: options.OfUser = None,
    agent: Agent = None,
    purpose: Purpose = None,
    leaf_only: LeafOnly = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Put a subject, one memory, or a key at a scope out of every read, at once.

    This does not erase: see 'tenure erase'.
    """
    from tenure.core.forgetting import Forgotten
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.access import local_operator
    from tenure.usecases.forget_selection import Wanted

    wanted = Wanted(
        subject=subject,
        memory_id=memory_id,
        expected_version=expected_version,
        key=key,
        scope=options.scope_of(scope, session, user),
        agent=agent,
        purpose=purpose,
        leaf_only=leaf_only,
    )
    if key is not None:
        _needs(agent=agent, purpose=purpose, subject=subject)
    arguments = _arguments(tenant, wanted.chosen(local_operator(tenant)))
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        forgotten = answer(reached, arguments, Forgotten)
    say(forgotten, _lines(forgotten), as_json=as_json)


def _needs(**sides: str | None) -> None:
    """Raise InvalidRequest for a side that is missing: nobody's grants stand in for it here."""
    for side, value in sides.items():
        if value is None:
            raise InvalidRequest(
                f"--{side} is missing", field=side, hint=f"Say whose key it is with --{side}."
            )


def _arguments(tenant: str, command: "ForgetSubject | ForgetMemory | ForgetKey") -> "Arguments":
    from tenure.core.forgetting import ForgetKey
    from tenure.entrypoints.control.subjects import (
        ForgetKeyArguments,
        ForgetMemoryArguments,
        ForgetSubjectArguments,
    )
    from tenure.usecases.forgetting import ForgetMemory, ForgetSubject

    match command:
        case ForgetSubject():
            return ForgetSubjectArguments(tenant=tenant, forget=command)
        case ForgetMemory():
            return ForgetMemoryArguments(tenant=tenant, forget=command)
        case ForgetKey():
            return ForgetKeyArguments(tenant=tenant, forget=command)


def _lines(forgotten: "Forgotten") -> Iterator[str]:
    if forgotten.status == "already_forgotten":
        yield f"was forgotten before; anchored at {forgotten.anchored_at}"
    else:
        memories = "memory" if forgotten.forgotten == 1 else "memories"
        yield f"{forgotten.forgotten:,} {memories} forgotten; anchored at {forgotten.anchored_at}"
    if not forgotten.durable:
        yield "NOT DURABLE: it can come back from an outer scope"
    for shadowed in forgotten.shadowed:
        yield f"still held in {shadowed.scope} until {shadowed.holds_until:%Y-%m-%d %H:%M} UTC"
    if forgotten.probe_at is not None:
        yield f"probed at {forgotten.probe_at:%Y-%m-%d %H:%M} UTC"
    if forgotten.forget_id is not None:
        yield f"forget id {forgotten.forget_id}"

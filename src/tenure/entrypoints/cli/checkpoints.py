"""`tenure log checkpoint`, `log proof` and `log key`: what an outsider checks the log with (SPEC E2)."""

from typing import Annotated
from uuid import UUID

import msgspec
import typer

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.files import STANDARD_OUTPUT, destination
from tenure.entrypoints.cli.output import note, say

Out = Annotated[
    str, typer.Option("--out", metavar="FILE", help="Write it to this file. [default: standard output]")
]
Size = Annotated[
    int | None,
    typer.Option("--size", metavar="SIZE", help="Of the checkpoint of this size. [default: a new one]"),
]


def checkpoint(
    *,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="TENANT", help="Whose log. [default: the only one there is]"),
    ] = None,
    size: Size = None,
    out: Out = STANDARD_OUTPUT,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Sign how long a log is and what its root is.

    Keep the note where nobody who may change the store can change it; later, 'tenure log verify' and
    examples/verify_checkpoint.py hold the log against it.
    """
    from tenure.entrypoints.control.checkpoints import CheckpointArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.checkpoints import SignedCheckpoint

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        made = answer(reached, CheckpointArguments(tenant=tenant, size=size), SignedCheckpoint)
    if out != STANDARD_OUTPUT:
        with destination(out) as target:
            target.write(made.note.encode())
    if as_json:
        say(made, [], as_json=True)
    elif out == STANDARD_OUTPUT:
        typer.echo(made.note, nl=False)
    else:
        note(f"{made.size:,} events of {made.origin} are signed in {out}")


def proof(
    *,
    tenant: options.Tenant,
    seq: Annotated[
        int | None, typer.Option("--seq", metavar="N", help="Prove that the event at this position is there.")
    ] = None,
    memory: Annotated[
        UUID | None, typer.Option("--memory", metavar="ID", help="Prove every event of this memory.")
    ] = None,
    from_size: Annotated[
        int | None,
        typer.Option("--from", metavar="SIZE", help="Prove that the log grew from this checkpoint."),
    ] = None,
    size: Size = None,
    out: Out = STANDARD_OUTPUT,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Prove something of a log against its signed checkpoint.

    The proof is one JSON object, with or without --json; docs/log-format.md says how to check it.
    """
    from tenure.entrypoints.control.checkpoints import ProofArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.proofs import ReadProof

    if sum(one is not None for one in (seq, memory, from_size)) != 1:
        raise InvalidRequest(
            "a proof is of exactly one thing", field="seq", hint="Give one of --seq, --memory and --from."
        )
    settings = options.existing(options.loaded(data, database_url).settings)
    wanted = ReadProof(seq=seq, memory_id=memory, from_size=from_size, size=size)
    with reach(settings) as reached:
        found = answer(reached, ProofArguments(tenant=tenant, proof=wanted), msgspec.Raw)
    with destination(out) as target:
        target.write(bytes(found) + b"\n")
    if out != STANDARD_OUTPUT:
        say({"file": out}, [f"the proof is in {out}"], as_json=as_json)


def key(
    *,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Print what checkpoints are checked with: one key, under the name of each tenant's log.

    Publish it where those who check will find it, and not only in this store.
    """
    from tenure.entrypoints.control.checkpoints import VerifierKey, VerifierKeysArguments
    from tenure.entrypoints.control.reaching import items, reach

    settings = options.existing(options.loaded(data, database_url).settings)
    with reach(settings) as reached:
        keys = list(items(reached, VerifierKeysArguments(tenant=tenant), VerifierKey))
    say({"items": keys}, [one.key for one in keys] or ["The log is empty."], as_json=as_json)

"""`tenure keyring`: what becomes of the key that wraps all others (docs/keys.md)."""

from typing import Annotated

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import say

app = typer.Typer(help="The keys of the store.", rich_markup_mode=None)


@app.callback()
def keyring() -> None:
    """The keys of the store."""


@app.command("rotate")
def rotate(
    *,
    to_kms: Annotated[
        str | None,
        typer.Option(
            "--to-kms", metavar="KEY", help="Wrap by this key in AWS KMS: its id, ARN or alias/NAME."
        ),
    ] = None,
    to_file: Annotated[
        bool, typer.Option("--to-file", help="Wrap by a root key in a file, leaving AWS KMS or keys.kek.")
    ] = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Wrap the keys of all tenants anew and destroy the old root key; no content is touched.

    The server must be stopped: every node, where there are many.
    """
    from tenure.wiring import rotate_root_key

    settings = options.existing(options.loaded(data, database_url).settings)
    rotated = rotate_root_key(settings, to_kms=to_kms, to_file=to_file)
    said = [f"{rotated.keys:,} keys of tenants are now wrapped by {rotated.wrapped_by}"]
    if to_kms is not None:
        said.append(
            "Set keys.kms_aws_key_id to it before the next start; leave keys.kek and keys.kek_file out."
        )
    elif to_file:
        said.append("Leave keys.kms_aws_key_id and keys.kek out before the next start.")
    say(rotated._asdict(), said, as_json=as_json)

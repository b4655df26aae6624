"""`tenure backup` and `tenure restore`: the log leaves the store whole, and comes back whole (SPEC F11)."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tenure.config import Settings
from tenure.core.errors import Unavailable
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import note, progress, say

_PROGRESS_EVERY = 1_000


def backup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make; it must not be there yet.")],
    *,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Copy the log and what retries are answered with, then read the copy back and check it.

    Contents stay sealed in it, and it holds no key: keep a copy of the keyring elsewhere. A server may run
    meanwhile.
    """
    from tenure.entrypoints.cli.backup_files import new_backup
    from tenure.entrypoints.control.operations import BackedUp, BackupArguments
    from tenure.entrypoints.control.reaching import reach
    from tenure.usecases.backup import check

    settings = options.existing(options.loaded(data, database_url).settings)
    with (
        new_backup(folder) as writing,
        reach(settings) as reached,
        progress("backing up", unit="events") as advance,
    ):
        done, total, made = 0, None, None
        for line in reached.lines(BackupArguments()):
            if line.progress is not None:
                total = line.progress.total
            elif isinstance(line.item, msgspec.Raw):
                writing.put(line.item)
                done += 1
                if done % _PROGRESS_EVERY == 0:
                    advance(done, total)
            elif isinstance(line.result, msgspec.Raw):
                made = msgspec.json.decode(line.result, type=BackedUp)
        if made is None:
            raise AssertionError("an answer ends with its result")
        copy = writing.finish(made.made_at)
        check(copy, hint="No backup was made. See 'tenure log verify', and keep the backups that you have.")
    manifest = copy.manifest
    events = sum(part.events for part in manifest.tenants)
    said = {
        "dir": str(folder),
        "made_at": manifest.made_at,
        "events": events,
        "answers": sum(part.answers for part in manifest.tenants),
        "tenants": len(manifest.tenants),
    }
    counted = f"{events:,} events of {len(manifest.tenants)} tenants in {folder}; every chain holds"
    say(
        said,
        [counted, "No key is in it: keep a copy of the keyring and the root key elsewhere."],
        as_json=as_json,
    )


def restore(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'tenure backup' made.")],
    *,
    forgets: Annotated[
        list[Path] | None,
        typer.Option(
            "--forgets",
            metavar="FILE|DIR",
            help="A later export or backup to take later forgets from; may be given again.",
        ),
    ] = None,
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Restore even where no content can be opened.")
    ] = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Put a backup into an empty store, and forget again whoever was forgotten since.

    Needs the keyring and the root key of the store that the backup is of, and no server on the store.
    """
    from tenure.entrypoints.cli.backup_files import BackupFolder, later_log, lines_of
    from tenure.usecases.backup import forgets_in
    from tenure.usecases.backup import restore as restore_store
    from tenure.wiring import open_node

    settings = options.loaded(data, database_url).settings
    copy = BackupFolder(folder)
    later = [forgets_in(lines_of(later_log(path)), str(path)) for path in forgets or ()]
    _refuse_beside_a_server(settings)
    with open_node(settings) as node, progress("restoring", unit="events"):
        restored = restore_store(node.pipeline, copy, later, without_keys=without_keys)
    made_at = copy.manifest.made_at.strftime("%Y-%m-%d %H:%M UTC")
    said = [
        f"{restored.events:,} events of {restored.tenants} tenants restored, as of {made_at}",
        f"{restored.forgets} subjects forgotten again that were forgotten since",
    ]
    say(restored, said, as_json=as_json)
    if restored.unopened:
        note(
            f"{restored.unopened:,} of {restored.sealed:,} contents cannot be opened: their keys are not here"
        )


def _refuse_beside_a_server(settings: Settings) -> None:
    from tenure.entrypoints.control.client import connect

    if settings.database_url is not None:
        return
    connection = connect(Path(settings.data_dir))
    if connection is not None:
        connection.close()
        raise Unavailable(
            f"a server runs on {settings.data_dir}", hint="Stop it, restore, then start it again."
        )

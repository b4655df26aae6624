"""`tenure log verify` and `tenure log import`: is the log what was written, and in with it (SPEC E2, E4)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.files import contents
from tenure.entrypoints.cli.output import note, progress, say
from tenure.entrypoints.replies import EXIT_FAILED

if TYPE_CHECKING:
    from tenure.config import Settings
    from tenure.usecases.evidence import Verified
    from tenure.usecases.known_roots import GivenNote

NOTE_BYTES_MAX: Final = 65_536
NOTES_BYTES_MAX: Final = 8 * 1_048_576
"""As much as goes to a running server in one line, and room to spare."""
NOTE_PATTERN: Final = "*.note"

Checkpoints = Annotated[
    list[Path] | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE|DIR",
        help="A signed checkpoint to compare with, or a folder of them; may be given again.",
    ),
]


def verify(
    *,
    checkpoint: Checkpoints = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="EXPORT", help="Check this export instead; no store is needed."),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="With --file: a key that checkpoints are signed with, as 'tenure log key' shows it.",
        ),
    ] = None,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Check that the log is what was written.

    Walks each tenant's chain from its first event to its head, compares every checkpoint that is kept or
    given, and names the first bad event and what was done there.
    """
    given = given_notes(checkpoint or ())
    if file is not None:
        found = _in_file(file, given, key or (), tenant)
    else:
        if key:
            raise InvalidRequest("--key goes with --file: a store knows its own key", field="key")
        settings = options.existing(options.loaded(data, database_url).settings)
        found = _in_store(settings, given, tenant)
    holds = all(each.holds for each in found)
    say(
        {"holds": holds, "events": sum(each.events for each in found), "tenants": found},
        [_line(each) for each in found] or ["The log is empty."],
        as_json=as_json,
    )
    if not holds:
        raise typer.Exit(EXIT_FAILED)


def import_log(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that 'tenure log export' wrote.")],
    *,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="TENANT", help="Refuse any other tenant."),
    ] = None,
    checkpoint: Checkpoints = None,
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Import even where no content can be opened.")
    ] = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Put an exported log into a store that has none of its tenants, whole or not at all.

    Verifies it first. Contents can be read where the keyring of the store that it is from is here.
    """
    from tenure.entrypoints.control.log_evidence import ImportLogArguments
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.usecases.log_importing import LogImported

    arguments = ImportLogArguments(
        path=str(file.absolute()),
        tenant=tenant,
        checkpoints=given_notes(checkpoint or ()),
        without_keys=without_keys,
    )
    if not file.is_file():
        raise InvalidRequest(f"there is no file {file}", field="file", hint="Name a file that exists.")
    settings = options.loaded(data, database_url).settings
    with reach(settings) as reached, progress("importing", unit="events"):
        imported = answer(reached, arguments, LogImported)
    said = [f"{imported.events:,} events of {imported.tenants} tenants imported"]
    if imported.forgets:
        said.append(f"{imported.forgets} forgets carried out again that were made since")
    say(imported, said, as_json=as_json)
    if imported.unopened:
        note(
            f"{imported.unopened:,} of {imported.sealed:,} contents cannot be opened: their keys are not here"
        )


def given_notes(paths: Sequence[Path]) -> "list[GivenNote]":
    """The notes in these files and folders; raises InvalidRequest for what is none, or for too much."""
    from tenure.usecases.known_roots import GivenNote

    notes: list[GivenNote] = []
    size_bytes = 0
    for path in _note_files(paths):
        text = contents(path, size_bytes_max=NOTE_BYTES_MAX)
        size_bytes += len(text)
        if size_bytes > NOTES_BYTES_MAX:
            raise InvalidRequest(
                f"the checkpoints have more than {NOTES_BYTES_MAX:,} bytes together",
                field="checkpoint",
                hint="Compare fewer at once, such as the folder of one tenant.",
            )
        try:
            notes.append(GivenNote(name=str(path), note=text.decode()))
        except UnicodeDecodeError:
            raise InvalidRequest(f"{path} is no checkpoint: it is not UTF-8", field="checkpoint") from None
    return notes


def _note_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(NOTE_PATTERN))
        if not found:
            raise InvalidRequest(
                f"there is no checkpoint in {path}",
                field="checkpoint",
                hint=f"Name a folder with files called {NOTE_PATTERN}, or a file.",
            )
        yield from found


def _in_store(settings: "Settings", given: "list[GivenNote]", tenant: str | None) -> "list[Verified]":
    from tenure.entrypoints.control.log_evidence import VerifyLogArguments
    from tenure.entrypoints.control.reaching import items, reach
    from tenure.usecases.evidence import Verified

    with reach(settings) as reached:
        return list(items(reached, VerifyLogArguments(tenant=tenant, checkpoints=given), Verified))


def _in_file(
    file: Path, given: "list[GivenNote]", keys: Sequence[str], tenant: str | None
) -> "list[Verified]":
    from tenure.entrypoints.cli.signatures import is_signed
    from tenure.entrypoints.control.log_evidence import file_lines
    from tenure.usecases.known_roots import roots_by_keys
    from tenure.usecases.log_files import tenants_of, verify_file

    def lines() -> Iterator[bytes]:
        return file_lines(file)

    if not given:
        return verify_file(lines, tenant=tenant)
    here = tenants_of(lines(), only=tenant)
    return verify_file(lines, tenant=tenant, roots=roots_by_keys(given, keys, here, is_signed=is_signed))


def _line(each: "Verified") -> str:
    """What was found of a tenant's log, for a person."""
    if each.holds:
        agree = "checkpoint agrees" if each.checkpoints == 1 else "checkpoints agree"
        compared = f", and {each.checkpoints:,} {agree}" if each.checkpoints else ""
        return f"{each.tenant}: {each.events:,} events, the chain holds{compared}"
    where = f"BROKEN at event {each.first_bad_seq:,}" if each.first_bad_seq else "BROKEN"
    return f"{each.tenant}: {where}: {each.damage}: {each.because}"

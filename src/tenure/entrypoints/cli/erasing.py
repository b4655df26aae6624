"""`tenure erase`: a subject gone for good, and the certificate that says so (SPEC F7, F8)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tenure.core.errors import TenureError, Unavailable
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.files import check_writable, contents, destination, safe_name
from tenure.entrypoints.cli.output import note, say
from tenure.entrypoints.replies import EXIT_FAILED

if TYPE_CHECKING:
    # Only named here: loading it is for the command that erases.
    from tenure.core.erasure import Certificate

CERTIFICATE_BYTES_MAX = 64 * 1_048_576


def erase(
    *,
    tenant: options.Tenant,
    subject: options.Subject,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where to write the certificate. [default: ./erasure-SUBJECT.json; none with --json]",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal whether it is meant.")] = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Destroy everything held about a subject, for good.

    Gives a certificate that anybody can check with 'tenure certificate verify'. Again, it gives the same one.
    """
    from tenure.core.erasure import Certificate
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.subjects import EraseArguments

    settings = options.existing(options.loaded(data, database_url).settings)
    file = out if out is not None or as_json else f"erasure-{safe_name(subject)}.json"
    if file is not None:
        # Afterwards would be too late to find that there is no place for the certificate.
        check_writable(file)
    if not yes and not _is_meant(tenant, subject):
        note("nothing was erased")
        raise typer.Exit(EXIT_FAILED)
    with reach(settings) as reached:
        certificate = answer(reached, EraseArguments(tenant=tenant, subject=subject), Certificate)
    if file is not None:
        file = _written(certificate, file, is_chosen=out is not None)
    say(certificate, _lines(certificate, file), as_json=as_json)


def _is_meant(tenant: str, subject: str) -> bool:
    """What the person at the terminal says; without a terminal the command itself is the word."""
    if not on_a_terminal():
        return True
    asked = f"Erase everything held about {subject!r} of tenant {tenant!r}? This cannot be undone."
    typer.echo(f"{asked} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def on_a_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


def _written(certificate: "Certificate", file: str, *, is_chosen: bool) -> str:
    """Write the certificate and give the file's name; one of another erasure is not replaced by chance."""
    text = msgspec.json.encode(certificate, order="sorted") + b"\n"
    path = Path(file)
    if not is_chosen and path.exists() and not _holds(path, text):
        file = f"{path.stem}-{certificate.statement.certificate_id}{path.suffix}"
    try:
        with destination(file) as target:
            target.write(text)
    except Unavailable as error:
        raise Unavailable(
            f"the subject is erased, but {error.message}",
            hint="Give the same command with another --out: it gives the same certificate.",
        ) from None
    return file


def _holds(path: Path, text: bytes) -> bool:
    try:
        return contents(path, size_bytes_max=CERTIFICATE_BYTES_MAX) == text
    except TenureError:
        return False


def _lines(certificate: "Certificate", file: str | None) -> list[str]:
    statement = certificate.statement
    done = (
        f"{statement.memories_erased:,} memories, {len(statement.keys_destroyed):,} keys destroyed, "
        f"{len(statement.checks):,} checks hold"
    )
    return [
        f"{statement.subject} of {statement.tenant} is erased: {done}",
        f"certificate  {file}",
        f"final after  {statement.final_after:%Y-%m-%d %H:%M} UTC, once no older copy of the keyring is left",
    ]

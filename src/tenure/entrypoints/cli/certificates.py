"""`tenure certificate`: whether a certificate of erasure says what was signed, and by whom (SPEC F8)."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.erasing import CERTIFICATE_BYTES_MAX
from tenure.entrypoints.cli.files import contents
from tenure.entrypoints.cli.output import say
from tenure.entrypoints.replies import EXIT_FAILED

if TYPE_CHECKING:
    # Only named here: loading them is for the command that runs.
    from tenure.config import Settings
    from tenure.entrypoints.control.subjects import PublicKey
    from tenure.usecases.certificates import Verified

app = typer.Typer(help="Certificates of erasure.", rich_markup_mode=None)

KEY_FILE_BYTES_MAX = 4_096
NO_STORE = "no --public-key was given and there is no store here to compare with"


class KeyFound(msgspec.Struct, frozen=True, kw_only=True):
    """A key to compare with and where it came from, or why there is none."""

    key: bytes | None
    where: str


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The certificate.")],
    *,
    public_key: Annotated[
        str | None,
        typer.Option(
            "--public-key",
            metavar="HEX|FILE",
            help="The installation's key, or a file that holds it. [default: the key of the store, if any]",
        ),
    ] = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Check a certificate, offline and without a store.

    Exits with 1 unless every byte of it is as it was signed, by the key to compare with where there is one.
    """
    from tenure.entrypoints.cli.signatures import is_signed
    from tenure.usecases import certificates

    text = contents(file, size_bytes_max=CERTIFICATE_BYTES_MAX)
    if public_key is not None:
        found = KeyFound(key=_given(public_key), where="--public-key")
    else:
        found = _of_a_store(data, database_url)
    verified = certificates.verify(text, found.key, is_signed=is_signed)
    if isinstance(verified, certificates.Why):
        said = {"holds": False, "because": verified.because}
        say(said, [f"{file}: DOES NOT HOLD: {verified.because}"], as_json=as_json)
        raise typer.Exit(EXIT_FAILED)
    statement = verified.certificate.statement
    holds = {
        "holds": True,
        "fingerprint": verified.fingerprint,
        "key_checked": verified.key_checked,
        "compared_with": found.where if verified.key_checked else None,
        "statement": statement,
    }
    say(holds, _lines(file, verified, found), as_json=as_json)


@app.command("public-key")
def public_key(
    *, data: options.Data = None, database_url: options.DatabaseUrl = None, as_json: options.Json = False
) -> None:
    """Print the key that this installation's certificates are checked with.

    Publish it where those who get a certificate will find it.
    """
    key = _key_of(options.existing(options.loaded(data, database_url).settings))
    say(key, [key.public_key], as_json=as_json)


def _given(text: str) -> bytes:
    """The key in the option's words, or in the file that it names."""
    from tenure.usecases.certificates import read_key

    key = read_key(text)
    if key is None:
        with suppress(InvalidRequest):
            written = contents(Path(text), size_bytes_max=KEY_FILE_BYTES_MAX)
            key = read_key(written.decode("ascii", "replace"))
    if key is None:
        raise InvalidRequest(
            "--public-key is neither a key nor a file that holds one",
            field="public_key",
            hint="A key has 64 hexadecimal digits: see 'tenure certificate public-key'.",
        )
    return key


def _of_a_store(data: Path | None, database_url: str | None) -> KeyFound:
    """The key of the store that is named, which must be there, or of the one that happens to be."""
    is_named = data is not None or database_url is not None
    settings = options.loaded(data, database_url).settings
    try:
        key = _key_of(options.existing(settings))
    except NotFound:
        if is_named:
            raise
        return KeyFound(key=None, where=NO_STORE)
    except Unavailable as error:
        if is_named:
            raise
        return KeyFound(key=None, where=f"no --public-key was given, and {error.message}")
    return KeyFound(key=bytes.fromhex(key.public_key), where=_place(settings))


def _place(settings: "Settings") -> str:
    return "the store in the database" if settings.database_url else f"the store in {settings.data_dir}"


def _key_of(settings: "Settings") -> "PublicKey":
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.subjects import PublicKey, PublicKeyArguments

    with reach(settings) as reached:
        return answer(reached, PublicKeyArguments(), PublicKey)


def _lines(file: Path, verified: "Verified", found: KeyFound) -> list[str]:
    statement = verified.certificate.statement
    key = f"it is the key of {found.where}" if verified.key_checked else f"NOT CHECKED: {found.where}"
    if verified.key_checked and found.where == "--public-key":
        key = "it is the key given"
    return [
        f"{file}: the signature holds",
        f"subject      {statement.subject} of tenant {statement.tenant}",
        f"erased       {statement.completed_at:%Y-%m-%d %H:%M:%S} UTC",
        f"requested by {statement.requested_by}",
        f"memories     {statement.memories_erased:,}",
        f"keys         {len(statement.keys_destroyed):,} destroyed",
        *(
            f"check        {'holds' if check.passed else 'FAILED'}: {check.name} ({check.detail})"
            for check in statement.checks
        ),
        f"final after  {statement.final_after:%Y-%m-%d %H:%M:%S} UTC",
        f"signed by    {verified.fingerprint}",
        f"that key     {key}",
    ]

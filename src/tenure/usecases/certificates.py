"""Checking a certificate of erasure offline, from its file alone (SPEC F8).

    1 read       one JSON object in UTF-8, and no member of it twice
    2 spell      written again it says the same: no member that no certificate has, no value in other words
    3 key        the key that it names is the one that was asked for, where one was
    4 signature  Ed25519 (RFC 8032) over the statement alone: members sorted by name, no spaces, UTF-8

Step 2 is what keeps text from being smuggled in beside what was signed. Spaces between members, and their
order in the file, mean nothing. Anybody can check the signature with common tools instead:

    jq -cjS .statement FILE >statement
    jq -j .signature FILE | xxd -r -p >signature
    (printf 302a300506032b6570032100; jq -j .public_key FILE) | xxd -r -p >key.der
    openssl pkeyutl -verify -rawin -in statement -sigfile signature -pubin -keyform DER -inkey key.der

Law: a certificate proves no more than that its key signed it. Whose key that is, the reader must know from
the installation itself, and compare.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from tenure.core import erasure
from tenure.core.erasure import Certificate

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

SignatureCheck = Callable[[bytes, bytes, bytes], bool]
"""Whether this public key made this signature over this message."""

NOT_JSON: Final = "it is not one JSON object: it is cut short, altered, or another kind of file"
ALTERED: Final = "the signature does not fit: it was altered after it was signed"
FOREIGN_KEY: Final = "it is from another installation: another key signed it than the one to compare with"


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate that says what its key signed; ``key_checked`` says whether that key was compared."""

    certificate: Certificate
    fingerprint: str
    key_checked: bool


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why a file is no certificate to rely on."""

    because: str


class _Unreadable(ValueError):
    """What stands in the file is no certificate."""


def verify(text: bytes, public_key: bytes | None, *, is_signed: SignatureCheck) -> Verified | Why:
    """Whether these bytes are a certificate as it was signed; never raises, whatever the bytes are.

    Without a ``public_key`` to compare with, anybody may have signed it: ``key_checked`` is then False.
    """
    try:
        certificate = _read(text)
        key = _from_hex(certificate.public_key, KEY_BYTES, "public key")
        signature = _from_hex(certificate.signature, SIGNATURE_BYTES, "signature")
    except _Unreadable as found:
        return Why(because=str(found))
    if not is_signed(key, signature, erasure.signed_bytes(certificate.statement)):
        return Why(because=ALTERED)
    if public_key is not None and key != public_key:
        return Why(because=FOREIGN_KEY)
    return Verified(certificate=certificate, fingerprint=fingerprint(key), key_checked=public_key is not None)


def fingerprint(public_key: bytes) -> str:
    """A key in short, to be read out and compared: SHA-256 of its 32 bytes."""
    return f"sha256:{hashlib.sha256(public_key).hexdigest()}"


def read_key(text: str) -> bytes | None:
    """The public key that a text gives in hexadecimal, with or without spaces around; None if it is none."""
    try:
        return _from_hex(text.strip().lower(), KEY_BYTES, "public key")
    except _Unreadable:
        return None


def _read(text: bytes) -> Certificate:
    try:
        found = json.loads(
            text.decode("utf-8"), object_pairs_hook=_no_member_twice, parse_constant=_no_constant
        )
        spelled = msgspec.json.encode(found, order="sorted")
    except _Unreadable:
        raise
    except (ValueError, RecursionError, OverflowError):
        raise _Unreadable(NOT_JSON) from None
    _known_format(found)
    try:
        certificate = erasure.decoded(spelled)
    except (msgspec.DecodeError, RecursionError):
        raise _Unreadable("it has not the members of a certificate, or they are of another type") from None
    if msgspec.json.encode(certificate, order="sorted") != spelled:
        raise _Unreadable("it has members, or ways of writing a value, that no certificate has")
    return certificate


def _known_format(found: object) -> None:
    statement = found.get("statement") if isinstance(found, dict) else None
    if not isinstance(statement, dict):
        raise _Unreadable("it is no certificate of erasure: it has no statement")
    if statement.get("format") != erasure.FORMAT:
        raise _Unreadable(f"its format is unknown here; this version reads {erasure.FORMAT}")


def _no_member_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unreadable("it has a member twice, so it could mean two things")
    return members


def _no_constant(_word: str) -> None:
    raise _Unreadable(NOT_JSON)


def _from_hex(text: str, size_bytes: int, what: str) -> bytes:
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != size_bytes or raw.hex() != text:
        raise _Unreadable(f"its {what} is not {size_bytes} bytes in lower-case hexadecimal")
    return raw

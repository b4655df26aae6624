"""Checkpoints: how long a log is and what its root is, signed (SPEC E2); pure.

The text is a C2SP tlog-checkpoint, the whole a C2SP signed note, signed with Ed25519:

    ORIGIN
    SIZE, in decimal
    ROOT, in base64
                                    (an empty line)
    — ORIGIN BASE64(key id, 4 bytes, and signature, 64 bytes)

Every line ends in a newline. What is signed is the text before the empty line. The key's name is the origin,
so the same key signs the logs of two tenants under two names. A note may carry signatures of others as well,
such as witnesses; those of unknown keys are passed over.

Law: nothing of a note may be believed before a signature of a key known beforehand was found to hold.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import msgspec

ED25519: Final = b"\x01"
KEY_BYTES: Final = 32
KEY_ID_BYTES: Final = 4
ROOT_BYTES: Final = 32
NOTE_CHARACTERS_MAX: Final = 65_536
SIGNATURES_MAX: Final = 64
SIZE_MAX: Final = 2**63 - 1

_MARK: Final = "\u2014 "
_NAME: Final = re.compile(r"[^\s+\x00-\x1f\x7f]+")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_TEXT_LINES_MIN: Final = 3

SignatureCheck = Callable[[bytes, bytes, bytes], bool]
"""Whether this public key made this signature over this message."""


class BadNote(ValueError):
    """A text is no checkpoint, or not one that the key to compare with signed; says what is wrong."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkpoint says: the log of this origin had so many events, with this root over them."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{_base64(self.root)}\n"


class Verifier(msgspec.Struct, frozen=True, kw_only=True):
    """What a note is checked with: the name of a key, and the key."""

    name: str
    public_key: bytes

    @property
    def key_id(self) -> bytes:
        """What tells a key from another of the same name; four bytes prove nothing."""
        named = self.name.encode() + b"\n" + ED25519 + self.public_key
        return hashlib.sha256(named).digest()[:KEY_ID_BYTES]

    def text(self) -> str:
        """The verifier key, as it is published: NAME+ID+KEY."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(ED25519 + self.public_key)}"


class Signature(msgspec.Struct, frozen=True):
    """One line below a note."""

    name: str
    key_id: bytes
    signature: bytes


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint as it was read, before any signature was looked at."""

    text: str
    head: Head
    signatures: tuple[Signature, ...]


def log_name(public_key: bytes) -> str:
    """What an installation's logs are named where nobody chose a name: no other has the same."""
    return f"tenure-{hashlib.sha256(public_key).hexdigest()[:16]}"


def encoded_tenant(tenant: str) -> str:
    """A tenant's name as one part of an origin or of a path: never empty, never a step upward."""
    return quote(tenant, safe="").replace(".", "%2E")


def origin(name: str, tenant: str) -> str:
    """The name of one tenant's log; no two tenants of an installation have the same."""
    return f"{name}/{encoded_tenant(tenant)}"


def signed(head: Head, verifier: Verifier, sign: Callable[[bytes], bytes]) -> str:
    """The note: a head, with a signature by the key of this verifier."""
    text = head.text()
    line = _base64(verifier.key_id + sign(text.encode()))
    return f"{text}\n{_MARK}{verifier.name} {line}\n"


def read(note: str | bytes) -> Note:
    """Read a note, whoever wrote it; raises BadNote. Nothing in it is proven yet."""
    whole = _decoded(note)
    before, gap, below = whole.rpartition("\n\n")
    if not gap:
        raise BadNote("it has no empty line between its text and its signatures")
    text, lines = before + "\n", below.split("\n")
    if lines.pop() or not lines:
        raise BadNote("it does not end in a line with a signature")
    if len(lines) > SIGNATURES_MAX:
        raise BadNote(f"it has more than {SIGNATURES_MAX} signatures")
    return Note(text=text, head=_head(text), signatures=tuple(_signature(line) for line in lines))


def verify(note: str | bytes, verifier: Verifier, *, is_signed: SignatureCheck) -> Head:
    """What a note says, once the key of this verifier is seen to have signed it; raises BadNote."""
    found = read(note)
    known = (verifier.name, verifier.key_id)
    ours = [one.signature for one in found.signatures if (one.name, one.key_id) == known]
    if not ours:
        raise BadNote("it is not signed by the key to compare with, but by another log or installation")
    if not all(is_signed(verifier.public_key, one, found.text.encode()) for one in ours):
        raise BadNote("the signature does not fit: it was altered after it was signed")
    if found.head.origin != verifier.name:
        raise BadNote("it is of another log than the one to compare with")
    return found.head


def read_verifier(text: str) -> Verifier:
    """Read a verifier key; raises BadNote where the text is none."""
    name, _, rest = text.strip().partition("+")
    key_id, plus, encoded = rest.partition("+")
    raw = _from_base64(encoded) if plus and _NAME.fullmatch(name) else b""
    if len(raw) != 1 + KEY_BYTES or raw[:1] != ED25519:
        raise BadNote("this is no verifier key: it must be NAME+ID+KEY, with an Ed25519 key in base64")
    verifier = Verifier(name=name, public_key=raw[1:])
    if verifier.key_id.hex() != key_id:
        raise BadNote("the name, the id and the key of this verifier key do not belong together")
    return verifier


def _decoded(note: str | bytes) -> str:
    if len(note) > NOTE_CHARACTERS_MAX:
        raise BadNote("it is too long for a checkpoint")
    try:
        whole = note.decode() if isinstance(note, bytes) else note
        whole.encode()
    except UnicodeError:
        raise BadNote("it is not UTF-8") from None
    if any(character < " " and character != "\n" for character in whole):
        raise BadNote("it has control characters, such as line ends of Windows")
    return whole


def _head(text: str) -> Head:
    lines = text.split("\n")[:-1]
    if len(lines) < _TEXT_LINES_MIN or not all(lines):
        raise BadNote("its text is not three lines or more: origin, size and root")
    name, size, encoded = lines[:_TEXT_LINES_MIN]
    if not _SIZE.fullmatch(size) or int(size) > SIZE_MAX:
        raise BadNote("its second line is not the size of a log")
    root = _from_base64(encoded)
    if len(root) != ROOT_BYTES:
        raise BadNote("its third line is not a root: 32 bytes in base64")
    return Head(origin=name, size=int(size), root=root)


def _signature(line: str) -> Signature:
    name, space, encoded = line.removeprefix(_MARK).partition(" ")
    raw = _from_base64(encoded)
    is_one = line.startswith(_MARK) and space and _NAME.fullmatch(name)
    if not is_one or len(raw) <= KEY_ID_BYTES:
        raise BadNote("a line below its text is not a signature")
    return Signature(name, raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:])


def _from_base64(text: str) -> bytes:
    """The bytes, or none where the text is not the one way to write them."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return raw if _base64(raw) == text else b""


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()

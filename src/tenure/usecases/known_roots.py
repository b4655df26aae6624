"""What is known of a log from its checkpoints: those that are kept beside it, and those that somebody gives.

A checkpoint counts only once its signature holds. Law: a checkpoint of another log is refused, never passed
over, since whoever gave it believes that it was compared.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote

import msgspec

from tenure.core.checkpoints import (
    BadNote,
    Head,
    Note,
    SignatureCheck,
    Verifier,
    encoded_tenant,
    read,
    read_verifier,
    verify,
)
from tenure.core.errors import InvalidRequest
from tenure.core.tampering import KnownRoot
from tenure.usecases.ports import Checkpoint, Keyring, Reading

PAGE: Final = 1_000
NAMED_MAX: Final = 5

Roots = dict[str, list[KnownRoot]]
"""What is known of the log of each tenant."""


class GivenNote(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that somebody gave, and what it is called in messages."""

    name: str
    note: str


class KeptRoots(msgspec.Struct, frozen=True, kw_only=True):
    """What the checkpoints beside a log say of it; ``bad_size`` is that of one that was not signed here."""

    roots: tuple[KnownRoot, ...]
    bad_size: int | None = None


def kept_roots(reading: Reading, tenant: str, keyring: Keyring) -> KeptRoots:
    """The checkpoints that are kept beside a tenant's log, each with its signature looked at."""
    roots: list[KnownRoot] = []
    bad_size: int | None = None
    for checkpoint in _kept(reading, tenant):
        if _is_ours(checkpoint, keyring):
            roots.append(KnownRoot(checkpoint.size, checkpoint.root))
        else:
            bad_size = checkpoint.size
    return KeptRoots(roots=tuple(roots), bad_size=bad_size)


def roots_of_these_logs(keyring: Keyring, given: Sequence[GivenNote], tenants: Iterable[str]) -> Roots:
    """What notes say of these tenants' logs; raises InvalidRequest for one not signed here."""
    known = frozenset(tenants)
    roots: Roots = {}
    for one in given:
        note = _read(one)
        tenant = _tenant(one, note, known)
        head = _checked(one, _own_key(note, keyring), _signed_by(keyring))
        roots.setdefault(tenant, []).append(KnownRoot(head.size, head.root))
    return roots


def roots_by_keys(
    given: Sequence[GivenNote], keys: Sequence[str], tenants: Iterable[str], *, is_signed: SignatureCheck
) -> Roots:
    """What notes say of these tenants' logs, checked with verifier keys alone; raises InvalidRequest."""
    known = frozenset(tenants)
    verifiers = {one.name: one for one in map(_verifier, keys)}
    roots: Roots = {}
    for one in given:
        note = _read(one)
        verifier = verifiers.get(note.head.origin)
        if verifier is None:
            raise _foreign(
                one, note, f"the keys given are of {_listed(verifiers)}" if verifiers else "no key is given"
            )
        tenant = _tenant(one, note, known)
        head = _checked(one, verifier, is_signed)
        roots.setdefault(tenant, []).append(KnownRoot(head.size, head.root))
    return roots


def _kept(reading: Reading, tenant: str) -> Iterable[Checkpoint]:
    page = reading.checkpoints(tenant, limit=PAGE)
    while page:
        yield from page
        page = reading.checkpoints(tenant, below=page[-1].size, limit=PAGE)


def _is_ours(checkpoint: Checkpoint, keyring: Keyring) -> bool:
    """Whether this installation signed what the row says; it may have had another name since."""
    try:
        note = read(checkpoint.note)
        head = verify(checkpoint.note, _own_key(note, keyring), is_signed=_signed_by(keyring))
    except BadNote:
        return False
    is_its_log = head.origin.rpartition("/")[2] == encoded_tenant(checkpoint.tenant)
    return is_its_log and (head.size, head.root) == (checkpoint.size, checkpoint.root)


def _own_key(note: Note, keyring: Keyring) -> Verifier:
    return Verifier(name=note.head.origin, public_key=keyring.public_key())


def _signed_by(keyring: Keyring) -> SignatureCheck:
    """Ed25519 always gives the same signature, so signing once more is a check of one's own."""
    return lambda _key, signature, message: keyring.sign(message) == signature


def _read(given: GivenNote) -> Note:
    try:
        return read(given.note)
    except BadNote as fault:
        raise _no_checkpoint(given, str(fault)) from None


def _checked(given: GivenNote, verifier: Verifier, is_signed: SignatureCheck) -> Head:
    try:
        return verify(given.note, verifier, is_signed=is_signed)
    except BadNote as fault:
        raise _no_checkpoint(given, str(fault)) from None


def _verifier(text: str) -> Verifier:
    try:
        return read_verifier(text)
    except BadNote as fault:
        raise InvalidRequest(str(fault), field="key", hint="'tenure log key' shows it.") from None


def _tenant(given: GivenNote, note: Note, known: frozenset[str]) -> str:
    part = note.head.origin.rpartition("/")[2]
    tenant = unquote(part)
    if tenant not in known or encoded_tenant(tenant) != part:
        raise _foreign(given, note, f"here are the logs of {_listed(known)}")
    return tenant


def _foreign(given: GivenNote, note: Note, here: str) -> InvalidRequest:
    return InvalidRequest(
        f"{given.name} is a checkpoint of the log {note.head.origin}, and {here}",
        field="checkpoint",
        hint="Compare a log with its own checkpoints, and the keys that belong to it.",
    )


def _no_checkpoint(given: GivenNote, because: str) -> InvalidRequest:
    return InvalidRequest(
        f"{given.name} is no checkpoint to compare with: {because}",
        field="checkpoint",
        hint="Give checkpoints as they were signed, of this installation.",
    )


def _listed(names: Iterable[str]) -> str:
    """Some of the names, for a message."""
    found = sorted(names)
    more = len(found) - NAMED_MAX
    return (", ".join(found[:NAMED_MAX]) or "no tenant") + (f" and {more} more" if more > 0 else "")

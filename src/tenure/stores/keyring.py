"""Sealing under one key per (tenant, subject), whatever keeps the wrapped keys (SPEC F7, M7).

    root key (file, environment or a key management service)
    ├── key of a tenant, per epoch           wraps
    │   └── data key, per (tenant, subject)  seals bodies, AES-256-GCM, fresh 96-bit nonce
    ├── digest key of a tenant               keyed digests (HMAC-SHA-256)
    └── signing key of the installation      certificates (Ed25519)

Laws: a key is durable before anything sealed under it is; associated data bind a body to its tenant,
subject, key and place, so that it opens nowhere else; destroying the wrapped data key makes every body of
the subject unreadable. Only what stands directly below the root key is wrapped by it, so that it can be
changed without touching a data key or a body.
"""

import os
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from tenure.stores.wrapping import (
    KEY_BYTES,
    Wrapping,
    WrongRootKey,
    derived,
    open_bytes,
    seal_bytes,
    unwrap,
    wrap,
    wrapped_by,
)

EPOCH: Final = 1
CACHED_KEYS_MAX: Final = 20_000


class WrappedSubjectKey(NamedTuple):
    """A data key as it is kept."""

    tenant: str
    subject: str
    dek: UUID
    epoch: int
    wrapped: bytes
    retired: bool = False


class WrappedTenantKey(NamedTuple):
    """A tenant's key as it is kept."""

    tenant: str
    name: str
    epoch: int
    wrapped: bytes


class KeyTable(Protocol):
    """Where wrapped keys are kept. Reads are of what is durable."""

    def tenant_key(self, tenant: str, name: str, epoch: int) -> bytes | None:
        """A tenant's wrapped key."""

    def subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey | None:
        """The wrapped key that new bodies of a subject are sealed under."""

    def subject_keys(self, tenant: str, subject: str) -> list[WrappedSubjectKey]:
        """Every wrapped key of a subject, retired ones as well."""

    def retire(self, tenant: str, subject: str) -> None:
        """Let nothing more be sealed under a subject's keys."""

    def destroy(self, tenant: str, subject: str, keys: Sequence[UUID]) -> int:
        """Destroy keys for good, durably; gives back how many were there."""

    def tenant_keys(self) -> list[WrappedTenantKey]:
        """Every tenant's wrapped keys."""

    def rewrap(self, tenant_keys: Sequence[WrappedTenantKey]) -> None:
        """Put keys that are wrapped anew in place of those before, in one step."""

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one step; one that is there already stays as it is."""


class _SubjectKey(NamedTuple):
    dek: UUID
    cipher: AESGCM
    bound: bytes
    """Tenant, subject and key id: the part of the associated data that is the same for every body."""


class SealingKeyring:
    """The keyring port over a table of wrapped keys. It begins locked, and can do nothing until unlocked."""

    def __init__(self, table: KeyTable) -> None:
        self._table = table
        self._wrapping: Wrapping | None = None
        self._lock = threading.Lock()
        self._subjects: dict[tuple[str, str], _SubjectKey] = {}
        self._tenants: dict[tuple[str, str], bytes] = {}
        self._digests: dict[str, HMAC] = {}

    def unlock(self, wrapping: Wrapping) -> None:
        """Raise WrongRootKey unless this opens the keyring; a new keyring gets a key to check by."""
        before, self._wrapping = self._wrapping, wrapping
        try:
            self._tenant_key("", "check")
        except BaseException:
            self._wrapping = before
            raise

    def wrapped_by(self) -> str:
        """What its keys are wrapped by: nothing for a root key of its own, else the id of a key elsewhere."""
        kept = self._table.tenant_key("", "check", EPOCH)
        return wrapped_by(kept)[0] if kept is not None else ""

    def rewrap(self, new: Wrapping) -> int:
        """Wrap every tenant's keys anew, all in one commit; gives back how many. No body is touched.

        Nobody else may add keys meanwhile: a key that another process wraps by the old wrapping is lost.
        """
        with self._lock:
            kept = self._table.tenant_keys()
            keys = [(key, self._unwrapped(key)) for key in kept]
            if keys:
                _prove(new, *keys[0])
            self._table.rewrap(
                [
                    key._replace(wrapped=wrap(new, raw, _context(key.tenant, key.name, key.epoch)))
                    for key, raw in keys
                ]
            )
            self._wrapping = new
        return len(kept)

    def ensure(self, subjects: Sequence[tuple[str, str]]) -> None:
        """Make durable keys where there are none, in one step for all."""
        missing = [pair for pair in dict.fromkeys(subjects) if self._known(pair) is None]
        if not missing:
            return
        for tenant in dict.fromkeys(tenant for tenant, _subject in missing):
            # A service that wraps keys may be slow or away; nobody else is to wait for that.
            self._tenant_key(tenant, "wrap")
        with self._lock:
            keys = [self._new_subject_key(tenant, subject) for tenant, subject in missing]
            self._table.add([], keys)

    def seal(self, tenant: str, subject: str, plaintext: bytes, context: bytes) -> tuple[UUID, bytes]:
        """Seal under the subject's key, making one where there is none."""
        key = self._known((tenant, subject))
        if key is None:
            self.ensure([(tenant, subject)])
            key = self._known((tenant, subject))
        if key is None:
            raise LookupError("a key that was just made durable cannot be read back")
        return key.dek, seal_bytes(key.cipher, plaintext, key.bound + context)

    def open(self, tenant: str, subject: str, dek: UUID, sealed: bytes, context: bytes) -> bytes | None:
        """The plaintext, or None when the key is gone; raises ValueError for bytes that were altered."""
        key = self._known((tenant, subject))
        if key is None or key.dek.int != dek.int:
            key = self._earlier(tenant, subject, dek)
        if key is None:
            return None
        plaintext = open_bytes(key.cipher, sealed, key.bound + context)
        if plaintext is None:
            raise ValueError("a sealed body was altered, or does not belong where it stands")
        return plaintext

    def key_ids(self, tenant: str, subject: str) -> tuple[UUID, ...]:
        """The ids of a subject's keys, retired ones as well."""
        return tuple(sorted(kept.dek for kept in self._table.subject_keys(tenant, subject)))

    def retire(self, tenant: str, subject: str) -> tuple[UUID, ...]:
        """Seal nothing more under a subject's keys; what was sealed still opens. Gives back their ids."""
        self._table.retire(tenant, subject)
        self._subjects.pop((tenant, subject), None)
        return self.key_ids(tenant, subject)

    def destroy(self, tenant: str, subject: str, keys: Sequence[UUID]) -> int:
        """Destroy keys for good, durably; gives back how many were there."""
        destroyed = self._table.destroy(tenant, subject, keys)
        self._subjects.pop((tenant, subject), None)
        return destroyed

    def let_go(self, tenant: str) -> None:
        """Read a tenant's keys anew when they are next needed."""
        for pair in [pair for pair in tuple(self._subjects) if pair[0] == tenant]:
            self._subjects.pop(pair, None)

    def sign(self, message: bytes) -> bytes:
        """Sign as this installation (Ed25519, RFC 8032)."""
        return self._signing_key().sign(message)

    def public_key(self) -> bytes:
        """What its signatures are checked with: 32 bytes."""
        return self._signing_key().public_key().public_bytes_raw()

    def digest(self, tenant: str, domain: str, text: str) -> bytes:
        """HMAC-SHA-256 under the tenant's digest key, cut to 128 bits."""
        digest = self._digest_of(tenant).copy()
        digest.update(domain.encode() + b"\x00" + text.encode("utf-8", "surrogatepass"))
        return digest.finalize()[:16]

    def _digest_of(self, tenant: str) -> HMAC:
        """A keyed digest that has read nothing yet: a copy of it costs half of a new one."""
        digest = self._digests.get(tenant)
        if digest is None:
            digest = self._digests[tenant] = HMAC(self._tenant_key(tenant, "digest"), SHA256())
        return digest

    def _known(self, pair: tuple[str, str]) -> _SubjectKey | None:
        key = self._subjects.get(pair)
        if key is not None:
            return key
        kept = self._table.subject_key(*pair)
        if kept is None:
            return None
        key = self._opened(kept)
        while len(self._subjects) >= CACHED_KEYS_MAX:
            self._subjects.pop(next(iter(self._subjects)), None)
        self._subjects[pair] = key
        return key

    def _earlier(self, tenant: str, subject: str, dek: UUID) -> _SubjectKey | None:
        """A key that is retired but not destroyed; not kept at hand."""
        for kept in self._table.subject_keys(tenant, subject):
            if kept.dek.int == dek.int:
                return self._opened(kept)
        return None

    def _opened(self, kept: WrappedSubjectKey) -> _SubjectKey:
        wrapping = AESGCM(self._tenant_key(kept.tenant, "wrap"))
        raw = open_bytes(
            wrapping, kept.wrapped, _subject_place(kept.tenant, kept.subject, kept.dek, kept.epoch)
        )
        if raw is None:
            raise WrongRootKey("a subject's key does not open under its tenant's; was the keyring mixed?")
        bound = b"\x1f".join((kept.tenant.encode(), kept.subject.encode(), kept.dek.bytes, b""))
        return _SubjectKey(kept.dek, AESGCM(derived(raw, b"tenure body")), bound)

    def _signing_key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(derived(self._tenant_key("", "sign"), b"tenure sign"))

    def _new_subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey:
        dek = UUID(bytes=os.urandom(16), version=4)
        wrapping = AESGCM(self._tenant_key(tenant, "wrap"))
        place = _subject_place(tenant, subject, dek, EPOCH)
        return WrappedSubjectKey(
            tenant, subject, dek, EPOCH, seal_bytes(wrapping, os.urandom(KEY_BYTES), place)
        )

    def _tenant_key(self, tenant: str, name: str) -> bytes:
        key = self._tenants.get((tenant, name))
        if key is not None:
            return key
        kept = self._table.tenant_key(tenant, name, EPOCH)
        if kept is None:
            wrapped = wrap(self._root(), os.urandom(KEY_BYTES), _context(tenant, name))
            self._table.add([WrappedTenantKey(tenant, name, EPOCH, wrapped)], [])
            kept = self._table.tenant_key(tenant, name, EPOCH)
        if kept is None:
            raise LookupError("a key that was just made durable cannot be read back")
        key = self._unwrapped(WrappedTenantKey(tenant, name, EPOCH, kept))
        self._tenants[(tenant, name)] = key
        return key

    def _unwrapped(self, kept: WrappedTenantKey) -> bytes:
        return unwrap(self._root(), kept.wrapped, _context(kept.tenant, kept.name, kept.epoch))

    def _root(self) -> Wrapping:
        if self._wrapping is None:
            raise WrongRootKey("the keyring was not unlocked")
        return self._wrapping


def _prove(new: Wrapping, key: WrappedTenantKey, raw: bytes) -> None:
    """Who may wrap is not always allowed to unwrap; better to know before than after."""
    context = _context(key.tenant, key.name, key.epoch)
    if unwrap(new, wrap(new, raw, context), context) != raw:
        raise WrongRootKey("what was given to wrap keys by does not open what it wrapped")


def _context(tenant: str, name: str, epoch: int = EPOCH) -> dict[str, str]:
    return {"tenant": tenant, "name": name, "epoch": str(epoch)}


def _subject_place(tenant: str, subject: str, dek: UUID, epoch: int) -> bytes:
    return f"{tenant}\x1f{subject}\x1f{dek.hex}\x1f{epoch}".encode()

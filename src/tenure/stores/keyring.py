"""Sealing under one key per (tenant, subject), whatever keeps the wrapped keys (SPEC F7, M7).

    root key (file or environment)
    └── tenant key, per epoch               wraps
        └── data key, per (tenant, subject)  seals bodies, AES-256-GCM, fresh 96-bit nonce
    └── tenant digest key                    keyed digests (HMAC-SHA-256)

Laws: a key is durable before anything sealed under it is; associated data bind a body to its tenant,
subject, key and
place, so that it opens nowhere else; destroying the wrapped data key makes every body of the subject
unreadable.
"""

import hashlib
import hmac
import os
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
EPOCH: Final = 1
CACHED_KEYS_MAX: Final = 20_000


class WrappedSubjectKey(NamedTuple):
    """A data key as it is kept."""

    tenant: str
    subject: str
    dek: UUID
    epoch: int
    wrapped: bytes


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

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one step; one that is there already stays as it is."""


class _SubjectKey(NamedTuple):
    dek: UUID
    cipher: AESGCM
    bound: bytes
    """Tenant, subject and key id: the part of the associated data that is the same for every body."""


class WrongRootKey(Exception):
    """The root key does not open this keyring."""


class SealingKeyring:
    """The keyring port over a table of wrapped keys."""

    def __init__(self, table: KeyTable, root_key: bytes) -> None:
        if len(root_key) != KEY_BYTES:
            raise WrongRootKey(f"a root key has {KEY_BYTES} bytes")
        self._table = table
        self._root = AESGCM(_derived(root_key, b"tenure wrap"))
        self._lock = threading.Lock()
        self._subjects: dict[tuple[str, str], _SubjectKey] = {}
        self._tenants: dict[tuple[str, str], bytes] = {}

    def check(self) -> None:
        """Raise WrongRootKey unless the root key opens this keyring; a new keyring gets a key to check by."""
        self._tenant_key("", "check")

    def ensure(self, subjects: Sequence[tuple[str, str]]) -> None:
        """Make durable keys where there are none, in one step for all."""
        missing = [pair for pair in dict.fromkeys(subjects) if self._known(pair) is None]
        if not missing:
            return
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
        nonce = os.urandom(NONCE_BYTES)
        return key.dek, nonce + key.cipher.encrypt(nonce, plaintext, key.bound + context)

    def open(self, tenant: str, subject: str, dek: UUID, sealed: bytes, context: bytes) -> bytes | None:
        """The plaintext, or None when the key is gone; raises ValueError for bytes that were altered."""
        key = self._known((tenant, subject))
        if key is None or key.dek.int != dek.int:
            return None
        try:
            return key.cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], key.bound + context)
        except InvalidTag:
            raise ValueError("a sealed body was altered, or does not belong where it stands") from None

    def digest(self, tenant: str, domain: str, text: str) -> bytes:
        """HMAC-SHA-256 under the tenant's digest key, cut to 128 bits."""
        key = self._tenant_key(tenant, "digest")
        return hmac.digest(
            key, domain.encode() + b"\x00" + text.encode("utf-8", "surrogatepass"), hashlib.sha256
        )[:16]

    def _known(self, pair: tuple[str, str]) -> _SubjectKey | None:
        key = self._subjects.get(pair)
        if key is not None:
            return key
        kept = self._table.subject_key(*pair)
        if kept is None:
            return None
        wrapping = AESGCM(self._tenant_key(kept.tenant, "wrap"))
        raw = _unwrapped(
            wrapping, kept.wrapped, _subject_place(kept.tenant, kept.subject, kept.dek, kept.epoch)
        )
        bound = b"\x1f".join((kept.tenant.encode(), kept.subject.encode(), kept.dek.bytes, b""))
        key = _SubjectKey(kept.dek, AESGCM(_derived(raw, b"tenure body")), bound)
        while len(self._subjects) >= CACHED_KEYS_MAX:
            self._subjects.pop(next(iter(self._subjects)), None)
        self._subjects[pair] = key
        return key

    def _new_subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey:
        dek = UUID(bytes=os.urandom(16), version=4)
        wrapping = AESGCM(self._tenant_key(tenant, "wrap"))
        place = _subject_place(tenant, subject, dek, EPOCH)
        return WrappedSubjectKey(
            tenant, subject, dek, EPOCH, _wrapped(wrapping, os.urandom(KEY_BYTES), place)
        )

    def _tenant_key(self, tenant: str, name: str) -> bytes:
        key = self._tenants.get((tenant, name))
        if key is not None:
            return key
        place = f"{tenant}\x1f{name}\x1f{EPOCH}".encode()
        kept = self._table.tenant_key(tenant, name, EPOCH)
        if kept is None:
            fresh = WrappedTenantKey(tenant, name, EPOCH, _wrapped(self._root, os.urandom(KEY_BYTES), place))
            self._table.add([fresh], [])
            kept = self._table.tenant_key(tenant, name, EPOCH)
        if kept is None:
            raise LookupError("a key that was just made durable cannot be read back")
        key = _unwrapped(self._root, kept, place)
        self._tenants[(tenant, name)] = key
        return key


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key)


def _subject_place(tenant: str, subject: str, dek: UUID, epoch: int) -> bytes:
    return f"{tenant}\x1f{subject}\x1f{dek.hex}\x1f{epoch}".encode()


def _wrapped(wrapping: AESGCM, key: bytes, place: bytes) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + wrapping.encrypt(nonce, key, place)


def _unwrapped(wrapping: AESGCM, wrapped: bytes, place: bytes) -> bytes:
    try:
        return wrapping.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], place)
    except InvalidTag:
        raise WrongRootKey("the root key does not open this keyring; was it replaced or moved?") from None

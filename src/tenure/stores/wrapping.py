"""Who wraps the keys of tenants: a root key at hand, or a service that never gives its own key away.

Rule of change: a key wrapped by a root key is a nonce and what it sealed, as it always was; any other says
before it, in the clear, by what it was wrapped (``MARK``, the id, a separator).
"""

import os
from collections.abc import Mapping
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
MARK: Final = b"\x00tenure wrapped by\x1f"
_END: Final = b"\x1f"


class WrongRootKey(Exception):
    """What was given does not open this keyring."""


class Wrapping(Protocol):
    """Wraps the keys of tenants, each bound to a context that must be the same when it is unwrapped."""

    @property
    def id(self) -> str:
        """What is kept beside a key that this wrapped; nothing for a root key. Never a name that can move."""

    def wrap(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The key, wrapped."""

    def unwrap(self, wrapped: bytes, context: Mapping[str, str]) -> bytes | None:
        """The key, or None where this did not wrap it for this context."""


class LocalWrapping:
    """A root key from a file or the environment: AES-256-GCM, with the context as associated data."""

    id = ""

    def __init__(self, root_key: bytes) -> None:
        if len(root_key) != KEY_BYTES:
            raise WrongRootKey(f"a root key has {KEY_BYTES} bytes")
        self._cipher = AESGCM(derived(root_key, b"tenure wrap"))

    def wrap(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The key, wrapped."""
        return seal_bytes(self._cipher, plaintext, _bound(context))

    def unwrap(self, wrapped: bytes, context: Mapping[str, str]) -> bytes | None:
        """The key, or None where this did not wrap it for this context."""
        return open_bytes(self._cipher, wrapped, _bound(context))


def wrap(wrapping: Wrapping, plaintext: bytes, context: Mapping[str, str]) -> bytes:
    """A key as it is kept: wrapped, and saying by what."""
    wrapped = wrapping.wrap(plaintext, context)
    return MARK + wrapping.id.encode() + _END + wrapped if wrapping.id else wrapped


def unwrap(wrapping: Wrapping, kept: bytes, context: Mapping[str, str]) -> bytes:
    """A key that was kept; raises WrongRootKey that says what it needs."""
    by, wrapped = wrapped_by(kept)
    if by != wrapping.id:
        raise WrongRootKey(f"this keyring is wrapped by {_named(by)}, not by {_named(wrapping.id)}")
    plaintext = wrapping.unwrap(wrapped, context)
    if plaintext is None:
        said = f" {by}" if by else ""
        raise WrongRootKey(f"the root key{said} does not open this keyring; was it replaced or moved?")
    return plaintext


def wrapped_by(kept: bytes) -> tuple[str, bytes]:
    """The id of what wrapped a key that was kept, nothing for a root key, and what it made of it."""
    if not kept.startswith(MARK):
        return "", kept
    by, _, wrapped = kept.removeprefix(MARK).partition(_END)
    return by.decode("utf-8", "replace"), wrapped


def derived(key: bytes, purpose: bytes) -> bytes:
    """A key for one purpose out of another."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key)


def seal_bytes(cipher: AESGCM, plaintext: bytes, bound: bytes) -> bytes:
    """A fresh nonce, and what it sealed, bound to its place."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plaintext, bound)


def open_bytes(cipher: AESGCM, wrapped: bytes, bound: bytes) -> bytes | None:
    """What was sealed, or None where it was altered, moved or sealed by another key."""
    try:
        return cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], bound)
    except InvalidTag:
        return None


def _named(by: str) -> str:
    return by or "a root key of its own"


def _bound(context: Mapping[str, str]) -> bytes:
    return "\x1f".join((context["tenant"], context["name"], context["epoch"])).encode()

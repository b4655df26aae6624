"""Wrapping the keys of tenants: bound to their place, and saying by what they were wrapped (SPEC F7)."""

from collections.abc import Mapping

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenure.stores.wrapping import LocalWrapping, Wrapping, WrongRootKey, unwrap, wrap, wrapped_by

ROOT_KEY = bytes(range(32))
KEY = bytes(range(100, 132))
PLACE = {"tenant": "acme", "name": "wrap", "epoch": "1"}


class Service:
    """A key service that gives its keys away, so that a test can see what is kept."""

    def __init__(self, name: str) -> None:
        self.id = name

    def wrap(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The key, beside what it is bound to."""
        return repr(sorted(context.items())).encode() + plaintext

    def unwrap(self, wrapped: bytes, context: Mapping[str, str]) -> bytes | None:
        """The key, where it is bound to this."""
        bound = repr(sorted(context.items())).encode()
        return wrapped.removeprefix(bound) if wrapped.startswith(bound) else None


@pytest.mark.parametrize("wrapping", [LocalWrapping(ROOT_KEY), Service("service:1")])
def test_a_key_opens_at_its_place_and_at_no_other(wrapping: Wrapping) -> None:
    """SPEC F7: a wrapped key that was moved to another tenant, name or epoch opens nothing there."""
    kept = wrap(wrapping, KEY, PLACE)

    assert unwrap(wrapping, kept, PLACE) == KEY
    for side in PLACE:
        with pytest.raises(WrongRootKey, match="does not open this keyring"):
            unwrap(wrapping, kept, PLACE | {side: "2"})


def test_a_keyring_of_the_first_version_still_opens() -> None:
    """SPEC E3: a nonce and what it sealed under a key derived for this, the place as associated data."""
    nonce = bytes(12)
    cipher = AESGCM(HKDF(SHA256(), 32, salt=None, info=b"tenure wrap").derive(ROOT_KEY))
    kept = nonce + cipher.encrypt(nonce, KEY, b"acme\x1fwrap\x1f1")

    assert unwrap(LocalWrapping(ROOT_KEY), kept, PLACE) == KEY
    assert wrapped_by(kept) == ("", kept)


def test_what_another_wrapped_is_refused_by_its_name() -> None:
    """SPEC S3: whoever lacks the right key is told which one it is."""
    local, first, second = LocalWrapping(ROOT_KEY), Service("service:1"), Service("service:2")

    with pytest.raises(WrongRootKey, match="wrapped by service:1, not by a root key"):
        unwrap(local, wrap(first, KEY, PLACE), PLACE)
    with pytest.raises(WrongRootKey, match="wrapped by service:1, not by service:2"):
        unwrap(second, wrap(first, KEY, PLACE), PLACE)
    with pytest.raises(WrongRootKey, match="wrapped by a root key of its own, not by service:1"):
        unwrap(first, wrap(local, KEY, PLACE), PLACE)


def test_the_same_key_never_wraps_to_the_same_bytes() -> None:
    """SPEC F7: a fresh nonce each time."""
    assert len({wrap(LocalWrapping(ROOT_KEY), KEY, PLACE) for _ in range(100)}) == 100

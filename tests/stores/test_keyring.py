"""The contract of the keyring: what is sealed opens at its own place and nowhere else."""

import base64

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened

from tenure.core.errors import Unavailable
from tenure.stores.wrapping import LocalWrapping

PLACE = b"memory 1, version 1"


def test_what_was_sealed_opens_at_its_place(opened: Opened) -> None:
    """SPEC F7: the subject's key opens it."""
    dek, sealed = opened.keyring.seal("acme", "ann", b"likes tea", PLACE)

    assert opened.keyring.open("acme", "ann", dek, sealed, PLACE) == b"likes tea"


def test_what_was_sealed_opens_after_a_restart(engine: Engine) -> None:
    """SPEC E5, F7: the key was durable before anything was sealed under it."""
    opened = engine.open()
    dek, sealed = opened.keyring.seal("acme", "ann", b"likes tea", PLACE)
    opened.close()

    again = engine.open()
    try:
        assert again.keyring.open("acme", "ann", dek, sealed, PLACE) == b"likes tea"
    finally:
        again.close()


def test_a_body_that_was_altered_is_refused(opened: Opened) -> None:
    """SPEC E5: never misread; every byte counts."""
    dek, sealed = opened.keyring.seal("acme", "ann", b"likes tea", PLACE)

    for index in range(len(sealed)):
        altered = sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1 :]
        with pytest.raises(ValueError, match="altered"):
            opened.keyring.open("acme", "ann", dek, altered, PLACE)


def test_a_body_that_was_moved_is_refused(opened: Opened) -> None:
    """SPEC E2: a body bound to one version of one memory cannot pose as another."""
    dek, sealed = opened.keyring.seal("acme", "ann", b"likes tea", PLACE)

    with pytest.raises(ValueError, match="altered"):
        opened.keyring.open("acme", "ann", dek, sealed, b"memory 1, version 2")


def test_another_subjects_key_opens_nothing(opened: Opened) -> None:
    """SPEC F7, M2: each subject of each tenant has a key of its own."""
    dek, sealed = opened.keyring.seal("acme", "ann", b"likes tea", PLACE)
    opened.keyring.ensure([("acme", "bob"), ("globex", "ann")])

    assert opened.keyring.open("acme", "bob", dek, sealed, PLACE) is None
    assert opened.keyring.open("globex", "ann", dek, sealed, PLACE) is None
    assert opened.keyring.open("acme", "nobody", dek, sealed, PLACE) is None


def test_one_subject_has_one_key(opened: Opened) -> None:
    """SPEC F7: destroying it later makes everything of the subject unreadable."""
    opened.keyring.ensure([("acme", "ann"), ("acme", "ann")])

    keys = {opened.keyring.seal("acme", "ann", text, PLACE)[0] for text in (b"one", b"two", b"three")}

    assert len(keys) == 1


def test_the_same_text_never_seals_to_the_same_bytes(opened: Opened) -> None:
    """SPEC F7: nobody without the key can tell that two memories say the same."""
    bodies = {opened.keyring.seal("acme", "ann", b"likes tea", PLACE)[1] for _ in range(100)}

    assert len(bodies) == 100


def test_a_digest_is_equal_for_equal_text_within_a_tenant_alone(engine: Engine) -> None:
    """SPEC M7: keyed, so that it says nothing across tenants and uses; the same after a restart."""
    opened = engine.open()
    first = opened.keyring.digest("acme", "content", "likes tea")
    others = [
        opened.keyring.digest("globex", "content", "likes tea"),
        opened.keyring.digest("acme", "query", "likes tea"),
        opened.keyring.digest("acme", "content", "likes coffee"),
    ]
    opened.close()

    again = engine.open()
    try:
        assert again.keyring.digest("acme", "content", "likes tea") == first
    finally:
        again.close()
    assert first not in others
    assert len(set(others)) == 3


def test_a_keyring_that_is_wrapped_anew_does_all_that_it_did(engine: Engine, clock: MovableClock) -> None:
    """SPEC F7: new and old bodies open, digests and signatures stay, and the old root key is refused."""
    node = engine.open(clock)
    keyring = node.keyring
    dek, sealed = keyring.seal("acme", "ann", b"likes tea", PLACE)
    told = keyring.digest("acme", "content", "likes tea"), keyring.public_key()

    count = keyring.rewrap(LocalWrapping(bytes(range(32))))
    later = keyring.seal("globex", "bob", b"likes coffee", PLACE)
    node.close()

    assert count == 4
    with pytest.raises(Unavailable, match="does not open this keyring"):
        engine.open(clock)
    node.folder.root_key.write_text(base64.b64encode(bytes(range(32))).decode(), "ascii")
    with engine.open(clock) as again:
        assert again.keyring.open("acme", "ann", dek, sealed, PLACE) == b"likes tea"
        assert again.keyring.open("globex", "bob", *later, PLACE) == b"likes coffee"
        assert (again.keyring.digest("acme", "content", "likes tea"), again.keyring.public_key()) == told


def test_two_stores_share_no_key(engine: Engine, other_engine: Engine) -> None:
    """SPEC M7: a digest cannot be guessed by making a store of one's own."""
    digests = []
    for one in (engine, other_engine):
        opened = one.open()
        digests.append(opened.keyring.digest("acme", "content", "likes tea"))
        opened.close()

    assert digests[0] != digests[1]

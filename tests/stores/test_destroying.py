"""The contract of keys that end: retired they open what they sealed, destroyed they open nothing."""

from uuid import UUID

import pytest
from tests.stores.engine import Engine, Opened

PLACE = b"memory 1, version 1"
ANN = ("acme", "ann")
OTHERS = (("acme", "bob"), ("globex", "ann"))


def sealed(opened: Opened, tenant: str = "acme", subject: str = "ann") -> tuple[UUID, bytes]:
    """Something about somebody, under whatever key is in use."""
    return opened.keyring.seal(tenant, subject, b"likes tea", PLACE)


def reads(opened: Opened, body: tuple[UUID, bytes], tenant: str = "acme", subject: str = "ann") -> bool:
    """Whether it can still be opened."""
    plaintext = opened.keyring.open(tenant, subject, *body, PLACE)
    assert plaintext in {None, b"likes tea"}
    return plaintext is not None


def test_a_retired_key_seals_nothing_more_and_opens_what_it_sealed(opened: Opened) -> None:
    """SPEC F7: an erasure under way can be taken back by nobody, but its log can be read until it is done."""
    before = sealed(opened)

    assert opened.keyring.retire(*ANN) == (before[0],)
    after = sealed(opened)

    assert after[0] != before[0]
    assert (reads(opened, before), reads(opened, after)) == (True, True)
    assert opened.keyring.key_ids(*ANN) == tuple(sorted((before[0], after[0])))


def test_a_subject_without_a_key_has_none_to_retire(opened: Opened) -> None:
    """SPEC F7: nothing is made by asking for its end."""
    assert opened.keyring.retire(*ANN) == opened.keyring.key_ids(*ANN) == ()
    assert opened.keyring.destroy(*ANN, [UUID(int=1)]) == 0


def test_retiring_again_names_every_key_that_is_left(opened: Opened) -> None:
    """SPEC F7: so that an erasure that begins anew destroys what an earlier one left."""
    one = sealed(opened)
    opened.keyring.retire(*ANN)
    two = sealed(opened)

    assert opened.keyring.retire(*ANN) == tuple(sorted((one[0], two[0])))
    assert (reads(opened, one), reads(opened, two)) == (True, True)


def test_a_destroyed_key_opens_nothing(opened: Opened) -> None:
    """SPEC F7: what was sealed under the next one is another matter; the second time there is none."""
    before = sealed(opened)
    opened.keyring.retire(*ANN)
    after = sealed(opened)

    assert opened.keyring.destroy(*ANN, [before[0]]) == 1
    assert opened.keyring.destroy(*ANN, [before[0]]) == 0

    assert (reads(opened, before), reads(opened, after)) == (False, True)
    assert opened.keyring.key_ids(*ANN) == (after[0],)


def test_a_key_in_use_can_be_destroyed_and_another_takes_its_place(opened: Opened) -> None:
    """SPEC F7: no memory of it is kept at hand that could still seal or open."""
    before = sealed(opened)

    assert opened.keyring.destroy(*ANN, [before[0]]) == 1

    after = sealed(opened)
    assert after[0] != before[0]
    assert (reads(opened, before), reads(opened, after)) == (False, True)


@pytest.mark.parametrize(("tenant", "subject"), OTHERS)
def test_nobody_elses_key_is_destroyed(opened: Opened, tenant: str, subject: str) -> None:
    """SPEC M2, F7: neither another subject's nor another tenant's, whoever names its id."""
    theirs = sealed(opened, tenant, subject)
    own = sealed(opened)

    assert opened.keyring.destroy(*ANN, [theirs[0]]) == 0
    assert opened.keyring.destroy(*ANN, [own[0]]) == 1

    assert reads(opened, theirs, tenant, subject)
    assert opened.keyring.key_ids(tenant, subject) == (theirs[0],)


def test_what_was_retired_and_destroyed_stays_so_after_a_restart(engine: Engine) -> None:
    """SPEC E5, F7: both are durable when they return."""
    with engine.open() as opened:
        one, two = sealed(opened), sealed(opened, "acme", "bob")
        opened.keyring.retire("acme", "bob")
        opened.keyring.destroy(*ANN, [one[0]])

    with engine.open() as again:
        assert not reads(again, one)
        assert reads(again, two, "acme", "bob")
        assert sealed(again, "acme", "bob")[0] != two[0]
        assert again.keyring.key_ids(*ANN) == ()

"""Moving a keyring to another root key: whoever dies on the way, it opens, and the old key opens nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.stores.test_wrapping import Service

from tenure.stores import root_key
from tenure.stores.keyring import SealingKeyring
from tenure.stores.root_key import RootKeyFile
from tenure.stores.sqlite.keys import SqliteKeyTable
from tenure.stores.unlocking import RootKeys, rotate_to_file, rotate_to_service, unlock
from tenure.stores.wrapping import LocalWrapping, WrongRootKey

TENANTS = ("acme", "globex")
SERVICE = Service("service:1")


class Died(BaseException):
    """The process ended here."""


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SqliteKeyTable]:
    """An empty keyring."""
    opened = SqliteKeyTable(tmp_path / "keyring.db")
    yield opened
    opened.close()


@pytest.fixture
def root(tmp_path: Path) -> RootKeys:
    """A root key in a file."""
    file = RootKeyFile(tmp_path / "root.key")
    file.make()
    return RootKeys(file)


class Used:
    """A keyring with tenants, and what was sealed and told by it before its root key was changed."""

    def __init__(self, table: SqliteKeyTable, root: RootKeys) -> None:
        self.table = table
        keyring = SealingKeyring(table)
        unlock(keyring, root)
        self.sealed = {tenant: keyring.seal(tenant, "ann", b"likes tea", b"1") for tenant in TENANTS}
        self.digests = {tenant: keyring.digest(tenant, "content", "likes tea") for tenant in TENANTS}
        self.public_key = keyring.public_key()

    def assert_opens(self, root: RootKeys) -> None:
        """All that it did before it does now, for a process that begins anew."""
        keyring = SealingKeyring(self.table)
        unlock(keyring, root)
        for tenant, (dek, sealed) in self.sealed.items():
            assert keyring.open(tenant, "ann", dek, sealed, b"1") == b"likes tea"
            assert keyring.digest(tenant, "content", "likes tea") == self.digests[tenant]
        assert keyring.public_key() == self.public_key


@pytest.fixture
def used(table: SqliteKeyTable, root: RootKeys) -> Used:
    """A keyring that was used."""
    return Used(table, root)


def in_force(root: RootKeys) -> bytes:
    """The root key in the file."""
    return next(root.file.read())[0]


def test_after_a_rotation_the_old_root_key_opens_nothing(used: Used, root: RootKeys) -> None:
    """SPEC F7: every key is wrapped anew, and no data key, body, digest or signature changed."""
    old = in_force(root)

    rotated = rotate_to_file(SealingKeyring(used.table), root)

    used.assert_opens(root)
    assert rotated == (len(used.table.tenant_keys()), str(root.file.path))
    assert rotated.keys == 6
    with pytest.raises(WrongRootKey):
        SealingKeyring(used.table).unlock(LocalWrapping(old))


STEPS = ("prepared", "wrapped", "replaced")


@pytest.mark.parametrize("step", ["none", *STEPS])
def test_whoever_dies_on_the_way_leaves_a_keyring_that_opens(
    used: Used, root: RootKeys, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """SPEC E5: at the next start, and for the next rotation; no step has to be taken back by hand."""
    old = in_force(root)
    with monkeypatch.context() as patched:
        die_after(patched, step)
        with pytest.raises(Died):
            rotate_to_file(SealingKeyring(used.table), root)

    used.assert_opens(root)
    rotate_to_file(SealingKeyring(used.table), root)
    used.assert_opens(root)
    assert not root.file.next.exists()
    with pytest.raises(WrongRootKey):
        SealingKeyring(used.table).unlock(LocalWrapping(old))


@pytest.mark.parametrize("step", ["none", *STEPS])
def test_whoever_dies_on_the_way_can_rotate_again_without_opening_it_first(
    used: Used, root: RootKeys, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """SPEC E5: the rotation goes on from wherever it was."""
    with monkeypatch.context() as patched:
        die_after(patched, step)
        with pytest.raises(Died):
            rotate_to_file(SealingKeyring(used.table), root)

    rotate_to_file(SealingKeyring(used.table), root)

    used.assert_opens(root)
    assert not root.file.next.exists()


def die_after(patched: pytest.MonkeyPatch, step: str) -> None:
    """End the process right behind one step of a rotation to a file."""
    rewrap = SqliteKeyTable.rewrap

    def wrapped_then_die(*arguments: object) -> None:
        rewrap(*arguments)  # type: ignore[arg-type]
        raise Died

    def die(*_arguments: object) -> None:
        raise Died

    match step:
        case "none":
            patched.setattr(root_key, "secret_file", die)
        case "prepared":
            patched.setattr(SqliteKeyTable, "rewrap", die)
        case "wrapped":
            patched.setattr(SqliteKeyTable, "rewrap", wrapped_then_die)
        case "replaced":
            patched.setattr(root_key, "_overwrite", die)
        case _:
            raise AssertionError(step)


def test_a_keyring_moves_to_a_service_and_its_root_key_is_destroyed(used: Used, root: RootKeys) -> None:
    """SPEC F7: what is in the file opens nothing any more, so it goes."""
    old = in_force(root)

    rotated = rotate_to_service(SealingKeyring(used.table), root, SERVICE)

    used.assert_opens(root._replace(service=SERVICE))
    assert rotated.wrapped_by == SERVICE.id
    assert not root.file.is_there()
    with pytest.raises(WrongRootKey, match="wrapped by service:1"):
        SealingKeyring(used.table).unlock(LocalWrapping(old))
    with pytest.raises(WrongRootKey, match="wrapped by service:1, and the settings name no key service"):
        unlock(SealingKeyring(used.table), root)


def test_a_keyring_moves_from_service_to_service_and_back_to_a_file(used: Used, root: RootKeys) -> None:
    """SPEC F7: nobody is bound to where the keys once were wrapped; the old service opens nothing then."""
    other = Service("service:2")
    rotate_to_service(SealingKeyring(used.table), root, SERVICE)
    rotate_to_service(SealingKeyring(used.table), root._replace(service=SERVICE), other)
    used.assert_opens(root._replace(service=other))
    with pytest.raises(WrongRootKey, match="wrapped by service:2, not by service:1"):
        unlock(SealingKeyring(used.table), root._replace(service=SERVICE))

    rotate_to_file(SealingKeyring(used.table), root._replace(service=other))

    used.assert_opens(root)


def test_a_move_to_a_service_that_was_left_half_way_goes_on(
    used: Used, root: RootKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E5: the keys are wrapped by the service already, and the settings do not say so yet."""
    with monkeypatch.context() as patched:
        die_after(patched, "wrapped")
        with pytest.raises(Died):
            rotate_to_service(SealingKeyring(used.table), root, SERVICE)
    used.assert_opens(root._replace(service=SERVICE))

    rotate_to_service(SealingKeyring(used.table), root, SERVICE)

    used.assert_opens(root._replace(service=SERVICE))
    assert not root.file.is_there()


@pytest.mark.parametrize("is_settled", [True, False], ids=["settings changed", "settings as before"])
def test_a_move_to_a_file_that_was_left_half_way_goes_on(
    used: Used, root: RootKeys, monkeypatch: pytest.MonkeyPatch, *, is_settled: bool
) -> None:
    """SPEC E5: the next root key is in force, but not in its place; either settings lead on."""
    by_service = root._replace(service=SERVICE)
    rotate_to_service(SealingKeyring(used.table), root, SERVICE)
    with monkeypatch.context() as patched:
        die_after(patched, "wrapped")
        with pytest.raises(Died):
            rotate_to_file(SealingKeyring(used.table), by_service)

    if not is_settled:
        rotate_to_file(SealingKeyring(used.table), by_service)
    used.assert_opens(root)

    assert root.file.path.exists()
    assert not root.file.next.exists()


def test_a_service_that_does_not_open_what_it_wraps_changes_nothing(used: Used, root: RootKeys) -> None:
    """SPEC E5: who may encrypt may not always decrypt; that is known before anything is stored."""

    class OneWay(Service):
        """Takes keys and gives none back."""

        def unwrap(self, *_arguments: object) -> bytes | None:
            """Nothing."""
            return None

    with pytest.raises(WrongRootKey):
        rotate_to_service(SealingKeyring(used.table), root, OneWay("service:3"))

    used.assert_opens(root)


def test_a_wrong_root_key_rotates_nothing_and_leaves_no_file(used: Used, root: RootKeys) -> None:
    """SPEC F7: whoever cannot open the keyring cannot take it over."""
    stranger = RootKeys(RootKeyFile(root.file.path.with_name("stranger.key")))
    stranger.file.make()

    with pytest.raises(WrongRootKey, match="does not open"):
        rotate_to_file(SealingKeyring(used.table), stranger)

    assert not stranger.file.next.exists()
    used.assert_opens(root)


def test_a_locked_keyring_does_nothing(table: SqliteKeyTable) -> None:
    """SPEC F7: before it is unlocked no key is made by which nobody could open anything."""
    with pytest.raises(WrongRootKey, match="not unlocked"):
        SealingKeyring(table).ensure([("acme", "ann")])

    assert table.is_empty()

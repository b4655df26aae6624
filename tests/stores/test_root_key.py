"""The file of a root key: made once, replaced without a moment in which neither counts (SPEC F7, S5)."""

import base64
import stat
from pathlib import Path

import pytest

from tenure.core.errors import Unavailable
from tenure.stores.root_key import RootKeyFile


@pytest.fixture
def file(tmp_path: Path) -> RootKeyFile:
    """A root key that was just made."""
    made = RootKeyFile(tmp_path / "root.key")
    made.make()
    return made


def test_a_key_is_made_once_and_only_its_owner_reads_it(file: RootKeyFile) -> None:
    """SPEC S5: 32 bytes as base64, mode 0600, never made over one that is there."""
    before = file.path.read_bytes()
    file.make()

    assert file.path.read_bytes() == before
    assert len(base64.b64decode(before)) == 32
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_the_next_key_waits_beside_the_one_in_force(file: RootKeyFile) -> None:
    """SPEC F7: until it is put in force, both are there to be tried, the old one first."""
    ((old, _),) = file.read()

    new = file.prepare()

    assert file.prepare() == new != old
    assert list(file.read()) == [(old, False), (new, True)]
    assert stat.S_IMODE(file.next.stat().st_mode) == 0o600


def test_the_next_key_takes_the_place_of_the_old_one(file: RootKeyFile) -> None:
    """SPEC F7: from then on there is one key again; to finish again changes nothing."""
    new = file.prepare()

    file.finish()
    file.finish()

    assert list(file.read()) == [(new, False)]
    assert [path.name for path in file.path.parent.iterdir()] == ["root.key"]


def test_the_old_keys_bytes_are_overwritten(file: RootKeyFile) -> None:
    """SPEC F7, attack: an old keyring and what is left of the old file on the disk must not meet."""
    with file.path.open("rb") as old:
        file.prepare()
        file.finish()

        assert set(old.read()) == {0}


def test_a_destroyed_key_is_gone_with_the_one_prepared(file: RootKeyFile) -> None:
    """SPEC F7: overwritten first; nothing is left to try."""
    file.prepare()
    with file.path.open("rb") as one, file.next.open("rb") as other:
        file.destroy()

        assert set(one.read() + other.read()) == {0}
    assert not file.is_there()
    assert list(file.path.parent.iterdir()) == []
    with pytest.raises(Unavailable, match="cannot be read"):
        list(file.read())

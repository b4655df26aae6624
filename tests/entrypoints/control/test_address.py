"""A socket's address is short; a data folder's path need not be."""

from pathlib import Path

import pytest
from tests.entrypoints.control.standing import standing

from tenure.core.errors import Unavailable
from tenure.entrypoints.control import address as control_address
from tenure.entrypoints.control.address import ADDRESS_BYTES_MAX, SOCKET_NAME, address_in
from tenure.entrypoints.control.client import connect
from tenure.entrypoints.control.operations import Counted, ListKeysArguments
from tenure.entrypoints.control.reaching import answer


def long_folder(root: Path) -> Path:
    """A folder whose path is longer than any socket's address, with letters of several bytes."""
    folder = root
    while len(bytes(folder)) <= ADDRESS_BYTES_MAX * 2:
        folder /= "größe-" * 5
    return folder


def test_a_short_path_is_the_address_itself() -> None:
    """SPEC S1: what people see in the folder is what is connected to."""
    with address_in(Path("store")) as address:
        assert address == f"store/{SOCKET_NAME}"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no such folder")
def test_a_folder_with_a_long_path_has_its_socket_too(tmp_path: Path) -> None:
    """SPEC S1: the socket of such a folder is bound and reached through a descriptor of it."""
    folder = long_folder(tmp_path)

    with standing(folder):
        connection = connect(folder)
        assert connection is not None
        counted = answer(connection, ListKeysArguments(), Counted)
        connection.close()

    assert counted == Counted(count=0)


def test_where_there_is_no_way_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S3: a path that is too long for the system is named as the cause."""
    monkeypatch.setattr(control_address, "_DESCRIPTORS", tmp_path / "none")

    with pytest.raises(Unavailable, match="too long"), address_in(long_folder(tmp_path)):
        pass

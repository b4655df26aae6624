"""`tenure keyring rotate`: the root key is changed while no server runs (SPEC F7, S5)."""

from pathlib import Path

from tests.entrypoints.cli.commands import ran, serving

from tenure.wiring import open_store


def test_the_root_key_is_rotated(tmp_path: Path) -> None:
    """SPEC F7: the answer says how many keys are wrapped by what; the store opens as before."""
    open_store(tmp_path).close()
    old = (tmp_path / "root.key").read_bytes()

    rotated = ran("keyring", "rotate", "--data", tmp_path)
    again = ran("keyring", "rotate", "--data", tmp_path, "--json")

    assert rotated.code == 0
    assert rotated.out == f"1 keys of tenants are now wrapped by {tmp_path / 'root.key'}\n"
    assert again.json == {"keys": 1, "wrapped_by": str(tmp_path / "root.key")}
    assert (tmp_path / "root.key").read_bytes() != old
    open_store(tmp_path).close()


def test_a_rotation_beside_a_server_is_refused(tmp_path: Path) -> None:
    """SPEC S5: the server would go on with the old root key; it is named, and nothing is changed."""
    with serving(tmp_path) as server:
        before = (server.folder / "root.key").read_bytes()
        refused = ran("keyring", "rotate", "--data", server.folder)

        assert refused.code == 1
        assert "in use by another process" in refused.err
        assert (server.folder / "root.key").read_bytes() == before


def test_a_rotation_of_no_store_is_refused(tmp_path: Path) -> None:
    """SPEC S3: a slip in the folder's name makes no new keyring."""
    refused = ran("keyring", "rotate", "--data", tmp_path / "other")

    assert refused.code == 1
    assert "there is no store" in refused.err
    assert not (tmp_path / "other").exists()


def test_a_rotation_has_one_end(tmp_path: Path) -> None:
    """SPEC S2: asked wrongly, with exit code 2."""
    open_store(tmp_path).close()

    assert ran("keyring", "rotate", "--data", tmp_path, "--to-kms", "alias/x", "--to-file").code == 2

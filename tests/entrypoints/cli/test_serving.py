"""`tenure serve` sets a store up, answers, and ends in order."""

import signal
import stat
from pathlib import Path

import httpx
import pytest
from tests.entrypoints.cli.commands import SECONDS_MAX, Serving, program, ran, serving, started

from tenure.core.identity import Role
from tenure.wiring import authenticator, open_store


def test_a_fresh_folder_is_set_up_and_served(served: Serving) -> None:
    """SPEC S5: one command, nothing beside it; the real port is printed."""
    url = served.announced["url"]

    assert served.announced["data_dir"] == str(served.folder)
    assert not url.endswith(":0")
    assert httpx.get(url + "/healthz").status_code == 200


def test_the_operators_first_key_is_in_a_file_of_its_owners_and_never_printed(served: Serving) -> None:
    """SPEC A1, A4: its place is printed, not the key; it opens the API."""
    file = Path(served.announced["bootstrap_key_file"])
    token = file.read_text(encoding="ascii").strip()

    answer = httpx.get(served.announced["url"] + "/v1/log", headers={"Authorization": f"Bearer {token}"})

    assert file == served.folder / "bootstrap-key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in str(served.announced)
    assert answer.status_code == 200


def test_a_key_made_while_it_runs_works_and_works_no_more_once_revoked(served: Serving) -> None:
    """SPEC S1, A1: command line and API are two ways to one store."""
    url = served.announced["url"] + "/v1/memories"
    made = ran(
        "key", "create", "--tenant", "t", "--name", "n", "--role", "reader", "--data", served.folder, "--json"
    )
    headers = {"Authorization": f"Bearer {made.json['token']}"}

    before = httpx.get(url, headers=headers).status_code
    ran("key", "revoke", made.json["id"], "--data", served.folder)
    after = httpx.get(url, headers=headers).status_code

    assert (before, after) == (200, 401)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    """SPEC E5: exit code 0, no socket, no open log, and the folder is free again."""
    folder = tmp_path / "store"
    with serving(folder) as running:
        running.process.send_signal(number)
        code = running.process.wait(SECONDS_MAX)

    left = {path.name for path in folder.iterdir()}
    assert code == 0
    assert "control.sock" not in left
    assert not {name for name in left if name.endswith("-wal")}
    assert ran("log", "verify", "--data", folder).code == 0


def test_a_killed_server_stands_in_nobodys_way(tmp_path: Path) -> None:
    """SPEC S5: its lock and socket end with it, for commands and for the next server."""
    folder = tmp_path / "store"
    with serving(folder) as running:
        running.process.kill()
        running.process.wait(SECONDS_MAX)

    assert (folder / "control.sock").exists()
    assert ran("log", "verify", "--data", folder).code == 0
    with serving(folder):
        assert ran("key", "list", "--data", folder).code == 0


def test_the_first_key_is_made_once(tmp_path: Path) -> None:
    """SPEC A1: neither a restart nor a removed file makes another operator."""
    folder = tmp_path / "store"
    with serving(folder):
        token = (folder / "bootstrap-key").read_text(encoding="ascii").strip()
    (folder / "bootstrap-key").unlink()
    with serving(folder) as again:
        announced = again.announced

    assert announced["bootstrap_key_file"] is None
    assert not (folder / "bootstrap-key").exists()
    with open_store(folder) as node:
        caller = authenticator(node)(token)
    assert (caller.tenant, caller.grants.roles) == ("default", frozenset({Role.OPERATOR}))


def test_a_folder_in_use_is_a_clear_error(served: Serving) -> None:
    """SPEC S5: two servers never share a store; the message names the other process."""
    second = program("serve", "--data", served.folder, "--port", "0")

    assert second.code == 1
    assert "in use by another process" in second.err
    assert str(served.process.pid) in second.err


def test_a_folder_that_another_program_holds_is_a_clear_error_for_commands_too(tmp_path: Path) -> None:
    """SPEC S5: an embedding program has no control socket, and is not disturbed."""
    with open_store(tmp_path / "store"):
        result = program("log", "verify", "--data", tmp_path / "store", "--json")

    assert (result.code, result.json["status"]) == (1, 503)
    assert "in use" in result.json["detail"]


def test_a_port_in_use_is_a_clear_error(served: Serving, tmp_path: Path) -> None:
    """SPEC S3: it fails at start and leaves the folder free."""
    port = served.announced["url"].rpartition(":")[2]

    result = program("serve", "--data", tmp_path / "store", "--port", port)

    assert result.code == 1
    assert f"port {port}" in result.err
    assert not (tmp_path / "store" / "control.sock").exists()


def test_for_a_person_it_prints_where_everything_is(tmp_path: Path) -> None:
    """SPEC S1: the address, the folder, and the place of the key."""
    folder = tmp_path / "store"
    with started("serve", "--data", folder, "--port", "0") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]

    assert lines[0].startswith("Tenure is listening on http://127.0.0.1:")
    assert lines[1].split()[-1] == str(folder)
    assert lines[2].split()[-1] == str(folder / "bootstrap-key")

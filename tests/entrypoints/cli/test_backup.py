"""`tenure backup` and `tenure restore`: the drill of docs/operations.md, as an operator carries it out."""

import hashlib
import shutil
import stat
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from tests.entrypoints.cli.commands import Serving, ran

from tenure import Source, Tenure

CONTENT = "Likes hazelnuts"
PLACE: dict[str, Any] = {"tenant": "acme", "agent": "support", "purpose": "support"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one memory of each of two customers."""
    folder = tmp_path / "store"
    with Tenure.open(folder) as opened:
        for subject in ("customer-7", "customer-8"):
            opened.session(**PLACE, subject=subject).remember(
                CONTENT, kind="preference", source=Source.direct_user("chat-1")
            )
    return folder


def recalled(folder: Path, subject: str) -> list[str | None]:
    """What a recall of one customer shows."""
    with Tenure.open(folder) as opened:
        return [each.content for each in opened.session(**PLACE, subject=subject).recall("hazelnuts?")]


def forgotten(folder: Path, subject: str) -> None:
    """Forget a customer."""
    with Tenure.open(folder) as opened:
        opened.session(**PLACE, subject=subject, roles=["privacy_officer"]).forget()


def without_the_log(folder: Path) -> Path:
    """Lose the database, and nothing else."""
    for path in folder.glob("log.db*"):
        path.unlink()
    return folder


def altered(backup: Path, name: str) -> None:
    """Change the manifest or another file of a backup, with a digest that fits the change."""
    path = backup / name
    path.write_bytes(path.read_bytes().replace(b"acme", b"emca"))
    manifest = msgspec.json.decode((backup / "manifest.json").read_bytes())
    manifest["log_sha256"] = hashlib.sha256((backup / "log.jsonl").read_bytes()).hexdigest()
    (backup / "manifest.json").write_bytes(msgspec.json.encode(manifest))


def test_the_drill_brings_a_lost_database_back(store: Path, tmp_path: Path) -> None:
    """SPEC F11: back up, forget somebody, lose the database, restore: the rest is there, they are not."""
    made = ran("backup", tmp_path / "monday", "--data", store, "--json")
    forgotten(store, "customer-8")

    restored = ran("restore", tmp_path / "monday", "--data", without_the_log(store), "--json")

    assert (made.code, made.json["events"], made.json["tenants"]) == (0, 2, 1)
    assert (restored.code, restored.json["events"], restored.json["forgets"]) == (0, 2, 1)
    assert recalled(store, "customer-7") == [CONTENT]
    assert recalled(store, "customer-8") == []
    assert ran("log", "verify", "--data", store).code == 0


def test_a_backup_is_three_files_for_its_owner_alone(store: Path, tmp_path: Path) -> None:
    """SPEC F7: neither content nor key is in them, and nothing unfinished lies beside."""
    made = ran("backup", tmp_path / "monday", "--data", store)

    files = sorted((tmp_path / "monday").iterdir())
    assert [path.name for path in files] == ["answers.jsonl", "log.jsonl", "manifest.json"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert not any(b"hazelnuts" in path.read_bytes() for path in files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["monday", "store"]
    assert "No key is in it" in made.out


def test_a_backup_through_the_server_is_as_good(served: Serving, tmp_path: Path) -> None:
    """SPEC F11, S1: made while the server runs, it opens in another folder with the keys of the first."""
    made = ran("backup", tmp_path / "monday", "--data", served.folder, "--json")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(served.folder / "root.key", elsewhere / "root.key")
    # As docs/operations.md says: the file alone lacks what a running server wrote last.
    live, copy = (
        apsw.Connection(str(served.folder / "keyring.db")),
        apsw.Connection(str(elsewhere / "keyring.db")),
    )
    with copy.backup("main", live, "main") as copying:
        while not copying.done:
            copying.step(100)
    copy.close()
    live.close()

    restored = ran("restore", tmp_path / "monday", "--data", elsewhere, "--json")

    assert (made.code, restored.code) == (0, 0)
    assert restored.json["events"] == made.json["events"] > 0


def test_a_restore_beside_a_running_server_is_refused(served: Serving, store: Path, tmp_path: Path) -> None:
    """SPEC F11: no server may serve a store that is being restored."""
    ran("backup", tmp_path / "monday", "--data", store)

    result = ran("restore", tmp_path / "monday", "--data", served.folder)

    assert result.code == 1
    assert "a server runs on" in result.err


def test_forgets_are_taken_from_a_later_export_or_backup(store: Path, tmp_path: Path) -> None:
    """SPEC F11: where the record of forgets is lost with the folder, what lies elsewhere counts."""
    ran("backup", tmp_path / "monday", "--data", store)
    forgotten(store, "customer-7")
    ran("log", "export", tmp_path / "tuesday.jsonl", "--data", store)
    forgotten(store, "customer-8")
    ran("backup", tmp_path / "wednesday", "--data", store)
    (store / "forgets.jsonl").unlink()

    result = ran(
        "restore", tmp_path / "monday", "--data", without_the_log(store), "--json",
        "--forgets", tmp_path / "tuesday.jsonl", "--forgets", tmp_path / "wednesday",
    )  # fmt: skip

    assert (result.code, result.json["forgets"]) == (0, 2)
    assert recalled(store, "customer-7") == recalled(store, "customer-8") == []


def test_a_backup_overwrites_nothing_and_a_restore_mixes_nothing(store: Path, tmp_path: Path) -> None:
    """SPEC S2: the mistakes are named, and nothing is changed."""
    ran("backup", tmp_path / "monday", "--data", store)

    again = ran("backup", tmp_path / "monday", "--data", store)
    onto = ran("restore", tmp_path / "monday", "--data", store)

    assert (again.code, onto.code) == (2, 2)
    assert "is there already" in again.err
    assert "not empty" in onto.err


def test_no_backup_is_made_of_a_broken_log(store: Path, tmp_path: Path) -> None:
    """SPEC E2: what was written is read back and checked, and it says where the log breaks."""
    connection = apsw.Connection(str(store / "log.db"))
    connection.execute("UPDATE event SET body = zeroblob(length(body)) WHERE seq = 2")
    connection.close()

    result = ran("backup", tmp_path / "monday", "--data", store)

    assert result.code == 1
    assert "tenant 'acme' breaks at event 2" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("name", ["log.jsonl", "answers.jsonl", "manifest.json"])
def test_a_backup_with_a_missing_or_altered_file_is_refused(store: Path, tmp_path: Path, name: str) -> None:
    """SPEC F11: before a store is made."""
    ran("backup", tmp_path / "monday", "--data", store)
    whole = (tmp_path / "monday" / name).read_bytes()

    (tmp_path / "monday" / name).write_bytes(whole[:-10] if whole else b"{}\n")
    torn = ran("restore", tmp_path / "monday", "--data", tmp_path / "new")
    (tmp_path / "monday" / name).unlink()
    missing = ran("restore", tmp_path / "monday", "--data", tmp_path / "new")

    assert (torn.code, missing.code) == (1, 1)
    assert "is not what was written" in torn.err
    assert "there is no" in missing.err
    assert not (tmp_path / "new").exists()


def test_a_chain_that_was_changed_together_with_its_digest_is_refused(store: Path, tmp_path: Path) -> None:
    """SPEC E2, F11: the digests find accidents; the chain finds what was changed on purpose."""
    ran("backup", tmp_path / "monday", "--data", store)
    altered(tmp_path / "monday", "log.jsonl")

    result = ran("restore", tmp_path / "monday", "--data", without_the_log(store))

    assert result.code == 1
    assert "breaks at event 1" in result.err


def test_a_backup_of_a_newer_format_is_refused(store: Path, tmp_path: Path) -> None:
    """SPEC E3: an older program never guesses."""
    ran("backup", tmp_path / "monday", "--data", store)
    (tmp_path / "monday" / "manifest.json").write_text('{"format": 2, "parts": []}')

    result = ran("restore", tmp_path / "monday", "--data", tmp_path / "new")

    assert result.code == 1
    assert "a newer tenure made this backup" in result.err


def test_a_restore_without_the_keys_says_so(store: Path, tmp_path: Path) -> None:
    """SPEC F7: contents that cannot be opened are counted, and must be asked for where they are all."""
    ran("backup", tmp_path / "monday", "--data", store)

    refused = ran("restore", tmp_path / "monday", "--data", tmp_path / "new")
    evidence = ran("restore", tmp_path / "monday", "--data", tmp_path / "new", "--without-keys")

    assert (refused.code, evidence.code) == (2, 0)
    assert "put the keyring and the root key" in refused.err
    assert "2 of 2 contents cannot be opened" in evidence.err


def test_a_place_that_cannot_be_written_is_a_clear_error(store: Path, tmp_path: Path) -> None:
    """SPEC S2: what cannot be written, and why."""
    result = ran("backup", tmp_path / "missing" / "monday", "--data", store)

    assert result.code == 1
    assert "cannot be written" in result.err


def test_a_backup_moves_between_the_two_kinds_of_store(postgres_url: str, tmp_path: Path) -> None:
    """SPEC S5, F11: it is the log itself, so the same two commands take it from engine to engine."""
    at = ("--data", tmp_path / "node", "--database-url", postgres_url)
    ran("key", "create", "--tenant", "acme", "--name", "one", "--role", "reader", *at)
    made = ran("backup", tmp_path / "monday", *at, "--json")

    refused = ran("restore", tmp_path / "monday", *at)
    moved = ran("restore", tmp_path / "monday", "--data", tmp_path / "embedded", "--json")

    assert (made.code, made.json["events"]) == (0, 1)
    assert (refused.code, moved.code) == (2, 0)
    keys = ran("key", "list", "--data", tmp_path / "embedded", "--json")
    assert keys.code == 0
    assert "acme" in keys.out

"""`tenure log` and `tenure rebuild`: the log leaves the store whole, and a changed one is found out."""

import stat
from pathlib import Path

import msgspec
import pytest
from tests.entrypoints.cli.commands import Serving, at, program, ran
from tests.stores.engine import Engine


@pytest.fixture
def store(engine: Engine) -> tuple[str, ...]:
    """The options that name a store with three events in two tenants."""
    for tenant, name in (("acme", "one"), ("acme", "two"), ("other", "three")):
        ran("key", "create", "--tenant", tenant, "--name", name, "--role", "reader", *at(engine))
    return at(engine)


def test_the_log_is_exported_whole_oldest_first_and_for_its_owner_alone(
    store: tuple[str, ...], tmp_path: Path
) -> None:
    """SPEC E4: JSON Lines, one event each."""
    result = ran("log", "export", tmp_path / "log.jsonl", *store, "--json")

    lines = [msgspec.json.decode(line) for line in (tmp_path / "log.jsonl").read_bytes().splitlines()]
    assert result.json == {"file": str(tmp_path / "log.jsonl"), "events": 3, "tenants": 2}
    assert [(line["tenant"], line["seq"]) for line in lines] == [("acme", 1), ("acme", 2), ("other", 1)]
    assert stat.S_IMODE((tmp_path / "log.jsonl").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "log.jsonl" in path.name] == ["log.jsonl"]


def test_one_tenants_log_goes_to_standard_output(store: tuple[str, ...]) -> None:
    """SPEC E4, M2: nothing but the lines, so that it can be piped."""
    result = ran("log", "export", "-", "--tenant", "other", *store)

    assert [msgspec.json.decode(line)["tenant"] for line in result.out.splitlines()] == ["other"]
    assert result.err == ""


def test_the_export_and_json_cannot_share_standard_output(store: tuple[str, ...]) -> None:
    """SPEC S2: the mistake is named."""
    result = ran("log", "export", "-", *store, "--json")

    assert (result.code, result.json["field"]) == (2, "file")


def test_a_place_that_cannot_be_written_is_a_clear_error(store: tuple[str, ...], tmp_path: Path) -> None:
    """SPEC S2: what cannot be written, and why."""
    result = ran("log", "export", tmp_path / "missing" / "log.jsonl", *store)

    assert result.code == 1
    assert "cannot be written" in result.err


def test_an_export_through_the_server_is_the_same_bytes(served: Serving, tmp_path: Path) -> None:
    """SPEC E4, S1: whichever way the store is reached; and a reader that stops early ends it quietly."""
    ran("key", "create", "--tenant", "acme", "--name", "n", "--role", "reader", "--data", served.folder)
    through = ran("log", "export", "-", "--data", served.folder)
    to_file = ran("log", "export", tmp_path / "log.jsonl", "--data", served.folder)

    assert (through.code, to_file.code) == (0, 0)
    assert (tmp_path / "log.jsonl").read_text(encoding="utf-8") == through.out
    assert len(through.out.splitlines()) >= 2


def test_an_untouched_log_verifies(store: tuple[str, ...]) -> None:
    """SPEC E2: tenant by tenant."""
    text = ran("log", "verify", *store)
    as_json = ran("log", "verify", "--tenant", "acme", *store, "--json")

    assert text.code == as_json.code == 0
    assert text.out.splitlines() == [
        "acme: 2 events, the chain holds",
        "other: 1 events, the chain holds",
    ]
    assert (as_json.json["holds"], as_json.json["events"]) == (True, 2)


def test_a_changed_event_is_located_and_fails_the_command(store: tuple[str, ...], engine: Engine) -> None:
    """SPEC E2: any change is detected and the first bad event named."""
    engine.alter_event("acme", 1, "inserted")

    text = ran("log", "verify", *store)
    as_json = ran("log", "verify", *store, "--json")

    assert text.code == as_json.code == 1
    assert "acme: BROKEN at event 2" in text.out
    bad = {each["tenant"]: each for each in as_json.json["tenants"]}
    assert (bad["acme"]["holds"], bad["acme"]["first_bad_seq"]) == (False, 2)
    assert bad["other"]["holds"] is True


def test_a_rebuild_comes_out_identical(store: tuple[str, ...]) -> None:
    """SPEC E1: everything but the log can be dropped."""
    text = ran("rebuild", *store)
    as_json = ran("rebuild", *store, "--json")

    assert (text.code, text.out) == (0, "3 events replayed: identical\n")
    assert as_json.json == {"events": 3, "identical": True}


def test_a_rebuild_works_while_a_server_runs(served: Serving) -> None:
    """SPEC E1, S1: as a program of its own, too."""
    result = program("rebuild", "--data", served.folder, "--json")

    assert result.code == 0
    assert result.json["identical"] is True


@pytest.mark.parametrize(
    "command", [("log", "export", "x"), ("log", "verify"), ("rebuild",), ("key", "list")]
)
def test_commands_that_look_at_a_store_make_none(command: tuple[str, ...], tmp_path: Path) -> None:
    """SPEC S2: a wrong path is an error, not an empty store."""
    result = ran(*command, "--data", tmp_path / "none")

    assert result.code == 1
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "x").exists()

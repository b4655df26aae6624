"""`tenure log verify` with checkpoints and files, and `tenure log import` (SPEC E2, E4)."""

from pathlib import Path

import pytest
from tests.core.tampered import head_of
from tests.entrypoints.cli.commands import Serving, at, program, ran
from tests.stores.engine import Engine, SqliteEngine
from tests.stores.losing import lose_the_log
from tests.stores.test_tampering import rows_of


def keys_made(tenant: str, *store: str | Path, count: int = 3) -> None:
    """A few events of a tenant."""
    for number in range(count):
        ran("key", "create", "--tenant", tenant, "--name", f"n-{number}", "--role", "reader", *store)


@pytest.fixture
def store(engine: Engine) -> tuple[str, ...]:
    """The options that name a store with events in two tenants."""
    keys_made("acme", *at(engine))
    keys_made("other", *at(engine), count=1)
    return at(engine)


@pytest.fixture
def notes(store: tuple[str, ...], tmp_path: Path) -> Path:
    """A folder of checkpoints, one of each tenant."""
    folder = tmp_path / "notes"
    for tenant in ("acme", "other"):
        (folder / tenant).mkdir(parents=True)
        ran("log", "checkpoint", "--tenant", tenant, "--out", folder / tenant / "1.note", *store)
    return folder


@pytest.fixture
def export(store: tuple[str, ...], tmp_path: Path) -> Path:
    """The log as a file."""
    ran("log", "export", tmp_path / "log.jsonl", *store)
    return tmp_path / "log.jsonl"


def test_a_log_agrees_with_its_checkpoints(store: tuple[str, ...], notes: Path) -> None:
    """SPEC E2: a note or a folder of them; those that are kept beside the log count as well."""
    folder = ran("log", "verify", "--checkpoint", notes, *store)
    one = ran(
        "log", "verify", "--tenant", "acme", "--checkpoint", notes / "acme" / "1.note", *store, "--json"
    )

    assert (folder.code, one.code) == (0, 0)
    assert all(
        line.endswith(" events, the chain holds, and 1 checkpoint agrees") for line in folder.out.splitlines()
    )
    assert one.json["tenants"][0]["checkpoints"] == 1
    assert one.json["tenants"][0]["damage"] is None


def test_damage_is_named_with_its_kind_and_fails_the_command(
    store: tuple[str, ...], engine: Engine, notes: Path
) -> None:
    """SPEC E2: tenant, position, kind and why, as text and as JSON."""
    node = engine.open()
    rows = rows_of(node)
    node.close()
    engine.put_log("acme", rows[:2], head_of(rows[:2]))

    text = ran("log", "verify", "--checkpoint", notes, *store)
    found = ran("log", "verify", *store, "--json").json

    assert text.code == 1
    assert text.out.splitlines()[0] == (
        "acme: BROKEN at event 3: truncated: the log ends at position 2, and a checkpoint says at 3"
    )
    bad = {each["tenant"]: each for each in found["tenants"]}["acme"]
    assert (bad["holds"], bad["first_bad_seq"], bad["damage"]) == (False, 3, "truncated")
    assert found["holds"] is False


@pytest.mark.parametrize("where", ["store", "file"])
def test_a_checkpoint_of_another_log_is_refused(
    store: tuple[str, ...], notes: Path, tmp_path: Path, where: str
) -> None:
    """SPEC E2, S2: it says which log it is of, and which are here."""
    key, file = ran("log", "key", "--tenant", "acme", *store).out.strip(), tmp_path / "acme.jsonl"
    ran("log", "export", file, "--tenant", "acme", *store)
    options = ("--file", str(file), "--key", key) if where == "file" else store

    result = ran(
        "log", "verify", "--tenant", "acme", "--checkpoint", notes / "other" / "1.note", *options, "--json"
    )

    assert result.code == 2
    assert "1.note is a checkpoint of the log tenure-" in result.json["detail"]
    assert "/other, and " in result.json["detail"]


@pytest.mark.parametrize("content", ["", "no note", "a\n3\nx\n\n— a b\n"])
def test_what_is_no_checkpoint_is_refused(store: tuple[str, ...], tmp_path: Path, content: str) -> None:
    """SPEC S2: the file is named; a folder without any is a mistake too."""
    (tmp_path / "bad.note").write_text(content, "utf-8")
    (tmp_path / "empty").mkdir()

    bad = ran("log", "verify", "--checkpoint", tmp_path / "bad.note", *store)
    empty = ran("log", "verify", "--checkpoint", tmp_path / "empty", *store)
    gone = ran("log", "verify", "--checkpoint", tmp_path / "gone.note", *store)

    assert (bad.code, empty.code, gone.code) == (2, 2, 2)
    assert "bad.note is no checkpoint to compare with: " in bad.err
    assert "there is no checkpoint in" in empty.err
    assert "cannot be read" in gone.err


def test_a_file_is_checked_without_a_store(
    store: tuple[str, ...], export: Path, notes: Path, tmp_path: Path
) -> None:
    """SPEC E2, E4: with nothing but the file, and public keys where checkpoints are compared."""
    keys = [part for line in ran("log", "key", *store).out.split() if "+" in line for part in ("--key", line)]
    nowhere = ("--data", str(tmp_path / "nowhere"))

    bare = ran("log", "verify", "--file", export, *nowhere)
    compared = ran("log", "verify", "--file", export, "--checkpoint", notes, *keys, *nowhere)
    unknown = ran("log", "verify", "--file", export, "--checkpoint", notes, *nowhere)

    assert (bare.code, bare.out.splitlines()[0]) == (0, "acme: 3 events, the chain holds")
    assert "and 1 checkpoint agrees" in compared.out
    assert unknown.code == 2
    assert "no key is given" in unknown.err
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_file_is_named_by_its_line(export: Path) -> None:
    """SPEC E5: torn, doubled and unreadable lines."""
    whole = export.read_bytes()
    lines = whole.splitlines(keepends=True)

    for content, said in (
        (whole[:-30], "truncated: line 4 is cut off"),
        (b"".join([*lines[:2], lines[1], *lines[2:]]), "acme: BROKEN at event 3: inserted: line 3: "),
        (
            b"".join([lines[0], b"{}\n", *lines[2:]]),
            "acme: BROKEN at event 2: altered: line 2: it cannot be read",
        ),
    ):
        export.write_bytes(content)
        result = ran("log", "verify", "--file", export)
        assert result.code == 1
        assert said in result.out
    export.write_bytes(whole)
    foreign = ran("log", "verify", "--file", export, "--tenant", "acme")
    assert foreign.code == 2
    assert "line 4 is of tenant 'other'" in foreign.err


def test_a_key_without_a_file_is_a_mistake(store: tuple[str, ...]) -> None:
    """SPEC S2: a store knows its own."""
    assert ran("log", "verify", "--key", "a+b+c", *store).code == 2


def test_an_export_is_imported_and_exported_again_byte_for_byte(
    store: tuple[str, ...], engine: Engine, export: Path, tmp_path: Path
) -> None:
    """SPEC E4: the chain is the same chain; doing it twice is refused."""
    lose_the_log(engine)

    result = ran("log", "import", export, *store)
    again = ran("log", "import", export, *store, "--json")
    ran("log", "export", tmp_path / "again.jsonl", *store)

    assert (result.code, result.out) == (0, "4 events of 2 tenants imported\n")
    assert (again.code, again.json["field"]) == (2, "file")
    assert (tmp_path / "again.jsonl").read_bytes() == export.read_bytes()
    assert ran("log", "verify", *store).code == 0


def test_an_import_goes_through_a_running_server(served: Serving, tmp_path: Path) -> None:
    """SPEC S1: the server reads the file, wherever the command was started."""
    engine = SqliteEngine(tmp_path / "from")
    engine.open().close()
    keys_made("moved", *at(engine), count=1)
    ran("log", "export", tmp_path / "moved.jsonl", *at(engine))

    result = program("log", "import", tmp_path / "moved.jsonl", "--tenant", "moved", "--data", served.folder)
    gone = ran("log", "import", tmp_path / "gone.jsonl", "--data", served.folder)

    assert result.code == 0, result.err
    assert result.out == "1 events of 1 tenants imported\n"
    assert ran("log", "verify", "--tenant", "moved", "--data", served.folder).code == 0
    assert (gone.code, "there is no file" in gone.err) == (2, True)

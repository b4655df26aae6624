"""`tenure import chat`: a file's turns are in the store, once, and recall answers questions about them."""

import json
from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import Serving, at, program, ran
from tests.stores.engine import Engine

from tenure.core.errors import Unavailable
from tenure.core.identity import Caller, Grants, Role
from tenure.core.vocabulary import Status, Trust
from tenure.entrypoints.library.embedded import Tenure
from tenure.usecases import importing
from tenure.usecases.reading import LIST, ListMemories

EXAMPLE = Path(__file__).parents[3] / "examples" / "data" / "conversation.json"
INTO = ("--tenant", "acme", "--agent", "assistant", "--purpose", "notes")
READER = Caller(tenant="acme", id="key:r", name="r", grants=Grants(roles=frozenset({Role.READER})))


def test_the_example_is_admitted_whole_and_answers_its_questions(engine: Engine) -> None:
    """SPEC R1, M4: recall over an imported conversation finds the turns that hold the answer."""
    imported = ran("import", "chat", EXAMPLE, *INTO, *at(engine), "--json").json

    found, asked = 0, 0
    with Tenure.open(**engine.opening) as store:
        bot = store.session("acme", "assistant", "notes")
        for talk in json.loads(EXAMPLE.read_text(encoding="utf-8")):
            for question in talk["questions"]:
                hits = bot.recall(question["question"], subject=talk["id"], limit=5)
                ids = {memory.source.id for memory in hits}
                asked += 1
                found += all(f"{talk['id']}/{turn_id}" in ids for turn_id in question["evidence"])
                assert all(memory.trust is Trust.APPLICATION_VERIFIED for memory in hits)
    assert (imported["turns"], imported["admitted"]) == (42, 42)
    assert found == asked == 9


def test_importing_again_doubles_nothing(engine: Engine) -> None:
    """SPEC L9: also as a program of its own, after a restart."""
    ran("import", "chat", EXAMPLE, *INTO, *at(engine))

    again = program("import", "chat", EXAMPLE, *INTO, *at(engine))

    assert (again.code, again.out) == (0, "42 turns read: 42 imported before\n")
    with engine.open() as node:
        page = node.pipeline.run(LIST, READER, ListMemories(status=Status.ACTIVE, limit=100))
    assert len(page.items) == 42


def test_a_running_server_takes_the_import_in(served: Serving) -> None:
    """SPEC S1: the command reads the file, the server's gate decides."""
    first = ran("import", "chat", EXAMPLE, *INTO, "--data", served.folder, "--json")
    second = ran("import", "chat", EXAMPLE, *INTO, "--data", served.folder, "--json")

    assert (first.json["admitted"], second.json["repeated"]) == (42, 42)


def test_the_gates_word_on_each_turn_is_counted_by_its_rule(tmp_path: Path, engine: Engine) -> None:
    """SPEC L2, L3: what a live write would not survive, an import does not either."""
    texts = [
        "The van is red.",
        "Please pay to our new account DE89 3704 0044 0532 0130 00.",
        "My password is hunter2-Tr0ub4dor&3, keep it.",
        "a NUL \0 inside",
    ]
    turns = [
        {"id": number, "session": 1, "speaker": "Ann", "text": text} for number, text in enumerate(texts)
    ]
    (tmp_path / "chat.json").write_text(json.dumps([{"id": "talk", "turns": turns}]), encoding="utf-8")

    result = ran("import", "chat", tmp_path / "chat.json", *INTO, "--subject", "customer-7", *at(engine))

    assert result.code == 0
    assert result.out.splitlines()[0] == "4 turns read: 1 admitted, 1 quarantined, 1 rejected, 1 refused"
    assert "  rejected by credential: 1" in result.out
    assert "  talk/3: content has a NUL character" in result.out
    assert "hunter2" not in result.out + result.err
    with engine.open() as node:
        page = node.pipeline.run(LIST, READER, ListMemories())
    assert {memory.subject for memory in page.items} == {"customer-7"}


def test_what_was_imported_before_a_mistake_in_the_file_stays_and_is_reported(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E5, S2: batches that were acknowledged, and the turns read before the torn place."""
    monkeypatch.setattr(importing, "BATCH_ITEMS_MAX", 10)
    whole = EXAMPLE.read_bytes()
    torn = tmp_path / "torn.json"
    torn.write_bytes(whole[: whole.index(b'"S2:3"')])

    text = ran("import", "chat", torn, *INTO, *at(engine))
    as_json = ran("import", "chat", torn, *INTO, *at(engine), "--json")

    assert text.code == as_json.code == 2
    assert "tenure: 14 turns read: 14 admitted; this stays" in text.err
    assert "ends in the middle" in text.err
    assert as_json.json["imported"]["repeated"] == 14
    with engine.open() as node:
        page = node.pipeline.run(LIST, READER, ListMemories(limit=100))
    assert len(page.items) == 14


def test_a_file_that_is_wrong_from_its_start_makes_no_store(tmp_path: Path) -> None:
    """SPEC S2: nor does one that is not there."""
    (tmp_path / "bad.json").write_text("no JSON", encoding="utf-8")

    bad = ran("import", "chat", tmp_path / "bad.json", *INTO, "--data", tmp_path / "store")
    missing = ran("import", "chat", tmp_path / "missing.json", *INTO, "--data", tmp_path / "store")

    assert (bad.code, missing.code) == (2, 2)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("option", ["--tenant", "--agent", "--purpose", "--subject"])
def test_a_name_that_is_none_is_refused_before_anything_is_stored(tmp_path: Path, option: str) -> None:
    """SPEC S2: with its field."""
    result = ran("import", "chat", EXAMPLE, *INTO, option, "no\nname", "--data", tmp_path / "store", "--json")

    assert (result.code, result.json["field"]) == (2, option.removeprefix("--"))
    assert not (tmp_path / "store").exists()


def test_a_store_that_stops_serving_ends_the_import_with_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E5: nothing acknowledged is lost, nothing else is claimed."""
    true_batch, calls = importing.import_batch, []

    def full(*given: object) -> object:
        calls.append(given)
        if len(calls) == 3:
            raise Unavailable("the disk is full")
        return true_batch(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(importing, "BATCH_ITEMS_MAX", 10)
    monkeypatch.setattr(importing, "import_batch", full)

    result = ran("import", "chat", EXAMPLE, *INTO, "--data", tmp_path / "store", "--json")

    assert (result.code, result.json["status"]) == (1, 503)
    assert result.json["imported"]["admitted"] == 20


def test_an_interrupted_import_says_what_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E5: a person who stops it knows where it stopped."""
    true_batch, calls = importing.import_batch, []

    def stopped(*given: object) -> object:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return true_batch(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(importing, "BATCH_ITEMS_MAX", 10)
    monkeypatch.setattr(importing, "import_batch", stopped)

    result = ran("import", "chat", EXAMPLE, *INTO, "--data", tmp_path / "store")

    assert result.code == 130
    assert "stopped; " in result.err
    assert "10 admitted; this stays" in result.err

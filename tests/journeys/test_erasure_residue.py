"""After an erasure no file of the installation holds what was said, in whatever form (SPEC F7)."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import msgspec
import pytest
from tests.journeys.installation import CopyOfKeys, Installation
from tests.journeys.looking import (
    bytes_of,
    disguises,
    files_of,
    found_in,
    index_of,
    index_terms,
    trigrams,
    unheard_of,
    words_with,
)
from tests.postgres.server import PostgresServer
from tests.stores.engine import PostgresEngine, SqliteEngine
from tests.usecases.asking import (
    BOT,
    JUDGES,
    OFFICER,
    REVIEWER,
    SUBJECT,
    TENANT,
    held,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.errors import Unavailable
from tenure.core.holds import PlaceHold
from tenure.core.proposals import Revise
from tenure.core.rows import FOREVER
from tenure.core.vocabulary import Claim, Kind
from tenure.usecases.erasure import EraseSubject, erase
from tenure.usecases.evidence import verify
from tenure.usecases.exporting import EXPORT_SUBJECT, ExportSubject
from tenure.usecases.holds import PLACE_HOLD, RELEASE_HOLD, ReleaseHold
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import INFLUENCE, RECALL, Influence

Look = Callable[[], set[tuple[str, str]]]


@pytest.fixture
def server(request: pytest.FixtureRequest, installation: Installation) -> PostgresServer | None:
    """The database's server, where there is one."""
    if not isinstance(installation.engine, PostgresEngine):
        return None
    found: PostgresServer = request.getfixturevalue("postgres_server")
    return found


def lived(pipeline: Pipeline, marker: str) -> list[str]:
    """Everything that can be said of somebody is said, each time in another word with the marker in it."""
    words = words_with(marker, 11)
    said = iter(words)
    odd = "ž" + next(said)
    first = written(
        pipeline,
        f"Likes {next(said)} and {odd} – in “{next(said)}”",
        key=next(said),
        claim=Claim(entity="customer", attribute="likes", value=next(said)),
        source=source(uri=f"https://example.org/{next(said)}"),
    )
    pipeline.run(REMEMBER, BOT, proposal(f"Was told of {next(said)}"), idempotency_key="k-1")
    corrected = written(pipeline, f"Likes {next(said)} no more", supersedes=first.id)
    revise = Revise(expected_version=1, source=source(), content=f"Likes {next(said)} at last")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=corrected.id, revise=revise))
    written(pipeline, f"Summed up: {words[1]}", kind=Kind.SUMMARY, derived_from=(corrected.id,))
    for name, judge in JUDGES.items():
        waiting = held(pipeline, f"Wrote of {words[2]} to us, {name}")
        pipeline.run(judge, REVIEWER, judgement(waiting.id, 1, f"checked {words[9]}"))
    found = pipeline.run(RECALL, BOT, question(f"what of {words[1]} and {words[3]}?"))
    used = Influence(
        receipt_id=found.receipt_id, response_id="r-1", used_memory_ids=(found.items[0].memory.id,)
    )
    pipeline.run(INFLUENCE, BOT, used)
    pipeline.run(PLACE_HOLD, OFFICER, PlaceHold(subject=SUBJECT, reason=f"a case about {words[10]}"))
    pipeline.run(RELEASE_HOLD, OFFICER, ReleaseHold(subject=SUBJECT, reason=f"{words[10]} is settled"))
    export = pipeline.run(EXPORT_SUBJECT, OFFICER, ExportSubject(subject=SUBJECT))
    assert words[1] in msgspec.json.encode(export).decode()
    return words


@pytest.mark.parametrize("word", [unheard_of(), "ž" + unheard_of()])
def test_the_search_would_find_it(tmp_path: Path, word: str) -> None:
    """The control: each form is found wherever it stands, also where its letters begin within a group."""
    text = f"Likes {word} – a lot"
    for number, (name, needle) in enumerate(disguises(word).items()):
        (tmp_path / "file").write_bytes(b"\x00" * number + needle + b"\xff")
        assert ("file", name) in found_in([tmp_path / "file"], [word])
    for before in range(3):
        whole = base64.b64encode(b"x" * before + text.encode())
        (tmp_path / "file").write_bytes(whole)
        assert len(found_in([tmp_path / "file"], [word])) == 1
    for coded in (text.encode("utf-16-le"), text.encode("utf-16-be"), json.dumps(text).encode()):
        (tmp_path / "file").write_bytes(coded)
        assert found_in([tmp_path / "file"], [word])


def test_nothing_of_it_is_in_any_file(
    installation: Installation, server: PostgresServer | None, tmp_path: Path
) -> None:
    """SPEC F7: not in the log, the index, a write-ahead log, a journal, an earlier backup or a dump.

    Before the erasure the same search finds its words in the index, and nothing anywhere else.
    """
    engine, pipeline = installation.engine, installation.pipeline
    other = written(pipeline, "Prefers the phone", subject="customer-8")
    words = lived(pipeline, marker := unheard_of())
    backup = installation.back_up(tmp_path / "backup")
    analysed(installation)
    assert backup.manifest.tenants
    before = found_in(files_of(engine, server, tmp_path), [marker])
    assert {form for _, form in before} == {"UTF-8", "JSON"}
    assert words[1] in index_terms(engine)

    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    look: Look = lambda: found_in(files_of(engine, server, tmp_path), [marker])  # noqa: E731
    assert look() == set()
    assert found_in(sorted((tmp_path / "backup").iterdir()), [marker]) == set()
    pipeline.run(RECALL, BOT, question())
    assert look() == set()
    installation.restart()
    assert look() == set()
    installation.close()
    assert look() == set()
    installation.restart()
    assert verify(installation.pipeline, TENANT).holds
    found = installation.pipeline.run(RECALL, BOT, question(subject=None)).items
    assert [item.memory.id for item in found] == [other.id]


def test_a_reader_that_looks_at_what_was_before_gets_no_certificate_issued(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC F7, F8: its pages are still in the write-ahead log; once it has read, the erasure goes on."""
    if not isinstance(installation.engine, SqliteEngine):
        pytest.skip("the server gives a table that is written anew files of its own")
    # Nobody waits for the reader here.
    monkeypatch.setattr("tenure.stores.sqlite.connection.BUSY_TIMEOUT_MILLISECONDS", 1)
    installation.restart()
    pipeline = installation.pipeline
    words = lived(pipeline, marker := unheard_of())
    pipeline.run(RECALL, BOT, question(words[1]))
    with pipeline.store.reading() as look:
        assert look.subject_memories(TENANT, SUBJECT)
        assert look.words_left(TENANT, SUBJECT, FOREVER)

        with pytest.raises(Unavailable, match="cannot be overwritten yet"):
            erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))
        assert pipeline.run(LIST, BOT, ListMemories(subject=SUBJECT)).items == ()

    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert found_in(files_of(installation.engine, None, tmp_path), [marker]) == set()


def test_no_three_letters_of_it_are_in_the_word_index(
    installation: Installation, server: PostgresServer | None
) -> None:
    """SPEC F7: neither as a term, nor in a page of the file, nor in what the planner knows of it."""
    engine, pipeline = installation.engine, installation.pipeline
    written(pipeline, "Prefers the phone", subject="customer-8")
    lived_words = lived(pipeline, unheard_of())
    words = [lived_words[1], lived_words[8]]
    analysed(installation)
    sought = {three for word in words for three in trigrams(word)}
    known = index_terms(engine)
    assert {three for three in sought if three not in known} == set()

    erase(pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert "phone" in index_terms(engine)
    assert {three for three in sought if three in index_terms(engine)} == set()
    pages = b"".join(path.read_bytes() for path in index_of(engine, server) if path.exists())
    assert b"phone" in pages
    assert {three for three in sought if three.encode() in pages} == set()


def test_no_wrapped_key_is_left_in_the_keyrings_file(
    installation: Installation, server: PostgresServer | None, tmp_path: Path
) -> None:
    """SPEC F7: the key itself is overwritten, so that the root key opens nothing that lies about."""
    lived(installation.pipeline, unheard_of())
    keys = [row for row in CopyOfKeys(installation.engine).rows if row[1] == SUBJECT]
    [wrapped] = [bytes(value) for value in keys[0] if isinstance(value, bytes) and len(value) > 40]
    key_files = _key_files(installation, server, tmp_path)
    assert any(wrapped in bytes_of(path) for path in key_files())

    erase(installation.pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert [path.name for path in key_files() if wrapped in bytes_of(path)] == []
    installation.close()
    assert [path.name for path in key_files() if wrapped in bytes_of(path)] == []
    installation.restart()


def test_a_rebuild_after_it_brings_nothing_back(
    installation: Installation, server: PostgresServer | None, tmp_path: Path
) -> None:
    """SPEC F7, E1: there is nothing that it could be made from."""
    lived(installation.pipeline, marker := unheard_of())
    ids = _ids(installation.pipeline)
    erase(installation.pipeline, OFFICER, EraseSubject(subject=SUBJECT))

    assert installation.pipeline.store.rebuild().identical
    installation.restart()

    assert ids
    assert found_in(files_of(installation.engine, server, tmp_path), [marker]) == set()
    assert _ids(installation.pipeline) == []


def analysed(installation: Installation) -> None:
    """Let the database's planner look at the tables, as its own upkeep does now and then."""
    if isinstance(installation.engine, PostgresEngine):
        with installation.engine.superuser() as connection:
            connection.execute("ANALYZE tenure.posting, tenure.document, tenure.event")


def _ids(pipeline: Pipeline) -> list[UUID]:
    with pipeline.store.reading() as reading:
        standing = reading.standing(TENANT, SUBJECT)
        events = [reading.event(TENANT, seq) for seq in standing]
    return [UUID(int=index) for index, event in enumerate(events) if event is not None]


def _key_files(
    installation: Installation, server: PostgresServer | None, folder: Path
) -> Callable[[], list[Path]]:
    """The keyring's own files; the server's log of changes is another thing (docs/forgetting.md)."""

    def files() -> list[Path]:
        every = files_of(installation.engine, server, folder)
        return [path for path in every if path.parent.name != "pg_wal"]

    return files

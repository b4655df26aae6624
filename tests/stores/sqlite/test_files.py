"""What lies in the files of an embedded store: keys first, and no content that can be read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.clock import MovableClock
from tests.stores.engine import Opened, SqliteEngine
from tests.usecases.asking import (
    BOT,
    JUDGES,
    OPERATOR,
    REVIEWER,
    SUBJECT,
    held,
    judgement,
    proposal,
    question,
    source,
    written,
)

from tenure.core.access import CreateKey
from tenure.core.errors import MemoryRejected
from tenure.core.identity import Grants, Role, SourceType
from tenure.core.proposals import Revise
from tenure.core.vocabulary import Claim
from tenure.usecases.access import create_key
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.remembering import REMEMBER, REVISE, ReviseMemory
from tenure.usecases.retrieval import RECALL

SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"
WORDS = (
    "Okapi",
    "Quokka",
    "Axolotl",
    "Pangolin",
    "Fossa",
    "Numbat",
    "Kakapo",
    "Tarsier",
    "Aye-aye",
    "Dugong",
)


@pytest.fixture
def opened(embedded: SqliteEngine) -> Iterator[Opened]:
    """The store, open for the length of a test."""
    node = embedded.open(MovableClock())
    yield node
    node.close()


def tell_everything(pipeline: Pipeline) -> str:
    """Put a word that cannot be missed wherever content may go; gives back a token's secret part."""
    memory = written(
        pipeline,
        f"Likes the {WORDS[0]}",
        claim=Claim(entity=WORDS[1], attribute="likes", value=WORDS[2]),
        key=WORDS[3],
        source=source(uri=f"https://example.com/{WORDS[4]}"),
    )
    revise = Revise(expected_version=1, source=source(), content=f"Likes the {WORDS[5]}")
    pipeline.run(REVISE, BOT, ReviseMemory(memory_id=memory.id, revise=revise))
    for judge, word in (("promote", WORDS[6]), ("reject", WORDS[7])):
        waiting = held(pipeline, f"Wants the {word}")
        pipeline.run(JUDGES[judge], REVIEWER, judgement(waiting.id, 1, reason=f"said {WORDS[8]}"))
    pipeline.run(RECALL, BOT, question(f"which {WORDS[9]}?"))
    with pytest.raises(MemoryRejected):
        pipeline.run(REMEMBER, BOT, proposal(f"The access key is {SECRET}"))
    made = create_key(pipeline, OPERATOR, CreateKey(name="ci", grants=Grants(roles=frozenset({Role.WRITER}))))
    pipeline.store.settle()
    return made.token.rpartition(".")[2]


def readable(folder: Path, words: Sequence[str]) -> dict[str, list[str]]:
    """Which words can be read in which file, whatever their case, the word index left out."""
    texts = {
        file.name: file.read_bytes().lower()
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith("search.db")
    }
    return {
        name: found
        for name, text in texts.items()
        if (found := [word for word in words if word.lower().encode() in text])
    }


def test_no_content_can_be_read_in_the_files(embedded: SqliteEngine, folder: Path) -> None:
    """SPEC F7, L13: content, claim, key, uri, reasons, questions and rejected text are sealed or absent."""
    node = embedded.open(MovableClock())
    token_secret = tell_everything(node.pipeline)
    words = (*WORDS, SECRET, token_secret)
    while_open = readable(folder, words)
    names = {file.name for file in folder.iterdir()}
    node.close()

    assert while_open == {}
    assert readable(folder, words) == {}
    assert {"log.db", "log.db-wal", "keyring.db", "search.db", "root.key"} <= names
    assert readable(folder, [SUBJECT]) != {}, "the scan itself must be able to find something"


def test_no_key_can_be_read_beside_what_it_opens(embedded: SqliteEngine, folder: Path) -> None:
    """SPEC F7: the keyring holds wrapped keys only; the log holds none."""
    opened = embedded.open()
    opened.keyring.ensure([("acme", SUBJECT)])
    opened.close()
    root_key = (folder / "root.key").read_text("ascii").strip()

    assert [file.name for file in folder.iterdir() if root_key.encode() in file.read_bytes()] == ["root.key"]


def durable_keys(folder: Path) -> list[str]:
    """The subjects that have a key, as another connection to the file sees them."""
    connection = apsw.Connection(str(folder / "keyring.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [row[0] for row in connection.execute("SELECT subject FROM subject_key ORDER BY subject")]
    finally:
        connection.close()


class WatchedStore:
    """A store that looks at the keyring whenever it is told to append, and may be interrupted there."""

    def __init__(self, store: Any, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self.keys_before: list[list[str]] = []
        self.interrupt = False

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers, or nothing at all."""
        self.keys_before.append(durable_keys(self._folder))
        if self.interrupt:
            raise KeyboardInterrupt
        answered: list[AppendResult] = self._store.append(items)
        return answered

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)


@pytest.fixture
def watched(opened: Opened, folder: Path) -> WatchedStore:
    """The store, watched."""
    return WatchedStore(opened.store, folder)


@pytest.fixture
def pipeline(opened: Opened, watched: WatchedStore) -> Pipeline:
    """The way to the watched store."""
    whole = opened.pipeline
    return Pipeline(store=watched, keyring=whole.keyring, clock=whole.clock, rules=whole.rules)


def test_a_subjects_key_is_durable_before_its_first_event(pipeline: Pipeline, watched: WatchedStore) -> None:
    """SPEC F7, E5: an event whose key could be lost in a crash would be content lost."""
    for subject in ("ann", "bob"):
        pipeline.run(REMEMBER, BOT, proposal(subject=subject))

    assert watched.keys_before == [["ann"], ["ann", "bob"]]


def test_an_interrupted_append_leaves_at_most_an_unused_key(
    pipeline: Pipeline, watched: WatchedStore, folder: Path
) -> None:
    """SPEC E5, S3: no half a write; the key serves the next one."""
    watched.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        pipeline.run(REMEMBER, BOT, proposal(subject="ann"))
    with pipeline.store.reading() as reading:
        assert reading.head("acme")[0] == 0
    watched.interrupt = False

    kept = pipeline.run(REMEMBER, BOT, proposal(subject="ann")).memory

    assert kept is not None
    assert kept.content == "Prefers e-mail to phone"
    assert durable_keys(folder) == ["ann"]


def test_a_rejected_proposal_needs_no_key(pipeline: Pipeline, watched: WatchedStore) -> None:
    """SPEC L13: an audit record without content has nothing to seal."""
    with pytest.raises(MemoryRejected):
        pipeline.run(REMEMBER, BOT, proposal(f"The access key is {SECRET}", source=source(SourceType.WEB)))

    assert watched.keys_before == [[]]

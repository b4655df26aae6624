"""Embedders as the settings name them: asked in the background, changed without a gap (SPEC R2, T8, S3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.clock import MovableClock
from tests.engines.receiver import Receiver, receiver
from tests.usecases.asking import AGENT, BOT, PURPOSE, SUBJECT, written

from tenure.config import ConfigError, Embedding, Settings
from tenure.core.retrieval import Found, Recall
from tenure.usecases.embedding import PAUSE_MAX
from tenure.usecases.retrieval import RECALL
from tenure.usecases.upkeep import Round, upkeep_round
from tenure.wiring import Node, open_store

MEANINGS = {"tea": [1.0, 0.0, 0.1], "drink": [0.9, 0.1, 0.0], "invoice": [0.0, 1.0, 0.0]}
TEA, INVOICE, QUESTION = "Prefers green tea", "Pays each invoice late", "what to drink?"


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def server() -> Iterator[Receiver]:
    """A service, on this machine."""
    with receiver() as it:
        it.says = speaks
        yield it


def speaks(asked: bytes) -> bytes:
    """A vector for each text, by the one word of it that the service knows."""
    texts = msgspec.json.decode(asked)["input"]
    known = [next((MEANINGS[word] for word in MEANINGS if word in text), [0.0, 0.0, 1.0]) for text in texts]
    return msgspec.json.encode({"data": [{"index": at, "embedding": one} for at, one in enumerate(known)]})


def served(server: Receiver, **chosen: Any) -> Embedding:
    """The service as the settings name it."""
    given = {"engine": "openai", "url": server.url, "model": "m", "dimensions": 3, "key": "k-1"}
    return Embedding(**{**given, **chosen})


def opened(folder: Path, clock: MovableClock, embedding: Embedding) -> Node:
    """A store with this engine."""
    return open_store(folder, settings=Settings(embedding=embedding), clock=clock)


def asked(node: Node, question: str = QUESTION) -> Found:
    """What is found for a question."""
    recall = Recall(agent=AGENT, purpose=PURPOSE, subject=SUBJECT, query=question)
    return node.pipeline.run(RECALL, BOT, recall)


def upkeep(node: Node) -> Round:
    """One round of upkeep, as a program that embeds the library has it."""
    return upkeep_round(node.pipeline, batch_size=10, embedding=node.embedding)


def test_what_was_written_is_found_by_words_at_once_and_by_meaning_after_the_next_round(
    tmp_path: Path, clock: MovableClock, server: Receiver
) -> None:
    """SPEC R2: no write waits for a service; the answer says what put it in order."""
    with opened(tmp_path, clock, served(server)) as node:
        written(node.pipeline, TEA)
        written(node.pipeline, INVOICE)
        asked_by_then = len(server.got)
        before = asked(node)
        done = upkeep(node)
        after = asked(node)

    assert asked_by_then == 0
    assert "meaning:openai:m-3/1" not in before.rankers
    assert done.embedded == 2
    assert "meaning:openai:m-3/1" in after.rankers
    assert after.items[0].memory.content == TEA


def test_a_service_that_is_down_takes_meaning_away_and_nothing_else(
    tmp_path: Path, clock: MovableClock, server: Receiver
) -> None:
    """SPEC R2, T8: writes and recalls go on; the answer says what is missing; later all is embedded."""
    server.status = 401
    with opened(tmp_path, clock, served(server)) as node:
        written(node.pipeline, TEA)
        failed = upkeep(node)
        found = asked(node, "green tea")
        server.status = 200
        clock.pass_time(seconds=PAUSE_MAX.total_seconds())
        repaired = upkeep(node)
        again = asked(node, "green tea")

    assert (failed.embedded, repaired.embedded) == (0, 1)
    assert [item.memory.content for item in found.items] == [TEA]
    assert "meaning" in found.without
    assert again.without == ()


def test_the_older_model_serves_until_the_new_one_is_complete(
    tmp_path: Path, clock: MovableClock, server: Receiver
) -> None:
    """SPEC R2: from the table of the package to a service, with a meaning at every moment."""
    with opened(tmp_path, clock, Embedding()) as node:
        written(node.pipeline, TEA)
        written(node.pipeline, INVOICE)
        at_first = asked(node).rankers

    with opened(tmp_path, clock, served(server, older=("local",))) as node:
        changed = asked(node).rankers
        upkeep(node)
        complete = asked(node).rankers
        with node.store.reading() as reading:
            models = reading.models(BOT.tenant)

    assert "meaning:static-minilm-256/1" in at_first
    assert "meaning:static-minilm-256/1" in changed
    assert "meaning:openai:m-3/1" in complete
    assert models == {"openai:m-3/1": 2}


def test_without_an_engine_words_and_place_find(tmp_path: Path, clock: MovableClock) -> None:
    """SPEC R2: a choice, not a fault."""
    with opened(tmp_path, clock, Embedding(engine="none")) as node:
        written(node.pipeline, TEA)
        found = asked(node, "green tea")

    assert [item.memory.content for item in found.items] == [TEA]
    assert [ranker for ranker in found.rankers if ranker.startswith("meaning")] == []
    assert found.without == ()


def test_a_mistake_is_told_before_the_store_is_made(tmp_path: Path, clock: MovableClock) -> None:
    """SPEC S3: a store that cannot be used leaves nothing behind."""
    with pytest.raises(ConfigError, match=r"embedding\.url"):
        opened(tmp_path / "store", clock, Embedding(engine="openai", model="m", dimensions=3))

    with opened(tmp_path / "store", clock, Embedding()) as node:
        assert node.store.healthy()

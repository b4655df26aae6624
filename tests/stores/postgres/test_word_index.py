"""The word index is never in the write-ahead log: a crash of the server empties it, and it is built anew."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.clock import START, MovableClock
from tests.postgres.server import PostgresServer
from tests.stores.concurrently import at_once
from tests.stores.engine import Opened, PostgresEngine
from tests.stores.items import TENANT
from tests.usecases.asking import (
    AGENT,
    BOT,
    JUDGES,
    OFFICER,
    PURPOSE,
    REVIEWER,
    SUBJECT,
    caller,
    judgement,
    proposal,
    question,
    written,
)

from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.engines.embedding.static import shipped_table
from tenure.usecases.evidence import verify
from tenure.usecases.forgetting import FORGET_SUBJECT, ForgetSubject
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

MODEL = shipped_table().model
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def mortal_server() -> Iterator[PostgresServer]:
    """A server that the tests of this file kill."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def mortal(mortal_server: PostgresServer, tmp_path: Path) -> PostgresEngine:
    """A database on it."""
    url = mortal_server.create_database(f"tenure_{tmp_path.name}")
    return PostgresEngine(f"{url}#{tmp_path / 'root-key'}")


@pytest.fixture
def node(mortal: PostgresEngine, clock: MovableClock) -> Iterator[Opened]:
    """A node that lives through the crash of its server."""
    opened = mortal.open(clock)
    yield opened
    opened.close()


@pytest.fixture
def crash(mortal_server: PostgresServer, mortal: PostgresEngine) -> Callable[[], None]:
    """Kill every process of the server, start it again, and see that the index is gone."""

    def happen() -> None:
        mortal_server.kill()
        mortal_server.start()
        assert index_of(mortal) == ([], [], [])

    return happen


def index_of(engine: PostgresEngine) -> tuple[Rows, Rows, Rows]:
    """Every row of the word index."""
    with engine.superuser() as connection:
        return (
            connection.execute("SELECT * FROM search_built ORDER BY 1").fetchall(),
            connection.execute("SELECT * FROM document ORDER BY 1, 2").fetchall(),
            connection.execute("SELECT * FROM posting ORDER BY 1, 2, 3, 4, 5").fetchall(),
        )


def found(opened: Opened, words: str) -> set[str]:
    """What is recalled by its words."""
    items = opened.pipeline.run(RECALL, BOT, question(words, subject=None, limit=20, explain=True)).items
    return {item.memory.content or "" for item in items if item.why is not None and item.why["words"] > 0}


def test_what_was_found_before_a_crash_is_found_after_it(
    node: Opened, mortal: PostgresEngine, crash: Callable[[], None]
) -> None:
    """SPEC R1, E5: by the node that lived through it, from an index that is the same row for row."""
    memories = [
        written(node.pipeline, f"Ticket {one} is about giraffes", subject=f"s-{one % 3}") for one in range(20)
    ]
    node.pipeline.run(JUDGES["revoke"], REVIEWER, judgement(memories[3].id, 1))
    node.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject="s-1"))
    other = caller(tenant="globex")
    node.pipeline.run(REMEMBER, other, proposal("Globex has giraffes too"))
    node.store.settle()
    before, shown = index_of(mortal), found(node, "giraffes")

    crash()

    assert found(node, "giraffes") == shown
    node.pipeline.run(RECALL, other, question("giraffes"))
    again = index_of(mortal)
    assert again[1:] == before[1:]
    assert {tenant for tenant, *_ in again[0]} == {TENANT, "globex"}


def test_who_can_do_without_an_index_that_is_gone_is_told_so_and_nobody_waits(
    node: Opened, crash: Callable[[], None]
) -> None:
    """SPEC E5, T2: a write goes on; what it would have been compared with is looked at later."""
    where = Filter(tenant=TENANT, agent=AGENT, purpose=PURPOSE, now=microseconds(START))
    written(node.pipeline, "An old giraffe")
    with node.store.reading() as reading:
        before = reading.at_hand(where, MODEL, most=1_000)

    crash()

    with node.store.reading() as reading:
        assert reading.at_hand(where, MODEL, most=1_000) is None
    assert found(node, "giraffe") == {"An old giraffe"}
    with node.store.reading() as reading:
        after = reading.at_hand(where, MODEL, most=1_000)
    assert before is not None
    assert after is not None
    assert list(before.ids) == list(after.ids)


def test_a_write_before_the_first_recall_hides_nothing_older(node: Opened, crash: Callable[[], None]) -> None:
    """SPEC R1: an index that holds only what is new is not taken for whole."""
    old = written(node.pipeline, "An old giraffe")
    gone = written(node.pipeline, "A giraffe that goes")
    forgotten = written(node.pipeline, "A forgotten giraffe", subject="bob")

    crash()
    new = written(node.pipeline, "A new giraffe")
    node.pipeline.run(JUDGES["revoke"], REVIEWER, judgement(gone.id, 1))
    node.pipeline.run(FORGET_SUBJECT, OFFICER, ForgetSubject(subject=forgotten.subject or ""))

    assert found(node, "giraffe") == {old.content, new.content}


def test_nodes_that_find_the_index_gone_at_once_build_it_once(
    node: Opened, mortal: PostgresEngine, clock: MovableClock, crash: Callable[[], None]
) -> None:
    """SPEC R1, S5: beside writers as well; everybody finds what was acknowledged."""
    for one in range(10):
        written(node.pipeline, f"Giraffe number {one}")
    another = mortal.open(clock)
    try:
        crash()
        nodes = [node, another] * 2
        outcomes = at_once(
            *(partial(found, each, "giraffe") for each in nodes),
            *(partial(written, each.pipeline, f"Late giraffe {turn}") for turn, each in enumerate(nodes)),
        )

        assert all(len(shown) >= 10 for shown in outcomes[: len(nodes)])
        assert len(found(another, "giraffe")) == 10 + len(nodes)
        assert verify(another.pipeline, TENANT).holds
        assert another.store.rebuild().identical
    finally:
        another.close()


def test_a_server_that_is_down_is_not_healthy_and_its_nodes_come_back(
    node: Opened, mortal_server: PostgresServer
) -> None:
    """SPEC S6, S5: by themselves, with what was written before."""
    memory = written(node.pipeline, "A giraffe", subject=SUBJECT)
    assert node.store.healthy()
    mortal_server.kill()

    try:
        assert not node.store.healthy()
    finally:
        mortal_server.start()

    assert node.store.healthy()
    assert found(node, "giraffe") == {memory.content}

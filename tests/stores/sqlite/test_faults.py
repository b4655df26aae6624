"""Files that cannot grow or be written: 503, nothing half-written, and on again by itself (SPEC E5)."""

from collections.abc import Callable, Iterator

import apsw
import pytest
from tests.stores.engine import SqliteEngine
from tests.stores.items import TENANT
from tests.stores.sqlite.acknowledging import (
    ATTEMPTS_MAX,
    Acknowledged,
    assert_nothing_lost,
    listed,
    remember,
)
from tests.usecases.asking import BOT, question, written

from tenure.core.errors import Unavailable
from tenure.usecases.evidence import verify
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.retrieval import RECALL


@pytest.fixture
def connections() -> Iterator[list[apsw.Connection]]:
    """Every connection that is opened during a test, in the order of opening."""
    opened: list[apsw.Connection] = []
    apsw.connection_hooks.append(opened.append)
    yield opened
    apsw.connection_hooks.remove(opened.append)


def writers_of(connections: list[apsw.Connection], file: str) -> list[apsw.Connection]:
    """The connections to a file that may write."""
    return [
        connection
        for connection in connections
        if connection.filename.endswith(file) and not connection.pragma("query_only")
    ]


Limit = Callable[[apsw.Connection], object]
FAULTS: dict[str, tuple[Limit, Limit, str]] = {
    "full": (
        lambda connection: connection.pragma("max_page_count", 1),
        lambda connection: connection.pragma("max_page_count", 2**31),
        "disk is full",
    ),
    "read-only": (
        lambda connection: connection.pragma("query_only", "ON"),
        lambda connection: connection.pragma("query_only", "OFF"),
        "cannot be written",
    ),
}
"""How a file becomes so, how it is mended, and what the hint says: for users who may not mount anything."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_log_that_cannot_grow_refuses_and_reads_go_on(
    embedded: SqliteEngine, connections: list[apsw.Connection], fault: str
) -> None:
    """SPEC E5: writers are told, readers are served, and it goes on by itself."""
    strike, mend, hint = FAULTS[fault]
    opened = embedded.open()
    try:
        [writer] = writers_of(connections, "log.db")
        acknowledged = Acknowledged(opened.pipeline)
        acknowledged.write(count=3)
        strike(writer)
        acknowledged.write(until_refused=True)
        refusals = list(acknowledged.refusals)
        assert listed(opened.pipeline) == acknowledged.contents
        assert len(opened.pipeline.run(RECALL, BOT, question()).items) == 10
        mend(writer)
        acknowledged.write(count=3)
    finally:
        opened.close()

    assert {(type(one), one.status) for one in refusals} == {(Unavailable, 503)}
    assert hint in (refusals[0].hint or "")
    assert acknowledged.refusals == refusals
    assert_nothing_lost(embedded, acknowledged)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_keyring_that_cannot_grow_refuses_new_subjects_alone(
    embedded: SqliteEngine, connections: list[apsw.Connection], fault: str
) -> None:
    """SPEC F7, E5: no event without its durable key; who has a key already is served."""
    strike, mend, hint = FAULTS[fault]
    opened = embedded.open()
    try:
        known = remember(opened.pipeline, 1, "ann")
        [writer] = writers_of(connections, "keyring.db")
        strike(writer)
        refusals = []
        for number in range(ATTEMPTS_MAX):
            try:
                remember(opened.pipeline, number, f"new-{number}")
            except Unavailable as refusal:
                refusals.append(refusal)
                break
        remember(opened.pipeline, 2, "ann")
        mend(writer)
        remember(opened.pipeline, 3, "bob")
        assert opened.pipeline.run(GET, BOT, Get(memory_id=known.id)) == known
        assert verify(opened.pipeline, TENANT).holds
    finally:
        opened.close()

    assert [hint in (refusal.hint or "") for refusal in refusals] == [True]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_word_index_that_cannot_grow_holds_up_nobody(
    embedded: SqliteEngine, connections: list[apsw.Connection], fault: str
) -> None:
    """SPEC E5, E1: what is durable is acknowledged; its words are found once the index can be written."""
    strike, mend, _hint = FAULTS[fault]
    opened = embedded.open()
    try:
        remember(opened.pipeline, 1)
        [writer] = writers_of(connections, "search.db")
        strike(writer)
        for number in range(2, 40):
            remember(opened.pipeline, number)
        giraffe = written(opened.pipeline, "The giraffe is called Melman")
        mend(writer)
        written(opened.pipeline, "The zebra is called Marty")

        found = opened.pipeline.run(RECALL, BOT, question("giraffe", limit=1, explain=True)).items
    finally:
        opened.close()

    assert [item.memory.id for item in found] == [giraffe.id]
    assert found[0].why is not None
    assert found[0].why["words"] > 0


def test_a_store_that_cannot_write_does_not_call_itself_healthy(
    embedded: SqliteEngine, connections: list[apsw.Connection]
) -> None:
    """SPEC S3: readiness is a change that was tried and taken back."""
    opened = embedded.open()
    try:
        [writer] = writers_of(connections, "log.db")
        states = [opened.store.healthy()]
        writer.pragma("query_only", "ON")
        states.append(opened.store.healthy())
        writer.pragma("query_only", "OFF")
        states.append(opened.store.healthy())
        assert opened.pipeline.run(LIST, BOT, ListMemories()).items == ()
    finally:
        opened.close()

    assert states == [True, False, True]

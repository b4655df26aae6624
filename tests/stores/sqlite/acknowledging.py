"""Writers that keep count of what was answered and what was refused, and what must be true afterwards."""

from functools import partial
from uuid import UUID

from tests.stores.concurrently import at_once
from tests.stores.engine import SqliteEngine
from tests.stores.items import TENANT
from tests.usecases.asking import BOT, proposal

from tenure.core.errors import TenureError
from tenure.core.memory import Memory
from tenure.usecases.evidence import verify
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import LIST, ListMemories
from tenure.usecases.remembering import REMEMBER

ATTEMPTS_MAX = 400
WRITERS = 4
LONG = "It is a long story, and every word of it matters to somebody. " * 30


def remember(pipeline: Pipeline, number: int, subject: str = "customer-7") -> Memory:
    """Write a long memory that can be told from the others."""
    memory = pipeline.run(REMEMBER, BOT, proposal(f"Story {number}: {LONG}", subject=subject)).memory
    assert memory is not None
    return memory


def listed(pipeline: Pipeline) -> dict[UUID, str | None]:
    """Every memory that can be read."""
    found: dict[UUID, str | None] = {}
    cursor = None
    while True:
        page = pipeline.run(LIST, BOT, ListMemories(limit=200, cursor=cursor))
        found |= {memory.id: memory.content for memory in page.items}
        cursor = page.next_cursor
        if cursor is None:
            return found


class Acknowledged:
    """What was answered, and how often it was refused instead."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.contents: dict[UUID, str | None] = {}
        self.refusals: list[TenureError] = []

    def write(self, *, until_refused: bool = False, count: int = ATTEMPTS_MAX) -> None:
        """Write with several threads at once, up to a number of rounds, or until one is refused."""
        for number in range(count):
            writers = [partial(remember, self.pipeline, number * WRITERS + one) for one in range(WRITERS)]
            outcomes = at_once(*writers)
            self.contents |= {one.id: one.content for one in outcomes if isinstance(one, Memory)}
            self.refusals += [one for one in outcomes if isinstance(one, TenureError)]
            if until_refused and self.refusals:
                return
        assert not until_refused, "the disk never filled up"


def assert_nothing_lost(embedded: SqliteEngine, acknowledged: Acknowledged) -> None:
    """After a restart there is exactly what was acknowledged, and the log and views are whole."""
    again = embedded.open()
    try:
        assert listed(again.pipeline) == acknowledged.contents
        assert verify(again.pipeline, TENANT).holds
        assert again.store.rebuild().identical
    finally:
        again.close()

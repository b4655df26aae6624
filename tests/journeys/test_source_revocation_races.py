"""A source is revoked while others recall and write: from its one event on, nobody is shown any of it."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

import pytest
from tests.journeys.installation import Installation
from tests.usecases.asking import BOT, OPERATOR, proposal, question, source, written
from tests.usecases.sourcing import REVOKE, over

from tenure.core.errors import MemoryRejected
from tenure.core.incident_events import SourceRevoked
from tenure.core.incidents import SourceRevocation
from tenure.core.remembering import Written
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL
from tenure.usecases.sources import revoke_source

SECONDS_MAX: Final = 60.0
MEMORIES: Final = 12
ROUNDS: Final = 6


class Telling:
    """A store that tells when a revocation is durable."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._store = pipeline.store
        self.is_durable = threading.Event()

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers."""
        stored = list(self._store.append(items))
        if any(isinstance(one.event.data, SourceRevoked) for item in items for one in item.events):
            self.is_durable.set()
        return stored

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)


@pytest.fixture
def nodes(installation: Installation) -> Iterator[tuple[Pipeline, Pipeline]]:
    """Two nodes over a database, or two ways into one embedded store."""
    if installation.engine.name == "sqlite":
        yield installation.pipeline, over(installation.pipeline, installation.pipeline.store)
        return
    with installation.engine.open(installation.clock) as other:
        yield installation.pipeline, other.pipeline


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Those who act at once."""
    with ThreadPoolExecutor(max_workers=6) as pool:
        yield pool


def bad(number: int) -> str:
    """What the source says."""
    return f"Bad e-mail or phone number {number}"


def recall_on_and_on(
    node: Pipeline, is_durable: threading.Event, is_over: threading.Event
) -> tuple[int, list[str]]:
    """Recall until it is over; gives how many began behind the revocation, and what of it they saw."""
    late, seen = 0, []
    while not is_over.is_set() or late < ROUNDS:
        is_late = is_durable.is_set()
        found = node.run(RECALL, BOT, question(limit=20)).items
        late += is_late
        if is_late:
            seen += [str(item.memory.content) for item in found if str(item.memory.content).startswith("Bad")]
    return late, seen


def write_on_and_on(node: Pipeline, is_over: threading.Event) -> list[Any]:
    """Write as the source does until it is over, and once more."""
    answers: list[Any] = []
    while True:
        is_last = is_over.is_set()
        command = proposal(f"Bad, written while it is revoked: e-mail {len(answers)} of {id(node)}")
        answers += node.run_many(REMEMBER, BOT, [(command, None)])
        if is_last:
            return answers


def test_no_recall_that_begins_behind_a_revocation_shows_any_of_it(
    nodes: tuple[Pipeline, Pipeline], threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC I1, L12: on either node, from the commit of the one event on, while the others follow."""
    monkeypatch.setattr("tenure.usecases.sources.BATCH", 2)
    one, two = nodes
    for number in range(MEMORIES):
        written(one, bad(number))
    good = written(one, "Prefers e-mail, or the phone", source=source(id_="crm-2"))
    telling, is_over = Telling(one), threading.Event()
    looking: list[Future[tuple[int, list[str]]]] = [
        threads.submit(recall_on_and_on, node, telling.is_durable, is_over) for node in (one, two, one, two)
    ]

    answer: SourceRevocation = threads.submit(revoke_source, over(one, telling), OPERATOR, REVOKE).result(
        SECONDS_MAX
    )
    is_over.set()

    assert answer.revoked == MEMORIES
    for future in looking:
        late, seen = future.result(SECONDS_MAX)
        assert late >= ROUNDS
        assert seen == []
    for node in nodes:
        found = node.run(RECALL, BOT, question(limit=20)).items
        assert [item.memory.id for item in found] == [good.id]


def test_what_is_written_meanwhile_is_withdrawn_or_refused(
    nodes: tuple[Pipeline, Pipeline], threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC I1, F4a: stored before the event and taken with it, or decided again behind it and refused."""
    monkeypatch.setattr("tenure.usecases.sources.BATCH", 2)
    one, two = nodes
    written(one, bad(0))
    is_over = threading.Event()
    writing = [threads.submit(write_on_and_on, node, is_over) for node in nodes]

    answer = revoke_source(two, OPERATOR, REVOKE)
    is_over.set()

    stored = 1
    for future in writing:
        answers = future.result(SECONDS_MAX)
        assert isinstance(answers[-1], MemoryRejected)
        kinds = [isinstance(said, Written) for said in answers]
        # Once one is refused, all that follow are.
        assert kinds == sorted(kinds, reverse=True)
        stored += sum(kinds)
        assert {said.rule for said in answers if isinstance(said, MemoryRejected)} == {"source_revoked"}
    assert answer.revoked == stored
    for node in nodes:
        assert node.run(RECALL, BOT, question(limit=20)).items == ()
    assert one.store.rebuild().identical


def test_two_who_revoke_a_source_at_once_record_each_memory_once(
    nodes: tuple[Pipeline, Pipeline], threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC I1: both are answered; each memory has one event of its own."""
    monkeypatch.setattr("tenure.usecases.sources.BATCH", 2)
    one, two = nodes
    memories = [written(one, bad(number)) for number in range(MEMORIES)]

    answers = [
        future.result(SECONDS_MAX)
        for future in [threads.submit(revoke_source, node, OPERATOR, REVOKE) for node in nodes]
    ]

    assert sorted(answer.revoked for answer in answers) == [0, MEMORIES]
    with two.store.reading() as reading:
        rows = reading.rows_of("acme", [memory.id for memory in memories])
        assert {(row.status, row.version) for row in rows} == {("revoked", 2)}
        assert reading.revocations_begun() == []
    assert one.store.rebuild().identical

"""A key is forgotten while it is written: either order is explained, neither is half done (SPEC F4a)."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final

import pytest
from tests.journeys.installation import Installation
from tests.journeys.keys import CONTENT, TASK, USER, forget_key, kept, listed, recalled, resolved
from tests.usecases.asking import happened, source

from tenure.core.errors import MemoryRejected
from tenure.core.forgetting import Forgetting, Forgotten
from tenure.core.memory import Memory
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, AppendResult

SECONDS_MAX: Final = 30.0
ROUNDS: Final = 25
NEW: Final = "Prefers the phone"


class Gate:
    """A store whose next append waits at the door until somebody lets it in."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._store = pipeline.store
        self.arrived = threading.Event()
        self.opened = threading.Event()

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """What the store answers, once the door is open."""
        self.arrived.set()
        assert self.opened.wait(SECONDS_MAX)
        return list(self._store.append(items))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Two who act at once."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield pool


def held_up(installation: Installation) -> tuple[Pipeline, Gate]:
    """Another way into the same store, on which whoever decided is held up before anything is stored."""
    pipeline = installation.pipeline
    gate = Gate(pipeline)
    way: Pipeline = Pipeline(store=gate, keyring=pipeline.keyring, clock=pipeline.clock, rules=pipeline.rules)
    return way, gate


def overtaken(
    slow: Callable[[Pipeline], Any],
    quick: Callable[[], Any],
    installation: Installation,
    threads: ThreadPoolExecutor,
) -> "Future[Any]":
    """Let one decide, let the other be stored first, then let the one go on."""
    way, gate = held_up(installation)
    future = threads.submit(slow, way)
    assert gate.arrived.wait(SECONDS_MAX)
    threads.submit(quick).result(SECONDS_MAX)
    gate.opened.set()
    return future


def read(pipeline: Pipeline) -> set[str | None]:
    """What any reader finds of the key."""
    found = recalled(pipeline, None) | recalled(pipeline, TASK) | listed(pipeline)
    return (found | {resolved(pipeline, TASK), resolved(pipeline, USER)}) - {None}


def test_a_write_that_was_decided_before_the_forget_is_decided_again_after_it(
    installation: Installation, threads: ThreadPoolExecutor
) -> None:
    """SPEC F4a: it is stored second, so it is the newer one, and stands as a fresh memory does."""
    kept(installation.pipeline)

    late = overtaken(
        lambda way: kept(way, content=NEW), lambda: forget_key(installation.pipeline), installation, threads
    )

    assert late.result(SECONDS_MAX).version == 1
    assert happened(installation.pipeline)[-2:] == ["scoped_key.forgotten", "memory.admitted"]
    assert read(installation.pipeline) == {NEW}


@pytest.mark.parametrize("again", ["the same value", "an old source"])
def test_a_write_that_lies_below_the_floor_by_then_is_refused(
    installation: Installation, threads: ThreadPoolExecutor, again: str
) -> None:
    """SPEC F4a, F4b: it would have been admitted when it was decided first."""
    kept(installation.pipeline)
    observed_at: datetime = installation.clock.now()
    content, told = (CONTENT, None) if again == "the same value" else (NEW, observed_at)

    late = overtaken(
        lambda way: kept(way, content=content, source=source(observed_at=told)),
        lambda: forget_key(installation.pipeline),
        installation,
        threads,
    )

    with pytest.raises(MemoryRejected):
        late.result(SECONDS_MAX)
    assert read(installation.pipeline) == set()


def test_a_forget_that_was_decided_before_the_write_takes_it_along(
    installation: Installation, threads: ThreadPoolExecutor
) -> None:
    """SPEC F4a, F1: it is stored second, takes what stands then, and counts it."""
    kept(installation.pipeline)

    late = overtaken(forget_key, lambda: kept(installation.pipeline, content=NEW), installation, threads)

    assert late.result(SECONDS_MAX).forgotten == 2
    assert happened(installation.pipeline)[-2:] == ["memory.admitted", "scoped_key.forgotten"]
    assert read(installation.pipeline) == set()
    with pytest.raises(MemoryRejected):
        kept(installation.pipeline, content=NEW)


def test_a_forget_that_found_nothing_says_what_it_took_all_the_same(
    installation: Installation, threads: ThreadPoolExecutor
) -> None:
    """SPEC F1: the answer is that of what the transaction did, not of what was read before it."""
    late = overtaken(forget_key, lambda: kept(installation.pipeline), installation, threads)

    answer = late.result(SECONDS_MAX)
    assert (answer.status, answer.forgotten) == (Forgetting.FORGOTTEN, 1)
    assert read(installation.pipeline) == set()


def test_however_they_meet_the_log_explains_what_is_read(
    installation: Installation, threads: ThreadPoolExecutor
) -> None:
    """SPEC F4a, E1: both at once, many times: what was stored last decides, and nothing is half there."""
    for number in range(ROUNDS):
        content = f"Prefers the phone, line {number}"
        barrier = threading.Barrier(2)
        installation.clock.pass_time(minutes=1)
        writing = threads.submit(_written_at, barrier, installation.pipeline, content)
        forgetting = threads.submit(_forgotten_at, barrier, installation.pipeline)
        memory, answer = writing.result(SECONDS_MAX), forgetting.result(SECONDS_MAX)

        is_written_last = happened(installation.pipeline)[-1] == "memory.admitted"
        stands = content in read(installation.pipeline)
        with installation.pipeline.store.reading() as reading:
            assert (reading.memory_row("acme", memory.id) is not None) == stands
        assert stands == is_written_last
        assert (answer.status, answer.forgotten) == (
            (Forgetting.ALREADY_FORGOTTEN, 0) if is_written_last else (Forgetting.FORGOTTEN, 1)
        )
        kept_before_next(installation.pipeline, is_there=stands)
    assert installation.pipeline.store.rebuild().identical


def kept_before_next(pipeline: Pipeline, *, is_there: bool) -> None:
    """Take away what stands, so that the next round counts its own memory alone."""
    if is_there:
        assert forget_key(pipeline).forgotten == 1


def _written_at(barrier: threading.Barrier, pipeline: Pipeline, content: str) -> Memory:
    barrier.wait(SECONDS_MAX)
    return kept(pipeline, content=content)


def _forgotten_at(barrier: threading.Barrier, pipeline: Pipeline) -> Forgotten:
    barrier.wait(SECONDS_MAX)
    return forget_key(pipeline)

"""Threads and batches: every job is answered, in its own place, whatever becomes of its neighbours."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import pytest

from tenure.entrypoints.http_api.batches import BATCH_ITEMS_MAX, Batches
from tenure.entrypoints.http_api.worker_threads import WorkerThreads

R = TypeVar("R")


def with_threads(size: int, use: Callable[[WorkerThreads], Awaitable[R]]) -> R:
    """Use some threads in an event loop."""

    async def run() -> R:
        threads = WorkerThreads(size)
        try:
            return await use(threads)
        finally:
            threads.close()

    return asyncio.run(run())


def test_every_job_has_its_own_answer() -> None:
    """Many more jobs than threads."""

    def twice(number: int) -> int:
        return number * 2

    async def use(threads: WorkerThreads) -> list[int]:
        return await asyncio.gather(*(threads.run(partial(twice, number)) for number in range(500)))

    assert with_threads(4, use) == [number * 2 for number in range(500)]


def test_a_fault_is_raised_where_the_job_is_awaited() -> None:
    """And the thread goes on."""

    def fail() -> int:
        raise ValueError("no")

    async def use(threads: WorkerThreads) -> int:
        with pytest.raises(ValueError, match="no"):
            await threads.run(fail)
        return await threads.run(lambda: 7)

    assert with_threads(1, use) == 7


def test_who_no_longer_waits_is_left_alone() -> None:
    """SPEC S3: a cancelled wait does not disturb the next."""
    gate = threading.Event()

    async def use(threads: WorkerThreads) -> int:
        waiting = threads.run(gate.wait)
        waiting.cancel()
        gate.set()
        return await threads.run(lambda: 7)

    assert with_threads(1, use) == 7


def test_what_waits_together_is_worked_on_together() -> None:
    """The first goes alone; what came meanwhile goes at once, up to the limit, and lanes do not mix."""
    gate = threading.Event()
    seen: list[list[tuple[str, int]]] = []

    def work(batch: list[tuple[str, int]]) -> list[int]:
        gate.wait()
        seen.append(batch)
        return [number * 2 for _, number in batch]

    async def use(threads: WorkerThreads) -> list[int]:
        batches = Batches(threads, work)
        futures = [batches.put("a", ("a", number)) for number in range(BATCH_ITEMS_MAX + 11)]
        futures += [batches.put("b", ("b", number)) for number in range(2)]
        gate.set()
        return await asyncio.gather(*futures)

    answers = with_threads(4, use)

    assert answers == [number * 2 for number in (*range(BATCH_ITEMS_MAX + 11), *range(2))]
    sizes = {lane: [len(batch) for batch in seen if batch[0][0] == lane] for lane in ("a", "b")}
    assert sizes == {"a": [1, BATCH_ITEMS_MAX, 10], "b": [1, 1]}


def test_a_batch_that_fails_fails_for_all_in_it_and_for_no_other() -> None:
    """The lane goes on with what waits."""
    gate = threading.Event()

    def work(batch: list[int]) -> list[int]:
        gate.wait()
        if 2 in batch:
            raise ValueError("no")
        return batch

    async def use(threads: WorkerThreads) -> list[object]:
        batches = Batches(threads, work)
        futures = [batches.put("lane", number) for number in (1, 2, 3)]
        gate.set()
        first: list[object] = list(await asyncio.gather(*futures, return_exceptions=True))
        return [*first, await batches.put("lane", 4)]

    one, two, three, four = with_threads(1, use)

    assert (one, four) == (1, 4)
    assert isinstance(two, ValueError)
    assert isinstance(three, ValueError)

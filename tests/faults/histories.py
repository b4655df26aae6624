"""Histories of concurrent operations on memories, recorded on real nodes for the check of linearizability."""

import itertools
import random
import threading
from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from tests.faults.linearizability import NEVER, Operation, Read, State, Swap
from tests.stores.concurrently import at_once
from tests.usecases.asking import BOT, source

from tenure.core.errors import Unavailable, VersionConflict
from tenure.core.memory import Memory
from tenure.core.proposals import Revise
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.remembering import REVISE, ReviseMemory
from tenure.wiring import Node

TRIES_MAX: Final = 60
RETRY_SECONDS: Final = 0.05
RECORDING_SECONDS_MAX: Final = 120.0


def state_of(memory: Memory) -> State:
    """What a memory holds."""
    assert memory.content is not None
    return State(memory.version, memory.content)


class Recording:
    """Callers that read and revise a few memories at once, and what each was answered."""

    def __init__(self, memories: Sequence[Memory], *, seed: int) -> None:
        self._first = {memory.id: state_of(memory) for memory in memories}
        self._seed = seed
        self._clock = itertools.count()
        self._lock = threading.Lock()
        self._known = dict(self._first)
        self._pause = threading.Event()
        self.operations = 0
        self.unavailable = 0
        self.histories: dict[UUID, list[Operation]] = {memory.id: [] for memory in memories}

    def record(self, nodes: Sequence[Node], *, callers: int, operations: int) -> None:
        """Let so many callers, spread over the nodes, do so many operations each; give back when all did."""
        at_once(
            *(
                partial(self._call, nodes[number % len(nodes)].pipeline, number, operations)
                for number in range(callers)
            ),
            seconds_max=RECORDING_SECONDS_MAX,
        )

    def first(self, memory_id: UUID) -> State:
        """What a memory held before."""
        return self._first[memory_id]

    def _call(self, pipeline: Pipeline, caller: int, operations: int) -> None:
        chance = random.Random(self._seed * 1_000 + caller)
        for number in range(operations):
            memory_id = chance.choice(list(self._first))
            if chance.random() < 0.5:
                self._read(pipeline, memory_id)
            else:
                text = f"Caller {caller} wrote sentence {number}"
                self._swap(pipeline, memory_id, text, key=text if chance.random() < 0.5 else None)
            with self._lock:
                self.operations += 1

    def _read(self, pipeline: Pipeline, memory_id: UUID) -> None:
        called = next(self._clock)
        try:
            seen = state_of(pipeline.run(GET, BOT, Get(memory_id=memory_id)))
        except Unavailable:
            self._wait()
            return
        self._known[memory_id] = seen
        self._keep(memory_id, Operation(called, next(self._clock), Read(seen)))

    def _swap(self, pipeline: Pipeline, memory_id: UUID, content: str, *, key: str | None) -> None:
        """Revise; with a key it is tried until there is an answer, and all tries are one operation."""
        expected, called = self._known[memory_id].version, next(self._clock)
        revise = Revise(expected_version=expected, source=source(), content=content)
        command, may_have_happened = ReviseMemory(memory_id=memory_id, revise=revise), False
        for _ in range(TRIES_MAX if key is not None else 1):
            try:
                pipeline.run(REVISE, BOT, command, idempotency_key=key)
            except VersionConflict as conflict:
                found = conflict.current_version
            except Unavailable as fault:
                may_have_happened = may_have_happened or "unknown" in fault.message
                self._wait()
                continue
            else:
                found = expected
            self._keep(memory_id, Operation(called, next(self._clock), Swap(expected, content, found)))
            return
        if may_have_happened:
            self._keep(memory_id, Operation(called, NEVER, Swap(expected, content, None)))

    def _keep(self, memory_id: UUID, operation: Operation) -> None:
        with self._lock:
            self.histories[memory_id].append(operation)

    def _wait(self) -> None:
        with self._lock:
            self.unavailable += 1
        self._pause.wait(RETRY_SECONDS)

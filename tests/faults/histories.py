"""Histories of concurrent operations on memories, recorded for the check of linearizability.

The callers speak HTTP to nodes that are processes of their own.
"""

import itertools
import random
import threading
from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from tests.faults.linearizability import NEVER, Operation, Read, State, Swap
from tests.faults.served import Json, ServedNode
from tests.stores.concurrently import at_once

from tenure.core.errors import Unavailable, VersionConflict

TRIES_MAX: Final = 60
RETRY_SECONDS: Final = 0.05
RECORDING_SECONDS_MAX: Final = 120.0


def state_of(memory: Json) -> State:
    """What a memory holds."""
    return State(memory["version"], memory["content"])


class Recording:
    """Callers that read and revise a few memories at once, and what each was answered."""

    def __init__(self, tenant: str, memories: Sequence[Json], *, seed: int) -> None:
        self._tenant = tenant
        self._first = {UUID(memory["id"]): state_of(memory) for memory in memories}
        self._seed = seed
        self._clock = itertools.count()
        self._lock = threading.Lock()
        self._known = dict(self._first)
        self._pause = threading.Event()
        self.operations = 0
        self.unavailable = 0
        self.histories: dict[UUID, list[Operation]] = {memory_id: [] for memory_id in self._first}

    def record(self, nodes: Sequence[ServedNode], *, callers: int, operations: int) -> None:
        """Let so many callers, spread over the nodes, do so many operations each; give back when all did."""
        at_once(
            *(
                partial(self._call, nodes[number % len(nodes)], number, operations)
                for number in range(callers)
            ),
            seconds_max=RECORDING_SECONDS_MAX,
        )

    def has_done(self, operations: int) -> bool:
        """Whether so many operations are done."""
        return self.operations >= operations

    def first(self, memory_id: UUID) -> State:
        """What a memory held before."""
        return self._first[memory_id]

    def _call(self, node: ServedNode, caller: int, operations: int) -> None:
        chance = random.Random(self._seed * 1_000 + caller)
        for number in range(operations):
            memory_id = chance.choice(list(self._first))
            if chance.random() < 0.5:
                self._read(node, memory_id)
            else:
                text = f"Caller {caller} wrote sentence {number}"
                self._swap(node, memory_id, text, key=text if chance.random() < 0.5 else None)
            with self._lock:
                self.operations += 1

    def _read(self, node: ServedNode, memory_id: UUID) -> None:
        called = next(self._clock)
        try:
            seen = state_of(node.call(self._tenant, "GET", f"memories/{memory_id}"))
        except Unavailable:
            self._wait()
            return
        self._known[memory_id] = seen
        self._keep(memory_id, Operation(called, next(self._clock), Read(seen)))

    def _swap(self, node: ServedNode, memory_id: UUID, content: str, *, key: str | None) -> None:
        """Revise; with a key it is tried until there is an answer, and all tries are one operation."""
        expected, called = self._known[memory_id].version, next(self._clock)
        source = {"type": "application", "id": "crm-1"}
        revision = {"expected_version": expected, "source": source, "content": content}
        may_have_happened = False
        for _ in range(TRIES_MAX if key is not None else 1):
            try:
                node.call(self._tenant, "PATCH", f"memories/{memory_id}", revision, key=key)
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

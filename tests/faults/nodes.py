"""Nodes in this process, writers that go on whatever happens, and what must be true of a log afterwards.

Nodes that are processes of their own are in served.py, and most faults are tried on those. Nodes in here are
for faults that strike inside one, and for a look behind the others.
"""

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from tests.cluster.writers import Unacknowledged, Writers
from tests.usecases.asking import caller, log, proposal

from tenure.config import Settings
from tenure.config.settings import Keys
from tenure.core.errors import Unavailable
from tenure.core.events import Admitted
from tenure.usecases.evidence import verify
from tenure.usecases.remembering import REMEMBER
from tenure.wiring import Node, open_database

NODES: Final = 2
WRITERS_PER_NODE: Final = 8
TENANTS: Final = ("acme", "globex", "initech")
ROOT_KEY: Final = bytes(range(32))

Remember = Callable[[str, str], UUID]
"""Stores one memory in a tenant, with its content as its key; gives its id, or raises Unavailable."""


@contextlib.contextmanager
def running(url: str, folder: Path, *, count: int = NODES) -> Iterator[list[Node]]:
    """Nodes over one database, each with a folder of its own and all with one root key."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                open_database(
                    url, settings=Settings(data_dir=str(folder / f"node-{number}"), keys=Keys(kek=ROOT_KEY))
                )
            )
            for number in range(count)
        ]


def unavailable_says_so(fault: Unavailable) -> None:
    """Fail unless an outage was told as callers are promised: a 503, what to do, and when to come back."""
    retry_after = fault.details.get("retry_after_seconds")
    assert (fault.status, fault.code) == (503, "unavailable")
    assert fault.hint
    assert isinstance(retry_after, int)
    assert retry_after >= 1


class Acknowledged:
    """What writers were told is stored: the id of each memory by its content, which is also its key."""

    def __init__(self, tenants: Sequence[str] = TENANTS) -> None:
        self.tenants = tenants
        self._lock = threading.Lock()
        self._ids: dict[str, UUID] = {}

    def tenant_of(self, name: str) -> str:
        """The tenant that a writer's memory goes to, by its name alone, so that a retry goes there too."""
        return self.tenants[sum(name.encode()) % len(self.tenants)]

    def add(self, content: str, memory_id: UUID) -> None:
        """One acknowledgement; a second one of the same content must name the same memory."""
        with self._lock:
            assert self._ids.setdefault(content, memory_id) == memory_id

    def of(self, tenant: str) -> dict[str, UUID]:
        """The acknowledgements of one tenant."""
        with self._lock:
            return {
                content: found for content, found in self._ids.items() if self.tenant_of(content) == tenant
            }


class NodeWriter:
    """Writes memories through one node; every error but Unavailable is the test's failure."""

    def __init__(self, remember: Remember, acknowledged: Acknowledged) -> None:
        self._remember = remember
        self._acknowledged = acknowledged

    def write(self, name: str) -> None:
        """Store one memory with its name as content and as idempotency key."""
        try:
            memory_id = self._remember(self._acknowledged.tenant_of(name), name)
        except Unavailable as fault:
            raise Unacknowledged from fault
        self._acknowledged.add(name, memory_id)

    def close(self) -> None:
        """The node stays open, whatever happened: it has to recover by itself."""


def remembering(node: Node) -> Remember:
    """The way into a node in this process."""

    def remember(tenant: str, name: str) -> UUID:
        command = proposal(name, subject=f"customer-{len(name) % 5}")
        try:
            memory = node.pipeline.run(REMEMBER, caller(tenant=tenant), command, idempotency_key=name).memory
        except Unavailable as fault:
            unavailable_says_so(fault)
            raise
        assert memory is not None
        return memory.id

    return remember


def writers_through(ways: Sequence[Remember], acknowledged: Acknowledged) -> Writers:
    """Eight writers for each way in; what one could not acknowledge is tried again on another."""
    turns = itertools.cycle(ways)
    return Writers(lambda: NodeWriter(next(turns), acknowledged), count=WRITERS_PER_NODE * len(ways))


def writers_on(nodes: list[Node], acknowledged: Acknowledged) -> Writers:
    """Eight writers for each node in this process."""
    return writers_through([remembering(node) for node in nodes], acknowledged)


def assert_all_there_once(node: Node, acknowledged: Acknowledged) -> None:
    """SPEC E5, L9: every acknowledged memory is in the log, none is in it twice, and the log holds."""
    for tenant in acknowledged.tenants:
        made = [
            (event.secret.content, event.stream)
            for event in log(node.pipeline, tenant)
            if isinstance(event.data, Admitted) and event.secret is not None
        ]
        doubled = [content for content, times in Counter(content for content, _ in made).items() if times > 1]
        assert doubled == []
        lost = acknowledged.of(tenant).items() - dict(made).items()
        assert lost == set()
        assert verify(node.pipeline, tenant).holds
    assert node.store.rebuild().identical

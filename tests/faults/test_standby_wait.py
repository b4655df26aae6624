"""A wait for a standby that is cut short acknowledges nothing, not even through a retry (SPEC E5).

No standby ever comes here: without the harm, a write would wait for ever. The node is one in this process,
since a retry must be brought past the pipeline, which recognises it first, and straight to the store.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
from tests.faults.nodes import unavailable_says_so
from tests.postgres.server import PostgresServer
from tests.postgres.standby import (
    cancel_waits,
    need_no_standby,
    need_standby,
    terminate_waits,
    waiting_commits,
)
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.stores.items import created, log_of, put
from tests.usecases.asking import BOT, happened, proposal, written

from tenure.core.errors import Unavailable
from tenure.core.remembering import Written
from tenure.usecases.ports import Replayed
from tenure.usecases.remembering import REMEMBER
from tenure.wiring import Node

KEY: Final = "the one key"
WAIT_SECONDS_MAX: Final = 15.0


class Lonely(NamedTuple):
    """A server without the standby it waits for, and the address of the node's own database on it."""

    server: PostgresServer
    url: str

    def wait_for_a_waiting_commit(self) -> int:
        """A process that waits for a standby, as soon as one does."""
        pids = wait_until(
            lambda: waiting_commits(self.url),
            what="a commit waits for the standby",
            seconds_max=WAIT_SECONDS_MAX,
        )
        return pids[0]

    def cancel_the_wait(self) -> None:
        """Cut a wait for the standby short."""
        self.wait_for_a_waiting_commit()
        cancel_waits(self.url)

    def terminate_the_wait(self) -> None:
        """End the connection that waits; whoever asks what became of it waits too, until none is needed."""
        first = self.wait_for_a_waiting_commit()
        terminate_waits(self.url)
        wait_until(
            lambda: self.wait_for_a_waiting_commit() != first,
            what="another commit waits",
            seconds_max=WAIT_SECONDS_MAX,
        )
        need_no_standby(self.server)


@pytest.fixture
def lonely(mortal_server: PostgresServer, mortal_url: str, node: Node) -> Iterator[Lonely]:
    """The server of the node, which now waits for a standby that does not exist."""
    written(node.pipeline, "First of all")
    try:
        need_standby(mortal_server)
        yield Lonely(mortal_server, mortal_url)
    finally:
        need_no_standby(mortal_server)


def remember(node: Node) -> Written:
    """The one write of these tests, or its retry."""
    return node.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key=KEY)


def outcome(node: Node, harm: Callable[[], None]) -> Any:
    """What becomes of the write while the harm is done."""
    return at_once(partial(remember, node), harm)[0]


def test_a_cancelled_wait_for_a_standby_is_no_success_and_nor_is_its_retry(
    node: Node, lonely: Lonely
) -> None:
    """SPEC E5, L9: what this server alone has may be lost with it, so nobody is told that it is stored."""
    for _ in range(2):
        refused = outcome(node, lonely.cancel_the_wait)
        assert isinstance(refused, Unavailable)
        unavailable_says_so(refused)
        assert "unknown" in refused.message
    need_no_standby(lonely.server)
    assert remember(node).memory is not None
    assert happened(node.pipeline) == ["memory.admitted"] * 2


def test_a_retry_that_is_recognised_only_in_its_transaction_waits_too(node: Node, lonely: Lonely) -> None:
    """SPEC E5, L9: the store answers a retry no sooner than a first try."""
    item = created(node.keyring, 1, key=KEY)
    for _ in range(2):
        refused = at_once(partial(put, node, item), lonely.cancel_the_wait)[0]
        assert isinstance(refused, Unavailable)
    need_no_standby(lonely.server)
    [again] = put(node, item)
    assert isinstance(again, Replayed)
    assert len(log_of(node)) == 2


def test_a_connection_lost_while_it_waited_is_acknowledged_only_after_another_wait(
    node: Node, lonely: Lonely
) -> None:
    """SPEC E5: the write is found in the log, and still that is no acknowledgement by a standby."""
    assert isinstance(outcome(node, lonely.terminate_the_wait), Written)
    assert happened(node.pipeline) == ["memory.admitted"] * 2

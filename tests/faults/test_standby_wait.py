"""A wait for a standby that is cut short acknowledges nothing, not even through a retry (SPEC E5).

No standby ever comes here: without the harm, a write would wait for ever. The node is one in this process,
since a retry must be brought past the pipeline, which recognises it first, and straight to the store.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
from tests.faults.nodes import unavailable_says_so
from tests.postgres.server import PostgresServer
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


@pytest.fixture
def lonely(mortal_server: PostgresServer, node: Node) -> Iterator[PostgresServer]:
    """The server of the node, which now waits for a standby that does not exist."""
    written(node.pipeline, "First of all")
    mortal_server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    mortal_server.query("SELECT pg_reload_conf()")
    wait_until(
        lambda: mortal_server.query("SHOW synchronous_standby_names") == [("nobody",)],
        what="the server waits for a standby",
        seconds_max=WAIT_SECONDS_MAX,
    )
    yield mortal_server
    give_up_standby(mortal_server)


def give_up_standby(server: PostgresServer) -> None:
    """From now on, and for those who wait already, no standby is needed."""
    server.query("ALTER SYSTEM RESET synchronous_standby_names")
    server.query("SELECT pg_reload_conf()")


def wait_for_a_waiting_commit(server: PostgresServer) -> int:
    """The process that waits for a standby, as soon as one does."""
    [[pid]] = wait_until(
        lambda: server.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"),
        what="a commit waits for the standby",
        seconds_max=WAIT_SECONDS_MAX,
    )
    assert isinstance(pid, int)
    return pid


def cancel_the_wait(server: PostgresServer) -> None:
    """Cut a wait for the standby short."""
    wait_for_a_waiting_commit(server)
    server.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")


def terminate_the_wait(server: PostgresServer) -> None:
    """End the connection that waits; whoever asks what became of it waits too, until none is needed."""
    first = wait_for_a_waiting_commit(server)
    server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    wait_until(
        lambda: wait_for_a_waiting_commit(server) != first,
        what="another commit waits",
        seconds_max=WAIT_SECONDS_MAX,
    )
    give_up_standby(server)


def remember(node: Node) -> Written:
    """The one write of these tests, or its retry."""
    return node.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key=KEY)


def outcome(node: Node, server: PostgresServer, harm: Any) -> Any:
    """What becomes of the write while the harm is done."""
    return at_once(partial(remember, node), partial(harm, server))[0]


def test_a_cancelled_wait_for_a_standby_is_no_success_and_nor_is_its_retry(
    node: Node, lonely: PostgresServer
) -> None:
    """SPEC E5, L9: what this server alone has may be lost with it, so nobody is told that it is stored."""
    for _ in range(2):
        refused = outcome(node, lonely, cancel_the_wait)
        assert isinstance(refused, Unavailable)
        unavailable_says_so(refused)
        assert "unknown" in refused.message
    give_up_standby(lonely)
    assert remember(node).memory is not None
    assert happened(node.pipeline) == ["memory.admitted"] * 2


def test_a_retry_that_is_recognised_only_in_its_transaction_waits_too(
    node: Node, lonely: PostgresServer
) -> None:
    """SPEC E5, L9: the store answers a retry no sooner than a first try."""
    item = created(node.keyring, 1, key=KEY)
    for _ in range(2):
        refused = at_once(partial(put, node, item), partial(cancel_the_wait, lonely))[0]
        assert isinstance(refused, Unavailable)
    give_up_standby(lonely)
    [again] = put(node, item)
    assert isinstance(again, Replayed)
    assert len(log_of(node)) == 2


def test_a_connection_lost_while_it_waited_is_acknowledged_only_after_another_wait(
    node: Node, lonely: PostgresServer
) -> None:
    """SPEC E5: the write is found in the log, and still that is no acknowledgement by a standby."""
    assert isinstance(outcome(node, lonely, terminate_the_wait), Written)
    assert happened(node.pipeline) == ["memory.admitted"] * 2

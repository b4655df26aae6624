"""The server dies under load and comes back, or cuts connections: the nodes go on by themselves (SPEC E5)."""

import contextlib
from functools import partial

import pytest
from tests.cluster.writers import Writers
from tests.faults.nodes import Acknowledged, assert_all_there_once, recalled, unavailable_says_so, writers_on
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.stores.items import TENANT, accepted, created, log_of, put
from tests.usecases.asking import written

from tenure.core.errors import Unavailable
from tenure.wiring import Node

MORE = 60
CUTS = 5
IDLE = 8
RECOVERY_SECONDS_MAX = 15.0
"""Enough for the slowest path: a caller that waits for a connection in vain, and the next one."""


def more_retries_than(writers: Writers, count: int) -> bool:
    """Whether a writer has met an outage since there were so many."""
    return writers.retries > count


def assert_survives_kills(server: PostgresServer, nodes: list[Node], *, kills: int) -> None:
    """Kill the server under the load of the nodes, start it, and see that all go on."""
    acknowledged = Acknowledged()
    with writers_on(nodes, acknowledged) as writers:
        for _ in range(kills):
            writers.wait_for_more(MORE)
            before = writers.retries
            server.kill()
            wait_until(
                partial(more_retries_than, writers, before),
                what="a writer meets the outage",
                seconds_max=RECOVERY_SECONDS_MAX,
            )
            server.start()
            writers.wait_for_more(MORE)
    for node in nodes:
        assert_all_there_once(node, acknowledged)


def test_a_server_killed_under_load_loses_and_doubles_nothing(
    mortal_server: PostgresServer, nodes: list[Node]
) -> None:
    """SPEC E5, L9: every error is a 503 that says when to come back, and no node is restarted."""
    assert_survives_kills(mortal_server, nodes, kills=1)


@pytest.mark.slow
def test_a_server_killed_many_times_under_load_loses_and_doubles_nothing(
    mortal_server: PostgresServer, nodes: list[Node]
) -> None:
    """SPEC E5, L9: twelve kills."""
    assert_survives_kills(mortal_server, nodes, kills=12)


def test_connections_cut_under_load_lose_and_double_nothing(
    mortal_server: PostgresServer, mortal_url: str, nodes: list[Node]
) -> None:
    """SPEC E5, L9: again and again everybody is thrown out of the database."""
    acknowledged = Acknowledged()
    database = mortal_url.rpartition("/")[2]
    with writers_on(nodes, acknowledged) as writers:
        for _ in range(CUTS):
            writers.wait_for_more(MORE)
            assert mortal_server.terminate_connections(database) > 0
        writers.wait_for_more(MORE)
    assert_all_there_once(nodes[0], acknowledged)


def test_connections_cut_while_nobody_uses_them_are_noticed_by_no_caller(
    mortal_server: PostgresServer, mortal_url: str, node: Node
) -> None:
    """SPEC E5: however many lay idle, they are found dead and replaced; the next write goes through."""
    item = created(node.keyring, 1)
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(node.store.reading()).head(TENANT)
    assert mortal_server.terminate_connections(mortal_url.rpartition("/")[2]) >= IDLE
    assert accepted(put(node, item)) == [1]
    assert len(log_of(node)) == 1


@pytest.mark.usefixtures("impatient")
def test_while_the_server_is_down_every_call_says_so(mortal_server: PostgresServer, node: Node) -> None:
    """SPEC S2, E5: writes and reads get a 503 in time; afterwards the same node serves both."""
    written(node.pipeline, "Prefers e-mail")
    mortal_server.kill()
    read, write, is_healthy = at_once(
        partial(recalled, node), partial(written, node.pipeline, "Has a phone"), node.store.healthy
    )
    for refused in (read, write):
        assert isinstance(refused, Unavailable)
        unavailable_says_so(refused)
    assert not is_healthy
    mortal_server.start()
    wait_until(node.store.healthy, what="the node is healthy again", seconds_max=RECOVERY_SECONDS_MAX)
    assert recalled(node) == ["Prefers e-mail"]


def test_a_write_right_after_a_crash_hides_nothing_from_recall(
    mortal_server: PostgresServer, nodes: list[Node]
) -> None:
    """SPEC E5, R1: a crash empties the word index; a write before the first recall must not hide that."""
    written(nodes[0].pipeline, "Prefers e-mail")
    mortal_server.kill()
    mortal_server.start()
    for node in nodes:
        wait_until(node.store.healthy, what="the node is healthy again", seconds_max=RECOVERY_SECONDS_MAX)
    written(nodes[0].pipeline, "Has a phone")
    for node in nodes:
        assert recalled(node) == ["Has a phone", "Prefers e-mail"]

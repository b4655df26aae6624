"""The server dies under load and comes back, or cuts connections: the nodes go on by themselves (SPEC E5).

The nodes are processes that speak HTTP, the same two for all of these tests.
"""

import contextlib
from functools import partial

import pytest
from tests.cluster.writers import Writers
from tests.faults.nodes import Acknowledged
from tests.faults.served import Served, assert_all_there_once, writers_on
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.stores.items import TENANT, accepted, created, log_of, put

from tenure.core.errors import Unavailable
from tenure.wiring import Node

MORE = 60
CUTS = 5
IDLE = 8
TENANTS = 3
RECOVERY_SECONDS_MAX = 30.0
"""Enough for the slowest path: a caller that waits for a connection in vain, and the next one."""


def more_retries_than(writers: Writers, count: int) -> bool:
    """Whether a writer has met an outage since there were so many."""
    return writers.retries > count


def assert_survives_kills(server: PostgresServer, served: Served, *, kills: int) -> None:
    """Kill the server under the load of the nodes, start it, and see that all go on."""
    acknowledged = Acknowledged(served.tenants(TENANTS))
    with writers_on(served, acknowledged) as writers:
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
    assert_all_there_once(served, acknowledged)


def test_a_server_killed_under_load_loses_and_doubles_nothing(
    mortal_server: PostgresServer, lasting: Served
) -> None:
    """SPEC E5, L9, S5: every error is a 503 with Retry-After, and no node is started again."""
    assert_survives_kills(mortal_server, lasting, kills=1)


@pytest.mark.slow
def test_a_server_killed_many_times_under_load_loses_and_doubles_nothing(
    mortal_server: PostgresServer, lasting: Served
) -> None:
    """SPEC E5, L9, S5: twelve kills."""
    assert_survives_kills(mortal_server, lasting, kills=12)


def test_connections_cut_under_load_lose_and_double_nothing(
    mortal_server: PostgresServer, lasting: Served
) -> None:
    """SPEC E5, L9: again and again everybody is thrown out of the database."""
    acknowledged = Acknowledged(lasting.tenants(TENANTS))
    with writers_on(lasting, acknowledged) as writers:
        for _ in range(CUTS):
            writers.wait_for_more(MORE)
            assert mortal_server.terminate_connections(lasting.database) > 0
        writers.wait_for_more(MORE)
    assert_all_there_once(lasting, acknowledged)


def test_connections_cut_while_nobody_uses_them_are_noticed_by_no_caller(
    mortal_server: PostgresServer, mortal_url: str, node: Node
) -> None:
    """SPEC E5: however many lay idle, they are found dead and replaced; the next write goes through.

    The node is one in this process, since no caller decides how many connections a node has open.
    """
    item = created(node.keyring, 1)
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(node.store.reading()).head(TENANT)
    assert mortal_server.terminate_connections(mortal_url.rpartition("/")[2]) >= IDLE
    assert accepted(put(node, item)) == [1]
    assert len(log_of(node)) == 1


@pytest.mark.usefixtures("impatient")
def test_connections_to_the_keys_cut_while_nobody_uses_them_are_noticed_by_no_caller(
    mortal_server: PostgresServer, mortal_url: str, node: Node
) -> None:
    """SPEC E5: dead ones are not met one by one, each after a longer pause; the next write goes on.

    The node is one in this process, whose patience is so short that one such pause would exceed it.
    """
    at_once(*(partial(node.keyring.ensure, [(TENANT, f"customer-{number}")]) for number in range(IDLE)))
    mortal_server.terminate_connections(mortal_url.rpartition("/")[2])
    assert accepted(put(node, created(node.keyring, 1))) == [1]


def test_while_the_server_is_down_every_call_says_so(mortal_server: PostgresServer, lasting: Served) -> None:
    """SPEC S2, S3, E5: on either node writes and reads get a 503 in time; later the same ones serve both."""
    [tenant] = lasting.tenants()
    lasting.nodes[0].remember(tenant, "Prefers e-mail")
    mortal_server.kill()
    reads = [partial(node.recalled, tenant, "e-mail or phone") for node in lasting.nodes]
    writes = [partial(node.remember, tenant, "Has a phone") for node in lasting.nodes]
    *refused, one, other = at_once(*reads, *writes, *(node.readiness for node in lasting.nodes))
    assert all(isinstance(refusal, Unavailable) for refusal in refused)
    for readiness in (one, other):
        assert readiness.status_code == 503
        assert int(readiness.headers["retry-after"]) >= 1
    mortal_server.start()
    lasting.wait_until_ready(seconds_max=RECOVERY_SECONDS_MAX)
    assert [read() for read in reads] == [["Prefers e-mail"]] * len(reads)
    assert len({write() for write in writes}) == 1
    assert [read() for read in reads] == [["Has a phone", "Prefers e-mail"]] * len(reads)


def test_a_write_right_after_a_crash_hides_nothing_from_recall(
    mortal_server: PostgresServer, lasting: Served
) -> None:
    """SPEC E5, R1: a crash empties the word index; a write before the first recall must not hide that."""
    [tenant] = lasting.tenants()
    lasting.nodes[0].remember(tenant, "Prefers e-mail")
    mortal_server.kill()
    mortal_server.start()
    lasting.wait_until_ready(seconds_max=RECOVERY_SECONDS_MAX)
    lasting.nodes[0].remember(tenant, "Has a phone")
    for node in lasting.nodes:
        assert node.recalled(tenant, "e-mail or phone") == ["Has a phone", "Prefers e-mail"]

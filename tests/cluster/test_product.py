"""Tenure's own nodes on a quorum cluster whose leader is killed, and on a pair that must lose something.

The check is told from outside: what the writers were told is stored is compared with what the leader has.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.faults.nodes import Acknowledged, assert_all_there_once, running, writers_on
from tests.postgres.cluster import QuorumCluster
from tests.postgres.lagging_pair import LaggingPair
from tests.postgres.waiting import wait_until

pytestmark = pytest.mark.cluster

WRITES = 100
KILLS = (False, True, False, True)
"""For each kill, whether the leader's agent dies with its PostgreSQL."""
RECOVERY_SECONDS_MAX = 30.0


@pytest.fixture
def cluster() -> Iterator[QuorumCluster]:
    """A quorum cluster that is whole."""
    with QuorumCluster() as cluster:
        yield cluster


@pytest.fixture
def pair() -> Iterator[LaggingPair]:
    """A primary with a standby for which it does not wait."""
    with LaggingPair() as pair:
        yield pair


def written(url: str) -> set[str]:
    """The names under which the leader has memories now: each is its write's idempotency key."""
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT key FROM tenure.idem")}


def test_four_leaders_killed_under_load_lose_and_double_nothing(
    cluster: QuorumCluster, tmp_path: Path
) -> None:
    """SPEC E5, L9, S5: two nodes follow each new leader by themselves; what they acknowledged is there."""
    url, acknowledged = cluster.leader_url(), Acknowledged()
    with running(url, tmp_path) as nodes:
        with writers_on(nodes, acknowledged) as writers:
            for agent in KILLS:
                writers.wait_for_more(WRITES)
                killed = cluster.kill_leader(agent=agent)
                cluster.wait_for_leader(other_than=killed)
                writers.wait_for_more(WRITES)
                assert writers.acknowledged - written(url) == frozenset()
                cluster.revive(killed)
                cluster.wait_until_whole()
        assert writers.retries > 0, "no writer noticed that a leader died"
        assert writers.acknowledged - written(url) == frozenset()
        for node in nodes:
            wait_until(node.store.healthy, what="the node is healthy", seconds_max=RECOVERY_SECONDS_MAX)
            assert_all_there_once(node, acknowledged)


def test_nodes_on_a_lagging_standby_that_is_promoted_have_lost_what_they_acknowledged(
    pair: LaggingPair, tmp_path: Path
) -> None:
    """The negative control: the same check, on a pair that must fail it."""
    url = pair.leader_url()
    with running(url, tmp_path) as nodes, writers_on(nodes, Acknowledged()) as writers:
        writers.wait_for_more(WRITES)
        pair.pause_receiving()
        writers.wait_for_more(WRITES)
        pair.kill_primary()
        pair.promote()
        writers.wait_for_more(WRITES)
    lost = writers.acknowledged - written(url)
    assert len(lost) >= WRITES / 2
    assert len(lost) < len(writers.acknowledged)

"""The check that nothing acknowledged is lost, tried where it must hold, and where it must not.

The writers here are plain SQL, so that a failure is the cluster's or the check's and nobody else's.
"""

from collections.abc import Iterator

import psycopg
import pytest
from tests.cluster.writers import TABLE, PlainWriter, Writers
from tests.postgres.cluster import QuorumCluster
from tests.postgres.lagging_pair import LaggingPair

pytestmark = pytest.mark.cluster

WRITES = 200
KILLS = (False, True, False, True)
"""For each kill, whether the leader's agent dies with its PostgreSQL."""


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


def plain_writers(url: str) -> Writers:
    """Eight writers of rows, with an empty table to write to."""
    with psycopg.connect(url) as connection:
        connection.execute(TABLE)
    return Writers(lambda: PlainWriter(url))


def written(url: str) -> set[str]:
    """The names of all rows that the leader has now."""
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM written")}


def test_four_leaders_killed_under_load_lose_nothing_acknowledged(cluster: QuorumCluster) -> None:
    """SPEC E5: each time another member takes over, has every acknowledged row, and takes more."""
    url = cluster.leader_url()
    with plain_writers(url) as writers:
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


def test_a_lagging_standby_that_is_promoted_has_lost_what_was_acknowledged(pair: LaggingPair) -> None:
    """The negative control: the same check, on a pair that must fail it."""
    url = pair.leader_url()
    with plain_writers(url) as writers:
        writers.wait_for_more(WRITES)
        pair.pause_receiving()
        writers.wait_for_more(WRITES)
        pair.kill_primary()
        pair.promote()
        writers.wait_for_more(WRITES)
    lost = writers.acknowledged - written(url)
    assert len(lost) >= WRITES / 2
    assert len(lost) < len(writers.acknowledged)

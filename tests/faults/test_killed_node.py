"""A node is killed under load while it does the rounds: nothing is lost or doubled, the other goes on.

The nodes are processes; what one of them died over is tried again on the other, under its key (SPEC E5, L9).
"""

from functools import partial

import pytest
from tests.cluster.writers import Writers
from tests.faults.nodes import Acknowledged
from tests.faults.served import LEASE_SECONDS_MAX, Served, assert_all_there_once, writers_on
from tests.postgres.waiting import wait_until

MORE = 40
TENANTS = 3
NOTICED_SECONDS_MAX = 30.0


def has_met_an_outage(writers: Writers, before: int) -> bool:
    """Whether a writer's node has failed it since there were so many retries."""
    return writers.retries > before


def is_succeeded(served: Served, dead: str) -> bool:
    """Whether another node does the rounds."""
    return served.holder() not in {None, dead}


def kill_the_holder(served: Served, writers: Writers, holder: int) -> None:
    """Kill the node that does the rounds, see the other go on with everything, and start it again."""
    dead = served.holder()
    assert dead is not None
    before = writers.retries
    served.nodes[holder].kill()
    wait_until(
        partial(has_met_an_outage, writers, before),
        what="a writer misses its node",
        seconds_max=NOTICED_SECONDS_MAX,
    )
    served.end_lease()
    wait_until(
        partial(is_succeeded, served, dead), what="the other does the rounds", seconds_max=LEASE_SECONDS_MAX
    )
    writers.wait_for_more(MORE)
    served.nodes[holder].start()


def assert_survives_kills(served: Served, *, kills: int) -> None:
    """Kill each node in turn, under load, whenever it has come to do the rounds."""
    acknowledged = Acknowledged(served.tenants(TENANTS))
    with writers_on(served, acknowledged) as writers:
        for number in range(kills):
            writers.wait_for_more(MORE)
            kill_the_holder(served, writers, number % len(served.nodes))
        writers.wait_for_more(MORE)
    assert_all_there_once(served, acknowledged)


def test_a_node_killed_while_it_does_the_rounds_loses_and_doubles_nothing(mortal_nodes: Served) -> None:
    """SPEC E5, L9, S5, T8: both nodes in turn; writers turn to the other, which takes the rounds over.

    The lease is set back as if its ten seconds had passed; that they are waited for is tested elsewhere.
    """
    assert_survives_kills(mortal_nodes, kills=2)


@pytest.mark.slow
def test_nodes_killed_many_times_lose_and_double_nothing(mortal_nodes: Served) -> None:
    """SPEC E5, L9, S5, T8: fifty kills."""
    assert_survives_kills(mortal_nodes, kills=50)

"""Transactions that the database gives up are tried again, and callers never learn of it (SPEC E5, L8).

The nodes are processes that speak HTTP.
"""

import psycopg
import pytest
from tests.faults.nodes import Acknowledged
from tests.faults.served import Served, assert_all_there_once, writers_on
from tests.postgres.faults import DEADLOCK, SERIALISATION_FAILURE, refused_writes

from tenure.core.errors import Unavailable

IN_SCHEMA = "?options=-csearch_path%3Dtenure"
MORE = 40
TENANTS = 3


@pytest.mark.parametrize("at_commit", [False, True])
@pytest.mark.parametrize("sqlstate", [SERIALISATION_FAILURE, DEADLOCK])
def test_transactions_that_are_given_up_are_tried_again_unseen(
    lasting: Served, sqlstate: str, *, at_commit: bool
) -> None:
    """SPEC E5, L8: three in a row fail where they write or at their commit; the write is stored once."""
    [tenant] = lasting.tenants()
    first, second = lasting.nodes
    first.remember(tenant, "First of all")
    before = first.positions(tenant)
    with refused_writes(
        lasting.url + IN_SCHEMA, "event", sqlstate=sqlstate, times=3, at_commit=at_commit
    ) as failures:
        second.remember(tenant, "Second")
        assert failures() == 3
    assert first.positions(tenant) == [*before, len(before) + 1]


def test_transactions_that_are_given_up_under_load_disturb_no_writer(lasting: Served) -> None:
    """SPEC E5, L9, S5: eight writers on each of two nodes get no error, and everything is stored once."""
    acknowledged = Acknowledged(lasting.tenants(TENANTS))
    with refused_writes(
        lasting.url + IN_SCHEMA, "event", sqlstate=SERIALISATION_FAILURE, times=4
    ) as failures:
        with writers_on(lasting, acknowledged) as writers:
            writers.wait_for_more(MORE)
        assert failures() == 4
    assert writers.retries == 0
    assert_all_there_once(lasting, acknowledged)


def test_a_database_that_gives_up_for_ever_is_unavailable(lasting: Served) -> None:
    """SPEC E5, S2: the tries are bounded, nothing is stored, and with the cause gone the next write is."""
    [tenant] = lasting.tenants()
    node = lasting.nodes[0]
    before = node.positions(tenant)
    with (
        refused_writes(lasting.url + IN_SCHEMA, "event", sqlstate=SERIALISATION_FAILURE, times=1_000),
        pytest.raises(Unavailable, match="SerializationFailure"),
    ):
        node.remember(tenant, "Prefers e-mail")
    assert node.positions(tenant) == before
    with psycopg.connect(lasting.url) as connection:
        stored = "SELECT count(*) FROM tenure.event WHERE tenant_id = %s"
        assert connection.execute(stored, [tenant]).fetchone() == (len(before),)
    node.remember(tenant, "Prefers e-mail")
    assert node.positions(tenant) == [*before, len(before) + 1]

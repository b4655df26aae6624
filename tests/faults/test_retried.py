"""Transactions that the database gives up are tried again, and callers never learn of it (SPEC E5, L8)."""

import psycopg
import pytest
from tests.faults.nodes import Acknowledged, assert_all_there_once, writers_on
from tests.postgres.faults import DEADLOCK, SERIALISATION_FAILURE, refused_writes
from tests.stores.items import created, log_of, put
from tests.usecases.asking import written

from tenure.core.errors import Unavailable
from tenure.usecases.ports import Appended
from tenure.wiring import Node

IN_SCHEMA = "?options=-csearch_path%3Dtenure"
MORE = 40


@pytest.mark.parametrize("at_commit", [False, True])
@pytest.mark.parametrize("sqlstate", [SERIALISATION_FAILURE, DEADLOCK])
def test_transactions_that_are_given_up_are_tried_again_unseen(
    mortal_url: str, node: Node, sqlstate: str, *, at_commit: bool
) -> None:
    """SPEC E5, L8: three in a row fail where they write or at their commit; the write is stored once."""
    written(node.pipeline, "First of all")
    with refused_writes(
        mortal_url + IN_SCHEMA, "event", sqlstate=sqlstate, times=3, at_commit=at_commit
    ) as failures:
        [result] = put(node, created(node.keyring, 1))
        assert isinstance(result, Appended)
        assert failures() == 3
    assert [stored.seq for stored in log_of(node)] == [1, 2]


def test_transactions_that_are_given_up_under_load_disturb_no_writer(
    mortal_url: str, nodes: list[Node]
) -> None:
    """SPEC E5, L9: eight writers on each of two nodes get no error, and everything is stored once."""
    acknowledged = Acknowledged()
    with refused_writes(mortal_url + IN_SCHEMA, "event", sqlstate=SERIALISATION_FAILURE, times=4) as failures:
        with writers_on(nodes, acknowledged) as writers:
            writers.wait_for_more(MORE)
        assert failures() == 4
    assert writers.retries == 0
    assert_all_there_once(nodes[0], acknowledged)


def test_a_database_that_gives_up_for_ever_is_unavailable(mortal_url: str, node: Node) -> None:
    """SPEC E5: the tries are bounded, nothing is stored, and with the cause gone the next write is."""
    with (
        refused_writes(mortal_url + IN_SCHEMA, "event", sqlstate=SERIALISATION_FAILURE, times=1_000),
        pytest.raises(Unavailable, match="SerializationFailure"),
    ):
        written(node.pipeline)
    with psycopg.connect(mortal_url) as connection:
        assert connection.execute("SELECT count(*) FROM tenure.event").fetchone() == (0,)
    written(node.pipeline)

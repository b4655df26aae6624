"""The background rounds: at once, again and again, and never quietly dead (SPEC T8, L11)."""

from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from tests.clock import MovableClock
from tests.entrypoints.http_api.acme import running
from tests.stores.engine import Engine, SqliteEngine
from tests.usecases.asking import happened, written

from tenure.config import Settings
from tenure.entrypoints.upkeep_thread import UpkeepThread
from tenure.stores.sqlite.store import SqliteStore
from tenure.usecases.upkeep import Round, Worked, upkeep_round
from tenure.wiring import Node, open_database

FOREVER_SECONDS = 86_400.0


def test_a_round_writes_what_time_has_done(engine: Engine) -> None:
    """SPEC L11: the explicit event for a memory whose time has passed; a full batch is followed at once."""
    with running(engine) as acme:
        memories = [acme.remember(f"Likes number {number}", ttl_seconds=60) for number in range(3)]
        acme.clock.ahead = timedelta(seconds=61)
        thread = UpkeepThread(acme.node.pipeline, interval_seconds=FOREVER_SECONDS, batch_size=10)

        thread.start()
        thread.stop()

        events = [
            acme.call("GET", f"/v1/memories/{memory['id']}/history").json()["items"][-1]["event"]
            for memory in memories
        ]
    assert (thread.rounds, thread.failures) == (1, 0)
    assert events == ["memory.expired"] * 3


def test_a_failed_round_is_counted_and_told(tmp_path: Path) -> None:
    """SPEC T8: no fault ends the thread; the next round does what this one could not."""
    told: list[Exception] = []
    with running(SqliteEngine(tmp_path)) as acme:
        memory = acme.remember(ttl_seconds=60)
        acme.clock.ahead = timedelta(seconds=61)
        store = acme.node.store
        assert isinstance(store, SqliteStore)
        writer = store._connection  # noqa: SLF001 -- the real connection of the real store; nothing is replaced

        writer.execute("PRAGMA query_only = 1")
        failing = UpkeepThread(
            acme.node.pipeline, interval_seconds=FOREVER_SECONDS, batch_size=10, on_failure=told.append
        )
        failing.start()
        failing.stop()
        writer.execute("PRAGMA query_only = 0")
        working = UpkeepThread(acme.node.pipeline, interval_seconds=FOREVER_SECONDS, batch_size=10)
        working.start()
        working.stop()

        last = acme.call("GET", f"/v1/memories/{memory['id']}/history").json()["items"][-1]
    assert (failing.rounds, failing.failures) == (0, 1)
    assert [type(fault).__name__ for fault in told] == ["Unavailable"]
    assert (working.rounds, last["event"]) == (1, "memory.expired")


def test_each_worker_says_how_its_turn_went(tmp_path: Path) -> None:
    """SPEC T8, S4: what failed and what did not, and how long it took; one is in no other's way."""
    told: list[Worked] = []
    with running(SqliteEngine(tmp_path)) as acme:
        acme.remember(ttl_seconds=60)
        acme.clock.ahead = timedelta(seconds=61)
        store = acme.node.store
        assert isinstance(store, SqliteStore)
        writer = store._connection  # noqa: SLF001 -- the real connection of the real store; nothing is replaced
        writer.execute("PRAGMA query_only = 1")
        thread = UpkeepThread(
            acme.node.pipeline, interval_seconds=FOREVER_SECONDS, batch_size=10, on_worked=told.append
        )
        thread.start()
        thread.stop()
        writer.execute("PRAGMA query_only = 0")

    failed = {one.worker for one in told if one.failed}
    assert {"expire", "compare"} <= failed
    assert {"reinstate", "check", "revoke", "erase"} <= {one.worker for one in told} - failed
    assert len(told) == len({one.worker for one in told})
    assert all(one.seconds > 0 for one in told)


HELD_FOR = "SELECT extract(epoch FROM held_until - now())::float8 FROM tenure.lease WHERE name = 'upkeep'"
END_THE_LEASE = "UPDATE tenure.lease SET held_until = now() WHERE name = 'upkeep'"


def one_round(node: Node, *, interval_seconds: float) -> UpkeepThread:
    """A thread that did one round and ended."""
    thread = UpkeepThread(node.pipeline, interval_seconds=interval_seconds, batch_size=10)
    thread.start()
    thread.stop()
    return thread


def test_of_many_nodes_one_does_the_rounds_until_it_is_gone(postgres_url: str, tmp_path: Path) -> None:
    """SPEC T8: the others' rounds do nothing and do not fail; when the lease is out, the next has it."""
    clock, settings = MovableClock(), Settings(data_dir=str(tmp_path))
    with (
        open_database(postgres_url, settings=settings, clock=clock) as first,
        open_database(postgres_url, settings=settings, clock=clock) as second,
    ):
        for number in range(2):
            written(first.pipeline, f"Memory {number}", ttl_seconds=60)
        clock.pass_time(seconds=61)
        holds = upkeep_round(first.pipeline, batch_size=1)
        waits = upkeep_round(second.pipeline, batch_size=10)
        idle = one_round(second, interval_seconds=FOREVER_SECONDS)
        goes_on = upkeep_round(first.pipeline, batch_size=1)
        written(first.pipeline, ttl_seconds=60)
        clock.pass_time(seconds=61)
        with psycopg.connect(postgres_url) as connection:
            connection.execute(END_THE_LEASE)
        succeeds = upkeep_round(second.pipeline, batch_size=10)
        follows = upkeep_round(first.pipeline, batch_size=10)

        log = happened(first.pipeline)
    nothing = Round(expired=0, more=False)
    assert [holds.expired, goes_on.expired, succeeds.expired] == [1, 1, 1]
    assert [waits, follows] == [nothing, nothing]
    assert (idle.rounds, idle.failures) == (1, 0)
    assert log.count("memory.expired") == 3


@pytest.mark.parametrize(("interval_seconds", "lease_seconds"), [(0.05, 10), (4, 10), (6, 12), (60, 120)])
def test_a_lease_outlasts_a_missed_round(
    postgres_url: str, tmp_path: Path, interval_seconds: float, lease_seconds: float
) -> None:
    """SPEC T8: twice the pause between rounds, and ten seconds where those are short."""
    with open_database(postgres_url, settings=Settings(data_dir=str(tmp_path))) as node:
        one_round(node, interval_seconds=interval_seconds)
        with psycopg.connect(postgres_url) as connection:
            row = connection.execute(HELD_FOR).fetchone()

    assert row is not None
    assert lease_seconds - 5 < row[0] <= lease_seconds

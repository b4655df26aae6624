"""The background rounds: at once, again and again, and never quietly dead (SPEC T8, L11)."""

from datetime import timedelta
from pathlib import Path

from tests.entrypoints.http_api.acme import running

from tenure.entrypoints.upkeep_thread import UpkeepThread
from tenure.stores.sqlite.store import SqliteStore

FOREVER_SECONDS = 86_400.0


def test_a_round_writes_what_time_has_done(tmp_path: Path) -> None:
    """SPEC L11: the explicit event for a memory whose time has passed; a full batch is followed at once."""
    with running(tmp_path) as acme:
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
    with running(tmp_path) as acme:
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

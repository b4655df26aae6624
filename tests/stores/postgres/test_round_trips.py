"""How often a reading waits for the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Opened, PostgresEngine
from tests.stores.test_standing_rows import writes
from tests.usecases.asking import TENANT

from tenure.stores.postgres.connecting import Connection


@pytest.fixture
def node(database: PostgresEngine, clock: MovableClock) -> Iterator[Opened]:
    """A node over a database of its own."""
    opened = database.open(clock)
    yield opened
    opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of the server from now on, each a round trip."""
    found: list[Any] = []
    execute = Connection.execute

    def noting(self: Connection, query: Any, *args: Any, **options: Any) -> Any:
        found.append(query)
        return execute(self, query, *args, **options)

    monkeypatch.setattr(Connection, "execute", noting)
    return found


def test_where_logs_end_is_asked_once_for_each_tenant(node: Opened, asked: list[Any]) -> None:
    """SPEC E5: in the round trip that begins the reading, or opens it to another tenant."""
    writes(node.pipeline, 1)
    asked.clear()

    with node.store.reading() as reading:
        ends = [reading.head(tenant) for tenant in (TENANT, "globex", TENANT, "globex")]
        while_open = len(asked)

    assert ends[0] == ends[2]
    assert ends[0][0] > 0
    assert ends[1] == ends[3]
    assert ends[1][0] == 0
    assert while_open == 2

"""A server that is harmed in many ways, one test after the other, and the nodes over its databases."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.faults.nodes import running
from tests.faults.served import Served, serving
from tests.postgres.server import PostgresServer

from tenure.stores.postgres import connecting
from tenure.wiring import Node

RECOVERY_SECONDS_MAX: Final = 30.0
_NUMBERS: Final = itertools.count(1)


@pytest.fixture(scope="session")
def _mortal_server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def mortal_server(_mortal_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that may be killed: it runs again for the next test."""
    yield _mortal_server
    if _mortal_server.ended():
        _mortal_server.start()


@pytest.fixture
def mortal_url(mortal_server: PostgresServer) -> str:
    """A fresh, empty database on the server that may be killed."""
    return mortal_server.create_database(f"faults_{next(_NUMBERS)}")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that are opened after this wait for a connection for one second only."""
    monkeypatch.setattr(connecting, "POOL_TIMEOUT_SECONDS", 1.0)


@pytest.fixture
def node(mortal_url: str, tmp_path: Path) -> Iterator[Node]:
    """One node in this process, over that database."""
    with running(mortal_url, tmp_path, count=1) as [node]:
        yield node


@pytest.fixture(scope="session")
def _lasting(_mortal_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(_mortal_server.create_database("lasting"), tmp_path_factory.mktemp("lasting")) as served:
        yield served


@pytest.fixture
def lasting(mortal_server: PostgresServer, _lasting: Served) -> Iterator[Served]:
    """Two nodes, each a process, which go through the harm of all tests and are never started again."""
    assert not mortal_server.ended()
    _lasting.wait_until_ready(seconds_max=RECOVERY_SECONDS_MAX)
    yield _lasting
    assert all(node.runs() for node in _lasting.nodes)


@pytest.fixture
def mortal_nodes(mortal_url: str, tmp_path: Path) -> Iterator[Served]:
    """Two nodes, each a process, which may be killed."""
    with serving(mortal_url, tmp_path / "nodes") as served:
        yield served

"""The servers that tests ask for: one for everybody, and one to be killed."""

import itertools
from collections.abc import Iterator
from typing import Final

import pytest
from tests.postgres.faults import NotPossibleHere, SmallDisk
from tests.postgres.server import PostgresServer

_NUMBERS: Final = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a run: not to be killed, stopped or filled."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A fresh, empty database on the server that all tests share."""
    name = f"tenure_{next(_NUMBERS)}"
    yield postgres_server.create_database(name)
    postgres_server.drop_database(name)


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresServer]:
    """A server of the test's own, for every harm."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """A disk in memory that can be filled; the test is skipped where it cannot be made."""
    try:
        disk = SmallDisk()
    except NotPossibleHere as reason:
        pytest.skip(str(reason))
    with disk:
        yield disk


@pytest.fixture
def server_on_small_disk(small_disk: SmallDisk) -> Iterator[PostgresServer]:
    """A server whose disk is ``small_disk``; its write-ahead log is in pieces so small that it fits too."""
    settings = {"fsync": "off", "full_page_writes": "off", "min_wal_size": "2MB", "max_wal_size": "4MB"}
    with PostgresServer(settings=settings, place=small_disk.place, wal_segment_mebibytes=1) as server:
        yield server

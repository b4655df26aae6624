"""The server that tests run on does what its docstrings promise."""

import time
from statistics import median

import psycopg
import pytest
from tests.postgres.faults import SmallDisk
from tests.postgres.server import MILLISECOND_COMMITS, PostgresServer, memory_place
from tests.postgres.waiting import wait_until

COMMITS = 200


def connect(url: str) -> psycopg.Connection:
    """A connection on which each statement is its own transaction."""
    return psycopg.connect(url, autocommit=True)


def table(server: PostgresServer) -> None:
    """A table to write to."""
    server.query("CREATE TABLE kept (number bigint PRIMARY KEY, text text)")


def test_every_test_gets_an_empty_database_of_its_own(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    """Two databases of one server do not see each other's tables."""
    other = postgres_server.create_database("other")
    with connect(other) as connection:
        connection.execute("CREATE TABLE kept (number bigint)")
    with connect(postgres_url) as connection:
        assert connection.execute("SELECT to_regclass('kept')").fetchone() == (None,)
    postgres_server.drop_database("other")


def test_the_binaries_bring_vectors_and_letters_beyond_ascii(postgres_server: PostgresServer) -> None:
    """The extension for vectors is at hand, and upper case knows more than English."""
    assert postgres_server.query("SELECT upper('é')") == [("É",)]
    found = postgres_server.query("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
    assert found == [(1,)]


def test_a_killed_server_keeps_what_it_acknowledged(own_postgres_server: PostgresServer) -> None:
    """Its clients see a broken connection, and after the restart every commit is there, on the same port."""
    server = own_postgres_server
    table(server)
    with connect(server.url()) as connection:
        for number in range(100):
            connection.execute("INSERT INTO kept VALUES (%s, 'kept')", [number])
        server.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="refused"):
        connect(server.url())
    server.start()
    assert server.query("SELECT count(*) FROM kept") == [(100,)]


def test_connections_are_cut_off_by_the_server(postgres_server: PostgresServer, postgres_url: str) -> None:
    """Whoever is connected to the database is thrown out, and can come again."""
    database = postgres_url.rpartition("/")[2]
    with connect(postgres_url) as connection:
        assert postgres_server.terminate_connections(database) == 1
        with pytest.raises(psycopg.errors.AdminShutdown):
            connection.execute("SELECT 1")
    with connect(postgres_url) as connection:
        connection.execute("SELECT 1")


def test_a_frozen_server_answers_nothing_until_it_thaws(own_postgres_server: PostgresServer) -> None:
    """A client with a deadline meets it; afterwards everything goes on."""
    server = own_postgres_server
    server.freeze()
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect(server.url(), connect_timeout=2)
    server.thaw()
    assert server.query("SELECT 1") == [(1,)]


def test_a_commit_can_cost_a_millisecond() -> None:
    """With the data in memory, half of the commits take between one and two milliseconds."""
    with PostgresServer(settings=MILLISECOND_COMMITS, place=memory_place()) as server:
        table(server)
        taken = []
        with connect(server.url()) as connection:
            for number in range(COMMITS):
                began = time.perf_counter()
                connection.execute("INSERT INTO kept VALUES (%s, 'costly')", [number])
                taken.append(time.perf_counter() - began)
    assert median(taken) >= 0.0009
    if memory_place() is not None:
        assert median(taken) < 0.002


def test_a_full_disk_refuses_writes_and_loses_nothing(
    server_on_small_disk: PostgresServer, small_disk: SmallDisk
) -> None:
    """Without room for data the write fails and the server lives; with room again it goes on by itself."""
    server = server_on_small_disk
    # The write-ahead log begins a piece that is long enough for all that follows.
    server.query("SELECT pg_switch_wal()")
    table(server)
    small_disk.fill(but_bytes=200_000)
    written = rows_until_refused(server)
    small_disk.free()
    server.query("INSERT INTO kept VALUES (-1, 'after')")
    assert server.query("SELECT count(*) FROM kept") == [(written + 1,)]


def test_a_server_without_room_for_its_log_falls_over_and_comes_back(
    server_on_small_disk: PostgresServer, small_disk: SmallDisk
) -> None:
    """Its clients are cut off; with room again, and a start if it ended, it has what it acknowledged."""
    server = server_on_small_disk
    table(server)
    server.query("INSERT INTO kept VALUES (1, 'kept')")
    small_disk.fill()
    with connect(server.url()) as connection, pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT pg_logical_emit_message(true, '', repeat('x', 9000000))")
    small_disk.free()
    assert wait_until(lambda: rows_if_up(server), what="the server answers", seconds_max=30) == [(1,)]


def rows_if_up(server: PostgresServer) -> list[tuple[int]] | None:
    """How many rows there are; none while the server does not answer."""
    if server.ended():
        server.start()
    try:
        return server.query("SELECT count(*) FROM kept")
    except psycopg.OperationalError:
        return None


def rows_until_refused(server: PostgresServer) -> int:
    """Write rows until the server has no room for another; gives back how many it took."""
    with connect(server.url()) as connection:
        for number in range(10_000):
            try:
                connection.execute("INSERT INTO kept VALUES (%s, repeat('x', 1000))", [number])
            except psycopg.errors.DiskFull:
                return number
    pytest.fail("the disk never filled")


def test_a_closed_server_leaves_nothing_behind() -> None:
    """Killed or not, its folder goes."""
    with PostgresServer() as server:
        server.kill()
        assert server.folder.exists()
    assert not server.folder.exists()

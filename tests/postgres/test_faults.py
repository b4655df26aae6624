"""The faults that tests inject do what their docstrings promise."""

import contextlib
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres.faults import ANSWER_TO_COMMIT, DEADLOCK, SERIALISATION_FAILURE, Relay, refused_writes
from tests.postgres.server import PostgresServer


@pytest.fixture
def database(postgres_url: str) -> str:
    """A database with one table to write to."""
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE kept (number bigint PRIMARY KEY)")
    return postgres_url


@pytest.fixture
def relay(postgres_server: PostgresServer) -> Iterator[Relay]:
    """A relay before the server that all tests share."""
    with Relay(postgres_server.port) as relay:
        yield relay


def through(relay: Relay, database: str) -> psycopg.Connection:
    """A connection to the database that goes through the relay."""
    return psycopg.connect(relay.url(database.rpartition("/")[2]))


def count(database: str) -> int:
    """How many rows were committed, seen without the relay."""
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def state_of_refusal(database: str) -> str | None:
    """Write one row, which must fail; gives back how."""
    with contextlib.closing(psycopg.connect(database)) as connection:
        try:
            connection.execute("INSERT INTO kept VALUES (1)")
            connection.commit()
        except psycopg.OperationalError as error:
            return error.sqlstate
    pytest.fail("the write was not refused")


def test_a_relay_that_does_no_harm_passes_everything(relay: Relay, database: str) -> None:
    """A large answer arrives as it was sent."""
    with through(relay, database) as connection:
        row = connection.execute("SELECT repeat('x', 1000000)").fetchone()
    assert row == ("x" * 1_000_000,)


def test_a_cut_connection_is_an_error_and_another_can_be_made(relay: Relay, database: str) -> None:
    """The transaction that was open is rolled back."""
    connection = through(relay, database)
    connection.execute("INSERT INTO kept VALUES (1)")
    relay.cut()
    with pytest.raises(psycopg.OperationalError):
        connection.commit()
    connection.close()
    with through(relay, database) as another:
        another.execute("INSERT INTO kept VALUES (2)")
    assert count(database) == 1


def test_the_answer_to_a_commit_can_be_lost(relay: Relay, database: str) -> None:
    """The client sees an error, and the row is there: its outcome was unknown."""
    connection = through(relay, database)
    connection.execute("INSERT INTO kept VALUES (1)")
    relay.lose_next_answer(ANSWER_TO_COMMIT)
    with pytest.raises(psycopg.OperationalError):
        connection.commit()
    connection.close()
    assert relay.answers_lost == 1
    assert count(database) == 1


def test_a_stalled_relay_holds_everything_back_until_it_resumes(relay: Relay, database: str) -> None:
    """A client with a deadline meets it."""
    address = relay.url(database.rpartition("/")[2])
    relay.stall()
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect(address, connect_timeout=2)
    relay.resume()
    with psycopg.connect(address) as connection:
        connection.execute("SELECT 1")


def test_a_server_that_is_down_refuses_the_relays_clients(own_postgres_server: PostgresServer) -> None:
    """Through the relay too, a connection to a killed server fails at once."""
    with Relay(own_postgres_server.port) as relay:
        own_postgres_server.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(relay.url("postgres"))
        own_postgres_server.start()
        psycopg.connect(relay.url("postgres")).close()


@pytest.mark.parametrize("at_commit", [False, True])
@pytest.mark.parametrize("sqlstate", [SERIALISATION_FAILURE, DEADLOCK])
def test_so_many_writes_are_refused_and_the_next_succeeds(
    database: str, sqlstate: str, *, at_commit: bool
) -> None:
    """Each refused transaction leaves nothing; the retry after the last one goes through."""
    with refused_writes(database, "kept", sqlstate=sqlstate, times=2, at_commit=at_commit) as failures:
        for already in range(2):
            assert failures() == already
            assert state_of_refusal(database) == sqlstate
        with psycopg.connect(database) as connection:
            connection.execute("INSERT INTO kept VALUES (1)")
        assert failures() == 2
    assert count(database) == 1
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO kept VALUES (2)")

"""No writer waits for ever: for a standby, a lock, an answer, or a server to connect to (SPEC E5, S2, S3)."""

import contextlib
import itertools
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
import pytest
from tests.postgres.server import HOST, PostgresServer, free_port
from tests.postgres.standby import need_no_standby, need_standby, waiting_commits
from tests.stores.concurrently import at_once
from tests.usecases.asking import BOT, TENANT, happened, proposal, written

from tenure.config import Settings
from tenure.config.settings import Database
from tenure.core.errors import Unavailable
from tenure.core.remembering import Written
from tenure.stores.postgres import store
from tenure.stores.postgres.connecting import (
    CONNECT_TIMEOUT_SECONDS,
    LAST_WORD_SECONDS,
    POOL_TIMEOUT_SECONDS,
    Connection,
    committed,
)
from tenure.usecases.remembering import REMEMBER
from tenure.wiring import Node, open_database

KEY: Final = "the one key"
PASSWORD: Final = "hunter2-in-the-address"
COMMIT_TIMEOUT_SECONDS: Final = 0.5
BUSY_SECONDS: Final = 5.0
"""What a busy machine adds to any of this."""
WAIT_SECONDS_MAX: Final = 15.0
_NUMBERS: Final = itertools.count(1)


@pytest.fixture(scope="module")
def harmed_server() -> Iterator[PostgresServer]:
    """A server that stops confirming, or answering."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def url(harmed_server: PostgresServer) -> str:
    """A database on it."""
    return harmed_server.create_database(f"deadlines_{next(_NUMBERS)}")


@pytest.fixture
def node(url: str, tmp_path: Path) -> Iterator[Node]:
    """A node that is soon out of patience, with a memory in it, so that its keys are made."""
    patience = Database(commit_timeout_seconds=COMMIT_TIMEOUT_SECONDS)
    settings = Settings(data_dir=str(tmp_path / "data"), database_url=url, database=patience)
    with open_database(url, settings=settings) as node:
        written(node.pipeline, "First of all")
        yield node


@pytest.fixture
def lonely(harmed_server: PostgresServer, node: Node) -> Iterator[Node]:
    """The node, whose server has no standby left."""
    try:
        need_standby(harmed_server)
        yield node
    finally:
        need_no_standby(harmed_server)


def remember(node: Node, *, key: str | None = KEY) -> Written:
    """The one write of a test, or its retry."""
    return node.pipeline.run(REMEMBER, BOT, proposal(), idempotency_key=key)


def assert_unknown(refused: object) -> None:
    """The caller was told that nobody knows, what to do, and when."""
    assert isinstance(refused, Unavailable)
    assert "unknown" in refused.message
    assert "same idempotency key" in str(refused.hint)
    assert refused.details["retry_after_seconds"] == 1


def test_a_commit_that_no_standby_confirms_ends_as_unknown_and_its_key_settles_it(
    lonely: Node, harmed_server: PostgresServer
) -> None:
    """SPEC E5, L9: nobody waits for ever, nobody is told that it is stored, and a retry doubles nothing."""
    for _ in range(2):
        assert_unknown(at_once(partial(remember, lonely), seconds_max=WAIT_SECONDS_MAX)[0])
    need_no_standby(harmed_server)

    assert remember(lonely).memory is not None
    assert happened(lonely.pipeline) == ["memory.admitted"] * 2


def test_what_else_a_node_commits_ends_without_a_standby_too(lonely: Node, url: str) -> None:
    """SPEC E5, S6, T8: a new subject's key is not made and the node not ready, but its lease is its own."""
    new_key, is_healthy, has_lease = at_once(
        partial(lonely.keyring.ensure, [(TENANT, "somebody new")]),
        lonely.store.healthy,
        partial(lonely.store.lease, "job", seconds=60.0),
        seconds_max=WAIT_SECONDS_MAX,
    )

    assert_unknown(new_key)
    assert (is_healthy, has_lease) == (False, True)
    assert waiting_commits(url) == []


def test_a_node_closes_at_once_without_a_standby(lonely: Node) -> None:
    """SPEC T8: giving a lease up waits for nobody."""
    assert lonely.store.lease("job", seconds=60.0)
    began = time.monotonic()

    lonely.close()

    assert time.monotonic() - began < COMMIT_TIMEOUT_SECONDS + BUSY_SECONDS


def test_a_server_that_says_nothing_any_more_leaves_the_outcome_unknown(
    node: Node, harmed_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC E5: it takes no cancellation either; the connection is given up, and later the key settles it."""
    frozen = iter([True])

    def commit_to_nobody(connection: Connection) -> None:
        if next(frozen, False):
            harmed_server.freeze()
        committed(connection)

    monkeypatch.setattr(store, "committed", commit_to_nobody)
    began = time.monotonic()
    try:
        assert_unknown(at_once(partial(remember, node))[0])
        taken = time.monotonic() - began
    finally:
        harmed_server.thaw()

    assert taken < COMMIT_TIMEOUT_SECONDS + 2 * LAST_WORD_SECONDS + BUSY_SECONDS
    assert remember(node).memory is not None
    assert happened(node.pipeline) == ["memory.admitted"] * 2


def test_a_log_that_somebody_else_has_locked_is_not_waited_for_for_ever(node: Node, url: str) -> None:
    """SPEC E5, S2: as a node does that died in a commit which no standby confirms; nothing was stored."""
    with psycopg.connect(url) as other:
        other.execute("SELECT FROM tenure.tenant_head FOR UPDATE")
        [refused] = at_once(partial(remember, node), seconds_max=WAIT_SECONDS_MAX)
        assert isinstance(refused, Unavailable)
        assert "locked" in str(refused.hint)
        assert refused.details["retry_after_seconds"] == 1
        assert happened(node.pipeline) == ["memory.admitted"]

    assert remember(node).memory is not None


def refusal(address: str, folder: Path) -> Unavailable:
    """What is said to who opens a node on it; no password is in it."""
    with pytest.raises(Unavailable) as refused:
        open_database(address, settings=Settings(data_dir=str(folder)))
    assert PASSWORD not in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.details["retry_after_seconds"] == 1
    return refused.value


def test_a_database_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    """SPEC S2, S3: host and port of every server that the address names, and what to check."""
    one, two = free_port(), free_port()

    refused = refusal(f"postgresql://ann:{PASSWORD}@{HOST}:{one},localhost:{two}/memory", tmp_path)

    assert f"cannot be reached at {HOST}:{one}, localhost:{two}" in refused.message
    assert "firewall" in str(refused.hint)


def test_what_an_address_leaves_out_is_named_as_the_driver_fills_it_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: host and port may come from the environment, as PostgreSQL's own client reads it."""
    port = free_port()
    monkeypatch.setenv("PGHOST", HOST)
    monkeypatch.setenv("PGPORT", str(port))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)

    assert f"cannot be reached at {HOST}:{port}" in refusal("postgresql:///memory", tmp_path).message


def test_a_server_that_refuses_is_told_from_one_that_is_not_there(
    harmed_server: PostgresServer, tmp_path: Path
) -> None:
    """SPEC S2: here it is not the network that has to be looked at."""
    url = f"postgresql://postgres:{PASSWORD}@{HOST}:{harmed_server.port}/no_such_database"

    refused = refusal(url, tmp_path)

    assert f"PostgreSQL at {HOST}:{harmed_server.port} refused" in refused.message
    assert "name of the database" in str(refused.hint)


def test_a_server_that_never_answers_is_given_up_in_time(tmp_path: Path) -> None:
    """SPEC S3: no other wait at the start is shorter than the time to connect; an address may set its own."""
    assert CONNECT_TIMEOUT_SECONDS < POOL_TIMEOUT_SECONDS
    with contextlib.closing(socket.create_server((HOST, 0))) as silent:
        place = f"{HOST}:{silent.getsockname()[1]}"
        began = time.monotonic()
        refused = refusal(f"postgresql://ann:{PASSWORD}@{place}/memory?connect_timeout=2", tmp_path)
        taken = time.monotonic() - began

    assert f"cannot be reached at {place}" in refused.message
    assert taken < CONNECT_TIMEOUT_SECONDS

"""The command's end of the control socket: finds a running server, and says so when it goes away."""

import os
import socket
import threading
from pathlib import Path

import pytest
from tests.entrypoints.control.standing import Standing

from tenure.core.errors import (
    IdempotencyMismatch,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    RateLimited,
    TenureError,
    Unavailable,
    VersionConflict,
)
from tenure.entrypoints.control.address import SOCKET_NAME, address_in
from tenure.entrypoints.control.client import connect, error_of
from tenure.entrypoints.control.operations import Counted, ListKeysArguments
from tenure.entrypoints.control.reaching import answer
from tenure.entrypoints.replies import Internal, exit_code, problem


def test_no_socket_and_a_dead_servers_socket_mean_that_no_server_runs(tmp_path: Path) -> None:
    """SPEC S1: whether a server runs is found by connecting, not by looking at files."""
    absent = connect(tmp_path)
    with socket.socket(socket.AF_UNIX) as dead, address_in(tmp_path) as address:
        dead.bind(address)

    assert absent is None
    assert (tmp_path / SOCKET_NAME).exists()
    assert connect(tmp_path) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="every socket is open to root")
def test_somebody_elses_server_is_a_clear_error(tmp_path: Path) -> None:
    """SPEC A1: a socket that this user may not open is said to be one."""
    with socket.socket(socket.AF_UNIX) as other, address_in(tmp_path) as address:
        other.bind(address)
        other.listen()
        (tmp_path / SOCKET_NAME).chmod(0)

        with pytest.raises(Unavailable, match="cannot be reached"):
            connect(tmp_path)


def test_one_connection_asks_again_and_again(stands: Standing) -> None:
    """SPEC S1: an import sends batch after batch."""
    connection = connect(stands.folder)
    assert connection is not None

    answers = [answer(connection, ListKeysArguments(), Counted) for _ in range(3)]
    connection.close()

    assert answers == [Counted(count=0)] * 3


@pytest.mark.parametrize("said", [b"", b'{"item": 1}\n{"resu'], ids=["nothing", "half an answer"])
def test_a_server_that_stops_in_between_is_a_clear_error(tmp_path: Path, said: bytes) -> None:
    """SPEC S2: the command does not hang, and does not take half an answer for a whole one."""
    with socket.socket(socket.AF_UNIX) as stopping:
        with address_in(tmp_path) as address:
            stopping.bind(address)
        stopping.listen()

        def stop() -> None:
            accepted, _ = stopping.accept()
            with accepted:
                accepted.recv(1_000)
                accepted.sendall(said)

        other = threading.Thread(target=stop)
        other.start()
        connection = connect(tmp_path)
        assert connection is not None
        with pytest.raises(Unavailable, match="stopped before it had answered"):
            answer(connection, ListKeysArguments(), Counted)
        connection.close()
        other.join(20)


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest("tenant is odd", field="tenant", hint="Name another."),
        NotFound("there is none", key_id="7"),
        VersionConflict(expected=1, current=2, memory_id="m"),
        MemoryRejected(rule="credential", reason="looks like one", policy_version="default-1"),
        IdempotencyMismatch("used before"),
        RateLimited(retry_after_seconds=3),
        Unavailable("not now", hint="Later."),
        Internal("a fault"),
    ],
    ids=lambda error: error.code,
)
def test_an_error_is_the_same_on_both_ends_of_the_socket(error: TenureError) -> None:
    """SPEC S2: one shape of problem and one exit code, whichever way a store was reached."""
    arrived = error_of(problem(error))

    assert type(arrived) is type(error)
    assert problem(arrived) == problem(error)
    assert exit_code(arrived) == exit_code(error)


def test_a_problem_of_an_unknown_kind_is_still_an_error() -> None:
    """SPEC S2: a newer server may know errors that this command does not."""
    arrived = error_of({"type": "https://example.org/problems/brand-new", "detail": "something new"})

    assert isinstance(arrived, Internal)
    assert arrived.message == "something new"

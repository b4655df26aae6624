"""The server's end of the control socket: closed to others, and unmoved by whatever it is sent."""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest
from tests.entrypoints.control.standing import Standing, raw, standing

from tenure.core.errors import InvalidRequest, Unavailable
from tenure.entrypoints.control import server as control_server
from tenure.entrypoints.control.address import SOCKET_NAME, address_in
from tenure.entrypoints.control.protocol import LINE_BYTES_MAX
from tenure.entrypoints.control.server import CONNECTIONS_MAX, ControlServer
from tenure.usecases import evidence
from tenure.wiring import open_store

LIST = b'{"operation": "key.list"}'


def test_the_socket_is_its_owners_alone(stands: Standing) -> None:
    """SPEC A1: whoever may connect may do all that an operator may, so nobody else may."""
    mode = (stands.folder / SOCKET_NAME).stat().st_mode

    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_making_the_socket_leaves_the_processs_mask_as_it_was(tmp_path: Path) -> None:
    """SPEC S5: an embedding program's own files keep their modes."""
    before = os.umask(0o022)
    try:
        with standing(tmp_path / "store"):
            during = os.umask(0o022)
    finally:
        os.umask(before)

    assert during == 0o022


def test_a_dead_servers_socket_is_replaced(tmp_path: Path) -> None:
    """SPEC S5: a killed server does not stand in the way of the next."""
    folder = tmp_path / "store"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as dead, address_in(folder) as address:
        dead.bind(address)

    with standing(folder), raw(folder) as connection:
        answer = connection.ask(LIST)

    assert answer == {"result": {"count": 0}}


def test_what_is_no_socket_stays_and_is_named(tmp_path: Path) -> None:
    """SPEC S3: nothing of somebody else's is deleted."""
    (tmp_path / SOCKET_NAME).write_text("mine", encoding="ascii")

    with open_store(tmp_path) as node, pytest.raises(InvalidRequest, match=SOCKET_NAME):
        ControlServer(node, tmp_path, on_fault=lambda _operation, _fault: None)

    assert (tmp_path / SOCKET_NAME).read_text(encoding="ascii") == "mine"


def test_a_folder_that_takes_no_socket_is_a_clear_error(tmp_path: Path) -> None:
    """SPEC S3: the message says what cannot be made."""
    with open_store(tmp_path / "store") as node, pytest.raises(Unavailable, match="control socket"):
        ControlServer(node, tmp_path / "missing", on_fault=lambda _operation, _fault: None)


def test_closing_removes_the_socket(tmp_path: Path) -> None:
    """SPEC S5: a stopped server leaves nothing to connect to."""
    folder = tmp_path / "store"

    with standing(folder):
        pass

    assert not (folder / SOCKET_NAME).exists()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b'"key.list"',
        b"{}",
        b'{"operation": 7}',
        b'{"operation": "key.list", "more": 1}',
        b'{"operation": "key.list", "arguments": []}',
        b'{"operation": "key.list", "arguments": {"tenant": 7}}',
        b'{"operation": "key.list", "arguments": {"unknown": 1}}',
        b'{"operation": "drop everything"}',
        b'{"operation": "key.create", "arguments": {"tenant": "a", "name": "n", "roles": ["wizard"]}}',
        b'{"operation": "key.revoke", "arguments": {"key_id": "seven"}}',
        b'{"operation": "import", "arguments": {"tenant": "a", "items": [{}]}}',
        b"[" * 100_000,
    ],
)
def test_bad_input_is_answered_and_the_server_lives_on(stands: Standing, line: bytes) -> None:
    """SPEC S2: bad input never ends anything but itself."""
    with raw(stands.folder) as connection:
        refused = connection.ask(line)
        then = connection.ask(LIST)

    assert refused is not None
    assert refused["problem"]["status"] == 422
    assert then == {"result": {"count": 0}}
    assert stands.faults == []


def test_a_line_without_end_is_cut_off(stands: Standing) -> None:
    """SPEC S3: what one command can make the server hold in memory is bounded."""
    with raw(stands.folder) as connection:
        connection.say(b"x" * (LINE_BYTES_MAX + 1))
        refused = connection.hear()
        ended = connection.hear()
    with raw(stands.folder) as connection:
        then = connection.ask(LIST)

    assert refused is not None
    assert refused["problem"]["status"] == 413
    assert ended is None
    assert then == {"result": {"count": 0}}


def test_half_a_request_does_nothing(stands: Standing) -> None:
    """SPEC E5: a command that dies while asking has not asked."""
    half = b'{"operation": "key.create", "arguments": {"tenant": "a", "name": "n", "roles": ["reader"]}}'

    with raw(stands.folder) as connection:
        connection.say(half)
        connection.socket.shutdown(socket.SHUT_WR)
        ended = connection.hear()
    with raw(stands.folder) as connection:
        then = connection.ask(LIST)

    assert ended is None
    assert then == {"result": {"count": 0}}


def test_a_fault_is_answered_without_its_text(stands: Standing, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E6, S2: what an unexpected fault says may quote a memory."""

    def broken(*_given: object) -> None:
        raise RuntimeError("the customer's secret")

    monkeypatch.setattr(evidence, "verify", broken)
    with raw(stands.folder) as connection:
        connection.ask(
            b'{"operation": "key.create", "arguments": {"tenant": "a", "name": "n", "roles": ["reader"]}}'
        )
        progress = connection.ask(b'{"operation": "log.verify"}')
        problem = connection.hear()
        then = connection.ask(b'{"operation": "rebuild"}')

    assert progress == {"progress": {"done": 0, "total": 1}}
    assert problem is not None
    assert problem["problem"]["status"] == 500
    assert "secret" not in str(problem)
    assert stands.faults == [("log.verify", "RuntimeError")]
    assert then is not None
    assert then["result"]["identical"] is True


def test_no_more_than_a_few_talk_at_once(stands: Standing) -> None:
    """SPEC S3: idle connections cannot use up the server."""
    idle = [raw(stands.folder) for _ in range(CONNECTIONS_MAX)]
    held = [each.__enter__() for each in idle]
    answered = [connection.ask(LIST) for connection in held]
    with raw(stands.folder) as one_more:
        refused = one_more.hear()
    for each in idle:
        each.__exit__(None, None, None)

    assert answered == [{"result": {"count": 0}}] * CONNECTIONS_MAX
    assert refused is not None
    assert refused["problem"]["status"] == 503


def test_closing_waits_for_the_answer_that_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC E5: what a command was promised it gets, and only then the store closes."""
    began, may_end = threading.Event(), threading.Event()
    true_verify = evidence.verify

    def slow(*given: object) -> object:
        began.set()
        assert may_end.wait(20)
        return true_verify(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(evidence, "verify", slow)
    with standing(tmp_path / "store") as stands, raw(stands.folder) as connection:
        connection.ask(
            b'{"operation": "key.create", "arguments": {"tenant": "a", "name": "n", "roles": ["reader"]}}'
        )
        connection.ask(b'{"operation": "log.verify"}')
        assert began.wait(20)
        closing = threading.Thread(target=stands.server.close)
        closing.start()
        may_end.set()
        item, result, ended = connection.hear(), connection.hear(), connection.hear()
        closing.join(20)

    assert item is not None
    assert item["item"]["holds"] is True
    assert result == {"result": {"holds": True, "events": 1, "tenants": 1}}
    assert ended is None


def test_an_answer_that_never_ends_is_cut_off_on_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S3: stopping the server takes a bounded time."""
    monkeypatch.setattr(control_server, "CLOSING_SECONDS", 0.1)
    began, may_end = threading.Event(), threading.Event()

    def stuck(*_given: object) -> object:
        began.set()
        may_end.wait(20)
        raise Unavailable("the store is closed")

    monkeypatch.setattr(evidence, "verify", stuck)
    with standing(tmp_path / "store") as stands, raw(stands.folder) as connection:
        connection.ask(
            b'{"operation": "key.create", "arguments": {"tenant": "a", "name": "n", "roles": ["reader"]}}'
        )
        connection.ask(b'{"operation": "log.verify"}')
        assert began.wait(20)
        stands.server.close()
        ended = connection.hear()
        may_end.set()

    assert ended is None

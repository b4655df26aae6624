"""The server on the wire: what only real bytes and many clients at once can show (SPEC S3, L8, L9)."""

import asyncio
import io
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.entrypoints.http_api.acme import Json, log_head, problem_code, proposal
from tests.entrypoints.http_api.live import Live, serving
from tests.stores.engine import Engine, SqliteEngine

from tenure.config import Log, RateLimit, Server, Settings
from tenure.core.errors import Unavailable
from tenure.entrypoints.http_api.request_log import open_log
from tenure.entrypoints.http_api.server import serve
from tenure.wiring import open_store

SMALL = Settings(rate_limit=RateLimit(per_minute=0), server=Server(request_bytes_max=4_096))
CROWD = 40


def head(live: Live, *more: bytes, path: bytes = b"/v1/memories", token: str | None = None) -> bytes:
    """The head of a POST, as bytes."""
    lines = [
        b"POST " + path + b" HTTP/1.1",
        b"Host: localhost",
        b"Authorization: Bearer " + (token or live.token).encode(),
        *more,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def status(answer: bytes) -> int:
    """The status of an answer, as bytes."""
    return int(answer.split(b" ", 2)[1])


def crowd(live: Live, requests: list[tuple[Json, str | None]]) -> list[httpx.Response]:
    """Send these proposals all at once, each with its idempotency key."""

    async def send_all() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=len(requests))
        headers = {"Authorization": f"Bearer {live.token}"}
        async with httpx.AsyncClient(base_url=live.url, headers=headers, limits=limits) as client:
            return await asyncio.gather(
                *(
                    client.post("/v1/memories", json=body, headers={"Idempotency-Key": key} if key else {})
                    for body, key in requests
                )
            )

    return asyncio.run(send_all())


def test_everybody_in_a_crowd_gets_their_own_answer(live: Live) -> None:
    """What is worked on together is answered apart: the good, the bad, the rejected."""
    before = log_head(live.node)
    requests: list[tuple[Json, str | None]] = [
        (proposal(content=f"Likes number {number}", kind="rumour" if number % 4 == 1 else "preference"), None)
        if number % 4 != 2
        else (proposal(content="x" * 3_000), None)
        for number in range(CROWD)
    ]

    answers = crowd(live, requests)

    for number, answer in enumerate(answers):
        if number % 4 == 1:
            assert (answer.status_code, answer.json()["field"]) == (422, "kind")
        elif number % 4 == 2:
            assert (answer.status_code, problem_code(answer)) == (422, "memory-rejected")
        else:
            assert answer.json()["memory"]["content"] == f"Likes number {number}"
    kept_or_rejected = CROWD - CROWD // 4
    assert log_head(live.node) == before + kept_or_rejected


def test_a_crowd_of_retries_is_one_write(live: Live) -> None:
    """SPEC L9: the same command under one key, however many at once, is stored once."""
    before = log_head(live.node)

    answers = crowd(live, [(proposal(content="Likes tea"), "crowd-1")] * CROWD)

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert log_head(live.node) == before + 1


def test_of_two_writers_with_one_expectation_one_wins(live: Live) -> None:
    """SPEC L8: the other is told the current version."""
    headers = {"Authorization": f"Bearer {live.token}"}
    with httpx.Client(base_url=live.url, headers=headers) as client, ThreadPoolExecutor(8) as writers:
        memory = client.post("/v1/memories", json=proposal(content="Likes coffee")).json()["memory"]
        source = {"type": "direct_user", "id": "message-2"}
        answers = list(
            writers.map(
                lambda number: client.patch(
                    f"/v1/memories/{memory['id']}",
                    json={"expected_version": 1, "content": f"Likes {number} coffees", "source": source},
                ),
                range(8),
            )
        )

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {document["current_version"] for document in refused} == {2}


def test_a_chunked_body_over_the_limit_is_cut_off(tmp_path: Path) -> None:
    """SPEC S3: a body that does not say its size is counted as it comes, and never read to its end."""
    with serving(SqliteEngine(tmp_path), SMALL) as live:
        chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
        request = head(live, b"Transfer-Encoding: chunked") + chunk * 2

        answer = live.wire(request)

    assert status(answer) == 413
    assert b"/too-large" in answer
    assert b"connection: close" in answer.lower()


def test_a_body_that_says_it_is_too_large_is_not_waited_for(tmp_path: Path) -> None:
    """SPEC S3: the answer comes before any of the body."""
    with serving(SqliteEngine(tmp_path), SMALL) as live:
        answer = live.wire(head(live, b"Content-Length: 99999999"))

    assert status(answer) == 413


def test_a_client_that_hangs_up_leaves_nothing_behind(live: Live) -> None:
    """SPEC S3: half of a request is no request."""
    before = log_head(live.node)
    body = msgspec.json.encode(proposal())

    request = head(live, b"Content-Length: " + str(len(body)).encode()) + body[:-1]

    answer = live.wire(request, hang_up=True)

    assert answer == b""
    assert log_head(live.node) == before
    assert httpx.get(f"{live.url}/healthz").status_code == 200


def test_two_idempotency_keys_are_one_too_many(live: Live) -> None:
    """SPEC L9: nobody could say which of them counts."""
    body = msgspec.json.encode(proposal())
    keys = (b"Idempotency-Key: one", b"Idempotency-Key: two", b"Connection: close")

    answer = live.wire(head(live, *keys, b"Content-Length: " + str(len(body)).encode()) + body)

    assert status(answer) == 422
    assert b'"field":"Idempotency-Key"' in answer


def test_two_credentials_are_one_too_many(live: Live) -> None:
    """SPEC A1: an intermediary and the server must never read different ones."""
    second = b"Authorization: Bearer other"

    answer = live.wire(head(live, second, b"Connection: close", b"Content-Length: 2") + b"{}")

    assert status(answer) == 401


@pytest.mark.parametrize(
    "request_line",
    [b"GARBAGE", b"GET /\xff HTTP/1.1", b"GET /%ff%fe HTTP/1.1", b"GET /v1/memories/%2e%2e/ HTTP/1.1"],
)
def test_garbage_on_the_wire_is_refused(live: Live, request_line: bytes) -> None:
    """SPEC S2: whatever comes in, a 4xx goes out and the server lives on."""
    answer = live.wire(request_line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert 400 <= status(answer) < 500
    assert httpx.get(f"{live.url}/healthz").json() == {"status": "alive"}


def test_an_odd_host_is_a_problem(live: Live) -> None:
    """SPEC S2: the router's refusal has the shape of all others."""
    answer = httpx.get(f"{live.url}/healthz", headers={"Host": "a b"})

    assert (answer.status_code, problem_code(answer)) == (422, "invalid-request")


def test_an_address_in_use_is_a_clear_error(live: Live, tmp_path: Path) -> None:
    """It names the address and what to do; the program is not ended."""
    with open_store(tmp_path / "data") as node, pytest.raises(Unavailable) as caught:
        serve(node, host="127.0.0.1", port=live.listening.port, request_log=open_log(Log(), io.BytesIO()))

    assert f"port {live.listening.port}" in caught.value.message
    assert caught.value.hint is not None


def test_after_the_end_the_port_and_the_store_are_free(engine: Engine) -> None:
    """What was accepted was answered, and all that was written is there when it opens again."""
    with serving(engine) as live:
        headers = {"Authorization": f"Bearer {live.token}"}
        memory = httpx.post(f"{live.url}/v1/memories", json=proposal(), headers=headers).json()["memory"]
        port, token = live.listening.port, live.token

    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    with serving(engine) as again:
        read = httpx.get(
            f"{again.url}/v1/memories/{memory['id']}", headers={"Authorization": f"Bearer {token}"}
        )
    assert read.json() == memory


def test_the_rounds_run_beside_the_server(engine: Engine) -> None:
    """SPEC T8, L11: what ran out while nobody served is written down by the first round."""
    with serving(engine) as live:
        headers = {"Authorization": f"Bearer {live.token}"}
        body = proposal(ttl_seconds=60)
        memory = httpx.post(f"{live.url}/v1/memories", json=body, headers=headers).json()["memory"]

    with serving(engine, ahead=timedelta(seconds=61)):
        pass

    with serving(engine) as again:
        history = httpx.get(f"{again.url}/v1/memories/{memory['id']}/history", headers=headers).json()
    assert [item["event"] for item in history["items"]] == ["memory.admitted", "memory.expired"]

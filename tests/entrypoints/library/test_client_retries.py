"""What is sent again, and what an error says of a write that nobody answered (SPEC L9, S2, S3)."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from tests.entrypoints.http_api.live import serving
from tests.entrypoints.library.client_stage import (
    HANG_UP,
    KINDS,
    SECONDS_MAX,
    SILENCE,
    Failing,
    answer,
    failing,
    opened,
    raised,
    refused,
    token_of,
)
from tests.stores.engine import Engine

from tenure import AsyncClient, Client, RateLimited, Source, Unavailable
from tenure.entrypoints.library import client_exchange
from tenure.entrypoints.library.client_calls import Calls
from tenure.entrypoints.library.client_exchange import RETRY_SECONDS, Again, Exchange
from tenure.entrypoints.library.client_request import Request

APPLICATION = Source.application("crm-1")
CALLS = Calls(subject="customer-7")
LOG_PAGE = answer(200, b'{"items": [], "head": 3}')
NOTHING_DONE = refused(
    503, b'{"type": "https://tenure.dev/problems/unavailable", "detail": "the disk is full", "hint": "Wait."}'
)
NOT_KNOWN = refused(
    503,
    b'{"type": "https://tenure.dev/problems/unavailable", "detail": "lost amid it", "outcome_unknown": true}',
)
BUSY = refused(
    429, b'{"type": "https://tenure.dev/problems/rate-limited", "detail": "x", "retry_after_seconds": 7}'
)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many retries as ever, one right after the other."""
    monkeypatch.setattr(client_exchange, "RETRY_SECONDS", (0.0,) * len(RETRY_SECONDS))


ID = b"019a0000-0000-7000-8000-000000000000"


def remembered(client: Client, *, key: str | None = None) -> object:
    """One write."""
    return client.remember(
        "Okapi", kind="fact", source=APPLICATION, subject="customer-7", idempotency_key=key
    )


FAILURES = {
    "hangs up": (HANG_UP,),
    "hangs up twice": (HANG_UP, HANG_UP),
    "cannot serve": (NOTHING_DONE,),
    "cannot serve, then hangs up": (NOTHING_DONE, HANG_UP),
    "talks nonsense": (b"\x00\x01\x02\r\n\r\n",),
    "hangs up in the middle": (LOG_PAGE[:-3],),
}


@pytest.mark.parametrize("failures", FAILURES)
def test_a_read_is_sent_again(kind: str, failures: str) -> None:
    """SPEC S3: up to twice, when the connection breaks or the server cannot serve."""
    answers = (*FAILURES[failures], LOG_PAGE)
    with failing(*answers) as server, opened(kind, server.url, "t") as client:
        assert client.log().head == 3

    assert len(server.requests) == len(answers)


def test_a_recall_and_a_dry_run_are_reads(kind: str) -> None:
    """SPEC L1, R7: they change no memory, although they are sent with a body."""
    decision = b'{"outcome": "approve", "rule": "r", "reason": "r", "policy_version": "1"}'
    ruled = b'{"decision": %s, "findings": []}' % decision
    with failing(HANG_UP, answer(200, ruled)) as server, opened(kind, server.url, "t") as client:
        assert client.try_out("x", kind="fact", source=APPLICATION).decision.rule == "r"
    assert server.requests[0] == server.requests[1]

    assert CALLS.recall("x").is_repeatable


def test_a_write_with_its_key_is_sent_again_the_same(kind: str) -> None:
    """SPEC L9: the server does it once, however often it comes."""
    with failing(HANG_UP, NOTHING_DONE, BUSY) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client, key="k-1"))

    assert isinstance(error, RateLimited)
    assert len(server.requests) == 3
    assert len(set(server.requests)) == 1
    assert b"\r\nidempotency-key: k-1\r\n" in server.requests[0].lower()


@pytest.mark.parametrize(
    ("reply", "is_unknown"), [(HANG_UP, True), (NOTHING_DONE, False)], ids=["gone", "503"]
)
def test_a_write_without_a_key_is_sent_once(kind: str, reply: bytes, *, is_unknown: bool) -> None:
    """SPEC L9, S2: and the error says whether it may have been done."""
    with failing(reply, LOG_PAGE) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client))

    assert type(error) is Unavailable
    assert len(server.requests) == 1
    assert error.details["outcome_unknown"] is is_unknown
    assert ("not known" in error.message) is is_unknown
    assert ("nothing was written" in error.message) is not is_unknown
    assert error.hint


def test_no_call_that_changes_something_is_a_read() -> None:
    """SPEC L9: whatever changes a memory is sent again under a key only, and what takes none never."""
    found = CALLS.recall("x").read(
        b'{"receipt_id": "%s", "items": [], "context": "", "tokens": 0, "skipped": {}}' % ID
    )
    memory_id = found.receipt_id
    writes: list[Request[Any]] = [
        CALLS.remember("x", kind="fact", source=APPLICATION),
        CALLS.revise(memory_id, expected_version=1, source=APPLICATION),
        CALLS.used(found, response_id="r", memory_ids=[]),
        CALLS.promote(memory_id, expected_version=1, reason="x"),
        CALLS.reject(memory_id, expected_version=1, reason="x"),
        CALLS.revoke(memory_id, expected_version=1, reason="x"),
        CALLS.renew(memory_id, expected_version=1, reason="x", ttl_seconds=60),
        CALLS.forget(),
    ]

    assert [request.path for request in writes if request.is_repeatable] == []
    assert CALLS.remember("x", kind="fact", source=APPLICATION, idempotency_key="k").is_repeatable
    assert CALLS.revise(memory_id, expected_version=1, source=APPLICATION, idempotency_key="k").is_repeatable


def test_what_an_earlier_attempt_may_have_done_is_not_forgotten(kind: str) -> None:
    """SPEC S2: the last attempt did nothing, but the first one is not known of."""
    with failing(HANG_UP, NOTHING_DONE, NOTHING_DONE) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client, key="k-1"))

    assert error.details["outcome_unknown"] is True
    assert error.message == "the disk is full; whether the write was done is not known"
    assert "same idempotency key" in (error.hint or "")


@pytest.mark.parametrize("answers", [(NOT_KNOWN,) * 3, (NOT_KNOWN, NOTHING_DONE, NOTHING_DONE)])
def test_a_server_that_does_not_know_what_it_did_is_believed(kind: str, answers: tuple[bytes, ...]) -> None:
    """SPEC S2, L9: a database that was lost amid a commit; a later refusal makes nothing certain."""
    with failing(NOT_KNOWN) as server, opened(kind, server.url, "t") as client:
        once = raised(lambda: remembered(client))
    with failing(*answers) as server, opened(kind, server.url, "t") as client:
        thrice = raised(lambda: remembered(client, key="k-1"))

    for error, advice in ((once, "before you send it again"), (thrice, "same idempotency key")):
        assert error.details["outcome_unknown"] is True
        assert "nothing was written" not in error.message
        assert advice in (error.hint or "")


def test_after_the_last_attempt_the_failure_is_told(kind: str) -> None:
    """SPEC S2: as the server told it."""
    with failing(*[NOTHING_DONE] * 4) as server, opened(kind, server.url, "t") as client:
        error = raised(client.log)

    assert type(error) is Unavailable
    assert (error.message, error.hint) == ("the disk is full", "Wait.")
    assert len(server.requests) == 3


def test_a_server_that_is_silent_is_left(kind: str) -> None:
    """SPEC S3: after timeout_seconds, and without another attempt that would take as long."""
    with failing(SILENCE, LOG_PAGE) as server, opened(kind, server.url, "t", timeout_seconds=0.05) as client:
        read = raised(client.log)
    with failing(SILENCE, LOG_PAGE) as other, opened(kind, other.url, "t", timeout_seconds=0.05) as client:
        write = raised(lambda: remembered(client, key="k"))

    assert type(read) is type(write) is Unavailable
    assert (read.details["outcome_unknown"], write.details["outcome_unknown"]) == (False, True)
    assert len(server.requests) == len(other.requests) == 1


@pytest.mark.parametrize("key", [None, "k"])
def test_where_nobody_listens_nothing_was_written(kind: str, key: str | None) -> None:
    """SPEC S2: a write that was never sent is known not to be done."""
    with failing() as server:
        pass
    with opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client, key=key))

    assert type(error) is Unavailable
    assert error.details["outcome_unknown"] is False
    assert "cannot be reached" in error.message
    assert "nothing was written" in error.message


def test_whoever_is_hung_up_on_with_a_large_body_is_told_to_send_less(kind: str) -> None:
    """SPEC S2: a server's refusal may be lost with the connection that it ends."""
    with failing(HANG_UP) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: client.remember("x" * 1_100_000, kind="fact", source=APPLICATION))

    assert type(error) is Unavailable
    assert "Send less" in (error.hint or "")


def test_no_member_of_a_problem_upsets_an_unavailable_server(kind: str) -> None:
    """SPEC S3: what a problem holds beside the known is data."""
    odd = b'{"type": "https://tenure.dev/problems/unavailable", "detail": "x", "message": 1, "self": 2}'
    with failing(refused(503, odd)) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client))

    assert type(error) is Unavailable
    assert error.details == {"message": 1, "self": 2, "outcome_unknown": False}


@pytest.mark.parametrize("status", [502, 503, 504])
def test_who_answers_for_a_server_does_not_know_what_it_did(kind: str, status: int) -> None:
    """SPEC S2: a gateway's page is not the word of the server."""
    reply = answer(status, b"<html>", media_type="text/html")
    with failing(reply) as server, opened(kind, server.url, "t") as client:
        error = raised(lambda: remembered(client))

    assert type(error) is Unavailable
    assert error.details["outcome_unknown"] is True


@pytest.mark.parametrize(
    ("asked", "waits"), [("", RETRY_SECONDS), ("3", (3.0, 3.0)), ("soon", RETRY_SECONDS), ("600", ())]
)
def test_a_server_is_given_the_time_that_it_asks_for(
    monkeypatch: pytest.MonkeyPatch, asked: str, waits: tuple[float, ...]
) -> None:
    """SPEC S3: within reason; beyond it the caller is told at once."""
    monkeypatch.setattr(client_exchange, "RETRY_SECONDS", RETRY_SECONDS)
    exchange = Exchange(CALLS.log())
    reply = httpx.Response(503, headers={"Retry-After": asked})

    waited = [exchange.settle(reply) for _ in waits]

    assert waited == [Again(seconds) for seconds in waits]
    assert type(raised(lambda: exchange.settle(reply))) is Unavailable


def test_no_write_is_lost_on_a_connection_that_is_no_more(kind: str) -> None:
    """SPEC S3: a server that ended idle connections, or was started anew, is reached on a new one."""
    kept = answer(200, b'{"items": [], "head": 3}', connection="keep-alive")
    done = answer(200, b'{"status": "forgotten", "forgotten": 1}')
    with failing(kept, done) as server, opened(kind, server.url, "t") as client:
        client.log()
        assert server.hung_up.acquire(timeout=SECONDS_MAX)

        assert client.forget(subject="customer-7").forgotten == 1

    assert len(server.requests) == 2


def test_a_server_that_has_ended_cannot_be_reached(engine: Engine, kind: str) -> None:
    """SPEC S3: a real one, which a call had reached before; what was written is there when it is back."""
    with ExitStack() as clients:
        with serving(engine) as live:
            token = token_of(live, "bot", "writer", "reader")
            client = clients.enter_context(opened(kind, live.url, token, subject="customer-7"))
            memory = client.remember("Before", kind="fact", source=APPLICATION)
        error = raised(lambda: remembered(client))

    assert type(error) is Unavailable
    with serving(engine) as live, opened(kind, live.url, token, subject="customer-7") as client:
        assert client.memories().items == (memory,)


@pytest.mark.parametrize("call", ["remember", "log"])
def test_a_closed_client_refuses(kind: str, call: str) -> None:
    """SPEC S3: nothing is sent; and closing twice is closing."""
    with failing(LOG_PAGE) as server, opened(kind, server.url, "t") as client:
        client.close()
        client.close()
        error = raised(client.log if call == "log" else lambda: remembered(client, key="k"))

    assert type(error) is Unavailable
    assert error.details == {"outcome_unknown": False}
    assert server.requests == []


def test_a_call_in_another_thread_is_answered_after_closing() -> None:
    """SPEC S3: no connection is taken from under a call, and closing does not wait for it."""
    with failing(SILENCE + LOG_PAGE) as server, ThreadPoolExecutor(1) as thread:
        client = Client(server.url, "t")
        waiting = thread.submit(client.log)
        assert server.asked.acquire(timeout=SECONDS_MAX)
        client.close()
        late = raised(client.log)
        server.end()

        assert waiting.result(SECONDS_MAX).head == 3

    assert type(late) is Unavailable


def test_a_call_in_another_task_is_answered_after_closing() -> None:
    """SPEC S3: the same in one event loop."""

    async def story(server: Failing) -> None:
        async with AsyncClient(server.url, "t") as client:
            waiting = asyncio.create_task(client.log())
            assert await asyncio.to_thread(server.asked.acquire, timeout=SECONDS_MAX)
        with pytest.raises(Unavailable):
            await client.log()
        server.end()
        assert (await asyncio.wait_for(waiting, SECONDS_MAX)).head == 3

    with failing(SILENCE + LOG_PAGE) as server:
        asyncio.run(story(server))

"""Writes over HTTP while scanners outside are asked: who waits, and what a failure is answered (SPEC L5)."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
import msgspec
import pytest
from tests.entrypoints.http_api.acme import UNLIMITED
from tests.entrypoints.http_api.live import Live, serving
from tests.stores.engine import Engine
from tests.usecases.remote import Stub

from tenure.config import Admission
from tenure.usecases.scanning import Scanning

PATIENCE_SECONDS = 10.0
SLOW = "Prefers a letter"
QUICK = "Prefers tea"


@pytest.fixture
def live(engine: Engine) -> Iterator[Live]:
    """A server that defers what could not be scanned."""
    settings = msgspec.structs.replace(UNLIMITED, admission=Admission(on_scanner_failure="defer"))
    with serving(engine, settings) as it:
        yield it


def asking(live: Live, stub: Stub) -> None:
    """Have the server ask a scanner outside."""
    live.node.pipeline.scanning = Scanning(remote=[stub], remote_seconds_max=PATIENCE_SECONDS)


def remember(live: Live, content: str) -> httpx.Response:
    """Propose a memory as an application."""
    proposal = {
        "agent": "support",
        "purpose": "support",
        "subject": "customer-7",
        "kind": "fact",
        "content": content,
        "source": {"type": "application", "id": "crm-1"},
    }
    return httpx.post(
        f"{live.url}/v1/memories",
        json=proposal,
        headers={"Authorization": f"Bearer {live.token}"},
        timeout=PATIENCE_SECONDS,
        trust_env=False,
    )


def test_no_request_waits_for_what_another_has_scanned(live: Live) -> None:
    """SPEC T8: not even with the same token, whose writes would otherwise go together."""
    goes_on, asked = threading.Event(), threading.Event()

    def answer(texts: Sequence[str]) -> list[tuple[()]]:
        if SLOW in texts:
            asked.set()
            goes_on.wait(PATIENCE_SECONDS)
        return [() for _ in texts]

    asking(live, Stub(answer))
    with ThreadPoolExecutor(1) as thread:
        slow = thread.submit(remember, live, SLOW)
        assert asked.wait(PATIENCE_SECONDS)
        quick = remember(live, QUICK)
        still_waiting = not slow.done()
        goes_on.set()

    assert (quick.status_code, quick.json()["memory"]["status"]) == (201, "active")
    assert still_waiting
    assert slow.result().status_code == 201


def test_what_cannot_be_scanned_is_answered_with_503_and_not_stored(live: Live) -> None:
    """SPEC L5, S2: a problem that says what to do, without a word of the text."""
    asking(live, Stub(RuntimeError(QUICK)))

    answer = remember(live, QUICK)

    problem = answer.json()
    assert (answer.status_code, problem["type"].rpartition("/")[2]) == (503, "unavailable")
    assert "nothing was stored" in problem["detail"]
    assert QUICK not in answer.text

"""What the receiver of alerts gets, and how it knows from whom: Standard Webhooks (SPEC I3)."""

import base64
import hashlib
import hmac
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import pytest
from tests.engines.receiver import Receiver, receiver

from tenure.engines.webhook import Webhook, signature
from tenure.usecases.outward import Notice

SECRET: Final = bytes(range(32))
NOTICE: Final = Notice(
    id="msg_0123", at=datetime(2031, 5, 4, 9, 0, 7, 900_000, tzinfo=UTC), body=b'{"type":"alert.raised"}'
)


@pytest.fixture
def server() -> Iterator[Receiver]:
    """The receiver, on this machine."""
    with receiver() as it:
        yield it


def webhook(url: str) -> Webhook:
    """The way to a receiver on this machine."""
    return Webhook(url, SECRET, allow=["127.0.0.1"])


def test_the_receiver_can_tell_who_speaks_and_when(server: Receiver) -> None:
    """SPEC I3: HMAC-SHA256 over id, time and the exact bytes of the body, as Standard Webhooks has it."""
    assert webhook(server.url).deliver(NOTICE) is None

    (got,) = server.got
    signed = b"msg_0123.1935651607." + got.body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    assert got.body == NOTICE.body
    assert got.headers["content-type"] == "application/json"
    assert [got.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")] == [
        "msg_0123",
        "1935651607",
        f"v1,{expected}",
    ]


def test_the_signature_is_the_one_of_the_standard() -> None:
    """SPEC I3: worked out once by hand, so that no change of ours goes unnoticed."""
    secret = base64.b64decode("C2FVsBQIhrscChlQIMV+b5sSYspob7oD")

    assert (
        signature(secret, "msg_1", "1674087231", b'{"a":1}')
        == "v1,0KIkpuO19gebdSoOnaxvi2R6bE+QnoJ0HVw5TMgLRFc="
    )


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_success_is_a_delivery(server: Receiver, status: int) -> None:
    """SPEC I3: 2xx."""
    server.status = status

    assert webhook(server.url).deliver(NOTICE) is None


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 502, 503])
def test_anything_else_is_none(server: Receiver, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """SPEC I3: a redirect is not followed; what went wrong is logged without the address."""
    server.status, server.headers = status, {"location": f"{server.url}/elsewhere"}

    assert webhook(server.url).deliver(NOTICE) == f"it answered with status {status}"
    assert len(server.got) == 1
    assert caplog.messages == [f"an alert was not delivered: it answered with status {status}"]


def test_what_is_not_allowed_is_not_asked(server: Receiver) -> None:
    """SPEC I3: an address inside must be named."""
    assert Webhook(server.url, SECRET).deliver(NOTICE) == (
        "the host has an address that is not on the public internet"
    )
    assert server.got == []


def test_giving_up_is_said_aloud(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC I3: never silently; without what it was."""
    webhook("http://127.0.0.1:9/secret-in-path").gave_up(3, "it answered with status 500")

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == (
        "alerts given up: 3 were not sent; 'tenure alerts' lists them: it answered with status 500"
    )

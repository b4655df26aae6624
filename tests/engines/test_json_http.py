"""JSON over HTTP: one time limit over everything, and no word about what was asked (SPEC L5, E6)."""

import time
from collections.abc import Iterator

import pytest
from tests.engines.receiver import Receiver, receiver

from tenure.engines.json_http import ANSWER_BYTES_MAX, JsonHttp, NotAnswered

ASKED = b'{"texts":["a secret"]}'
PATIENCE_SECONDS = 10.0


@pytest.fixture
def server() -> Iterator[Receiver]:
    """The service, on this machine."""
    with receiver() as it:
        it.body = b"{}"
        yield it


@pytest.fixture
def http(server: Receiver) -> Iterator[JsonHttp]:
    """The way to it."""
    it = JsonHttp(server.url)
    yield it
    it.close()


def refusal(http: JsonHttp, *, seconds_max: float = PATIENCE_SECONDS) -> NotAnswered:
    """Why there is no answer."""
    with pytest.raises(NotAnswered) as caught:
        http.post([ASKED], {}, seconds_max=seconds_max)
    return caught.value


def test_the_bodies_come_back_in_order(server: Receiver, http: JsonHttp) -> None:
    """SPEC L3: each question has its answer."""
    server.says = lambda asked: asked[::-1]

    assert http.post([b"ab", b"cd"], {"X-Token": "t"}, seconds_max=PATIENCE_SECONDS) == [b"ba", b"dc"]
    assert [got.headers["x-token"] for got in server.got] == ["t", "t"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(server: Receiver, http: JsonHttp, status: int) -> None:
    """SPEC L5: as late as the service asks."""
    server.statuses, server.headers = [status, status], {"Retry-After": "0"}

    assert http.post([ASKED], {}, seconds_max=PATIENCE_SECONDS) == [b"{}"]
    assert len(server.got) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 413, 422])
def test_what_does_not_pass_is_not_tried_again(server: Receiver, http: JsonHttp, status: int) -> None:
    """SPEC L5: and no redirect is followed."""
    server.status, server.headers = status, {"Location": f"{server.url}/elsewhere"}

    fault = refusal(http)

    assert (str(fault), fault.status) == (f"it answered with status {status}", status)
    assert len(server.got) == 1


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}, {"Retry-After": "-1"}], ids=str)
def test_without_a_word_on_when_the_pauses_grow(
    server: Receiver, http: JsonHttp, headers: dict[str, str]
) -> None:
    """SPEC L5: 0.1, 0.2, 0.4 seconds, until the next would not fit."""
    server.status, server.headers = 503, headers

    assert refusal(http, seconds_max=0.5).status == 503
    assert 2 <= len(server.got) <= 3


def test_a_pause_that_does_not_fit_is_not_waited_for(server: Receiver, http: JsonHttp) -> None:
    """SPEC L5: the answer is no at once, not when the time is over."""
    server.status, server.headers = 429, {"Retry-After": "60"}

    started = time.monotonic()
    fault = refusal(http)

    assert fault.status == 429
    assert time.monotonic() - started < PATIENCE_SECONDS / 2
    assert len(server.got) == 1


def test_a_byte_a_second_does_not_stretch_the_time(server: Receiver, http: JsonHttp) -> None:
    """SPEC L5: the limit is over the whole exchange."""
    server.drips = True

    started = time.monotonic()
    fault = refusal(http, seconds_max=0.2)

    assert str(fault) == "there was no answer within 0.2 seconds"
    assert time.monotonic() - started < PATIENCE_SECONDS


def test_an_answer_has_a_size(server: Receiver, http: JsonHttp) -> None:
    """SPEC L5: what is larger is none."""
    server.body = b"x" * (ANSWER_BYTES_MAX + 1)

    assert str(refusal(http)) == f"it answered with more than {ANSWER_BYTES_MAX} bytes"


def test_nobody_there_is_said_without_the_address() -> None:
    """SPEC E6: the address may hold a secret of the operator's."""
    with receiver() as gone:
        url = f"{gone.url}?code=hunter2"
    http = JsonHttp(url)

    fault = refusal(http, seconds_max=0.3)
    http.close()

    assert str(fault) in {"the exchange failed (ConnectError)", "there was no answer within 0.3 seconds"}
    assert fault.status is None


def test_closing_ends_everything_and_is_no_end(server: Receiver, http: JsonHttp) -> None:
    """SPEC T8: no thread is left; who asks again starts anew."""
    http.close()
    http.close()
    first = http.post([ASKED], {}, seconds_max=PATIENCE_SECONDS)
    http.close()

    assert first == http.post([ASKED], {}, seconds_max=PATIENCE_SECONDS)
    assert len(server.got) == 2

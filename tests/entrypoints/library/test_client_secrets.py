"""Tokens and contents stand in no error, repr or log of a client (SPEC A1, E6)."""

import logging
from collections.abc import Iterator

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, answer, failing, opened, raised, token_of, told
from tests.stores.engine import SqliteEngine

from tenure import AsyncClient, Client, InvalidRequest, Source

APPLICATION = Source.application("crm-1")
TOKEN = "tk-7c1e5ecre7"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(SqliteEngine(tmp_path_factory.mktemp("live"))) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


@pytest.fixture
def bot(live: Live, kind: str) -> Iterator[Client]:
    """A client that writes and reads."""
    with opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject="customer-7") as client:
        yield client


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize(
    "token",
    ["", " ", f"{TOKEN}\r\nX: y", f"{TOKEN} x", f"{TOKEN}é", f"{TOKEN}\ud800", f"{TOKEN}\x7f"],
    ids=ascii,
)
def test_a_token_that_cannot_be_one_is_refused_unrepeated(client: type[Client], token: str) -> None:
    """SPEC S2, A1: before any header is made of it."""
    error = raised(lambda: client("http://127.0.0.1", token))

    assert isinstance(error, InvalidRequest)
    assert error.field == "token"
    assert TOKEN not in told(error)


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "tenure.example.com",
        "ftp://example.com",
        "http://",
        "http:///v1",
        "http://[::1",
        "http://h:99999",
        "http://ex\nample.com",
        "http://xn--",
        "http://a..b",
        "http://\ud800",
        f"http://me:{TOKEN}@example.com",
        f"http://{TOKEN}@example.com",
        f"http://example.com?token={TOKEN}",
        f"http://example.com#{TOKEN}",
        "http://example.com/" + "x" * 2_000,
    ],
    ids=lambda url: ascii(url)[:40],
)
def test_an_address_that_cannot_be_one_is_refused_unrepeated(client: type[Client], url: str) -> None:
    """SPEC S2: a password in it would take the token's place, and is not printed either."""
    error = raised(lambda: client(url, "t"))

    assert isinstance(error, InvalidRequest)
    assert error.field == "url"
    assert TOKEN not in told(error)


def test_a_token_may_come_from_a_file_and_an_address_have_a_path(live: Live, kind: str) -> None:
    """SPEC S3: the line's end that a file leaves is no part of it; a server may stand below a path."""
    with opened(kind, f"{live.url}/", f"{live.token}\n") as client:
        assert client.log(limit=1).head >= 0
    reply = answer(200, b'{"items": [], "head": 0}')
    with failing(reply) as server, opened(kind, f"{server.url}/tenure/", TOKEN) as client:
        assert client.log().head == 0
    assert server.requests[0].startswith(b"GET /tenure/v1/log?after=0&limit=100 HTTP/1.1\r\n")


def test_neither_a_client_nor_a_request_shows_what_it_holds(kind: str) -> None:
    """SPEC E6: in a repr, as it stands in tracebacks and logs of the program around it."""
    with opened(kind, "http://127.0.0.1:1", TOKEN) as client:
        whole = getattr(client, "client", client)
        request = whole.calls.remember("Okapi", kind="fact", source=APPLICATION, key="Okapi")
        listing = whole.calls.memories(key="Okapi", subject="Okapi")
        shown = repr((whole, vars(whole), vars(vars(whole)["_server"]), request, listing))

    assert "127.0.0.1" in shown
    assert TOKEN not in shown
    assert "Okapi" not in shown


def test_nothing_of_what_is_asked_is_logged(
    live: Live, kind: str, bot: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC E6: subjects and keys stand in addresses, which the library below would log."""
    caplog.set_level(logging.DEBUG)
    bot.remember("Likes the Okapi", kind="fact", source=APPLICATION, key="Okapi")
    bot.memories(key="Okapi", subject="customer-7")
    with opened(kind, live.url, TOKEN) as nobody:
        raised(lambda: nobody.recall("Okapi"))

    assert caplog.text
    assert [word for word in ("Okapi", "customer-7", TOKEN) if word in caplog.text] == []

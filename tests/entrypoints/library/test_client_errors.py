"""What a server refuses is raised as what a session raises; nothing secret is in it (SPEC S2, E6)."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.entrypoints.http_api.acme import UNLIMITED
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import (
    KINDS,
    answer,
    failing,
    opened,
    raised,
    refused,
    token_of,
    told,
)
from tests.stores.engine import SqliteEngine

import tenure
from tenure import (
    Client,
    Forbidden,
    IdempotencyMismatch,
    IllegalTransition,
    InvalidRequest,
    MemoryRejected,
    NotFound,
    RateLimited,
    ScopeNotNamed,
    Source,
    Tenure,
    TenureError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    VersionConflict,
)
from tenure.config import RateLimit, Server, Settings
from tenure.entrypoints.library.client_exchange import error_of
from tenure.entrypoints.replies import PROBLEM_TYPE_PREFIX, problem

APPLICATION = Source.application("crm-1")
TOKEN = "tk-7c1e5ecre7"
SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"
SMALL = Settings(rate_limit=RateLimit(per_minute=0), server=Server(request_bytes_max=4_096))

ERRORS: list[TenureError] = [
    Unauthenticated("who is it", hint="Say so."),
    Forbidden("not granted", hint="Ask.", field="agent"),
    NotFound("not here", memory_id="m-1"),
    VersionConflict(expected=1, current=4, memory_id="m-1"),
    IdempotencyMismatch("another command", hint="Take another key."),
    IllegalTransition("no such step", memory_status="revoked", step="promote"),
    tenure.OnHold("held"),
    TooLarge("too large", limit_bytes=7),
    InvalidRequest("what is it", field="kind", hint="Known: fact."),
    InvalidRequest("what is this"),
    ScopeNotNamed("forget what", hint="Say so.", field="subject"),
    MemoryRejected(rule="credential", reason="it holds a credential", policy_version="7"),
    RateLimited(retry_after_seconds=17),
    Unavailable("later", hint="Wait."),
]


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


def response(error: TenureError, **changes: object) -> httpx.Response:
    """What a server answers an error with."""
    document = problem(error, instance="/v1/memories") | changes
    headers = {"Content-Type": "application/problem+json; charset=utf-8"}
    return httpx.Response(error.status, headers=headers, content=json.dumps(document))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{error.code}: {error}")
def test_an_error_comes_back_as_it_was(error: TenureError) -> None:
    """SPEC S2: class, message, hint, details, and the attributes that a program acts on."""
    back = error_of(response(error))

    assert type(back) is type(error)
    assert (str(back), back.message, back.hint) == (str(error), error.message, error.hint)
    assert (back.code, back.status, back.title) == (error.code, error.status, error.title)
    assert error.details.items() <= back.details.items()
    assert {name: value for name, value in vars(back).items() if name != "details"} == {
        name: value for name, value in vars(error).items() if name != "details"
    }


def test_an_unknown_problem_keeps_its_code() -> None:
    """SPEC S2: a newer server may refuse for reasons that this client has no class for."""
    strange = response(
        NotFound("under a spell"), type=f"{PROBLEM_TYPE_PREFIX}enchanted", title="Spell", frog=1
    )

    error = error_of(strange)

    assert type(error) is TenureError
    assert (error.code, error.status, error.title) == ("enchanted", 404, "Spell")
    assert (error.message, error.details) == ("under a spell", {"frog": 1})
    assert TenureError.code == "error"


@pytest.mark.parametrize(
    ("error", "changes"),
    [
        (ERRORS[3], {"current_version": "four"}),
        (MemoryRejected(rule="r", reason="r", policy_version="7"), {"rule": None}),
        (RateLimited(retry_after_seconds=1), {"retry_after_seconds": None}),
        (InvalidRequest("what", field="kind"), {"field": 7}),
    ],
    ids=["version", "rule", "wait", "field"],
)
def test_half_a_problem_is_not_taken_for_a_whole_one(error: TenureError, changes: dict[str, Any]) -> None:
    """SPEC S3: whoever reads an attribute finds what its type promises."""
    back = error_of(response(error, **changes))

    assert type(back) is TenureError
    assert back.code == error.code


@pytest.mark.parametrize("extra", ["message", "self", "code", "details", "__class__", "args"])
def test_no_member_of_a_problem_upsets_the_client(extra: str) -> None:
    """SPEC S3: what a problem holds beside the known is data."""
    back = error_of(response(NotFound("not here"), **{extra: "odd"}))

    assert type(back) is NotFound
    assert (back.message, back.code, back.details) == ("not here", "not-found", {extra: "odd"})


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (
            lambda door, memory: door.revise(memory.id, expected_version=7, content="x", source=APPLICATION),
            VersionConflict,
        ),
        (lambda door, _: door.remember(f"Key {SECRET}", kind="fact", source=APPLICATION), MemoryRejected),
        (lambda door, memory: door.promote(memory.id, expected_version=1, reason="x"), Forbidden),
        (lambda door, _: door.history(UUID(int=9)), NotFound),
        (lambda door, memory: door.correct(memory, "\0", source=APPLICATION), InvalidRequest),
        (lambda door, _: door.recall("x", limit=21), InvalidRequest),
    ],
    ids=["version", "secret", "own", "absent", "unprintable", "limit"],
)
def test_a_session_and_a_client_refuse_alike(
    live: Live, bot: Client, call: Callable[[Any, Any], object], wanted: type[TenureError]
) -> None:
    """SPEC S1, S2: the same error for the same mistake, whichever door it comes through."""
    session = Tenure(live.node).session("acme", "support", "support", "customer-7", name="inside")
    memory = bot.remember("Likes the Okapi", kind="fact", source=APPLICATION)

    inside, outside = raised(lambda: call(session, memory)), raised(lambda: call(bot, memory))

    assert type(outside) is type(inside) is wanted
    assert (outside.message, outside.hint, outside.status) == (inside.message, inside.hint, inside.status)
    assert inside.details.items() <= outside.details.items()
    assert [word for word in ("Okapi", SECRET) if word in told(outside)] == []


def test_a_step_that_does_not_exist_and_a_key_used_twice(live: Live, kind: str, bot: Client) -> None:
    """SPEC M6, L9: refused with what there is to do."""
    memory = bot.remember("Tea", kind="fact", source=APPLICATION, idempotency_key=f"tea {kind}")
    with opened(kind, live.url, token_of(live, "ann", "reviewer")) as ann:
        step = raised(lambda: ann.promote(memory.id, expected_version=1, reason="why not"))
    twice = raised(
        lambda: bot.remember("Milk", kind="fact", source=APPLICATION, idempotency_key=f"tea {kind}")
    )

    assert type(step) is IllegalTransition
    assert "revoke" in (step.hint or "")
    assert type(twice) is IdempotencyMismatch


MISTAKES: dict[str, tuple[Callable[[Client], object], str]] = {
    "kind": (lambda bot: remembered(bot, kind="rumour"), "kind"),
    "content that no UTF-8 carries": (lambda bot: remembered(bot, content="\ud800"), "content"),
    "source that no UTF-8 carries": (
        lambda bot: remembered(bot, source=Source.application("\ud800")),
        "source",
    ),
    "no number": (lambda bot: remembered(bot, confidence=float("nan")), "confidence"),
    "a number out of range": (lambda bot: remembered(bot, ttl_seconds=2**80), "ttl_seconds"),
    "a time without its zone": (
        lambda bot: remembered(bot, expires_at=datetime.fromisoformat("2036-01-01T00:00:00")),
        "expires_at",
    ),
    "kinds": (lambda bot: bot.recall("x", kinds=("rumour",)), "kinds"),
    "trust": (lambda bot: bot.recall("x", min_trust="blind"), "min_trust"),
    "query": (lambda bot: bot.recall(""), "query"),
    "status": (lambda bot: bot.memories(status="happy"), "status"),
    "key that no UTF-8 carries": (lambda bot: bot.memories(key="\ud800"), "key"),
    "key that no address carries": (lambda bot: bot.memories(key="k" * 20_000), "query"),
    "limit of none": (lambda bot: bot.memories(limit=0), "limit"),
    "limit below none": (lambda bot: bot.memories(limit=-1), "limit"),
    "cursor with a parameter in it": (lambda bot: bot.memories(cursor="&limit=1"), "cursor"),
    "id with a path in it": (lambda bot: bot.get("../review"), "memory_id"),  # type: ignore[arg-type]
    "id with a query in it": (lambda bot: bot.history("7?x="), "memory_id"),  # type: ignore[arg-type]
    "idempotency key without any": (lambda bot: remembered(bot, idempotency_key=""), "Idempotency-Key"),
    "idempotency key in spaces": (lambda bot: remembered(bot, idempotency_key=" k"), "Idempotency-Key"),
    "idempotency key of lines": (lambda bot: remembered(bot, idempotency_key="k\r\nX: y"), "Idempotency-Key"),
    "idempotency key beyond Latin": (lambda bot: remembered(bot, idempotency_key="鍵"), "Idempotency-Key"),
    "idempotency key too long": (lambda bot: remembered(bot, idempotency_key="k" * 201), "Idempotency-Key"),
}


def remembered(bot: Client, **changes: Any) -> object:
    """Remember something that would be admitted but for the changes."""
    whole: dict[str, Any] = {"content": "x", "kind": "fact", "source": APPLICATION} | changes
    return bot.remember(**whole)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_names_its_field(bot: Client, mistake: str) -> None:
    """SPEC S2: whether the server says so or it could not even be sent; never a fault of the encoder."""
    call, field = MISTAKES[mistake]

    error = raised(lambda: call(bot))

    assert isinstance(error, InvalidRequest)
    assert error.field == field


def test_forgetting_must_say_whom(live: Live, kind: str) -> None:
    """SPEC F4: there is no forgetting of everybody."""
    with opened(kind, live.url, token_of(live, "pia", "privacy_officer")) as pia:
        assert type(raised(pia.forget)) is ScopeNotNamed


def test_a_token_that_does_not_hold_is_refused(live: Live, kind: str) -> None:
    """SPEC A1: and not repeated."""
    with opened(kind, live.url, TOKEN) as nobody:
        error = raised(lambda: nobody.recall("x"))

    assert type(error) is Unauthenticated
    assert TOKEN not in told(error)


def test_what_is_too_large_is_told(tmp_path: Path, kind: str) -> None:
    """SPEC S3: also where the server does not read it to its end."""
    with (
        serving(SqliteEngine(tmp_path), SMALL) as live,
        opened(kind, live.url, live.token, subject="customer-7") as client,
    ):
        error = raised(lambda: client.remember("x" * 5_000, kind="fact", source=APPLICATION))

    assert type(error) is TooLarge
    assert error.details["limit_bytes"] == 4_096


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path, kind: str) -> None:
    """SPEC S3: the caller can wait better than a library."""
    once = Settings(rate_limit=RateLimit(per_minute=1), server=UNLIMITED.server)
    with serving(SqliteEngine(tmp_path), once) as live, opened(kind, live.url, live.token) as client:
        client.recall("x")
        error = raised(lambda: client.recall("x"))

    assert isinstance(error, RateLimited)
    assert 1 <= error.retry_after_seconds <= 60


@pytest.mark.parametrize(
    ("reply", "wanted", "status"),
    [
        (answer(200, b"<html>hello</html>", media_type="text/html"), TenureError, 200),
        (answer(200, b'{"memory": 1}'), TenureError, 200),
        (answer(200, b'{"items": ' + b"[" * 100_000), TenureError, 200),
        (answer(302, b"", "Location: http://127.0.0.1:1/elsewhere"), TenureError, 302),
        (answer(404, b"nothing here", media_type="text/plain"), TenureError, 404),
        (refused(404, b"[1]"), TenureError, 404),
        (refused(404, b'{"type": "about:blank", "title": "Not found"}'), TenureError, 404),
        (answer(413, b"<html>", media_type="text/html"), TooLarge, 413),
        (answer(502, b"<html>", media_type="text/html"), Unavailable, 503),
        (answer(504, b"<html>", media_type="text/html"), Unavailable, 503),
    ],
    ids=[
        "page",
        "other record",
        "nested too deeply",
        "redirect",
        "absent page",
        "no object",
        "foreign problem",
        "large",
        "gateway",
        "gateway in vain",
    ],
)
def test_whatever_answers_is_not_taken_for_a_server(
    kind: str, reply: bytes, wanted: type[TenureError], status: int
) -> None:
    """SPEC S3: a wrong address never looks like an absent memory, and no redirect takes the token along."""
    with failing(reply) as server, opened(kind, server.url, TOKEN) as client:
        error = raised(lambda: client.memories(key="Okapi"))

    assert type(error) is wanted
    assert error.status == status
    assert error.hint or wanted is TooLarge
    assert len(server.requests) == 1
    assert [word for word in (TOKEN, "Okapi", "elsewhere", "html") if word in told(error)] == []

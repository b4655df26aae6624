"""Forgetting, erasing, holding and exporting through a client, over a real server (SPEC F1-F12, S1)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import (
    HANG_UP,
    KINDS,
    answer,
    failing,
    opened,
    raised,
    refused,
    token_of,
)
from tests.stores.engine import Engine

from tenure import Client, InvalidRequest, NotFound, OnHold, Scope, ScopeNotNamed, Source, Unavailable
from tenure.core.identity import Tier
from tenure.entrypoints.library import client_exchange
from tenure.entrypoints.library.client_calls import Calls
from tenure.entrypoints.library.client_exchange import RETRY_SECONDS
from tenure.stores.postgres.connecting import OutcomeUnknown, faults_as_unavailable

NUMBERS: Final = count()
USER = Source.direct_user("message-1")
SESSION = Scope(tier=Tier.SESSION, id="s/1", user="u-1")
ID = UUID("019a0000-0000-7000-8000-000000000000")
UNKNOWN = refused(
    503,
    b'{"type": "https://tenure.dev/problems/unavailable", "detail": "whether it was stored is unknown",'
    b' "hint": "Send it again with the same idempotency key.", "outcome_unknown": true}',
)
STOPPED = refused(
    503,
    b'{"type": "https://tenure.dev/problems/unavailable", "detail": "a check failed", "hint": "Ask again.",'
    b' "outcome_unknown": true}',
)


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file; each test has a subject of its own."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


@pytest.fixture
def subject(request: pytest.FixtureRequest, kind: str) -> str:
    """A subject that no other test has, with characters that a path must encode."""
    return f"org/{kind}:{request.function.__name__}#1"


@pytest.fixture
def bot(live: Live, kind: str, subject: str) -> Iterator[Client]:
    """A client that writes and reads of the test's subject."""
    with opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject=subject) as client:
        yield client


@pytest.fixture
def pia(live: Live, kind: str, subject: str) -> Iterator[Client]:
    """A client of a privacy officer, for the test's subject."""
    token = token_of(live, "pia", "privacy_officer", agents=None, purposes=None)
    with opened(kind, live.url, token, agent="support", purpose="support", subject=subject) as client:
        yield client


def test_a_memory_and_a_key_are_forgotten(bot: Client, pia: Client) -> None:
    """SPEC F1, F4: the memory of that id alone; the key at its scope, with agent and purpose filled in."""
    one = bot.remember("Tea", kind="preference", source=USER)
    two = bot.remember("Milk", kind="preference", source=USER, key="a/b", scope=SESSION)
    three = bot.remember("Salt", kind="preference", source=USER)

    memory = pia.forget(memory_id=one.id, expected_version=1)
    key = pia.forget(key="a/b", scope=SESSION)
    standing = pia.forget_status(key.forget_id or ID)

    assert (memory.status, memory.forgotten, memory.durable) == ("forgotten", 1, True)
    assert (key.status, key.forgotten, key.anchored_at) == ("forgotten", 1, "user:u-1")
    assert (standing.forget_id, standing.state) == (key.forget_id, "complete")
    assert [left.id for left in bot.memories().items] == [three.id]
    with pytest.raises(NotFound):
        bot.get(two.id)


def test_a_key_is_resolved_outward_and_a_leaf_forgotten_alone_hides_it(bot: Client, pia: Client) -> None:
    """SPEC F3, F5: what is not durable says what still holds the key, and until when."""
    place = Scope(tier=Tier.USER, id="u-1")
    outer = bot.remember("Tea", kind="preference", source=USER, key="a/b", scope=place)
    assert bot.resolve("a/b", scope=SESSION) == outer

    answered = pia.forget(key="a/b", scope=SESSION, leaf_only=True)

    assert not answered.durable
    assert [one.scope for one in answered.shadowed] == ["user:u-1"]
    assert answered.forget_id is not None
    assert pia.forget_status(answered.forget_id).state == "waiting"
    with pytest.raises(NotFound):
        bot.resolve("a/b", scope=SESSION)
    assert bot.resolve("a/b", scope=place) == outer


def test_a_subject_is_held_exported_released_and_erased(bot: Client, pia: Client, subject: str) -> None:
    """SPEC F7, F10, F12: each answer is the record that the rules have for it."""
    memory = bot.remember("The zebra crosses at noon", kind="preference", source=USER)
    review_at = datetime(2036, 1, 1, tzinfo=UTC)

    placed = pia.hold(reason="case 4", review_at=review_at)
    refused_by = raised(pia.erase)
    export = pia.export()
    released = pia.release(reason="closed")
    certificate = pia.erase()

    assert (placed.subject, placed.review_at) == (subject, review_at)
    assert type(refused_by) is OnHold
    assert [one.memory for one in export.memories] == [memory]
    assert (export.subject, export.hold) == (subject, placed)
    assert released.released_at is not None
    assert certificate.statement.memory_ids == (memory.id,)
    assert pia.erase(subject=subject) == certificate
    assert type(raised(pia.hold_of)) is type(raised(lambda: pia.release(reason="x"))) is NotFound
    assert pia.alerts(limit=7).items == ()


MISTAKES: dict[str, tuple[Callable[[Client], object], type[Exception], str | None]] = {
    "no scope": (lambda pia: pia.forget(key="k"), ScopeNotNamed, "scope"),
    "two things": (lambda pia: pia.forget(memory_id=ID, key="k"), ScopeNotNamed, "subject"),
    "a memory and a subject": (
        lambda pia: pia.forget(memory_id=ID, expected_version=1, subject="x"),
        ScopeNotNamed,
        "subject",
    ),
    "no version": (lambda pia: pia.forget(memory_id=ID), InvalidRequest, "expected_version"),
    "a scope without a key": (lambda pia: pia.forget(scope=SESSION), InvalidRequest, "scope"),
    "an agent without a key": (lambda pia: pia.forget(agent="support"), InvalidRequest, "agent"),
    "a leaf without a key": (lambda pia: pia.forget(leaf_only=True), InvalidRequest, "leaf_only"),
    "nobody to forget": (lambda pia: pia.forget(subject=""), InvalidRequest, "subject"),
    "nobody to erase": (lambda pia: pia.erase(subject=""), InvalidRequest, "subject"),
    "an odd subject": (lambda pia: pia.export(subject="\0"), InvalidRequest, "subject"),
    "a subject that no UTF-8 carries": (lambda pia: pia.hold_of(subject="\ud800"), InvalidRequest, "subject"),
    "a subject that no address carries": (
        lambda pia: pia.erase(subject="s" * 5_000),
        InvalidRequest,
        "subject",
    ),
    "a subject that steps upward": (lambda pia: pia.hold_of(subject="../../log"), NotFound, None),
    "no reason": (lambda pia: pia.hold(reason=""), InvalidRequest, "reason"),
    "no reason to release": (lambda pia: pia.release(reason=""), InvalidRequest, "reason"),
    "a reason with a parameter in it": (lambda pia: pia.release(reason="x&subject=y"), NotFound, None),
    "an id with a path in it": (
        lambda pia: pia.forget_status("../review"),  # type: ignore[arg-type]
        InvalidRequest,
        "forget_id",
    ),
    "a key of nothing": (lambda pia: pia.resolve("", scope=SESSION), InvalidRequest, "key"),
    "a page of none": (lambda pia: pia.alerts(limit=0), InvalidRequest, "limit"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_and_forgets_nobody(bot: Client, pia: Client, mistake: str) -> None:
    """SPEC F4, S2: nothing is read as something wider, least of all as the client's own subject."""
    call, wanted, field = MISTAKES[mistake]
    memory = bot.remember(f"Tea {next(NUMBERS)}", kind="preference", source=USER)

    error = raised(lambda: call(pia))

    assert type(error) is wanted
    assert error.details.get("field") == field
    assert bot.get(memory.id) == memory


@pytest.mark.parametrize("name", ["erase", "export", "hold_of"])
def test_whom_to_erase_must_be_said(live: Live, kind: str, name: str) -> None:
    """SPEC F4: where neither the call nor the client names a subject."""
    with opened(kind, live.url, token_of(live, "pia", "privacy_officer")) as nobody:
        error = raised(getattr(nobody, name))

    assert isinstance(error, InvalidRequest)
    assert error.field == "subject"


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many retries as ever, one right after the other."""
    monkeypatch.setattr(client_exchange, "RETRY_SECONDS", (0.0,) * len(RETRY_SECONDS))


def test_a_server_that_does_not_know_says_so_in_its_problem() -> None:
    """SPEC S2: as every store does that was lost while it was storing."""
    with pytest.raises(Unavailable) as error, faults_as_unavailable():
        raise OutcomeUnknown

    assert error.value.details["outcome_unknown"] is True
    assert "unknown" in error.value.message
    assert "same idempotency key" in (error.value.hint or "")


@pytest.mark.usefixtures("no_patience")
@pytest.mark.parametrize(("key", "attempts"), [("k-1", 3), (None, 1)])
def test_an_outcome_that_the_server_does_not_know_is_not_called_nothing(
    kind: str, key: str | None, attempts: int
) -> None:
    """SPEC L9, S2: the same key settles it, so the client asks again; without one it is to be looked at."""
    with failing(*[UNKNOWN] * attempts) as server, opened(kind, server.url, "t", subject="s") as client:
        error = raised(lambda: client.remember("x", kind="fact", source=USER, idempotency_key=key))

    assert type(error) is Unavailable
    assert error.message == "whether it was stored is unknown"
    assert error.details["outcome_unknown"] is True
    assert ("same idempotency key" in (error.hint or "")) is (key is not None)
    assert "Look at what is there" in (error.hint or "") or key is not None
    assert len(server.requests) == attempts


@pytest.mark.usefixtures("no_patience")
def test_an_erasure_is_asked_for_again_since_it_goes_on(kind: str) -> None:
    """SPEC F7: whatever broke; and what the server says about it is told."""
    with failing(HANG_UP, STOPPED, STOPPED) as server, opened(kind, server.url, "t", subject="s") as client:
        stopped = raised(client.erase)
    with failing(HANG_UP, HANG_UP, HANG_UP) as server, opened(kind, server.url, "t", subject="s") as client:
        broken = raised(client.erase)

    assert (stopped.message, stopped.hint) == ("a check failed", "Ask again.")
    assert stopped.details["outcome_unknown"] is broken.details["outcome_unknown"] is True
    assert "goes on from there" in (broken.hint or "")


@pytest.mark.parametrize(
    "call",
    [
        lambda calls: calls.forget(memory_id=ID, expected_version=1),
        lambda calls: calls.hold(reason="x"),
        lambda calls: calls.release(reason="x"),
    ],
    ids=["forget", "hold", "release"],
)
def test_what_changes_something_is_sent_once(call: Callable[[Calls], Any]) -> None:
    """SPEC L9: it takes no key here, so whoever asked decides whether to ask again."""
    request = call(Calls(subject="s"))

    assert request.is_write
    assert not request.is_repeatable


def test_a_newer_server_may_say_more(kind: str) -> None:
    """SPEC S1: what this client does not know of an answer is passed over."""
    said = {"status": "forgotten", "forgotten": 1, "frogs": 2}
    with failing(answer(200, msgspec.json.encode(said))) as server, opened(kind, server.url, "t") as client:
        answered = client.forget(subject="s")

    assert (answered.status, answered.forgotten) == ("forgotten", 1)

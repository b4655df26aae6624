"""A client does what a session does: the same methods, the same answers, over a real server (SPEC S1)."""

import asyncio
import inspect
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import AsyncClient, Claim, Client, NotFound, Scope, Source, Tenure
from tenure.core.memory import Memory
from tenure.entrypoints.library.sessions import Session
from tenure.usecases.retrieval import ToolCall

HTTP_PAGE = Path(__file__).resolve().parents[3] / "docs" / "http.md"
METHODS = sorted(name for name in vars(Session) if not name.startswith("_"))
APPLICATION = Source.application("crm-1")


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file; each test has subjects of its own."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


@pytest.fixture
def bot(live: Live, kind: str, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client that writes and reads of a subject of the test's own."""
    with opened(
        kind, live.url, token_of(live, "bot", "writer", "reader"), subject=subject_of(request)
    ) as client:
        yield client


def subject_of(request: pytest.FixtureRequest) -> str:
    """A subject that no other test has."""
    return re.sub(r"[^\w-]", ".", request.node.name)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_has_every_method_of_a_session(client: type, name: str) -> None:
    """SPEC S1: with its arguments, their defaults and what it answers; awaited where it says so."""
    method = getattr(client, name)

    assert inspect.signature(method) == inspect.signature(getattr(Session, name))
    assert method.__doc__
    assert inspect.iscoroutinefunction(method) is (client is AsyncClient)


def test_the_first_steps_are_those_of_a_session(bot: Client) -> None:
    """SPEC R6, R7: a memory is written, recalled and reported."""
    bot.remember("Prefers e-mail to phone", kind="preference", source=Source.direct_user("conv-456"))
    found = bot.recall("how should we contact them?", budget_tokens=800)
    noted = bot.used(
        found,
        response_id="r-1",
        memory_ids=[memory.id for memory in found],
        tool_calls=[ToolCall(id="call-1", name="send_mail")],
    )

    assert [memory.content for memory in found] == ["Prefers e-mail to phone"]
    assert found[0] == found.items[0].memory
    assert "Prefers e-mail to phone" in found.context
    assert 0 < found.tokens <= 800
    assert found.skipped.budget == 0
    assert (noted.receipt_id, noted.response_id) == (found.receipt_id, "r-1")


def test_the_whole_life_of_a_memory(
    live: Live, kind: str, bot: Client, request: pytest.FixtureRequest
) -> None:
    """SPEC L6, L7, L10, L11, L12, F1: held back, promoted, corrected, renewed, revoked, forgotten."""
    subject = subject_of(request)
    with (
        opened(kind, live.url, token_of(live, "ann", "reviewer"), subject=subject) as ann,
        opened(kind, live.url, token_of(live, "pia", "privacy_officer")) as pia,
    ):
        source = Source.email("mail-1", uri="mailto:someone@example.com", thread="t-1", position=0)
        waiting = bot.remember("Wants invoices by post", kind="fact", source=source)
        assert waiting.status == "quarantined"
        assert waiting.decision.rule == "external_source"
        assert list(bot.recall("invoices")) == []
        assert [one.memory.id for one in ann.review().items] == [waiting.id]

        promoted = ann.promote(waiting.id, expected_version=1, reason="called back")
        assert [memory.id for memory in bot.recall("invoices")] == [waiting.id]

        renewed = bot.renew(promoted.id, expected_version=2, reason="still true", ttl_seconds=86_400)
        corrected = bot.correct(renewed, "Wants invoices by fax", source=APPLICATION)
        assert corrected.status == "quarantined"
        ann.promote(corrected.id, expected_version=1, reason="they said so")
        assert [memory.content for memory in bot.recall("invoices")] == ["Wants invoices by fax"]
        history = bot.history(waiting.id)
        assert [one.event for one in history.items] == [
            "memory.quarantined",
            "memory.promoted",
            "memory.renewed",
            "memory.superseded",
        ]

        other = bot.remember("Likes jazz", kind="fact", source=source)
        assert ann.reject(other.id, expected_version=1, reason="no").status == "rejected"
        ann.revoke(corrected.id, expected_version=2, reason="nobody has a fax")
        assert list(bot.recall("invoices")) == []

        answer = pia.forget(subject=subject)
        assert (answer.status, answer.forgotten) == ("forgotten", 3)
        with pytest.raises(NotFound):
            bot.get(waiting.id)
        assert pia.forget(subject=subject).status == "already_forgotten"


def test_everything_that_can_be_said_of_a_memory_arrives(bot: Client) -> None:
    """SPEC M1, M4, F3: scope, key, claim, confidence, times, place; and it is read as it was written."""
    source = Source.application(
        "crm-1", uri="https://crm.example.com/1", version="3", observed_at=datetime(2026, 1, 2, tzinfo=UTC)
    )
    parent = bot.remember("Has an account", kind="fact", source=APPLICATION)

    memory = bot.remember(
        "Ships to Zürich – always ✓",
        kind="fact",
        source=source,
        scope=Scope(tier="session", id="s-1", user="u-1"),  # type: ignore[arg-type]
        key="shipping",
        claim=Claim(entity="customer", attribute="city", value="Zürich"),
        confidence=0.5,
        ttl_seconds=3_600,
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_to=datetime(2036, 1, 1, tzinfo=UTC),
        derived_from=[parent.id],
    )

    assert bot.get(memory.id) == memory
    assert (memory.content, memory.key, memory.confidence) == ("Ships to Zürich – always ✓", "shipping", 0.5)
    assert (memory.scope.tier, memory.scope.id, memory.scope.user) == ("session", "s-1", "u-1")
    assert memory.source.observed_at == source.observed_at
    assert memory.claim == Claim(entity="customer", attribute="city", value="Zürich")
    assert memory.derived_from == (parent.id,)
    assert [one.id for one in bot.recall("Zürich", scope=memory.scope, kinds=["fact"], explain=True)] == [
        memory.id
    ]


def test_a_memory_is_the_same_through_either_door(
    live: Live, bot: Client, request: pytest.FixtureRequest
) -> None:
    """SPEC S1: the record that a session gives, and of the same type."""
    session = Tenure(live.node).session("acme", "support", "support", subject_of(request), name="inside")
    memory = bot.remember("Prefers e-mail", kind="fact", source=APPLICATION, key="contact")

    inside, outside = session.recall("e-mail"), bot.recall("e-mail")

    assert session.get(memory.id) == bot.get(memory.id) == memory
    assert type(memory) is Memory
    assert session.memories() == bot.memories()
    assert session.history(memory.id) == bot.history(memory.id)
    assert [one.memory for one in inside.items] == [one.memory for one in outside.items] == [memory]
    assert inside.items[0].score == pytest.approx(outside.items[0].score, abs=1e-5)
    assert type(inside) is type(outside)


def test_the_past_is_the_same_through_either_door(
    live: Live, bot: Client, request: pytest.FixtureRequest
) -> None:
    """SPEC R8, T4: as of a moment, of what held at a time, and what the answer says of both."""
    session = Tenure(live.node).session("acme", "support", "support", subject_of(request), name="inside")
    old = bot.remember("Prefers e-mail", kind="fact", source=APPLICATION)
    before = old.created_at
    bot.correct(old, "Prefers e-mail no more", source=APPLICATION)

    inside, outside = (door.recall("e-mail", as_of=before, valid_at=before) for door in (session, bot))

    assert [one.memory for one in inside.items] == [one.memory for one in outside.items] == [old]
    assert [one.status_now for one in outside.items] == ["superseded"]
    assert (outside.as_of, outside.valid_at) == (inside.as_of, inside.valid_at) == (before, before)
    assert bot.recall("e-mail").as_of is None


def test_a_revision_is_a_new_version_of_the_same_memory(bot: Client) -> None:
    """SPEC L8: at the version that was read."""
    memory = bot.remember("Prefers e-mail", kind="fact", source=APPLICATION)

    revised = bot.revise(memory.id, expected_version=1, content="Prefers letters", source=APPLICATION)

    assert (revised.id, revised.version, revised.content) == (memory.id, 2, "Prefers letters")


def test_trying_out_stores_nothing(bot: Client) -> None:
    """SPEC L1, L2: approve or reject, with the findings."""
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"

    approved = bot.try_out("Prefers e-mail", kind="preference", source=Source.direct_user("conv-1"))
    rejected = bot.try_out(f"The key is {secret}", kind="fact", source=APPLICATION)

    assert (approved.decision.outcome, rejected.decision.outcome) == ("approve", "reject")
    assert [finding.kind for finding in rejected.findings] == ["credential"]
    assert bot.memories().items == ()


def test_a_page_leads_to_the_next(bot: Client) -> None:
    """SPEC L14: newest first, narrowed as asked, with characters that an address must encode."""
    ids = [
        bot.remember(f"Ticket {number}", kind="fact", source=APPLICATION, key="tickets/#1+1=2").id
        for number in range(3)
    ]

    first = bot.memories(limit=2, kind="fact", status="active", key="tickets/#1+1=2")
    second = bot.memories(limit=2, cursor=first.next_cursor)

    assert [memory.id for memory in (*first.items, *second.items)] == ids[::-1]
    assert bot.memories(kind="skill").items == ()


def test_the_log_is_read_page_by_page(live: Live, kind: str, bot: Client) -> None:
    """SPEC E1, E6: the tenant's events, without content."""
    bot.remember("Likes the Okapi", kind="fact", source=APPLICATION)
    with opened(kind, live.url, token_of(live, "auditor", "auditor")) as auditor:
        whole = auditor.log(limit=1_000)
        last = auditor.log(after=whole.head - 1)

    assert last.items[:1] == whole.items[-1:]
    assert "Okapi" not in repr(whole)


def test_what_is_left_out_the_credential_says(live: Live, kind: str, request: pytest.FixtureRequest) -> None:
    """SPEC A2: agent, purpose and subject come from the credential, or from the client's own defaults."""
    subject = subject_of(request)
    narrow = token_of(live, "narrow", "writer", "reader", subjects=[subject])
    wide = token_of(live, "wide", "writer", "reader", agents=["sales", "support"], purposes=None)
    with (
        opened(kind, live.url, narrow) as one,
        opened(kind, live.url, wide, agent="sales", purpose="offers", subject=subject) as two,
    ):
        first = one.remember("Prefers e-mail", kind="fact", source=APPLICATION)
        second = two.remember("Wants an offer", kind="fact", source=APPLICATION)
        third = two.remember("Somebody else", kind="fact", source=APPLICATION, subject=f"{subject}.2")

        assert [(memory.agent, memory.purpose, memory.subject) for memory in (first, second, third)] == [
            ("support", "support", subject),
            ("sales", "offers", subject),
            ("sales", "offers", f"{subject}.2"),
        ]
        assert [memory.id for memory in two.memories().items] == [second.id]
        assert [memory.id for memory in two.recall("offer e-mail")] == [second.id]
        assert two.correct(third, "Nobody", source=APPLICATION).subject == f"{subject}.2"


def test_a_retry_with_its_key_is_the_same_memory(bot: Client, request: pytest.FixtureRequest) -> None:
    """SPEC L9: however often, and not only in letters of ASCII."""
    key = f"Schlüssel {subject_of(request)}"
    ids = {bot.remember("Once", kind="fact", source=APPLICATION, idempotency_key=key).id for _ in range(3)}

    assert len(ids) == 1
    assert len(bot.memories().items) == 1


def test_many_threads_share_a_client(live: Live, request: pytest.FixtureRequest) -> None:
    """SPEC S3: each gets its own answer."""
    token = token_of(live, "bot", "writer", "reader")
    with (
        Client(live.url, token, subject=subject_of(request)) as client,
        ThreadPoolExecutor(16) as threads,
    ):
        written = list(
            threads.map(
                lambda number: client.remember(f"Number {number}", kind="fact", source=APPLICATION), range(64)
            )
        )
        read = list(threads.map(lambda memory: client.get(memory.id), written))

    assert [memory.content for memory in written] == [f"Number {number}" for number in range(64)]
    assert read == written


def test_many_calls_are_awaited_beside_one_another(live: Live, request: pytest.FixtureRequest) -> None:
    """SPEC S1, S3: more than there are connections; and a call that is cancelled is whole or absent."""

    async def story() -> None:
        token = token_of(live, "bot", "writer", "reader")
        async with AsyncClient(live.url, token, subject=subject_of(request)) as client:
            calls: list[Any] = [
                client.remember(f"Number {number}", kind="fact", source=APPLICATION) for number in range(120)
            ]
            written = await asyncio.gather(*calls)
            late = asyncio.create_task(client.remember("Late", kind="fact", source=APPLICATION))
            await asyncio.wait({late}, timeout=0)
            late.cancel()
            with pytest.raises(asyncio.CancelledError):
                await late
            kept = (await client.memories(limit=200)).items
            assert [memory.content for memory in written] == [f"Number {number}" for number in range(120)]
            assert {memory.id for memory in written} <= {memory.id for memory in kept}
            assert len(kept) <= 121

    asyncio.run(story())


def test_the_page_of_the_http_api_shows_a_client_that_works(live: Live) -> None:
    """Habit of the documents: what is printed runs, but for the address and where the token comes from."""
    section = HTTP_PAGE.read_text(encoding="utf-8").partition("## Client")[2]
    printed = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    program = printed[0].replace("http://127.0.0.1:8080", live.url)
    token = token_of(live, "bot", "writer", "reader")

    told: dict[str, Any] = {"token": token}
    exec(program, told)  # noqa: S102 -- the page's own text

    assert program != printed[0]
    assert told["found"][0].content == "Prefers e-mail to phone"

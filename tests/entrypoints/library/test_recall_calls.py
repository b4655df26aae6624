"""Asking in every way that there is, from a session and from a client alike (SPEC S1, R1, R2a, R7)."""

import asyncio
import inspect
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import AsyncClient, AsyncTenure, Client, InvalidRequest, NotFound, Source, Tenure
from tenure.core.identity import Scope, Tier
from tenure.core.memory import Memory
from tenure.core.vocabulary import Claim
from tenure.entrypoints.library.recall_calls import RecallSession

METHODS = sorted(name for name in vars(RecallSession) if not name.startswith("_"))
WHERE = ("acme", "support", "support", "customer-7")


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


def turns(bot: Any, count: int = 4) -> list[Memory]:
    """A conversation of so many turns, each under a key."""
    return [
        bot.remember(
            f"Van {number} is red",
            kind="fact",
            key=f"van.{number}",
            source=Source.application(f"crm-{number}", thread="vans", position=number),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_has_every_method_of_a_session(client: type, name: str) -> None:
    """SPEC S1: with its arguments, their defaults and what it answers; awaited where it says so."""
    method = getattr(client, name)

    assert METHODS == ["neighbours", "recall", "used"]
    assert inspect.signature(method) == inspect.signature(getattr(RecallSession, name))
    assert inspect.iscoroutinefunction(method) is (client is AsyncClient)


def test_a_program_asks_in_every_way(store: Tenure, clock: MovableClock) -> None:
    """SPEC R1: one question, several, or none of what is narrowed."""
    bot = store.session(*WHERE)
    vans = turns(bot)
    later = clock.pass_time(hours=1)
    tea = bot.remember("Likes tea", kind="preference", source=Source.direct_user("m-1"))

    assert {one.id for one in bot.recall(queries=["van 3", "tea"], limit=2)} == {vans[3].id, tea.id}
    assert [one.id for one in bot.recall(key_prefix="van.")] == [van.id for van in reversed(vans)]
    assert [one.id for one in bot.recall(kinds=["preference"])] == [tea.id]
    assert [one.id for one in bot.recall(since=later)] == [tea.id]
    assert [one.id for one in bot.recall("tea", until=later)] != [tea.id]
    assert list(bot.recall("tea", since=later + timedelta(hours=1), time_zone="Europe/Paris")) == []
    assert bot.recall("tea").rankers[0] == "words"
    assert bot.recall("tea").without == ()


def disputed(bot: Any) -> tuple[Memory, Memory]:
    """A memory, and one of a narrower scope that says otherwise: both stand."""
    claims = [Claim(entity="shop", attribute="proxy", value=name) for name in ("nginx", "Caddy")]
    task = Scope(tier=Tier.TASK, id="t-1")
    old, new = (
        bot.remember(
            f"The proxy of the shop is {claim.value}",
            kind="fact",
            source=Source.application("crm-1"),
            claim=claim,
            scope=scope,
        )
        for claim, scope in zip(claims, (None, task), strict=True)
    )
    return old, new


def test_a_program_is_told_what_is_contradicted_and_how_fresh_it_is(
    store: Tenure, clock: MovableClock
) -> None:
    """SPEC T1, T3: beside each item; what is believed less is counted."""
    bot = store.session(*WHERE)
    old, new = disputed(bot)

    found = bot.recall("proxy")
    clock.pass_time(days=14)
    [later] = bot.recall("proxy").items

    [item] = found.items
    assert (item.memory.id, item.freshness, item.stale) == (new.id, 1.0, False)
    assert [(one.other, one.shown) for one in item.contradictions] == [(old.id, False)]
    assert str(old.id) in (item.note or "")
    assert found.skipped.contradicted == 1
    assert (later.memory.id, later.freshness, later.stale, later.note) == (old.id, 0.5, True, None)


def test_a_program_looks_around(store: Tenure) -> None:
    """SPEC R2a, R7: and reports what was used of it."""
    bot = store.session(*WHERE)
    vans = turns(bot)

    passage = bot.neighbours(vans[1].id, before=1, after=1)
    bot.used(passage, response_id="r-1", memory_ids=[vans[2].id])

    assert [one.id for one in passage] == [van.id for van in vans[:3]]
    assert passage.context.index("Van 0") < passage.context.index("Van 2")
    assert (passage.rankers, passage.tokens > 0) == ((), True)
    with pytest.raises(NotFound):
        bot.neighbours(UUID(int=7))


NO_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "query"),
    ({"query": ""}, "query"),
    ({"query": "", "kinds": ["fact"]}, "query"),
    ({"query": "a", "queries": ["b"]}, "queries"),
    ({"queries": []}, "queries"),
    ({"queries": iter(()), "kinds": ["fact"]}, "queries"),
    ({"queries": "abc"}, "queries"),
    ({"query": "a", "key_prefix": ""}, "key_prefix"),
    ({"query": "a", "time_zone": "Mars"}, "time_zone"),
]


@pytest.mark.parametrize(
    ("asked", "field"), NO_QUESTIONS, ids=[str(number) for number in range(len(NO_QUESTIONS))]
)
def test_a_question_that_went_missing_is_no_question(
    store: Tenure, live: Live, kind: str, asked: dict[str, Any], field: str
) -> None:
    """SPEC S2: embedded as over HTTP."""
    with pytest.raises(InvalidRequest) as inside:
        store.session(*WHERE).recall(**asked)
    with (
        opened(kind, live.url, token_of(live, "bot", "writer", "reader")) as bot,
        pytest.raises(InvalidRequest) as outside,
    ):
        bot.recall(**asked)

    assert inside.value.details["field"] == outside.value.details["field"] == field


async def story(folder: Path) -> None:
    """The same, awaited."""
    async with await AsyncTenure.open(folder) as store:
        bot = store.session(*WHERE)
        memory = await bot.remember(
            "Likes tea", kind="preference", key="tea", source=Source.direct_user("m-1")
        )
        assert [one.id for one in await bot.recall(key_prefix="te")] == [memory.id]
        assert [one.id for one in await bot.neighbours(memory.id)] == [memory.id]


def test_the_same_awaited(tmp_path: Path) -> None:
    """SPEC S1: nothing is written twice, so it cannot differ."""
    asyncio.run(story(tmp_path / "store"))


def test_a_client_asks_in_every_way(live: Live, kind: str) -> None:
    """SPEC S1: over a real server, with the same answers."""
    with opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject=f"client-{kind}") as bot:
        vans = turns(bot)
        found = bot.recall(queries=["van 3", "van 1"])
        newest = bot.recall(key_prefix="van.", since=vans[0].created_at, limit=2)
        passage = bot.neighbours(vans[1].id, before=0, after=1)
        old, new = disputed(bot)
        [item] = bot.recall("proxy of the shop", kinds=["fact"], since=old.created_at).items
        bot.used(passage, response_id="r-1", memory_ids=[vans[2].id])

    assert {one.id for one in found} == {van.id for van in vans}
    assert [one.id for one in newest] == [vans[3].id, vans[2].id]
    assert [one.id for one in passage] == [vans[1].id, vans[2].id]
    assert (found.rankers[0], passage.rankers, passage.without) == ("words", (), ())
    assert item.memory.id == new.id
    assert [(one.other, one.shown) for one in item.contradictions] == [(old.id, False)]
    assert found.items[0].freshness == 1.0

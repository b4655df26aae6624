"""Deciding between memories, from a session and from a client alike (SPEC S1, T2, T3)."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import AsyncClient, AsyncTenure, Claim, Client, IllegalTransition, InvalidRequest, Source, Tenure
from tenure.core.memory import Memory
from tenure.entrypoints.library.truth_calls import TruthSession

METHODS = sorted(name for name in vars(TruthSession) if not name.startswith("_"))
REASON = "looked at the host"


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


def proxy(value: str) -> dict[str, Any]:
    """What a program remembers of a proxy."""
    return {
        "content": f"The proxy of the shop is {value}",
        "kind": "fact",
        "source": Source.application("deploy-1"),
        "claim": Claim(entity="shop", attribute="proxy", value=value),
    }


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_has_every_method_of_a_session(client: type, name: str) -> None:
    """SPEC S1: with its arguments, their defaults and what it answers; awaited where it says so."""
    method = getattr(client, name)

    assert METHODS == ["contradictions", "resolve_contradiction", "unmerge"]
    assert inspect.signature(method) == inspect.signature(getattr(TruthSession, name))
    assert inspect.iscoroutinefunction(method) is (client is AsyncClient)


def test_a_program_decides_what_is_kept(tmp_path: Path) -> None:
    """SPEC T3: as it was listed; once."""
    with Tenure.open(tmp_path / "store") as store:
        where = ("acme", "support", "support", "shop")
        bot = store.session(*where)
        ann = store.session(*where, roles=("reviewer",), name="ann")
        nginx, caddy = bot.remember(**proxy("nginx")), bot.remember(**proxy("caddy"))
        (one,) = ann.contradictions().items

        answer = ann.resolve_contradiction(one.id, keep=nginx.id, reason=REASON)

        assert (one.believed.id, one.doubted.id) == (caddy.id, nginx.id)
        assert answer.contradiction.kept == str(nginx.id)
        assert [memory.id for memory in bot.recall("which proxy has the shop?")] == [nginx.id]
        assert ann.contradictions().items == ()
        assert ann.contradictions(is_open=False).items == ann.contradictions(is_open=None).items
        with pytest.raises(IllegalTransition):
            ann.resolve_contradiction(one.id, keep="both", reason=REASON)
        with pytest.raises(InvalidRequest):
            ann.resolve_contradiction(one.id, keep="either", reason=REASON)


def test_a_program_undoes_a_merge(tmp_path: Path) -> None:
    """SPEC T2: what stood behind another is read with the one that stands, and stands for itself again."""
    with Tenure.open(tmp_path / "store") as store:
        where = ("acme", "support", "support", "shop")
        bot = store.session(*where)
        ann = store.session(*where, roles=("reviewer",), name="ann")
        one, other = (
            bot.remember("The shop opens at nine", kind="fact", source=Source.application(name))
            for name in ("deploy-1", "crm-1")
        )

        assert ann.get(other.id).evidence == (one.id,)
        again = ann.unmerge(one.id, expected_version=2, reason="of the other shop")
        assert (again.status, again.merged_into) == ("active", None)
        assert len(bot.recall("when does the shop open?")) == 2


async def story(folder: Path) -> None:
    """The same, awaited."""
    async with await AsyncTenure.open(folder) as store:
        bot = store.session("acme", "support", "support", "shop")
        ann = store.session("acme", "support", "support", roles=("reviewer",), name="ann")
        for value in ("nginx", "caddy"):
            await bot.remember(**proxy(value))
        (one,) = (await ann.contradictions()).items
        answer = await ann.resolve_contradiction(one.id, keep="both", reason=REASON)
        assert answer.contradiction.kept == "both"


def test_the_same_awaited(tmp_path: Path) -> None:
    """SPEC S1: nothing is written twice, so it cannot differ."""
    asyncio.run(story(tmp_path / "store"))


def test_a_client_decides_over_a_real_server(live: Live, kind: str) -> None:
    """SPEC S1, T3, L9: with what the page gave, and again under its key."""
    subject = f"shop-{kind}"
    memories: list[Memory] = []
    with opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject=subject) as bot:
        memories += (bot.remember(**proxy(value)) for value in ("nginx", "caddy"))
        memories += (
            bot.remember("The shop opens at nine", kind="fact", source=Source.application(name))
            for name in ("deploy-1", "crm-1")
        )
    nginx, _caddy, one, other = memories
    with opened(kind, live.url, token_of(live, "ann", "reviewer"), subject=subject) as ann:
        (found,) = ann.contradictions(limit=10).items
        first, again = (
            ann.resolve_contradiction(found.id, keep=nginx.id, reason=REASON, idempotency_key=f"k-{kind}")
            for _time in range(2)
        )
        with pytest.raises(IllegalTransition) as late:
            ann.resolve_contradiction(found.id, keep="both", reason=REASON)
        stands = ann.get(other.id)
        parted = ann.unmerge(one.id, expected_version=2, reason="of the other shop")

        assert (first, late.value.details["kept"]) == (again, str(nginx.id))
        assert ann.contradictions(is_open=False).items == (first.contradiction,)
        assert stands.evidence == (one.id,)
        assert stands.support is not None
        assert (parted.id, parted.status) == (one.id, "active")

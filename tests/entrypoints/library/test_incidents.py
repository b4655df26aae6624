"""A source that went bad, through the library: in embedded use, awaited, and over HTTP (SPEC I1, I2)."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, raised, token_of
from tests.stores.engine import Engine

from tenure import AsyncTenure, Client, InvalidRequest, MemoryRejected, Source, Tenure
from tenure.core.incidents import Revocation


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


def test_a_session_sees_and_revokes_what_came_from_a_source(store: Tenure) -> None:
    """SPEC I1, I2, S1: the same answers as over HTTP, as records."""
    bot = store.session("acme", "support", "support", "customer-7")
    olga = store.session("acme", roles=("operator",), name="olga")
    memory = bot.remember("Pays by invoice", kind="fact", source=Source.application("crm-1"))
    found = bot.recall("how do they pay?")

    impact = olga.source_impact("crm-1", source_type="application")
    answer = olga.revoke_source("crm-1", source_type="application", reason="taken over")
    again = olga.revoke_source("crm-1", reason="taken over", source_type="application")

    assert (impact.memories, impact.recalls) == ((memory.id,), (found.receipt_id,))
    assert olga.source_impact("crm-1", limit=1).counts == impact.counts
    assert (answer.status, answer.revoked, answer.impact) == (Revocation.REVOKED, 1, impact)
    assert (again.status, again.revoked) == (Revocation.ALREADY_REVOKED, 0)
    assert len(bot.recall("how do they pay?")) == 0
    with pytest.raises(MemoryRejected):
        bot.remember("Pays at once", kind="fact", source=Source.application("crm-1"))


async def story(folder: Path) -> None:
    """The same, awaited."""
    async with await AsyncTenure.open(folder) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        olga = store.session("acme", roles=("operator",), name="olga")
        await bot.remember("Pays by invoice", kind="fact", source=Source.application("crm-1"))
        assert (await olga.source_impact("crm-1")).counts.memories == 1
        assert (await olga.revoke_source("crm-1", reason="taken over")).revoked == 1


def test_the_same_awaited(tmp_path: Path) -> None:
    """SPEC S1: nothing is written twice, so it cannot differ."""
    asyncio.run(story(tmp_path / "store"))


def test_a_client_sees_and_revokes_what_came_from_a_source(live: Live, kind: str) -> None:
    """SPEC S1, L9: each answer is the record that the rules have for it; a key makes it safe to repeat."""
    source_id = f"crm-{kind}"
    bot: Client
    olga: Client
    with (
        opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject=f"s-{kind}") as bot,
        opened(kind, live.url, token_of(live, "olga", "operator", agents=None, purposes=None)) as olga,
    ):
        memory = bot.remember("Pays by invoice", kind="fact", source=Source.application(source_id))

        impact = olga.source_impact(source_id, source_type="application", limit=5)
        first = olga.revoke_source(
            source_id, source_type="application", reason="taken over", idempotency_key=f"k-{kind}"
        )
        again = olga.revoke_source(
            source_id, source_type="application", reason="taken over", idempotency_key=f"k-{kind}"
        )

        assert impact.memories == (memory.id,)
        assert (first.status, first.revoked, first.impact) == (Revocation.REVOKED, 1, impact)
        assert again == first
        refusal = raised(lambda: olga.revoke_source(source_id, reason=""))
        assert isinstance(refusal, InvalidRequest)
        assert refusal.field == "reason"

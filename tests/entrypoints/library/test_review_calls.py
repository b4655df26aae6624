"""The queue, many decisions and statistics, from a session and from a client alike (SPEC S1, L6-L8, A5)."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.entrypoints.http_api.live import Live, serving
from tests.entrypoints.library.client_stage import KINDS, opened, token_of
from tests.stores.engine import Engine

from tenure import AsyncClient, AsyncTenure, Client, InvalidRequest, Source, Tenure
from tenure.core.bulk_review import Became
from tenure.core.memory import Memory
from tenure.entrypoints.library.review_calls import ReviewSession

METHODS = sorted(name for name in vars(ReviewSession) if not name.startswith("_"))
MAIL = Source.email("mail-1")


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """A server on a free port, once for the tests of this file."""
    with serving(shared_engine) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two clients."""
    return str(request.param)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_has_every_method_of_a_session(client: type, name: str) -> None:
    """SPEC S1: with its arguments, their defaults and what it answers; awaited where it says so."""
    method = getattr(client, name)

    assert METHODS == ["decide_many", "review", "review_statistics"]
    assert inspect.signature(method) == inspect.signature(getattr(ReviewSession, name))
    assert inspect.iscoroutinefunction(method) is (client is AsyncClient)


def test_a_program_works_through_what_waits_from_a_source(tmp_path: Path) -> None:
    """SPEC L7, L8: as it was shown, each by itself; and an auditor sees who decided."""
    with Tenure.open(tmp_path / "store") as store:
        where = ("acme", "support", "support", "customer-7")
        bot = store.session(*where)
        ann = store.session(*where, roles=("reviewer",), name="ann")
        aud = store.session("acme", roles=("auditor",), name="aud")
        for number in range(3):
            bot.remember(f"Claim number {number}", kind="fact", source=MAIL)

        page = ann.review(order="oldest", source_type="email", source_id="mail-1")
        yes = ann.decide_many("promote", reason="checked", expected=[page.items[0].memory])
        no = ann.decide_many("reject", reason="spam", source=MAIL, seen_until=page.seen_until)

        assert [one.outcome for one in (*yes.items, *no.items)] == [
            Became.PROMOTED,
            Became.REJECTED,
            Became.REJECTED,
        ]
        assert ann.review().items == ()
        (told,) = aud.review_statistics().reviewers
        assert (told.promoted, told.rejected) == (1, 2)


@pytest.mark.parametrize(
    "asked", [{"order": "best"}, {"kind": "x"}, {"finding": "rude"}, {"source_type": "fax"}, {"rule": ""}]
)
def test_a_word_that_is_none_is_refused_by_its_name(tmp_path: Path, asked: dict[str, Any]) -> None:
    """SPEC S2: in embedded use as over HTTP."""
    with Tenure.open(tmp_path / "store") as store:
        ann = store.session(tenant="acme", agent="support", purpose="support", roles=("reviewer",))

        with pytest.raises(InvalidRequest) as refusal:
            ann.review(**asked)
        with pytest.raises(InvalidRequest):
            ann.decide_many("bless", reason="checked", seen_until=1)

    assert refusal.value.details["field"] == next(iter(asked))


async def story(folder: Path) -> None:
    """The same, awaited."""
    async with await AsyncTenure.open(folder) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        ann = store.session("acme", "support", "support", roles=("reviewer",), name="ann")
        aud = store.session("acme", roles=("auditor",), name="aud")
        await bot.remember("Pays by invoice", kind="fact", source=MAIL)
        page = await ann.review(order="riskiest")
        answer = await ann.decide_many("reject", reason="spam", source=MAIL, seen_until=page.seen_until)
        assert answer.decided == 1
        assert (await aud.review_statistics()).reviewers[0].rejected == 1


def test_the_same_awaited(tmp_path: Path) -> None:
    """SPEC S1: nothing is written twice, so it cannot differ."""
    asyncio.run(story(tmp_path / "store"))


def test_a_client_decides_on_what_it_was_shown(live: Live, kind: str) -> None:
    """SPEC L7, L8, S1: over a real server, with what the page gave."""
    subject = f"client-{kind}"
    mail = Source.email(f"mail-{kind}")
    with opened(kind, live.url, token_of(live, "bot", "writer", "reader"), subject=subject) as bot:
        for number in range(2):
            bot.remember(f"Claim number {number}", kind="fact", source=mail)
    with opened(kind, live.url, token_of(live, "ann", "reviewer"), subject=subject) as ann:
        page = ann.review(order="oldest")
        shown: list[Memory] = [one.memory for one in page.items]
        yes = ann.decide_many("promote", reason="checked", expected=shown[:1])
        no = ann.decide_many("reject", reason="spam", source=mail, seen_until=page.seen_until)

    assert [one.outcome for one in (*yes.items, *no.items)] == [Became.PROMOTED, Became.REJECTED]
    everything = {"agents": None, "purposes": None}
    with opened(kind, live.url, token_of(live, "aud", "auditor", **everything), subject=subject) as aud:
        assert "ann" in {one.name for one in aud.review_statistics().reviewers}

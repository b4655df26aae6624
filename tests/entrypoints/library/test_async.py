"""AsyncTenure is the same, awaited; a call that is cancelled is whole or absent (SPEC S1, S3)."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine

from tenure import AsyncTenure, Forbidden, InvalidRequest, NotFound, Source, Tenure
from tenure.core.memory import Memory

APPLICATION = Source.application("crm-1")
SECONDS_MAX = 60.0
Story = Callable[[], Awaitable[None]]


def run(story: Story) -> None:
    """Tell a story to its end, or fail when it hangs."""

    async def told() -> None:
        async with asyncio.timeout(SECONDS_MAX):
            await story()

    asyncio.run(told())


def test_the_story_is_the_same_awaited(engine: Engine) -> None:
    """SPEC S1: every step of the documented story, with one word before it."""

    async def story() -> None:
        store = await AsyncTenure.open(**engine.opening)
        bot = store.session(tenant="acme", agent="support", purpose="support", subject="customer-7")
        await bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("conv-456"))
        found = await bot.recall("how should we contact them?", budget_tokens=800)
        noted = await bot.used(found, response_id="r-1", memory_ids=[m.id for m in found])
        await store.close()

        assert [memory.content for memory in found] == ["Prefers e-mail"]
        assert "Prefers e-mail" in found.context
        assert noted.receipt_id == found.receipt_id

    run(story)


def test_the_store_itself_is_awaited_too(engine: Engine) -> None:
    """SPEC L11, E1, E2: upkeep, verification and rebuilding; and it closes with its block."""
    clock = MovableClock()

    async def story() -> None:
        async with await AsyncTenure.open(**engine.opening, clock=clock) as store:
            bot = store.session("acme", "support", "support", "customer-7")
            await bot.remember("For now", kind="fact", source=APPLICATION, ttl_seconds=60)
            clock.pass_time(seconds=60)
            assert (await store.upkeep()).expired == 1
            assert (await store.verify("acme")).events == 2
            assert (await store.rebuild()).identical

    run(story)
    Tenure.open(**engine.opening).close()


def test_errors_are_the_same_awaited(engine: Engine) -> None:
    """SPEC S2, A2: raised where the call is awaited."""

    async def story() -> None:
        async with await AsyncTenure.open(**engine.opening) as store:
            bot = store.session("acme", "support", "support", "customer-7")
            with pytest.raises(Forbidden):
                await bot.recall("x", subject="customer-8")
            with pytest.raises(NotFound):
                await bot.get(UUID(int=9))
            with pytest.raises(InvalidRequest):
                await AsyncTenure.open("http://localhost:8080")
            assert bot.caller.tenant == "acme"

    run(story)


@pytest.mark.parametrize("name", ["_subject", "__wrapped__"])
def test_what_is_not_public_is_not_awaited(engine: Engine, name: str) -> None:
    """SPEC S1: only the methods of a session are."""

    async def story() -> None:
        async with await AsyncTenure.open(**engine.opening) as store:
            bot = store.session("acme", "support", "support", "customer-7")
            assert not hasattr(bot, name)
            assert not hasattr(bot, "remenber")

    run(story)


def test_many_calls_run_beside_one_another(engine: Engine) -> None:
    """SPEC S1, L8: each gets its own answer, and nothing is lost."""

    async def story() -> None:
        async with await AsyncTenure.open(**engine.opening) as store:
            bot = store.session("acme", "support", "support", "customer-7")
            written = await asyncio.gather(
                *(bot.remember(f"Memory {one}", kind="fact", source=APPLICATION) for one in range(100))
            )
            read = await asyncio.gather(*(bot.get(memory.id) for memory in written))
            assert [memory.content for memory in written] == [f"Memory {one}" for one in range(100)]
            assert read == written

    run(story)


async def cancelled_in_the_middle(store: AsyncTenure, done: int) -> set[UUID]:
    """Start many corrections, cancel what is left once some are answered; gives back those that were."""
    bot = store.session("acme", "support", "support", "customer-7")
    old = [await bot.remember(f"Old {one}", kind="fact", source=APPLICATION) for one in range(60)]
    tasks = [
        asyncio.ensure_future(bot.correct(memory, f"New {one}", source=APPLICATION))
        for one, memory in enumerate(old)
    ]
    answers = asyncio.as_completed(tasks)
    for _ in range(done):
        await next(answers)
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {Memory, asyncio.CancelledError}
    return {outcome.id for outcome in outcomes if isinstance(outcome, Memory)}


def assert_whole_or_absent(engine: Engine, answered: set[UUID]) -> None:
    """After a restart each correction stands with its supersession, or neither does."""
    with Tenure.open(**engine.opening) as store:
        bot = store.session("acme", "support", "support", "customer-7")
        memories = {memory.id: memory for memory in bot.memories(limit=200).items}
        corrections = [memory for memory in memories.values() if memory.supersedes]
        assert answered <= {memory.id for memory in corrections}
        for memory in corrections:
            assert memory.supersedes is not None
            assert memories[memory.supersedes].superseded_by == memory.id
        superseded = [memory for memory in memories.values() if memory.superseded_by]
        assert len(memories) == 60 + len(corrections)
        assert len(superseded) == len(corrections)
        assert store.verify("acme").holds
        assert store.rebuild().identical


@pytest.mark.parametrize("done", [1, 5, 20])
def test_a_cancelled_call_is_whole_or_absent(engine: Engine, done: int) -> None:
    """SPEC S3, E5: never half a write, and what was answered stands; the store goes on."""

    async def story() -> None:
        async with await AsyncTenure.open(**engine.opening) as store:
            answered.update(await cancelled_in_the_middle(store, done))
            bot = store.session("acme", "support", "support", "customer-8")
            await bot.remember("Life goes on", kind="fact", source=APPLICATION)

    answered: set[UUID] = set()
    run(story)
    assert_whole_or_absent(engine, answered)


HURRIED = """
import asyncio, sys
from tenure import AsyncTenure, Source
from tenure.config import Settings

async def main():
    store = await AsyncTenure.open(sys.argv[1], settings=Settings(data_dir=sys.argv[2]))
    bot = store.session("acme", "support", "support", "customer-7")
    source = Source.application("crm-1")
    calls = [bot.remember(f"Memory {one}", kind="fact", source=source) for one in range(64)]
    calls += [bot.recall("memory") for _ in range(64)]
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await store.close()
    await asyncio.gather(*tasks, return_exceptions=True)

asyncio.run(main())
"""


def test_a_program_that_closes_in_the_middle_of_its_calls_ends(engine: Engine) -> None:
    """SPEC S3, E5: no thread waits for ever on a closed store, and the log is whole."""
    place = [str(engine.opening["path"]), engine.opening["settings"].data_dir]

    ended = subprocess.run(
        [sys.executable, "-c", HURRIED, *place], timeout=SECONDS_MAX, check=False, capture_output=True
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    with Tenure.open(**engine.opening) as store:
        assert store.verify("acme").holds
        assert store.rebuild().identical

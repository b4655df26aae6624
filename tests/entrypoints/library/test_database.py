"""The library over a database: the same names, any number of programs (SPEC S5)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.postgres.server import free_port

from tenure import AsyncTenure, NotFound, Source, Tenure, Unavailable
from tenure.config import Keys, Settings

WHERE: dict[str, Any] = {"tenant": "acme", "agent": "support", "purpose": "support", "subject": "customer-7"}
QUESTION = "how should we contact them?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose data folder is this test's own."""
    return Settings(data_dir=str(tmp_path / "data"))


def test_two_programs_have_one_memory(postgres_url: str, settings: Settings, tmp_path: Path) -> None:
    """SPEC S5, F1: written in one, recalled in the other, forgotten from both at once; no folder is held."""
    with (
        Tenure.open(postgres_url, settings=settings) as one,
        Tenure.open(postgres_url, settings=settings) as two,
    ):
        bot, other = one.session(**WHERE), two.session(**WHERE)
        officer = two.session(**WHERE, roles=["privacy_officer"])
        kept = bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("conv-456"))
        found = [memory.id for memory in other.recall(QUESTION)]
        officer.forget()
        with pytest.raises(NotFound):
            bot.get(kept.id)
        assert not bot.recall(QUESTION)
        assert two.verify("acme").holds

    assert found == [kept.id]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["root.key"]


def test_the_root_key_may_come_from_the_settings(
    postgres_url: str, settings: Settings, tmp_path: Path
) -> None:
    """SPEC S5: programs on other machines share it, and nothing lies in their folders."""
    kek = bytes(range(32))
    for name in ("one", "two"):
        chosen = Settings(data_dir=str(tmp_path / name), keys=Keys(kek=kek))
        with Tenure.open(postgres_url, settings=chosen) as store:
            store.session(**WHERE).remember("Prefers e-mail", kind="fact", source=Source.direct_user(name))

    assert list((tmp_path / "one").iterdir()) == []
    with pytest.raises(Unavailable):
        Tenure.open(postgres_url, settings=settings)


def test_awaited_it_opens_a_database_too(postgres_url: str, settings: Settings) -> None:
    """SPEC S1: the awaited form differs in nothing else."""

    async def story() -> list[str]:
        async with await AsyncTenure.open(postgres_url, settings=settings) as store:
            bot = store.session(**WHERE)
            await bot.remember("Prefers e-mail", kind="preference", source=Source.direct_user("conv-456"))
            return [memory.content for memory in await bot.recall(QUESTION)]

    assert asyncio.run(story()) == ["Prefers e-mail"]


def test_a_database_out_of_reach_is_said_to_be(settings: Settings) -> None:
    """SPEC S3, E6: and its password is not."""
    with pytest.raises(Unavailable, match="the database cannot ") as refusal:
        Tenure.open(f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/memory", settings=settings)

    assert "hunter2" not in f"{refusal.value} {refusal.value.hint}"

"""The contract under kill -9: nothing acknowledged is lost, nothing is torn (SPEC E5)."""

import random
import subprocess
import sys
import threading
from pathlib import Path
from uuid import UUID

import pytest
from tests.stores.engine import Engine
from tests.stores.items import TENANT
from tests.usecases.asking import BOT, proposal, question

from tenure.core.memory import Memory
from tenure.core.vocabulary import Status
from tenure.usecases.evidence import verify
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

ROOT = Path(__file__).resolve().parents[2]
LINES_MAX = 400
SECONDS_MAX = 60.0


def acknowledged_until_killed(engine: Engine, lines: int) -> dict[UUID, str]:
    """Start writers, kill them after so many acknowledgements, and give back all that were made."""
    command = [sys.executable, "-m", "tests.stores.crashing_writer", engine.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(SECONDS_MAX, process.kill)
        watchdog.start()
        said = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        said += process.stdout.readlines()
        watchdog.cancel()
    assert process.returncode == -9, "the writers ended by themselves"
    whole = (line.decode().rstrip("\n").split(" ", 1) for line in said if line.endswith(b"\n"))
    return {UUID(memory_id): content for memory_id, content in whole}


def everything(pipeline: Pipeline) -> dict[UUID, Memory]:
    """Every memory that can be read."""
    found: dict[UUID, Memory] = {}
    cursor = None
    while True:
        page = pipeline.run(LIST, BOT, ListMemories(limit=200, cursor=cursor))
        found |= {memory.id: memory for memory in page.items}
        cursor = page.next_cursor
        if cursor is None:
            return found


def assert_not_torn(memories: dict[UUID, Memory]) -> None:
    """A correction and the end of what it corrects are there together or not at all."""
    for memory in memories.values():
        if memory.supersedes is not None:
            assert memories[memory.supersedes].superseded_by == memory.id
        if memory.superseded_by is not None:
            assert memories[memory.superseded_by].supersedes == memory.id
        assert (memory.status is Status.SUPERSEDED) == (memory.superseded_by is not None)


def assert_found_and_retried(pipeline: Pipeline, memory: Memory) -> None:
    """The word index is up, and the retry of an acknowledged write gets its answer."""
    subject = memory.subject
    items = pipeline.run(RECALL, BOT, question(memory.content or "", subject=subject, explain=True)).items
    assert any(item.why and item.why["words"] for item in items)
    command = proposal(memory.content or "", subject=subject, supersedes=memory.supersedes)
    again = pipeline.run(REMEMBER, BOT, command, idempotency_key=memory.content).memory
    assert again is not None
    assert again.id == memory.id


def assert_survives_kills(engine: Engine, kills: int, seed: int) -> None:
    """Kill the writers again and again, on one store, and look at everything each time."""
    chance = random.Random(seed)
    acknowledged: dict[UUID, str] = {}
    for _ in range(kills):
        fresh = acknowledged_until_killed(engine, chance.randrange(1, LINES_MAX))
        acknowledged |= fresh
        opened = engine.open()
        try:
            memories = everything(opened.pipeline)
            lost = {one: content for one, content in acknowledged.items() if one not in memories}
            assert lost == {}
            assert {one: memories[one].content for one in acknowledged} == acknowledged
            assert_not_torn(memories)
            last = opened.pipeline.run(GET, BOT, Get(memory_id=max(fresh)))
            assert last == memories[last.id]
            if last.status is Status.ACTIVE:
                assert_found_and_retried(opened.pipeline, last)
            assert verify(opened.pipeline, TENANT).holds
            assert opened.store.rebuild().identical
        finally:
            opened.close()


def test_nothing_acknowledged_is_lost_in_a_crash(engine: Engine) -> None:
    """SPEC E5: five kills of eight writers at random moments."""
    assert_survives_kills(engine, kills=5, seed=1)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_many_crashes(engine: Engine) -> None:
    """SPEC E5: fifty kills of eight writers at random moments."""
    assert_survives_kills(engine, kills=50, seed=2)

"""The work for all peers, and what one of them makes of it."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from bench import machine
from bench.peers import work
from bench.peers.running import PeerFailed, Running
from bench.processes import resident_bytes
from bench.recall.conversations import Conversation, made_up
from bench.recall.scoring import Answer, evidence_recall, reciprocal_rank
from bench.results import share
from tenure.usecases.embedding_ports import Embedder

LIMIT: Final = 10
CALLERS: Final = 8
WARMING: Final = 20
FILLING_USERS: Final = 10
VECTORS_AT_ONCE: Final = 1_000


class Sizes(NamedTuple):
    """How much of everything."""

    conversations: int | None
    memories: int
    adds_alone: int
    adds_together: int
    add_seconds_max: float
    questions: int
    kills: int
    acknowledged_each: int


FULL: Final = Sizes(None, 10_000, 500, 1_500, 20.0, 300, 5, 300)
QUICK: Final = Sizes(2, 2_000, 100, 300, 5.0, 60, 2, 100)


class Task(NamedTuple):
    """What is kept and asked, and the evidence of each question."""

    memories: list[work.Memory]
    questions: list[work.Question]
    evidence: list[frozenset[str]]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One peer on the whole work. Times in seconds."""

    name: str
    version: str
    core_speed: str
    """How fast a core was just before, and below how much of the cores others took: peers come one by one."""
    neighbours_share: float | None
    memories: int
    adds_per_second: float
    adds_together_per_second: float
    add_errors: dict[str, int]
    find_p50: float
    find_p95: float
    find_p99: float
    finds_together_per_second: float
    find_errors: dict[str, int]
    recall_at_5: float
    recall_at_10: float
    reciprocal_rank: float
    acknowledged: int
    lost: int
    bytes_each: float
    resident_bytes: int


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A peer that could not be measured, and why."""

    name: str
    because: str


def task(conversations: Sequence[Conversation], sizes: Sizes) -> Task:
    """The conversations, behind as many made-up texts of other users as are missing to the size.

    The made-up ones come first, since adds are timed with them: no gate has a reason to hold one back.
    """
    conversations = conversations[: sizes.conversations]
    said = [
        work.Memory(one.id, f"{one.id}/{turn.id}", turn.content)
        for one in conversations
        for turn in one.turns
    ]
    missing = max(0, sizes.memories - len(said))
    each = -(-missing // FILLING_USERS)
    filling = [
        work.Memory(f"other-{one.id}", f"other-{one.id}/{turn.id}", turn.content)
        for one in made_up(31, conversations=FILLING_USERS, turns=each, questions=0)
        for turn in one.turns
    ][:missing]
    asked = [
        (
            work.Question(one.id, question.question),
            frozenset(f"{one.id}/{turn}" for turn in question.evidence),
        )
        for one in conversations
        for question in one.questions
    ]
    chosen = random.Random(5).sample(asked, min(len(asked), sizes.questions))
    return Task([*filling, *said], [one for one, _ in chosen], [evidence for _, evidence in chosen])


def write(folder: Path, given: Task, embedder: Embedder) -> None:
    """Put the work where the peers find it, every vector computed."""
    texts = [one.text for one in given.memories]
    passages: list[Any] = []
    for first in range(0, len(texts), VECTORS_AT_ONCE):
        passages += embedder.passages(texts[first : first + VECTORS_AT_ONCE])
    queries = [embedder.query(one.text) for one in given.questions]
    vectors = np.array([*passages, *queries], dtype=np.float32)
    work.written(folder, given.memories, given.questions, vectors.tobytes())


def measure(name: str, python: Path, folder: Path, given: Task, sizes: Sizes) -> Figures:
    """Fill it, ask it, kill it. Raises PeerFailed."""
    core_speed, neighbours = machine.core_speed(), machine.Neighbours()
    with Running(name, python, work=folder, store=folder / f"{name}-store") as peer:
        # What a process does once, such as making its patterns ready, is in no figure.
        begun = int(_added(peer, 0, WARMING, 1, sizes)["taken"])
        alone = _added(peer, begun, sizes.adds_alone, 1, sizes)
        begun += alone["taken"]
        together = _added(peer, begun, sizes.adds_together, CALLERS, sizes)
        begun += together["taken"]
        peer.ask("fill", first=begun, count=len(given.memories) - begun)
        everything = list(range(len(given.questions)))
        peer.ask("find", questions=everything[:WARMING], limit=LIMIT, callers=1)
        found = peer.ask("find", questions=everything, limit=LIMIT, callers=1)
        crowd = peer.ask("find", questions=everything, limit=LIMIT, callers=CALLERS)
        if not found["seconds"]:
            raise PeerFailed(f"{name} answered no question: {found['errors']}")
        resident, version = resident_bytes(peer.process), peer.version
        peer.close()
    answers = [
        Answer(category="", evidence=evidence, ranked=tuple(ids))
        for evidence, ids in zip(given.evidence, found["found"], strict=True)
    ]
    acknowledged, lost = _killed(name, python, folder, sizes)
    return Figures(
        name=name,
        version=version,
        core_speed=core_speed.partition(" for ")[0],
        neighbours_share=neighbours.share(),
        memories=len(given.memories),
        adds_per_second=_per_second(alone, "added"),
        adds_together_per_second=_per_second(together, "added"),
        add_errors={**alone["errors"], **together["errors"]},
        find_p50=share(found["seconds"], 0.5),
        find_p95=share(found["seconds"], 0.95),
        find_p99=share(found["seconds"], 0.99),
        finds_together_per_second=len(crowd["seconds"]) / crowd["elapsed_seconds"],
        find_errors={**found["errors"], **crowd["errors"]},
        recall_at_5=_mean([evidence_recall(one, 5) for one in answers]),
        recall_at_10=_mean([evidence_recall(one, 10) for one in answers]),
        reciprocal_rank=_mean([reciprocal_rank(one) for one in answers]),
        acknowledged=acknowledged,
        lost=lost,
        bytes_each=_bytes(folder / f"{name}-store") / len(given.memories),
        resident_bytes=resident,
    )


def _added(peer: Running, first: int, count: int, callers: int, sizes: Sizes) -> dict[str, Any]:
    return peer.ask("add", first=first, count=count, callers=callers, seconds_max=sizes.add_seconds_max)


def _killed(name: str, python: Path, folder: Path, sizes: Sizes) -> tuple[int, int]:
    """How many writes were acknowledged before kills, and how many of them were gone when it was reopened."""
    handles: list[list[str]] = []
    store = folder / f"{name}-killed"
    for kill in range(sizes.kills):
        first = kill * sizes.acknowledged_each * 3
        with Running(name, python, work=folder, store=store) as peer:
            handles += peer.acknowledged(
                sizes.acknowledged_each,
                first=first,
                count=sizes.acknowledged_each * 3,
                callers=CALLERS,
            )
    with Running(name, python, work=folder, store=store) as peer:
        held = peer.ask("count", handles=handles)["held"]
    return len(handles), len(handles) - int(held)


def _per_second(calls: dict[str, Any], counted: str) -> float:
    return float(calls[counted]) / float(calls["elapsed_seconds"])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

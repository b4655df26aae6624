"""Upkeep of a store of fifty tenants: every step until nothing is left, and what writers notice of it."""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from bench.corpus import Corpus, Sentence
from bench.results import Row, milliseconds, rate, share
from bench.running import Run
from bench.stores import BATCH, Proposal, converted, proposals, remember, session, turns
from bench.tenants import ADMITTED_MIN, SIZES, TENANTS, Group, stages
from tenure import Tenure
from tenure.config import Settings
from tenure.config.truth import Truth
from tenure.core.duplicates import Likeness
from tenure.core.identity import Moment
from tenure.core.vectors import packed, unpacked
from tenure.engines.clock import SystemClock
from tenure.usecases.importing import import_batch
from tenure.usecases.upkeep import Round, Worked, upkeep_round
from tenure.wiring import open_store

LEAVES_OUT: Final = """\
upkeep: an embedded store with the embedder that ships, 50 tenants, written while nothing was compared; of
every forty memories one copies an earlier one and one gives a setting another value, and a twentieth of all
is so old that it has expired and is pruned. Rounds of 500 follow one another until nothing is left, with
process and writer bound to one core; no checkpoint goes outside, and no receiver of alerts, probe or engine
that is asked is set. The writer writes one memory every 20 ms into a tenant of its own. The floor is the
products of all vectors of each subject alone, in memory: it reads, opens, decides and stores nothing."""

SECONDS_MAX: Final = 60.0
WAIT_SECONDS_MAX: Final = 0.050
EVERY_SECONDS: Final = 0.020
ALONE_SECONDS: Final = 5.0
OLD: Final = timedelta(days=120)
OLD_SHARE: Final = 20
REPEATS: Final = 40
WRITER: Final = "writer"


_Stop: TypeAlias = Callable[[], bool]


class _Earlier(SystemClock):
    """The machine's clock, so long ago."""

    def __init__(self, ago: timedelta) -> None:
        super().__init__()
        self._ago = ago

    def now(self) -> datetime:
        """The time, so long ago."""
        return super().now() - self._ago

    def moment(self) -> Moment:
        """The time, so long ago, and a fresh id."""
        return Moment(now=self.now(), fresh_id=super().moment().fresh_id)


class Kept(NamedTuple):
    """What the rounds took, in all and by worker, and what they did."""

    seconds: float
    processor_seconds: float
    by_worker: dict[str, float]
    rounds: list[Round]


def measure(run: Run) -> Iterator[Row]:
    """Fill a store, do all that is to be done in it, and do it again when nothing is left."""
    memories = run.size(SIZES[-1], SIZES[1])
    folder = run.fresh_folder("upkeep")
    spoken = list(_spoken(memories))
    yield _filled(folder, spoken)
    with Tenure.open(folder) as store, _one_core():
        floor = _floor(store, [said for _, said in spoken])
        alone = _written(store, seed=71, stop=_after(ALONE_SECONDS))
        with _writing(store, seed=72) as beside:
            kept = _kept(store)
        idle = _kept(store)
    yield _whole(memories, kept, floor)
    for worker, seconds in sorted(kept.by_worker.items(), key=lambda one: -one[1])[:6]:
        yield Row(
            measured=f"upkeep, {memories:,} memories: {worker}",
            figure=f"{seconds:.2f} s",
            values={"memories": memories, "seconds": seconds},
        )
    yield _waits(memories, beside, alone)
    yield Row(
        measured=f"upkeep, {memories:,} memories: a round with nothing to do",
        figure=milliseconds(idle.seconds / len(idle.rounds)),
        values={"memories": memories, "seconds": idle.seconds / len(idle.rounds)},
    )


def _spoken(memories: int) -> Iterator[tuple[Group, list[Sentence]]]:
    """What each subject's memories say: of every forty one is a copy, and one changes a setting."""
    corpus = Corpus(seed=66)
    sizes = [size for size in SIZES if size <= memories]
    for group in (group for stage in stages(sizes) for group in stage.groups):
        said = corpus.sentences(group.memories)
        for at in range(REPEATS, len(said), REPEATS):
            said[at] = said[at - REPEATS // 2]
            setting = f"The timeout of the {said[0].content_words[0]} gateway is {10 + at} seconds."
            said[at - 1] = Sentence(setting, ("timeout", "gateway"))
        yield group, said


def _filled(folder: Path, spoken: Sequence[tuple[Group, list[Sentence]]]) -> Row:
    """Written while nothing is compared; every twentieth group a hundred and twenty days ago."""
    uncompared = Settings(truth=Truth(compare=False))
    admitted, started = 0, time.perf_counter()
    for clock, mine in (
        (_Earlier(OLD), [one for at, one in enumerate(spoken) if at % OLD_SHARE == 0]),
        (None, [one for at, one in enumerate(spoken) if at % OLD_SHARE]),
    ):
        with open_store(folder, settings=uncompared, clock=clock) as node:
            for group, said in mine:
                items = list(converted(turns({group.subject: said})))
                for first in range(0, len(items), BATCH):
                    admitted += import_batch(
                        node.pipeline, group.tenant, items[first : first + BATCH]
                    ).admitted
    added = sum(len(said) for _, said in spoken)
    if admitted < added * ADMITTED_MIN:
        raise AssertionError(f"the gate let in {admitted:,} of {added:,}, so the sizes are wrong")
    per_second = added / (time.perf_counter() - started)
    return Row(
        measured=f"upkeep: {added:,} memories of {TENANTS} tenants, imported",
        figure=rate(per_second),
        values={"memories": added, "per_second": per_second},
    )


def _floor(store: Tenure, spoken: Sequence[list[Sentence]]) -> float:
    """How long the products of all vectors of each subject take by themselves."""
    embedder, near = store.node.pipeline.meaning.embedder, Likeness().near_cosine
    if embedder is None:
        raise AssertionError("this store has no embedder")
    blocks = [
        unpacked([packed(vector) for vector in embedder.passages([one.text for one in said])])[0]
        for said in spoken
    ]
    before = time.perf_counter()
    for block in blocks:
        steps = block.astype(np.float32)
        lengths = np.sqrt((steps * steps).sum(1))
        for first in range(0, len(steps), BATCH):
            mine = slice(first, first + BATCH)
            products = steps[mine] @ steps[: first + BATCH].T
            np.nonzero(products > near * np.outer(lengths[mine], lengths[: first + BATCH]))
    return time.perf_counter() - before


def _kept(store: Tenure) -> Kept:
    """Rounds until nothing is left."""
    by_worker: defaultdict[str, float] = defaultdict(float)
    rounds: list[Round] = []

    def on_worked(worked: Worked) -> None:
        by_worker[worked.worker] += worked.seconds
        if worked.failed:
            raise AssertionError(f"the worker {worked.worker} failed")

    used, started = time.process_time(), time.perf_counter()
    while not rounds or rounds[-1].more:
        rounds.append(
            upkeep_round(
                store.node.pipeline,
                batch_size=store.node.settings.upkeep.batch_size,
                watcher=store.node.watcher,
                embedding=store.node.embedding,
                passed=time.monotonic,
                on_worked=on_worked,
            )
        )
    return Kept(time.perf_counter() - started, time.process_time() - used, by_worker, rounds)


@contextmanager
def _writing(store: Tenure, *, seed: int) -> Iterator[list[float]]:
    """Somebody writes meanwhile; gives how long each write took."""
    stop, took = threading.Event(), list[float]()
    writer = threading.Thread(target=lambda: took.extend(_written(store, seed=seed, stop=stop.is_set)))
    writer.start()
    try:
        yield took
    finally:
        stop.set()
        writer.join()


def _written(store: Tenure, *, seed: int, stop: _Stop) -> list[float]:
    """One memory every 20 ms, or as soon as the last one is stored; how long each took."""
    principal = session(store, WRITER)
    took: list[float] = []
    due = time.perf_counter()
    for one in _unlike(proposals(seed=seed, count=5_000)):
        if stop():
            break
        due = max(due + EVERY_SECONDS, time.perf_counter())
        time.sleep(max(0.0, due - time.perf_counter()))
        before = time.perf_counter()
        remember(principal, one)
        took.append(time.perf_counter() - before)
    return took


def _unlike(items: Sequence[Proposal]) -> Iterator[Proposal]:
    """Spread over so many subjects that none has many memories."""
    for at, one in enumerate(items):
        yield one._replace(subject=f"{one.subject}-{at % 50}")


def _after(seconds: float) -> _Stop:
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() > until


@contextmanager
def _one_core() -> Iterator[None]:
    """Everything this process does, on one core, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _whole(memories: int, kept: Kept, floor: float) -> Row:
    did = {
        name: float(sum(getattr(one, name) for one in kept.rounds))
        for name in Round.__struct_fields__
        if name != "more"
    }
    told = ", ".join(f"{name} {number:,.0f}" for name, number in did.items() if number)
    return Row(
        measured=f"upkeep, {memories:,} memories, all of it: {told}",
        figure=f"{kept.seconds:.1f} s",
        beside=f"core {kept.processor_seconds:.1f} s; floor {floor:.2f} s; {len(kept.rounds)} rounds",
        ratio=kept.seconds / floor,
        target=f"≤ {SECONDS_MAX:.0f} s" if memories == SIZES[-1] else "",
        reached=kept.seconds <= SECONDS_MAX if memories == SIZES[-1] else None,
        values={"memories": memories, "seconds": kept.seconds, "floor_seconds": floor} | did,
    )


def _waits(memories: int, beside: Sequence[float], alone: Sequence[float]) -> Row:
    p99, longest = share(beside, 0.99), max(beside)
    alone_p99, alone_longest = share(alone, 0.99), max(alone)
    return Row(
        measured=f"a write beside upkeep, {memories:,} memories, p50 {milliseconds(share(beside, 0.5))}, "
        f"longest {milliseconds(longest)}",
        figure=milliseconds(p99),
        beside=f"alone p50 {milliseconds(share(alone, 0.5))}, p99 {milliseconds(alone_p99)}, "
        f"longest {milliseconds(alone_longest)}",
        ratio=p99 / alone_p99,
        target=f"p99 ≤ {WAIT_SECONDS_MAX * 1_000:.0f} ms",
        reached=p99 <= WAIT_SECONDS_MAX,
        values={
            "p50": share(beside, 0.5),
            "p99": p99,
            "longest": longest,
            "alone_p99": alone_p99,
            "alone_longest": alone_longest,
            "samples": len(beside),
        },
    )

"""Recall in a store of fifty tenants that grows: 1,000, 10,000 and 100,000 memories, on both engines.

The same subjects are asked at each size, so what a larger store costs them is seen by itself.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from tests.postgres.server import DURABLE

from bench import databases
from bench.corpus import Corpus, Sentence
from bench.opening import answer_in_a_new_process
from bench.preloaded import PreloadedSubject
from bench.results import Row, milliseconds, rate, share
from bench.running import Paced, Run, paced
from bench.stores import BATCH, converted, session, turns
from tenure import Tenure
from tenure.core.wording import analyse
from tenure.usecases.importing import import_batch

LEAVES_OUT = """\
tenants: an embedded store with the embedder that ships, 50 tenants, one agent and purpose. What is asked
names its subject, with 4 to 8 content words of which half stand in one of the subject's memories; ten
memories come back, scanned, opened and rendered, and the receipt is queued (its sync is not waited for).
"First" is the first question to a subject since the store was opened, after a question about another one;
several subjects of that size are asked. The other rows are further questions to one subject. The floor is
the least that its question costs by hand: FTS5 over the rows of this subject alone, and the exact product
with its vectors, all of them in memory. It embeds, filters, opens, scans and renders nothing."""
LEAVES_OUT_POSTGRES = """\
postgres-tenants: the same over PostgreSQL, the server on the same cores, its statistics made before the
first question. The floor is the same as on the embedded store: it has no server to ask."""

TENANTS: Final = 50
SIZES: Final = (1_000, 10_000, 100_000)
SMALL, LARGE, OTHERS = 600, 6_000, 100
DATABASE: Final = "tenants"
CALLERS: Final = (1, 8)
FIRST_SAMPLES: Final = 20
ADMITTED_MIN: Final = 0.999
"""Of a hundred thousand made-up sentences a scanner may mistake a few for something else."""
PERCENTILES: Final = (0.5, 0.95, 0.99)
TARGETS: Final = {SMALL: (0.003, 0.008), LARGE: (0.010, 0.025)}
"""The p50 and the p95 to reach in the largest store, one caller, asked again."""


class Group(NamedTuple):
    """One subject of one tenant, and how many memories it has."""

    tenant: str
    subject: str
    memories: int


class Told(NamedTuple):
    """What a row is about."""

    engine: str
    memories: int
    subject: int


class Stage(NamedTuple):
    """What is added to a store, and how many memories it has then."""

    memories: int
    groups: list[Group]


class Engine(NamedTuple):
    """How a store is opened, what it weighs, and what is done once it was filled."""

    name: str
    opened: Callable[[], Tenure]
    disk_bytes: Callable[[], int]
    settled: Callable[[], object]
    folder: Path | None = None
    """Where a process of its own can open it."""


def measure(run: Run) -> Iterator[Row]:
    """On the embedded store."""
    folder = run.fresh_folder("tenants")

    def disk_bytes() -> int:
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

    yield from _measured(run, Engine("SQLite", lambda: Tenure.open(folder), disk_bytes, lambda: None, folder))


def measure_postgres(run: Run) -> Iterator[Row]:
    """On PostgreSQL."""
    with databases.server(run.folder, DURABLE) as server:
        server.create_database(DATABASE)
        keys = run.fresh_folder("node")

        def disk_bytes() -> int:
            found = server.query("SELECT pg_database_size(current_database())", database=DATABASE)
            return int(found[0][0])

        yield from _measured(
            run,
            Engine(
                "PostgreSQL",
                lambda: databases.node_in(keys, server, DATABASE),
                disk_bytes,
                lambda: server.query("ANALYZE", database=DATABASE),
            ),
        )


def _measured(run: Run, engine: Engine) -> Iterator[Row]:
    corpus = Corpus(seed=61)
    known: dict[Group, list[Sentence]] = {}
    for stage in stages(SIZES[: run.size(len(SIZES), 2)]):
        spoken = {group: corpus.sentences(group.memories) for group in stage.groups}
        known |= {group: sentences for group, sentences in spoken.items() if group.memories >= SMALL}
        yield _filled(engine, stage, spoken)
        for size in (SMALL, LARGE):
            mine = {group: sentences for group, sentences in known.items() if group.memories == size}
            if mine:
                yield from _asked(run, engine, stage.memories, mine)
        yield from _weighed(engine, stage.memories, known)


def _filled(engine: Engine, stage: Stage, spoken: dict[Group, list[Sentence]]) -> Row:
    added, admitted = sum(map(len, spoken.values())), 0
    started = time.perf_counter()
    with engine.opened() as store:
        for tenant in dict.fromkeys(group.tenant for group in stage.groups):
            mine = {group.subject: said for group, said in spoken.items() if group.tenant == tenant}
            items = list(converted(turns(mine)))
            for first in range(0, len(items), BATCH):
                batch = items[first : first + BATCH]
                admitted += import_batch(store.node.pipeline, tenant, batch).admitted
    per_second = added / (time.perf_counter() - started)
    engine.settled()
    if admitted < added * ADMITTED_MIN:
        raise AssertionError(f"the gate let in {admitted:,} of {added:,}, so the sizes are wrong")
    return Row(
        measured=f"tenants, {engine.name}: {added:,} memories more, {TENANTS} tenants",
        figure=rate(per_second),
        beside=f"the gate held back {added - admitted}" if admitted < added else "",
        values={"memories": stage.memories, "per_second": per_second},
    )


def _asked(run: Run, engine: Engine, memories: int, groups: dict[Group, list[Sentence]]) -> Iterator[Row]:
    """Subjects of one size: first, then again by one caller and by eight, and the floor beside."""
    corpus = Corpus(seed=62)
    group, sentences = next(iter(groups.items()))
    questions = [corpus.question(sentences) for _ in range(run.size(400, 100))]
    floor = _floor(sentences, questions)
    firsts: list[float] = []
    for _ in range(run.size(FIRST_SAMPLES, 6) // len(groups) + 1):
        with engine.opened() as store:
            # What a process does once, such as making its patterns ready, is no part of a first question.
            _ask(store, Group(_tenant(0), "other-0-0", 0), questions[0])
            for one, said in groups.items():
                question = corpus.question(said)
                before = time.perf_counter()
                _ask(store, one, question)
                firsts.append(time.perf_counter() - before)
    told = Told(engine.name, memories, group.memories)
    yield _row(told, "first", firsts, floor.seconds)
    with engine.opened() as store:
        for callers in CALLERS:
            for question in questions[:20]:
                _ask(store, group, question)
            took = paced(callers, lambda question: _ask(store, group, question), questions * min(callers, 2))
            yield _row(
                told, f"{callers} caller{'s' if callers > 1 else ''}", took.seconds, floor.seconds, took
            )


def _ask(store: Tenure, group: Group, question: str) -> None:
    found = session(store, group.tenant).recall(question, subject=group.subject)
    if not len(found):
        raise AssertionError("a recall found nothing, so its time says nothing")


def _floor(sentences: Sequence[Sentence], questions: Sequence[str]) -> Paced:
    terms = [list(dict.fromkeys(analyse(question))) for question in questions]
    with closing(PreloadedSubject([sentence.text for sentence in sentences])) as subject:
        for one in terms[:20]:
            subject.find(one)
        return paced(1, subject.find, terms)


def _row(
    told: Told, how: str, seconds: Sequence[float], floor: Sequence[float], took: Paced | None = None
) -> Row:
    p50, p95, p99 = (share(seconds, part) for part in PERCENTILES)
    floor_p50 = share(floor, 0.5)
    binds = told.memories == SIZES[-1] and how == "1 caller" and told.engine == "SQLite"
    p50_max, p95_max = TARGETS[told.subject]
    return Row(
        measured=f"recall, {told.engine}, {told.memories:,}, subject of {told.subject:,}, {how}",
        figure=milliseconds(p50),
        beside=f"p95 {milliseconds(p95)}, p99 {milliseconds(p99)}; floor {milliseconds(floor_p50)}",
        ratio=p50 / floor_p50,
        target=f"≤ {p50_max * 1e3:.0f} ms, p95 ≤ {p95_max * 1e3:.0f} ms" if binds else "",
        reached=p50 <= p50_max and p95 <= p95_max if binds else None,
        values={
            "memories": told.memories,
            "subject": told.subject,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "floor_p50": floor_p50,
            "floor_p95": share(floor, 0.95),
            "samples": len(seconds),
        }
        | ({"per_second": took.per_second, "processor_seconds": took.processor_seconds} if took else {}),
    )


def _weighed(engine: Engine, memories: int, known: dict[Group, list[Sentence]]) -> Iterator[Row]:
    """Disk, and where a process of its own can open the store, what that process holds after one answer."""
    each = engine.disk_bytes() / memories
    values = {"memories": float(memories), "bytes": each}
    beside = ""
    if engine.folder is not None:
        group, sentences = max(known.items(), key=lambda one: one[0].memories)
        question = Corpus(seed=63).question(sentences)
        resident = answer_in_a_new_process(engine.folder, group.tenant, group.subject, question)[
            1
        ].resident_bytes
        values |= {"resident_bytes": resident, "resident_bytes_each": resident / memories}
        beside = f"resident {resident / 2**20:.0f} MiB after asking one of {group.memories:,}"
    yield Row(
        measured=f"disk a memory, {engine.name}, {memories:,} memories, bytes",
        figure=f"{each:,.0f}",
        beside=beside,
        values=values,
    )


def stages(sizes: Sequence[int]) -> list[Stage]:
    """What is added to reach each size: a subject of 600, then large ones, others, and many of a hundred."""
    found: list[Stage] = []
    filled = 0
    for number, size in enumerate(sizes):
        groups = [Group(_tenant(0), f"small-{number}", SMALL)]
        if size > LARGE + SMALL:
            groups += [Group(_tenant(1 + at), f"large-{number}-{at}", LARGE) for at in range(number)]
            groups += [Group(_tenant(9 + at), f"small-{number}-{at}", SMALL) for at in range(number * 2)]
        left = size - filled - sum(group.memories for group in groups)
        each = min(OTHERS, -(-left // TENANTS))
        at = 0
        while left > 0:
            groups.append(Group(_tenant(at), f"other-{number}-{at // TENANTS}", min(each, left)))
            left, at = left - each, at + 1
        found.append(Stage(size, groups))
        filled = size
    return found


def _tenant(number: int) -> str:
    return f"tenant-{number % TENANTS}"

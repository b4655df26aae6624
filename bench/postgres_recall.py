"""Recall with hard filters over PostgreSQL, in a tenant of a hundred thousand memories."""

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import psycopg
from tests.postgres.server import DURABLE, PostgresServer

from bench import databases
from bench.corpus import Corpus, Sentence
from bench.results import Row, middle, milliseconds, rate, share
from bench.running import Paced, Run, paced
from bench.stores import BATCH, converted, imported, session, turns
from tenure import Tenure

LEAVES_OUT = """\
postgres-recall: one caller, one node, warm caches, the server on the same cores; the server's statistics
are made before the first question, as autovacuum does within a minute or so. Every question names a
subject, a kind and a least trust; it has 4 to 8 content words of which half stand in one of the subject's
memories. Ten memories come back, opened and rendered, and the receipt is queued (its commit is not waited
for). The bare round trip is SELECT 1 on a connection of its own. Filling leaves out what import does."""

P95_SECONDS_MAX: Final = 0.015
SUBJECTS: Final = 200
DATABASE: Final = "recall"
KIND: Final = "fact"
MIN_TRUST: Final = "user_asserted"


class Question(NamedTuple):
    """What to ask, and about whom."""

    subject: str
    text: str


def measure(run: Run) -> Iterator[Row]:
    """Fill, then ask about one subject after the other."""
    corpus = Corpus(seed=12)
    spoken = {f"person-{number}": corpus.sentences(run.size(500, 50)) for number in range(SUBJECTS)}
    memories = sum(map(len, spoken.values()))
    with databases.server(run.folder, DURABLE) as server:
        server.create_database(DATABASE)
        with databases.node(run, server, DATABASE) as store:
            yield _filled(store, spoken, memories)
            server.query("ANALYZE", database=DATABASE)
            mine, server_seconds = _asked(store, server, _questions(run, spoken))
        with psycopg.connect(server.url(), autocommit=True) as connection:
            bare = paced(1, connection.execute, ["SELECT 1"] * run.size(2_000, 500))
    yield from _rows(mine, bare, f"recall, PostgreSQL, {memories:,} in {SUBJECTS} subjects")
    yield Row(
        measured="recall, PostgreSQL: core time of one",
        figure=milliseconds(mine.processor_seconds),
        beside=f"server {milliseconds(server_seconds)}",
        values={"processor_seconds": mine.processor_seconds, "server_seconds": server_seconds},
    )


def _filled(store: Tenure, spoken: dict[str, list[Sentence]], memories: int) -> Row:
    items = list(converted(turns(spoken)))
    firsts = {item.command.subject: item for item in items}
    imported(store.node, list(firsts.values()))
    left = [item for item in items if item is not firsts[item.command.subject]]
    started = time.perf_counter()
    for first in range(0, len(left), BATCH):
        imported(store.node, left[first : first + BATCH])
    per_second = len(left) / (time.perf_counter() - started)
    return Row(
        measured=f"import, PostgreSQL, {memories:,} turns, batches of {BATCH}",
        figure=rate(per_second),
        values={"per_second": per_second},
    )


def _questions(run: Run, spoken: dict[str, list[Sentence]]) -> list[Question]:
    """As many to each subject, in no order that a cache could like."""
    corpus, subjects = Corpus(seed=78), list(spoken)
    chosen = [subjects[at * 77 % len(subjects)] for at in range(run.size(1_000, 200))]
    return [Question(subject, corpus.question(spoken[subject])) for subject in chosen]


def _asked(store: Tenure, server: PostgresServer, questions: list[Question]) -> tuple[Paced, float]:
    """Ask them one after the other; gives back the server's core time for one as well."""
    principal = session(store)

    def ask(one: Question) -> None:
        found = principal.recall(one.text, subject=one.subject, kinds=[KIND], min_trust=MIN_TRUST)
        if not len(found):
            raise AssertionError("a recall found nothing, so its time says nothing")

    for one in questions[:50]:
        ask(one)
    before = databases.server_seconds(server)
    mine = paced(1, ask, questions)
    return mine, (databases.server_seconds(server) - before) / len(questions)


def _rows(mine: Paced, bare: Paced, measured: str) -> Iterator[Row]:
    for part, target in ((0.5, None), (0.95, P95_SECONDS_MAX)):
        took = share(mine.seconds, part)
        yield Row(
            measured=f"{measured}, p{part * 100:.0f}",
            figure=milliseconds(took),
            beside=f"a bare round trip: {milliseconds(share(bare.seconds, part))}",
            ratio=took / middle(bare.seconds),
            target="" if target is None else f"≤ {target * 1_000:.0f} ms",
            reached=None if target is None else took <= target,
            values={"seconds": took, "round_trip_seconds": share(bare.seconds, part)},
        )

"""Replaying the log into empty views, and into an empty word index."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench import importing
from bench.corpus import Corpus
from bench.results import Row, middle, rate
from bench.running import Run
from bench.stores import Filled, open_node, session, subject_name
from tenure import Tenure
from tenure.stores.found_by import Finder
from tenure.stores.sqlite.connection import connect
from tenure.stores.sqlite.reading import SqliteReading
from tenure.stores.sqlite.rebuilding import catch_up, rebuild
from tenure.stores.sqlite.search import SearchIndex

LEAVES_OUT = """\
replay: `tenure rebuild` without its word index, over a log of which nearly all events are admissions
with a sealed body, the rest recalls and revocations. In it: reading the log, decoding headers and
bodies, opening every sealed body, projecting, inserting into views set up beside the live ones (with the
indexes that a replay needs, not all that the live ones have), comparing row for row with the live views,
the commit. The chain is not verified (`tenure log verify` does that). The word index, which analyses
every text anew, is timed apart."""

EVENTS_PER_SECOND_MIN = 50_000


def measure(run: Run) -> Iterator[Row]:
    """The views, then the word index."""
    path = run.copy_of(_lived_in(run, run.once("filled store", importing.fill)))
    with open_node(path) as node, closing(connect(node.folder.log, durable=True)) as connection:
        views = []
        events = 0
        for _ in range(run.size(3, 1)):
            before = time.perf_counter()
            rebuilt = rebuild(connection, node.keyring)
            views.append(time.perf_counter() - before)
            events = rebuilt.events
            if not rebuilt.identical:
                raise AssertionError("the replayed views differ from the live ones, so the time says nothing")
        finder = Finder(node.pipeline.meaning.embedder)
        index = SearchIndex(run.fresh_folder("index") / "search.db", finder)
        before = time.perf_counter()
        catch_up(SqliteReading(connection), index, node.keyring, finder)
        words = time.perf_counter() - before
        index.close()
    mine = events / middle(views)
    yield Row(
        measured=f"replay of {events:,} events into the views",
        figure=rate(mine),
        target=f"≥ {EVENTS_PER_SECOND_MIN:,}/s",
        reached=mine >= EVENTS_PER_SECOND_MIN,
        values={"per_second": mine, "events": events, "seconds": middle(views)},
    )
    yield Row(
        measured="replay, the word index alone",
        figure=rate(events / words),
        values={"per_second": events / words, "seconds": words},
    )


def _lived_in(run: Run, filled: Filled) -> Path:
    """The store after some use: recalls and revocations among its events."""
    path = run.copy_of(filled.path)
    subject = subject_name(1)
    corpus = Corpus(seed=91)
    with Tenure.open(path) as store:
        reader = session(store)
        reviewer = store.session(
            tenant="acme", agent="support", purpose="support", roles=["reviewer", "reader"], name="ann"
        )
        for _ in range(run.size(200, 50)):
            found = reader.recall(corpus.question(filled.sentences[subject]), subject=subject)
            memory = found[0]
            reviewer.revoke(memory.id, expected_version=memory.version, reason="no longer so")
    return path

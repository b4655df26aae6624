"""Importing conversations: batches of 500 turns through the gate, as `tenure import chat` sends them."""

import time
from collections.abc import Iterator

from bench import floor
from bench.results import Row, milliseconds, rate, share
from bench.running import Run
from bench.stores import (
    BATCH,
    Filled,
    converted,
    imported,
    open_node,
    sentences_by_subject,
    turns,
)

LEAVES_OUT = """\
import: turns are converted, checked against earlier imports, judged, sealed, chained, stored and
indexed; reading the file of conversations is left out, and so is the first batch, in which the subjects
get their keys. The floor takes the same sentences, 500 to a transaction."""

PER_SECOND_MIN = 3_000


def measure(run: Run) -> Iterator[Row]:
    """The rate of an import."""
    filled = run.once("filled store", fill)
    beside = run.once("floor batches", floor.batches)
    yield Row(
        measured=f"import, {filled.memories:,} turns, batches of {BATCH}",
        figure=rate(filled.per_second),
        beside=f"floor, batches of {BATCH}: {rate(beside)}",
        ratio=filled.per_second / beside,
        target=f"≥ {PER_SECOND_MIN:,}/s",
        reached=filled.per_second >= PER_SECOND_MIN,
        values={"per_second": filled.per_second, "floor_per_second": beside},
    )
    slowest = share(filled.batch_seconds, 1.0)
    yield Row(measured="import, slowest batch", figure=milliseconds(slowest), values={"seconds": slowest})


def fill(run: Run) -> Filled:
    """A store with every conversation of the run, imported and closed in order."""
    sentences = sentences_by_subject(run)
    spoken = turns(sentences)
    path = run.fresh_folder("filled")
    took = []
    with open_node(path) as node:
        items = list(converted(spoken))
        # One turn of each subject first: their keys are made, as they are once in a subject's life.
        firsts = {item.command.subject: item for item in items}
        imported(node, list(firsts.values()))
        left = [item for item in items if item is not firsts[item.command.subject]]
        started = time.perf_counter()
        for first in range(0, len(left), BATCH):
            before = time.perf_counter()
            imported(node, left[first : first + BATCH])
            took.append(time.perf_counter() - before)
        elapsed = time.perf_counter() - started
    return Filled(path, sentences, len(items), len(left) / elapsed, took)

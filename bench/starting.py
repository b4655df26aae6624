"""Opening a store with a long log in a new process: until its first answer, word index or not."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench import histories, importing
from bench.opening import Steps, first_answer
from bench.results import Row, middle, milliseconds
from bench.running import Run
from bench.stores import TENANT, Filled, open_node

LEAVES_OUT = """\
start-up: a new process, from its start to the first recall's answer, interpreter and imports included; the
store was closed in order and its files are in the system's cache. The log holds imported memories, and is
filled up with events of reads that were appended a thousand at a time. Without its word index the store makes
it anew from the memories that stand before it answers. How long filling took is beside the first row."""

SECONDS_MAX: Final = 2.0


def measure(run: Run) -> Iterator[Row]:
    """The store as it was closed, then without its word index."""
    filled, events, seconds = _filled_up(run)
    rounds = run.size(5, 2)
    whole = [first_answer(filled.path, filled) for _ in range(rounds)]
    yield _row(
        f"start-up, {events:,} events, to the first answer", whole, beside=f"filled in {seconds:.0f} s"
    )
    without = []
    for _ in range(rounds):
        _remove_words(filled.path)
        without.append(first_answer(filled.path, filled))
    lost = _row("the same, without its word index", without)
    # It opens as fast; the first recall waits for an index over every memory, and that has no target.
    yield msgspec.structs.replace(lost, target="", reached=None)


def _filled_up(run: Run) -> tuple[Filled, int, float]:
    """A closed store with a long log; how many events it has, and how long it took to append them."""
    filled = run.once("filled store", importing.fill)
    filled = filled._replace(path=run.copy_of(filled.path))
    events = run.size(1_000_000, 50_000)
    started = time.perf_counter()
    with open_node(filled.path) as node:
        with node.store.reading() as reading:
            head = reading.head(TENANT)[0]
        histories.append_reads(node, events - head)
    return filled, events, time.perf_counter() - started


def _remove_words(store: Path) -> None:
    for file in store.glob("search.db*"):
        file.unlink()


def _row(measured: str, answers: Sequence[tuple[float, Steps]], *, beside: str = "") -> Row:
    took = middle([seconds for seconds, _ in answers])
    opening = middle([steps.open_seconds for _, steps in answers])
    return Row(
        measured=measured,
        figure=milliseconds(took),
        beside=f"open {milliseconds(opening)}{', ' if beside else ''}{beside}",
        target=f"≤ {SECONDS_MAX:.0f} s",
        reached=took <= SECONDS_MAX,
        values={"seconds": took, "open_seconds": opening},
    )

"""The floor: the least that keeps a memory durably and finds it by its words, written by hand on SQLite.

A row, its words in FTS5 and a vector of 256 numbers, in one WAL transaction a write with `synchronous=FULL`.
No gate, no sealing, no audit event, no log, no versions, no keys, one caller at a time.
"""

import itertools
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from bench.corpus import Corpus, Sentence
from bench.results import Row, middle, milliseconds, rate, share
from bench.running import Paced, Run, paced

LEAVES_OUT: Final = """\
floor: no gate, no sealing, no audit event, no hash chain, no versions, no authority; it stores a vector
that Tenure does not have without an embedder. Vectors are made before the clock starts. `fdatasync` is
of 4 KiB written over a file that has its size already, as a write-ahead log is once it has been round."""

DIMENSIONS: Final = 256
SYNC_BYTES: Final = 4_096
_SCHEMA: Final = """
CREATE TABLE memory (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, subject TEXT NOT NULL, content TEXT NOT NULL,
    created_at INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX memory_by_subject ON memory (tenant, subject);
CREATE VIRTUAL TABLE words
    USING fts5 (content, content = '', contentless_delete = 1, tokenize = 'porter unicode61');
"""


class FloorStore:
    """Hand-rolled memory on SQLite."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        for name, value in (("journal_mode", "WAL"), ("synchronous", "FULL"), ("cache_size", -16_000)):
            self._connection.pragma(name, value)
        self._connection.execute(_SCHEMA)
        self._ids = itertools.count(1)
        vectors = np.random.default_rng(1).standard_normal((1_000, DIMENSIONS), dtype=np.float32)
        self._vectors = [vector.tobytes() for vector in vectors]

    def write(self, subject: str, content: str) -> None:
        """One memory in one durable transaction."""
        self.write_all([(subject, content)])

    def write_all(self, memories: Sequence[tuple[str, str]]) -> None:
        """Some memories in one durable transaction."""
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        for subject, content in memories:
            number = next(self._ids)
            vector = self._vectors[number % len(self._vectors)]
            row = (number, "acme", subject, content, time.monotonic_ns(), vector)
            execute("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?)", row)
            execute("INSERT INTO words (rowid, content) VALUES (?, ?)", (number, content))
        execute("COMMIT")

    def find(self, subject: str, terms: Sequence[str]) -> list[str]:
        """The ten best memories of a subject that share a word."""
        any_of = " OR ".join(f'"{term}"' for term in terms)
        found = self._connection.execute(
            "SELECT m.content FROM words JOIN memory AS m ON m.id = words.rowid "
            "WHERE words MATCH ? AND m.tenant = 'acme' AND m.subject = ? ORDER BY words.rank LIMIT 10",
            (any_of, subject),
        )
        return [str(row[0]) for row in found]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def measure(run: Run) -> Iterator[Row]:
    """The floor's own rates, and what a sync alone costs on this disk."""
    syncs = run.once("sync seconds", sync_seconds)
    yield Row(
        measured="fdatasync alone, 4 KiB",
        figure=milliseconds(middle(syncs)),
        beside=f"p95 {milliseconds(share(syncs, 0.95))}",
        values={"milliseconds": middle(syncs) * 1_000},
    )
    rounds = [one_caller(run) for _ in range(run.size(3, 1))]
    rates = [one.per_second for one in rounds]
    used = middle([one.processor_seconds for one in rounds])
    yield Row(
        measured="floor: row + FTS5 + vector, 1 caller",
        figure=rate(middle(rates)),
        beside=f"core time {milliseconds(used)} a write",
        values={"per_second": middle(rates), "processor_seconds": used},
    )


def sync_seconds(run: Run) -> list[float]:
    """How long it takes to write 4 KiB and have them on the disk, many times over."""
    path = run.fresh_folder("sync") / "file"
    size = 1 << 20
    path.write_bytes(bytes(size))
    descriptor = os.open(path, os.O_RDWR)
    took = []
    try:
        os.fsync(descriptor)
        for turn in range(run.size(200, 100)):
            before = time.perf_counter()
            os.pwrite(descriptor, os.urandom(SYNC_BYTES), turn * SYNC_BYTES % size)
            os.fdatasync(descriptor)
            took.append(time.perf_counter() - before)
    finally:
        os.close(descriptor)
    return took


def one_caller(run: Run) -> Paced:
    """How many durable writes a second the floor takes from one caller."""
    sentences = Corpus(seed=7).sentences(run.size(6_000, 2_000))
    with closing(FloorStore(run.fresh_folder("floor") / "floor.db")) as store:
        _write(store, sentences[:100])
        memories = _subjects(sentences[100:])
        return paced(1, lambda one: store.write(*one), memories, seconds_max=run.round_seconds_max)


def batches(run: Run) -> float:
    """How many memories a second the floor takes, 500 to a transaction."""
    memories = _subjects(Corpus(seed=7).sentences(run.size(10_000, 2_500)))
    with closing(FloorStore(run.fresh_folder("floor") / "floor.db")) as store:
        before = time.perf_counter()
        for first in range(0, len(memories), 500):
            store.write_all(memories[first : first + 500])
        return len(memories) / (time.perf_counter() - before)


def _write(store: FloorStore, sentences: Sequence[Sentence]) -> None:
    store.write_all(_subjects(sentences))


def _subjects(sentences: Sequence[Sentence]) -> list[tuple[str, str]]:
    return [(f"customer-{at % 10}", sentence.text) for at, sentence in enumerate(sentences)]

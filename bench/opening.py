"""Opening a store in a fresh process: how long until its first answer, how much memory, how much disk."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw
import msgspec

from bench import importing
from bench.corpus import Corpus
from bench.results import Row, middle, milliseconds
from bench.running import ROOT, Run
from bench.stores import AGENT, PURPOSE, TENANT, Filled, subject_name

LEAVES_OUT = """\
cold open: a new process, from its start to the first recall's answer on its standard output, interpreter
and imports included; the store was closed in order, and its files are in the system's cache, which a
test cannot empty without being root. After a crash of the machine the word index is built anew before
the first answer: the row below it. Resident memory is the process's after that answer. Disk is every
file of the closed store."""

SECONDS_MAX: Final = 0.5
RESIDENT_MEBIBYTES_MAX: Final = 150
BYTES_PER_MEMORY_MAX: Final = 5_000
TIMEOUT_SECONDS: Final = 60


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """What `bench.first_answer` says."""

    import_seconds: float
    open_seconds: float
    recall_seconds: float
    found: int
    resident_bytes: int


def measure(run: Run) -> Iterator[Row]:
    """Time, memory, disk."""
    filled = run.once("filled store", importing.fill)
    path = run.copy_of(filled.path)
    empty = middle([_interpreter_seconds() for _ in range(5)])
    answers = [first_answer(path, filled) for _ in range(run.size(5, 3))]
    whole = middle([seconds for seconds, _ in answers])
    yield Row(
        measured=f"cold open to first answer, {filled.memories:,} memories",
        figure=milliseconds(whole),
        beside=f"the interpreter alone: {milliseconds(empty)}",
        ratio=whole / empty,
        target=f"≤ {SECONDS_MAX * 1_000:.0f} ms",
        reached=whole <= SECONDS_MAX,
        values={"seconds": whole, "interpreter_seconds": empty},
    )
    yield _parts([steps for _, steps in answers])
    resident = middle([steps.resident_bytes for _, steps in answers]) / 2**20
    yield Row(
        measured="resident memory after it",
        figure=f"{resident:.0f} MiB",
        target=f"≤ {RESIDENT_MEBIBYTES_MAX} MiB",
        reached=0 < resident <= RESIDENT_MEBIBYTES_MAX,
        values={"mebibytes": resident},
    )
    yield _disk(filled)
    yield _after_crash(run, filled)


def first_answer(path: Path, filled: Filled) -> tuple[float, Steps]:
    """How long a new process takes to its first answer, and what it says of its steps."""
    subject = subject_name(2)
    question = Corpus(seed=5).question(filled.sentences[subject])
    return answer_in_a_new_process(path, TENANT, subject, question)


def answer_in_a_new_process(path: Path, tenant: str, subject: str, question: str) -> tuple[float, Steps]:
    """How long a new process takes to its first answer about a subject, and what it says of its steps."""
    command = [
        sys.executable,
        "-m",
        "bench.first_answer",
        str(path),
        tenant,
        AGENT,
        PURPOSE,
        subject,
        question,
    ]
    before = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        if process.stdout is None:
            raise AssertionError("the process was given a pipe")
        line = process.stdout.readline()
        took = time.perf_counter() - before
        process.wait(TIMEOUT_SECONDS)
    steps = msgspec.json.decode(line, type=Steps)
    if not steps.found:
        raise AssertionError("the first recall found nothing, so its time says nothing")
    return took, steps


def _interpreter_seconds() -> float:
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, timeout=TIMEOUT_SECONDS)
    return time.perf_counter() - before


def _parts(steps: list[Steps]) -> Row:
    opening = middle([one.open_seconds for one in steps])
    loading = middle([one.import_seconds for one in steps])
    answering = middle([one.recall_seconds for one in steps])
    return Row(
        measured="cold open, its parts",
        figure=milliseconds(opening + answering),
        beside=f"import {loading * 1e3:.0f}, open {opening * 1e3:.0f}, recall {answering * 1e3:.0f} ms",
        values={"import_seconds": loading, "open_seconds": opening, "recall_seconds": answering},
    )


def _disk(filled: Filled) -> Row:
    sizes = {file.name: file.stat().st_size for file in filled.path.iterdir() if file.is_file()}
    each = sum(sizes.values()) / filled.memories
    log, words = (sizes.get(name, 0) / filled.memories for name in ("log.db", "search.db"))
    return Row(
        measured="disk, bytes a memory",
        figure=f"{each:,.0f}",
        beside=f"log and views {log:,.0f}, word index {words:,.0f}",
        target=f"≤ {BYTES_PER_MEMORY_MAX:,}",
        reached=each <= BYTES_PER_MEMORY_MAX,
        values={"bytes": each, "log_bytes": log, "search_bytes": words},
    )


def _after_crash(run: Run, filled: Filled) -> Row:
    """As if the machine had gone down: the index says that it is in use since an earlier start."""
    path = run.copy_of(filled.path)
    search = apsw.Connection(str(path / "search.db"))
    search.execute("UPDATE session SET machine_start = 'an earlier one', closed = 0")
    search.close()
    took, steps = first_answer(path, filled)
    return Row(
        measured="cold open after a crash of the machine",
        figure=milliseconds(took),
        beside=f"open {milliseconds(steps.open_seconds)}",
        values={"seconds": took, "open_seconds": steps.open_seconds},
    )

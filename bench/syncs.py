"""That one durable write is exactly one sync, counted inside SQLite and, where it works, as system calls."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from bench.counting_syncs import BEGIN, END, Counted
from bench.results import Row
from bench.running import ROOT, Run

LEAVES_OUT = """\
syncs: one caller, subjects that have their keys (a new subject's key is durable before its first memory:
one sync more, once). About every hundredth write SQLite moves its log into the database and begins it
anew; those writes are counted apart. System calls are counted with strace where it is installed and
allowed."""

SYNC_CALLS: Final = ("fsync", "fdatasync", "msync", "sync_file_range", "sync", "syncfs")
TIMEOUT_SECONDS: Final = 60


def measure(run: Run) -> Iterator[Row]:
    """Syncs by SQLite's own account, then by the kernel's."""
    writes = run.size(200, 60)
    counted = _counted(run.fresh_folder("syncs"), writes)
    plain, tidying = sum(counted.plain.values()), sum(counted.tidying.values())
    yield Row(
        measured=f"syncs in {plain} durable writes (SQLite's account)",
        figure=_listed(counted.plain),
        beside=f"{tidying} writes at a checkpoint: {_total(counted.tidying)} syncs",
        ratio=_total(counted.plain) / plain,
        target="exactly 1 a write",
        reached=set(counted.plain) == {1},
        values={"writes": plain, "syncs": _total(counted.plain), "checkpoint_writes": tidying},
    )
    made = _total(counted.plain) + _total(counted.tidying)
    traced = _traced(run.fresh_folder("traced"), writes)
    if traced is None:
        yield Row(measured="system calls that sync", figure="not counted", beside="strace is not usable here")
        return
    yield Row(
        measured=f"system calls that sync in {writes} durable writes",
        figure=f"{traced}",
        beside=f"SQLite's account: {made}",
        ratio=traced / made,
        target="the same number",
        reached=traced == made,
        values={"calls": traced, "syncs": made},
    )


def _counted(folder: Path, writes: int) -> Counted:
    return msgspec.json.decode(_said([], folder, writes), type=Counted)


def _traced(folder: Path, writes: int) -> int | None:
    """How many system calls that sync the kernel saw between the two markers."""
    tracer = shutil.which("strace")
    if tracer is None:
        return None
    trace = folder / "trace"
    names = ",".join((*SYNC_CALLS, "open", "openat"))
    try:
        _said([tracer, "-f", "-qq", "-e", f"trace={names}", "-o", str(trace)], folder, writes)
    except subprocess.CalledProcessError:
        return None
    lines = iter(trace.read_text("utf-8", errors="replace").splitlines())
    calls = 0
    for entry in lines:
        if BEGIN in entry:
            break
    for entry in lines:
        if END in entry:
            return calls
        # "1234 fdatasync(3) = 0": a call that another thread interrupts is resumed on a line of its own.
        calls += entry.split(maxsplit=1)[1].startswith(tuple(f"{name}(" for name in SYNC_CALLS))
    return None


def _said(before: list[str], folder: Path, writes: int) -> bytes:
    command = [*before, sys.executable, "-m", "bench.counting_syncs", str(folder), str(writes)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=TIMEOUT_SECONDS)
    return done.stdout


def _total(counts: dict[int, int]) -> int:
    return sum(syncs * writes for syncs, writes in counts.items())


def _listed(counts: dict[int, int]) -> str:
    return ", ".join(f"{writes} × {syncs}" for syncs, writes in sorted(counts.items()))

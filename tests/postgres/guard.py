"""The process behind ``processes.Guard``.

python -m tests.postgres.guard FOLDER
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
ROUNDS_MAX: Final = 100
SHARED_MEMORY_LINE: Final = 6


def inhabitants(folder: Path) -> list[int]:
    """The processes that work in a folder or below it."""
    found = []
    for entry in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
    return found


def kill_inhabitants(folder: Path) -> None:
    """SIGKILL to all of them, and to those that they start meanwhile."""
    for _ in range(ROUNDS_MAX):
        living = inhabitants(folder)
        if not living:
            return
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def release_shared_memory(folder: Path) -> None:
    """Give back the segments of killed servers, which the system would keep until it restarts."""
    for file in folder.rglob("postmaster.pid"):
        lines = file.read_text(encoding="utf-8").splitlines()
        if len(lines) > SHARED_MEMORY_LINE:
            segment = lines[SHARED_MEMORY_LINE].split()[-1]
            subprocess.run(["ipcrm", "-m", segment], check=False, capture_output=True)


def main() -> None:
    """Wait for the end of the input, then clear up."""
    folder = Path(sys.argv[1])
    sys.stdin.buffer.read()
    kill_inhabitants(folder)
    release_shared_memory(folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

"""What the system says of a process: its memory, and its time on a core."""

import os
from pathlib import Path


def resident_bytes(process: str = "self") -> int:
    """How much memory a process holds now; 0 where the system does not say."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0
    for entry in status.read_text("ascii", errors="replace").splitlines():
        if entry.startswith("VmRSS:"):
            return int(entry.split()[1]) * 1_024
    return 0


def processor_seconds(process: int) -> float:
    """How long a running process has been on a core, all its threads together; 0 where nobody says."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    user, system = status.read_text("ascii", errors="replace").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

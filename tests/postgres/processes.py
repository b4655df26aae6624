"""Processes of the tests' own: without privileges, ended for certain, never left behind.

PostgreSQL refuses to run as root, so under root every process here runs as ``nobody``. It keeps one
capability, to reach the interpreter and the binaries wherever they lie, be it in a home of mode 0700.
"""

import contextlib
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PROC: Final = Path("/proc")
GUARD_SECONDS_MAX: Final = 30.0
END_SECONDS_MAX: Final = 10.0


def unprivileged(command: Sequence[str]) -> list[str]:
    """A command as somebody who is not root; as it is for everybody else."""
    if os.geteuid() != 0:
        return list(command)
    if shutil.which("setpriv") is None:
        raise RuntimeError(
            "PostgreSQL does not run as root, and setpriv (util-linux) is missing: use another user"
        )
    nobody = pwd.getpwnam("nobody")
    who = ["--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
    reach = ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    return ["setpriv", *who, *reach, "--", *command]


def hand_over(folder: Path) -> None:
    """Make a folder the property of whoever ``unprivileged`` runs as, closed to everybody else."""
    folder.chmod(0o700)
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)


def start(command: Sequence[str], *, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a program in a folder, without privileges, away from the terminal; what it says goes to a log."""
    with log.open("ab") as said:
        return subprocess.Popen(
            unprivileged(command),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def run(command: Sequence[str], *, folder: Path) -> None:
    """Run a program to its end, without privileges; an error shows what it said."""
    done = subprocess.run(
        unprivileged(command), cwd=folder, check=False, capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{Path(command[0]).name} ended with {done.returncode}: {done.stdout}{done.stderr}"
        )


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live; none where the system has no /proc."""
    found = []
    for entry in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # After the name in brackets, which may hold anything, come the state and the parent.
            state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(entry.name))
    return found


def name_of(pid: int) -> str | None:
    """The name of a process's program; none when there is no such process, or no /proc."""
    try:
        return (PROC / str(pid) / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        return None


def signal_to(pid: int, number: signal.Signals) -> bool:
    """Send a signal; false when nobody is there any more."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def kill_with_children(pid: int) -> None:
    """SIGKILL to a process and to all that it started, at one moment; gives back when all are gone."""
    if not signal_to(pid, signal.SIGSTOP):
        return
    everybody = [pid, *children(pid)]
    with contextlib.ExitStack() as stack:
        watched = [ended for one in everybody if (ended := _watch(one, stack)) is not None]
        for one in everybody:
            signal_to(one, signal.SIGKILL)
        for ended in watched:
            if not select.select([ended], [], [], END_SECONDS_MAX)[0]:
                raise RuntimeError(f"a killed process of {everybody} did not end")


def _watch(pid: int, stack: contextlib.ExitStack) -> int | None:
    """A descriptor that becomes readable when a process ends; none if it has, or where there is none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    stack.callback(os.close, descriptor)
    return descriptor


class Guard:
    """Ends every process that works in a folder and removes the folder: on request, or when we are gone.

    It is a process of its own that waits for the end of its standard input, so it also does its work
    when the tests are killed.
    """

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            unprivileged([sys.executable, "-m", "tests.postgres.guard", str(folder)]),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def finish(self) -> None:
        """Let it do its work now, and wait until it is done."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self._process.wait(GUARD_SECONDS_MAX) != 0:
            raise RuntimeError("the guard of a test's folder failed; what it said stands above")

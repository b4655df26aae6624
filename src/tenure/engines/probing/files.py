"""Whether a file or folder exists in a folder that an operator listed: nothing is opened or read (SPEC T6).

Laws, each with the attack it answers:

- The walk goes down from the root by folders that are held open, one step after the other; a link on the way
  is not followed, also when it is put there between the look and the step (symbolic links, races).
- The last step is looked at and not opened: a pipe or a device does nothing, and no word of a file is read.
- A step upwards is no path at all; the path was read as plain before, and is read so again here.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Final

from tenure.core.probing import Reason, Target, TargetKind
from tenure.core.probing import target as plain_target
from tenure.usecases.probing_ports import Permits

# A folder is held as a place only where the system can do that: then it need not be readable.
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_STEP: Final = _FOLDER | os.O_NOFOLLOW


class FileProber:
    """Looks for files below the roots."""

    kind = TargetKind.PATH

    def __init__(self, roots: Iterable[str]) -> None:
        # The longest first, so that a root inside another is the one that the walk begins at.
        self._roots = sorted((root.rstrip("/") for root in roots), key=len, reverse=True)

    def look(self, target: Target, *, permits: Permits, seconds_max: float) -> Reason:
        """Whether it is there; a folder of another machine may hang, so whoever waits keeps the time."""
        del seconds_max
        root = next((root for root in self._roots if target.what.startswith(f"{root}/")), None)
        is_plain = plain_target(TargetKind.PATH, target.what) == target
        if not root or not is_plain or not permits(target):
            return Reason.NOT_ALLOWED
        try:
            return _walked(root, target.what[len(root) + 1 :].split("/"))
        except OSError:
            # The root is missing, a folder may not be entered, or a link was put in the way.
            return Reason.UNREADABLE

    def close(self) -> None:
        """Nothing is held."""


def _walked(root: str, steps: list[str]) -> Reason:
    """Down the steps from the root; raises OSError where a step cannot be judged."""
    with ExitStack() as held:
        folder = os.open(root, _FOLDER)
        held.callback(os.close, folder)
        for place, step in enumerate(steps, start=1):
            try:
                mode = os.stat(step, dir_fd=folder, follow_symlinks=False).st_mode
            except FileNotFoundError:
                return Reason.NOT_FOUND
            if stat.S_ISLNK(mode):
                return Reason.UNREADABLE
            if place == len(steps):
                return Reason.EXISTS
            if not stat.S_ISDIR(mode):
                return Reason.NOT_FOUND
            folder = os.open(step, _STEP, dir_fd=folder)
            held.callback(os.close, folder)
    return Reason.UNREADABLE

"""Where the control socket lies, and how to name it when its path is longer than an address may be."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tenure.core.errors import Unavailable

SOCKET_NAME: Final = "control.sock"
ADDRESS_BYTES_MAX: Final = 100
"""Under the 104 to 108 bytes that operating systems allow."""
_DESCRIPTORS: Final = Path("/proc/self/fd")


@contextmanager
def address_in(folder: Path) -> Iterator[str]:
    """The address to bind or connect to; a long one goes through an open descriptor of the folder."""
    path = folder / SOCKET_NAME
    if len(os.fsencode(path)) <= ADDRESS_BYTES_MAX:
        yield str(path)
        return
    if not _DESCRIPTORS.is_dir():
        raise Unavailable(
            "the path of the data folder is too long for a control socket on this system",
            hint="Choose a data folder with a shorter path.",
        )
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield str(_DESCRIPTORS / str(descriptor) / SOCKET_NAME)
    finally:
        os.close(descriptor)

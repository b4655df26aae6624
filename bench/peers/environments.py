"""An environment of its own for each peer, made once from the package index and kept in one folder."""

import subprocess
import sys
from pathlib import Path
from typing import Final

REQUIREMENTS: Final = Path(__file__).with_name("requirements")
MADE_OF: Final = "made-of.txt"
INSTALL_SECONDS_MAX: Final = 900
LINES_SHOWN: Final = 3


class NotInstalled(Exception):
    """A peer's packages could not be had; the message has the last that the installer said."""


def interpreter(name: str, folder: Path) -> Path:
    """The Python that has the peer, made where it is missing or was made of something else.

    A peer without a list of packages runs in this program's own environment. Raises NotInstalled.
    """
    wanted = REQUIREMENTS / f"{name}.txt"
    if not wanted.exists():
        return Path(sys.executable)
    place = folder / name
    python, made_of = place / "bin" / "python", place / MADE_OF
    if made_of.exists() and made_of.read_text("utf-8") == wanted.read_text("utf-8"):
        return python
    _run([sys.executable, "-m", "venv", "--clear", str(place)])
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]
    _run([str(python), *install, str(wanted)])
    made_of.write_text(wanted.read_text("utf-8"), "utf-8")
    return python


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"it took longer than {INSTALL_SECONDS_MAX} s") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()][-LINES_SHOWN:]
        raise NotInstalled(" / ".join(said) or f"the installer ended with {done.returncode}")

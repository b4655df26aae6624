"""Commands as their users run them: in this process for speed, or as a program of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.stores.engine import Engine
from typer.testing import CliRunner

from tenure.entrypoints.cli.main import app

PROGRAM = str(Path(sys.executable).with_name("tenure"))
SECONDS_MAX = 60.0


class Ran(NamedTuple):
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object that it must be."""
        return msgspec.json.decode(self.out)


def ran(*arguments: str | Path) -> Ran:
    """Run a command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return Ran(result.exit_code, result.stdout, result.stderr)


def program(*arguments: str | Path, **environment: str) -> Ran:
    """Run a command as a program of its own."""
    ended = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        env=clean_environment() | environment,
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr)


class Serving(NamedTuple):
    """A running `tenure serve`, and what it announced."""

    process: subprocess.Popen[str]
    folder: Path
    announced: dict[str, Any]


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until the block ends; it is stopped with a signal."""
    with subprocess.Popen(
        [PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS_MAX)


@contextmanager
def serving(folder: Path) -> Iterator[Serving]:
    """A server on any free port, ready to answer."""
    with started("serve", "--data", folder, "--port", "0", "--json") as process:
        assert process.stdout is not None
        # The line is printed once the server answers, so reading it is all the waiting there is.
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        yield Serving(process, folder, msgspec.json.decode(line))


def at(engine: Engine) -> tuple[str, ...]:
    """The options that name an engine's store."""
    path, settings = engine.opening["path"], engine.opening["settings"]
    if isinstance(path, Path):
        return ("--data", str(path))
    return ("--data", str(settings.data_dir), "--database-url", path)


def clean_environment() -> dict[str, str]:
    """The environment without settings that could change what a command does."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TENURE_")}

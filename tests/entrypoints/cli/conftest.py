"""Commands run in an empty folder and without anybody's settings."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.entrypoints.cli.commands import Serving, serving


@pytest.fixture(autouse=True)
def plain_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine that runs the tests reach a command."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("TENURE_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One running server for all tests that only need some server."""
    with serving(tmp_path_factory.mktemp("served") / "store") as running:
        yield running

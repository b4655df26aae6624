"""Tests of what only the embedded store has: its files, its locks, its faults."""

from pathlib import Path

import pytest
from tests.stores.engine import SqliteEngine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the store of this test lies."""
    return tmp_path / "store"


@pytest.fixture
def embedded(folder: Path) -> SqliteEngine:
    """An embedded store, empty at first."""
    return SqliteEngine(folder)

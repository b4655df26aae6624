"""The library is tried as a program would use it: through `tenure`, on a store in a folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clock import MovableClock

from tenure import Tenure


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def store(tmp_path: Path, clock: MovableClock) -> Iterator[Tenure]:
    """A store of its own for each test."""
    with Tenure.open(tmp_path / "memory.db", clock=clock) as opened:
        yield opened

"""Every test of the contract runs on every engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clock import MovableClock
from tests.stores.engine import ENGINES, Engine, Opened


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """An engine with an empty store."""
    return ENGINES[request.param](tmp_path / "store")


@pytest.fixture
def other_engine(engine: Engine, tmp_path: Path) -> Engine:
    """Another of the same kind, with an empty store of its own."""
    return ENGINES[engine.name](tmp_path / "other")


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def opened(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """The store, open for the length of a test."""
    node = engine.open(clock)
    yield node
    node.close()

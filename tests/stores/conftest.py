"""Every test of the contract runs on every engine."""

from collections.abc import Iterator

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened
from tests.stores.places import NewEngine


@pytest.fixture
def other_engine(new_engine: NewEngine) -> Engine:
    """Another of the same kind, with an empty store of its own."""
    return new_engine()


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

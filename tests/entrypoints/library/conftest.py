"""The library is tried as a program would use it: through `tenure`, on a store of each kind."""

from collections.abc import Iterator

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine

from tenure import Tenure


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def store(engine: Engine, clock: MovableClock) -> Iterator[Tenure]:
    """A store of its own for each test."""
    with Tenure(engine.open(clock)) as opened:
        yield opened

"""Journeys go through a whole installation, on every engine, with a clock that is moved by hand."""

from collections.abc import Iterator

import pytest
from tests.clock import MovableClock
from tests.journeys.installation import Installation
from tests.stores.engine import Engine


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def installation(engine: Engine, clock: MovableClock) -> Iterator[Installation]:
    """An installation of its own for each test."""
    opened = Installation(engine, clock)
    yield opened
    opened.close()

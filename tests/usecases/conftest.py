"""Use cases are tried on every engine, with a clock that is moved by hand."""

from collections.abc import Iterator

import pytest
from tests.clock import MovableClock
from tests.stores.engine import Engine, Opened

from tenure.usecases.pipeline import Pipeline


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def node(engine: Engine, clock: MovableClock) -> Iterator[Opened]:
    """A store of its own for each test."""
    opened = engine.open(clock)
    yield opened
    opened.close()


@pytest.fixture
def pipeline(node: Opened) -> Pipeline:
    """The one way through it."""
    return node.pipeline

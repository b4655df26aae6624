"""Use cases are tried on the real embedded store, with a clock that is moved by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clock import MovableClock

from tenure.usecases.pipeline import Pipeline
from tenure.wiring import Node, open_store


@pytest.fixture
def clock() -> MovableClock:
    """A clock that stands still until it is moved."""
    return MovableClock()


@pytest.fixture
def node(tmp_path: Path, clock: MovableClock) -> Iterator[Node]:
    """A store of its own for each test."""
    with open_store(tmp_path / "store", clock=clock) as opened:
        yield opened


@pytest.fixture
def pipeline(node: Node) -> Pipeline:
    """The one way through it."""
    return node.pipeline

"""The control server that the tests of this folder talk to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.entrypoints.control.standing import Standing, standing


@pytest.fixture
def stands(tmp_path: Path) -> Iterator[Standing]:
    """A control server on a fresh store."""
    with standing(tmp_path / "store") as running:
        yield running

"""Acme for every test that asks for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.entrypoints.http_api.acme import EVERY_ROLE, Acme, running
from tests.entrypoints.http_api.live import Live, serving


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Acme]:
    """Acme, freshly opened."""
    with running(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    """Acme, opened once for tests that store nothing, with one token that may do everything."""
    with running(tmp_path_factory.mktemp("acme")) as opened:
        opened.tokens["everything"] = opened.token(
            "everything", "acme", roles=EVERY_ROLE, agents=["support"], purposes=["support"]
        )
        yield opened


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Acme on a real port, once for the tests of a file."""
    with serving(tmp_path_factory.mktemp("live")) as opened:
        yield opened

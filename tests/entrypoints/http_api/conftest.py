"""Acme for every test that asks for it."""

from collections.abc import Iterator

import pytest
from tests.entrypoints.http_api.acme import EVERY_ROLE, Acme, running
from tests.entrypoints.http_api.live import Live, serving
from tests.stores.engine import Engine, SqliteEngine


@pytest.fixture
def acme(engine: Engine) -> Iterator[Acme]:
    """Acme, freshly opened, on a store of each kind."""
    with running(engine) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    """Acme, opened once for tests that store nothing, with one token that may do everything.

    On the embedded store alone: what they are about is decided before any store is asked.
    """
    with running(SqliteEngine(tmp_path_factory.mktemp("acme") / "data")) as opened:
        opened.tokens["everything"] = opened.token(
            "everything", "acme", roles=EVERY_ROLE, agents=["support"], purposes=["support"]
        )
        yield opened


@pytest.fixture(scope="module")
def live(shared_engine: Engine) -> Iterator[Live]:
    """Acme on a real port, once for the tests of a file, on a store of each kind."""
    with serving(shared_engine) as opened:
        yield opened

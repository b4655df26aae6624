"""Tests of what only the store over a database has: many nodes, roles, migrations, a server that crashes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.stores.engine import PostgresEngine


@pytest.fixture
def database(postgres_places: Callable[[], str]) -> PostgresEngine:
    """A database that is migrated and empty."""
    return PostgresEngine(postgres_places())


@pytest.fixture
def empty_database(postgres_url: str, tmp_path: Path) -> PostgresEngine:
    """A database that no node has seen yet."""
    return PostgresEngine(f"{postgres_url}#{tmp_path / 'root-key'}")

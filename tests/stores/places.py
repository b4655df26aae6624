"""Where the stores of tests are kept: for each engine, as many fresh places as a test asks for."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.postgres.server import PostgresServer
from tests.stores.engine import ENGINES, Engine

from tenure.stores.postgres.schema import KEYRING_MIGRATIONS, LOG_MIGRATIONS, migrate

TEMPLATE: Final = "tenure_template"
_NUMBERS: Final = itertools.count(1)

NewEngine = Callable[[], Engine]
"""Another engine each time, with an empty store of its own."""


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """A database that is migrated and empty; a copy of it is made faster than it was."""
    url = postgres_server.create_database(TEMPLATE)
    migrate(url, schema="tenure_keys", migrations=KEYRING_MIGRATIONS)
    migrate(url, schema="tenure", migrations=LOG_MIGRATIONS)
    return TEMPLATE


@pytest.fixture
def postgres_places(
    postgres_server: PostgresServer, postgres_template: str, tmp_path: Path
) -> Iterator[Callable[[], str]]:
    """Fresh databases, each with a folder for its root key; they go with the test."""
    made: list[str] = []

    def place() -> str:
        made.append(f"tenure_place_{next(_NUMBERS)}")
        url = postgres_server.create_database(made[-1], template=postgres_template)
        return f"{url}#{tmp_path / made[-1]}"

    yield place
    for name in made:
        postgres_server.drop_database(name)


@pytest.fixture
def sqlite_places(tmp_path: Path) -> Callable[[], str]:
    """Folders that do not exist yet."""
    return lambda: str(tmp_path / f"store-{next(_NUMBERS)}")


@pytest.fixture(params=sorted(ENGINES))
def new_engine(request: pytest.FixtureRequest) -> NewEngine:
    """Engines of one kind; whoever asks for it runs on every kind."""
    place = request.getfixturevalue(f"{request.param}_places")
    return lambda: ENGINES[request.param](place())


@pytest.fixture
def engine(new_engine: NewEngine) -> Engine:
    """An engine with an empty store."""
    return new_engine()

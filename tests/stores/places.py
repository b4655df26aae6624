"""Where the stores of tests are kept: for each engine, as many fresh places as a test asks for."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.postgres.server import PostgresServer
from tests.stores.engine import ENGINES, Engine

from tenure.stores.postgres.schema import KEYRING_MIGRATIONS, LOG_MIGRATIONS, migrate

TEMPLATE: Final = "tenure_template"
_NUMBERS: Final = itertools.count(1)

NewPlace = Callable[[], str]
"""Another place each time, as an engine takes it."""
NewEngine = Callable[[], Engine]
"""Another engine each time, with an empty store of its own."""


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """A database that is migrated and empty; a copy of it is made faster than it was."""
    url = postgres_server.create_database(TEMPLATE)
    migrate(url, schema="tenure_keys", migrations=KEYRING_MIGRATIONS)
    migrate(url, schema="tenure", migrations=LOG_MIGRATIONS)
    return TEMPLATE


@contextmanager
def databases(server: PostgresServer, template: str, folder: Path) -> Iterator[NewPlace]:
    """Fresh databases, each with a folder for its root key; they go at the end."""
    made: list[str] = []

    def place() -> str:
        made.append(f"tenure_place_{next(_NUMBERS)}")
        url = server.create_database(made[-1], template=template)
        return f"{url}#{folder / made[-1]}"

    yield place
    for name in made:
        server.drop_database(name)


def folders(folder: Path) -> NewPlace:
    """Folders that do not exist yet."""
    return lambda: str(folder / f"store-{next(_NUMBERS)}")


@pytest.fixture
def postgres_places(
    postgres_server: PostgresServer, postgres_template: str, tmp_path: Path
) -> Iterator[NewPlace]:
    """Databases for one test."""
    with databases(postgres_server, postgres_template, tmp_path) as places:
        yield places


@pytest.fixture
def sqlite_places(tmp_path: Path) -> NewPlace:
    """Folders for one test."""
    return folders(tmp_path)


@pytest.fixture(scope="module")
def shared_postgres_places(
    postgres_server: PostgresServer, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NewPlace]:
    """Databases for the tests of one file."""
    with databases(postgres_server, postgres_template, tmp_path_factory.mktemp("shared")) as places:
        yield places


@pytest.fixture(scope="module")
def shared_sqlite_places(tmp_path_factory: pytest.TempPathFactory) -> NewPlace:
    """Folders for the tests of one file."""
    return folders(tmp_path_factory.mktemp("shared"))


@pytest.fixture(params=sorted(ENGINES))
def new_engine(request: pytest.FixtureRequest) -> NewEngine:
    """Engines of one kind; whoever asks for it runs on every kind."""
    place: NewPlace = request.getfixturevalue(f"{request.param}_places")
    return lambda: ENGINES[request.param](place())


@pytest.fixture
def engine(new_engine: NewEngine) -> Engine:
    """An engine with an empty store."""
    return new_engine()


@pytest.fixture(scope="module", params=sorted(ENGINES))
def shared_engine(request: pytest.FixtureRequest) -> Engine:
    """An engine that the tests of one file share, of every kind in turn."""
    place: NewPlace = request.getfixturevalue(f"shared_{request.param}_places")
    return ENGINES[request.param](place())

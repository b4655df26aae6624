"""What a dead disk takes of a closed store."""

import shutil
from pathlib import Path

from tests.stores.engine import Engine, PostgresEngine, SqliteEngine


def lose_the_log(engine: Engine) -> None:
    """What a dead disk takes: the data, but not the keys, which lie elsewhere."""
    if isinstance(engine, SqliteEngine):
        for path in Path(engine.folder).glob("log.db*"):
            path.unlink()
    elif isinstance(engine, PostgresEngine):
        with engine.superuser() as connection:
            connection.execute("DROP SCHEMA tenure CASCADE")


def lose_the_keys_too(engine: Engine) -> None:
    """Everything is gone."""
    if isinstance(engine, SqliteEngine):
        shutil.rmtree(engine.folder)
    elif isinstance(engine, PostgresEngine):
        shutil.rmtree(engine.folder)
        with engine.superuser() as connection:
            connection.execute("DROP SCHEMA tenure CASCADE; DROP SCHEMA tenure_keys CASCADE")

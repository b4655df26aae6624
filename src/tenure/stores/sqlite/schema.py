"""Schemas and their numbered, forward-only migrations.

Rule of change: a migration that was released is never edited; a file that is newer than the program is
refused.
"""

from importlib.resources import files
from typing import Final

import apsw

from tenure.core.errors import Unavailable
from tenure.stores.sqlite.connection import transaction

LOG_MIGRATIONS: Final = (
    "0001_log.sql",
    "0002_forgetting.sql",
    "0003_incidents.sql",
    "0004_retrieval.sql",
    "0005_truth.sql",
)
KEYRING_MIGRATIONS: Final = ("keyring.sql", "0002_keyring.sql")


def migrate(connection: apsw.Connection, migrations: tuple[str, ...] = LOG_MIGRATIONS) -> None:
    """Bring a file up to this program, one transaction a step; the file's user_version counts the steps."""
    found = int(connection.pragma("user_version"))
    if found > len(migrations):
        raise Unavailable(
            f"a newer tenure wrote this store (schema {found}; this program knows {len(migrations)})",
            hint="Run the newer version of tenure.",
        )
    for number, name in enumerate(migrations[found:], start=found + 1):
        with transaction(connection):
            connection.execute(files("tenure.stores.sqlite").joinpath("migrations", name).read_text("utf-8"))
            connection.pragma("user_version", number)

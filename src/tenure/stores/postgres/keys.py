"""The keyring's tables, in a schema or a database of their own (SPEC F7: never in a backup of the data)."""

from collections.abc import Sequence

from psycopg_pool import ConnectionPool

from tenure.stores.keyring import WrappedSubjectKey, WrappedTenantKey
from tenure.stores.postgres.connecting import Connection, faults_as_unavailable, pool
from tenure.stores.postgres.forgets import PostgresForgets
from tenure.stores.postgres.schema import KEYRING_MIGRATIONS, migrate

KEY_CONNECTIONS_MAX = 4


class PostgresKeyTable:
    """Wrapped keys in PostgreSQL; every addition is one durable commit that any node sees."""

    def __init__(self, database_url: str) -> None:
        with faults_as_unavailable():
            migrate(database_url, schema="tenure_keys", migrations=KEYRING_MIGRATIONS)
            self._pool: ConnectionPool[Connection] = pool(
                database_url, size_max=KEY_CONNECTIONS_MAX, is_checked=True
            )

    def tenant_key(self, tenant: str, name: str, epoch: int) -> bytes | None:
        """A tenant's wrapped key."""
        with faults_as_unavailable(), self._pool.connection() as connection:
            row = connection.execute(
                "SELECT wrapped FROM tenant_key WHERE tenant_id = %s AND name = %s AND epoch = %s",
                (tenant, name, epoch),
            ).fetchone()
        return row[0] if row else None

    def subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey | None:
        """The wrapped key of a subject."""
        with faults_as_unavailable(), self._pool.connection() as connection:
            row = connection.execute(
                "SELECT dek, epoch, wrapped FROM subject_key WHERE tenant_id = %s AND subject = %s",
                (tenant, subject),
            ).fetchone()
        return WrappedSubjectKey(tenant, subject, *row) if row else None

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one commit; one that is there already stays as it is."""
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            cursor = connection.cursor()
            cursor.executemany(
                "INSERT INTO tenant_key VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", tenant_keys
            )
            cursor.executemany(
                "INSERT INTO subject_key VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING", subject_keys
            )

    def is_empty(self) -> bool:
        """Whether no key was ever made here."""
        with faults_as_unavailable(), self._pool.connection() as connection:
            return connection.execute("SELECT 1 FROM tenant_key LIMIT 1").fetchone() is None

    def forgets(self) -> PostgresForgets:
        """The record of forgets, which lies beside the keys and over the same connections."""
        return PostgresForgets(self._pool)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

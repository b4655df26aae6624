"""The keyring's tables, in a schema or a database of their own (SPEC F7: never in a backup of the data)."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, LiteralString, TypeVar
from uuid import UUID

from psycopg import errors
from psycopg_pool import ConnectionPool

from tenure.stores.keyring import WrappedSubjectKey, WrappedTenantKey
from tenure.stores.postgres.connecting import (
    COMMIT_TIMEOUT_SECONDS,
    OWNER_FOR_NOW,
    Connection,
    as_owner,
    committed,
    durably,
    faults_as_unavailable,
    one_tenant,
    pool,
)
from tenure.stores.postgres.forgets import PostgresForgets
from tenure.stores.postgres.schema import KEYRING_MIGRATIONS, migrate

KEY_CONNECTIONS_MAX: Final = 4
NO_TENANT: Final = ""
"""Under which the one key lies that a root key is checked by."""
_AGAIN: Final = (errors.SerializationFailure, errors.DeadlockDetected)
_PUT_TENANT_KEY: Final = "INSERT INTO tenant_key VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
_PUT_SUBJECT_KEY: Final = (
    "INSERT INTO subject_key (tenant_id, subject, dek, epoch, wrapped, retired)"
    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
_REWRAP: Final = "UPDATE tenant_key SET wrapped = %s WHERE tenant_id = %s AND name = %s AND epoch = %s"
_REWRITE: Final = "VACUUM (FULL) tenure_keys.subject_key, tenure_keys.tenant_key"
"""A row that is deleted stays in its file until the file is written anew."""

_Key = TypeVar("_Key", WrappedTenantKey, WrappedSubjectKey)


class PostgresKeyTable:
    """Wrapped keys in PostgreSQL; every addition is one durable commit that any node sees."""

    def __init__(self, database_url: str, *, commit_timeout_seconds: float = COMMIT_TIMEOUT_SECONDS) -> None:
        with faults_as_unavailable():
            migrate(database_url, schema="tenure_keys", migrations=KEYRING_MIGRATIONS)
            self._pool: ConnectionPool[Connection] = pool(
                database_url,
                size_max=KEY_CONNECTIONS_MAX,
                commit_timeout_seconds=commit_timeout_seconds,
                is_checked=True,
            )

    def tenant_key(self, tenant: str, name: str, epoch: int) -> bytes | None:
        """A tenant's wrapped key."""
        row = self._one(
            tenant,
            "SELECT wrapped FROM tenant_key WHERE tenant_id = %s AND name = %s AND epoch = %s",
            (tenant, name, epoch),
        )
        return row[0] if row else None

    def subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey | None:
        """The wrapped key of a subject."""
        found = [key for key in self.subject_keys(tenant, subject) if not key.retired]
        return found[0] if found else None

    def subject_keys(self, tenant: str, subject: str) -> list[WrappedSubjectKey]:
        """Every wrapped key of a subject, retired ones as well."""
        rows = self._all(
            tenant,
            "SELECT dek, epoch, wrapped, retired FROM subject_key WHERE tenant_id = %s AND subject = %s",
            (tenant, subject),
        )
        return [WrappedSubjectKey(tenant, subject, *row) for row in rows]

    def retire(self, tenant: str, subject: str) -> None:
        """Let nothing more be sealed under a subject's keys."""
        self._change(
            tenant,
            "UPDATE subject_key SET retired = true WHERE tenant_id = %s AND subject = %s AND NOT retired",
            [(tenant, subject)],
        )

    def destroy(self, tenant: str, subject: str, keys: Sequence[UUID]) -> int:
        """Destroy keys and write their file anew; what the server logged of them it recycles in its time."""
        destroyed = self._change(
            tenant,
            "DELETE FROM subject_key WHERE tenant_id = %s AND subject = %s AND dek = ANY (%s)",
            [(tenant, subject, list(keys))],
        )
        if destroyed:
            with faults_as_unavailable(), self._pool.connection() as connection:
                as_owner(connection, _REWRITE)
        return destroyed

    def tenant_keys(self) -> list[WrappedTenantKey]:
        """Every tenant's wrapped keys."""
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            # The owner reads all tenants' rows; the program's role is confined to one.
            connection.execute(OWNER_FOR_NOW)
            rows = connection.execute(
                "SELECT tenant_id, name, epoch, wrapped FROM tenant_key ORDER BY tenant_id, name, epoch"
            ).fetchall()
        return [WrappedTenantKey(*row) for row in rows]

    def rewrap(self, tenant_keys: Sequence[WrappedTenantKey]) -> None:
        """Put keys that are wrapped anew in place of those before, all in one commit."""
        rows = [(key.wrapped, key.tenant, key.name, key.epoch) for key in tenant_keys]
        with faults_as_unavailable(), self._pool.connection() as connection:
            with connection.transaction():
                connection.execute(OWNER_FOR_NOW)
                connection.cursor().executemany(_REWRAP, rows)
            as_owner(connection, _REWRITE)

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one commit; one that is there already stays as it is.

        Every node takes the same order, so that of two that add the same keys one waits for the other. Where
        the database still finds that they wait in a circle, whoever it refuses tries once more.
        """
        with faults_as_unavailable():
            try:
                self._add(tenant_keys, subject_keys)
            except _AGAIN:
                self._add(tenant_keys, subject_keys)

    def is_empty(self) -> bool:
        """Whether no key was ever made here: the first is the one that a root key is checked by."""
        return (
            self._one(NO_TENANT, "SELECT 1 FROM tenant_key WHERE tenant_id = %s LIMIT 1", (NO_TENANT,))
            is None
        )

    def forgets(self, *, is_with_log: bool) -> PostgresForgets:
        """The record of forgets, which lies beside the keys and over the same connections."""
        return PostgresForgets(self._pool, is_with_log=is_with_log)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _add(
        self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]
    ) -> None:
        with self._pool.connection() as connection:
            try:
                with connection.pipeline():
                    connection.execute("BEGIN")
                    _put(connection, _PUT_TENANT_KEY, tenant_keys)
                    _put(connection, _PUT_SUBJECT_KEY, subject_keys)
            except BaseException:
                # What failed in a pipeline leaves the driver wrong about which statements are prepared.
                connection.close()
                raise
            committed(connection)

    def _change(self, tenant: str, statement: LiteralString, rows: Sequence[tuple[object, ...]]) -> int:
        """Change rows of one tenant, durably; gives back how many."""
        with faults_as_unavailable(), self._pool.connection() as connection, durably(connection):
            connection.execute(one_tenant(tenant))
            return sum(connection.execute(statement, row).rowcount for row in rows)

    def _one(self, tenant: str, statement: LiteralString, bindings: tuple[object, ...]) -> Any:
        """One row of one tenant."""
        rows = self._all(tenant, statement, bindings)
        return rows[0] if rows else None

    def _all(self, tenant: str, statement: LiteralString, bindings: tuple[object, ...]) -> list[Any]:
        """Rows of one tenant, asked for in one round trip."""
        with faults_as_unavailable(), self._pool.connection() as connection:
            try:
                with connection.pipeline():
                    connection.execute("BEGIN READ ONLY")
                    connection.execute(one_tenant(tenant))
                    found = connection.execute(statement, bindings)
                    connection.execute("COMMIT")
                return found.fetchall()
            except BaseException:
                connection.close()
                raise


def _put(connection: Connection, statement: LiteralString, keys: Sequence[_Key]) -> None:
    """Add keys in their order, tenant by tenant, since the program sees one at a time."""
    for tenant, its in groupby(sorted(keys), key=lambda key: key.tenant):
        connection.execute(one_tenant(tenant))
        connection.cursor().executemany(statement, list(its))

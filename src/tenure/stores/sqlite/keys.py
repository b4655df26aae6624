"""The keyring's table, in a file of its own (SPEC F7: never in a backup of the data)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from tenure.stores.keyring import WrappedSubjectKey, WrappedTenantKey
from tenure.stores.sqlite.connection import connect, faults_as_unavailable, transaction
from tenure.stores.sqlite.schema import migrate


class SqliteKeyTable:
    """Wrapped keys in keyring.db; every addition is one durable commit."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = connect(path, durable=True)
        migrate(self._connection, ("keyring.sql",))

    def tenant_key(self, tenant: str, name: str, epoch: int) -> bytes | None:
        """A tenant's wrapped key."""
        with self._lock, faults_as_unavailable():
            row = self._connection.execute(
                "SELECT wrapped FROM tenant_key WHERE tenant_id = ? AND name = ? AND epoch = ?",
                (tenant, name, epoch),
            ).fetchone()
        return row[0] if row else None

    def subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey | None:
        """The wrapped key of a subject."""
        with self._lock, faults_as_unavailable():
            row = self._connection.execute(
                "SELECT dek, epoch, wrapped FROM subject_key WHERE tenant_id = ? AND subject = ?",
                (tenant, subject),
            ).fetchone()
        return WrappedSubjectKey(tenant, subject, UUID(bytes=row[0]), row[1], row[2]) if row else None

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one commit; one that is there already stays as it is."""
        with self._lock, faults_as_unavailable(), transaction(self._connection):
            self._connection.executemany("INSERT OR IGNORE INTO tenant_key VALUES (?, ?, ?, ?)", tenant_keys)
            self._connection.executemany(
                "INSERT OR IGNORE INTO subject_key VALUES (?, ?, ?, ?, ?)",
                [(key.tenant, key.subject, key.dek.bytes, key.epoch, key.wrapped) for key in subject_keys],
            )

    def is_empty(self) -> bool:
        """Whether no key was ever made here."""
        with self._lock, faults_as_unavailable():
            return self._connection.execute("SELECT 1 FROM tenant_key LIMIT 1").fetchone() is None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

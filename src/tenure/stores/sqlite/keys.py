"""The keyring's table, in a file of its own (SPEC F7: never in a backup of the data)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from tenure.stores.keyring import WrappedSubjectKey, WrappedTenantKey
from tenure.stores.sqlite.connection import (
    connect,
    empty_write_ahead_log,
    faults_as_unavailable,
    transaction,
)
from tenure.stores.sqlite.schema import KEYRING_MIGRATIONS, migrate


class SqliteKeyTable:
    """Wrapped keys in keyring.db; every addition is one durable commit."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = connect(path, durable=True)
        migrate(self._connection, KEYRING_MIGRATIONS)

    def tenant_key(self, tenant: str, name: str, epoch: int) -> bytes | None:
        """A tenant's wrapped key."""
        with self._lock, faults_as_unavailable():
            row = self._connection.execute(
                "SELECT wrapped FROM tenant_key WHERE tenant_id = ? AND name = ? AND epoch = ?",
                (tenant, name, epoch),
            ).fetchone()
        return row[0] if row else None

    def subject_key(self, tenant: str, subject: str) -> WrappedSubjectKey | None:
        """The wrapped key that new bodies of a subject are sealed under."""
        found = [key for key in self.subject_keys(tenant, subject) if not key.retired]
        return found[0] if found else None

    def subject_keys(self, tenant: str, subject: str) -> list[WrappedSubjectKey]:
        """Every wrapped key of a subject, retired ones as well."""
        with self._lock, faults_as_unavailable():
            rows: list[Any] = self._connection.execute(
                "SELECT dek, epoch, wrapped, retired FROM subject_key WHERE tenant_id = ? AND subject = ?",
                (tenant, subject),
            ).fetchall()
        return [
            WrappedSubjectKey(tenant, subject, UUID(bytes=row[0]), row[1], row[2], bool(row[3]))
            for row in rows
        ]

    def retire(self, tenant: str, subject: str) -> None:
        """Let nothing more be sealed under a subject's keys."""
        with self._lock, faults_as_unavailable():
            self._connection.execute(
                "UPDATE subject_key SET retired = 1 WHERE tenant_id = ? AND subject = ?", (tenant, subject)
            )

    def destroy(self, tenant: str, subject: str, keys: Sequence[UUID]) -> int:
        """Destroy keys: overwritten in the file, and taken out of its write-ahead log as well."""
        destroyed = 0
        with self._lock, faults_as_unavailable():
            with transaction(self._connection):
                for dek in keys:
                    self._connection.execute(
                        "DELETE FROM subject_key WHERE tenant_id = ? AND subject = ? AND dek = ?",
                        (tenant, subject, dek.bytes),
                    )
                    destroyed += int(self._connection.changes())
            empty_write_ahead_log(self._connection)
        return destroyed

    def tenant_keys(self) -> list[WrappedTenantKey]:
        """Every tenant's wrapped keys."""
        with self._lock, faults_as_unavailable():
            rows: list[Any] = self._connection.execute(
                "SELECT tenant_id, name, epoch, wrapped FROM tenant_key ORDER BY tenant_id, name, epoch"
            ).fetchall()
        return [WrappedTenantKey(*row) for row in rows]

    def rewrap(self, tenant_keys: Sequence[WrappedTenantKey]) -> None:
        """Put keys that are wrapped anew in place of those before, all in one commit."""
        with self._lock, faults_as_unavailable():
            with transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR REPLACE INTO tenant_key (tenant_id, name, epoch, wrapped) VALUES (?, ?, ?, ?)",
                    tenant_keys,
                )
            empty_write_ahead_log(self._connection)

    def add(self, tenant_keys: Sequence[WrappedTenantKey], subject_keys: Sequence[WrappedSubjectKey]) -> None:
        """Make keys durable in one commit; one that is there already stays as it is."""
        with self._lock, faults_as_unavailable(), transaction(self._connection):
            self._connection.executemany("INSERT OR IGNORE INTO tenant_key VALUES (?, ?, ?, ?)", tenant_keys)
            self._connection.executemany(
                "INSERT OR IGNORE INTO subject_key (tenant_id, subject, dek, epoch, wrapped)"
                " VALUES (?, ?, ?, ?, ?)",
                [(key.tenant, key.subject, key.dek.bytes, key.epoch, key.wrapped) for key in subject_keys],
            )

    def is_empty(self) -> bool:
        """Whether no key was ever made here."""
        with self._lock, faults_as_unavailable():
            return self._connection.execute("SELECT 1 FROM tenant_key LIMIT 1").fetchone() is None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

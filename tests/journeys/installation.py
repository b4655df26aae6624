"""One installation through its life: opened, restarted, backed up, lost, restored, its old keys put back."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import apsw
import msgspec
from tests.clock import MovableClock
from tests.stores.engine import Engine, PostgresEngine, SqliteEngine

from tenure.entrypoints.cli.backup_files import BackupFolder, new_backup
from tenure.usecases.backup import Restored, back_up, forgets_in, restore
from tenure.usecases.pipeline import Pipeline


class Installation:
    """A store with its keys, and the clock that it goes by."""

    def __init__(self, engine: Engine, clock: MovableClock) -> None:
        self.engine = engine
        self.clock = clock
        self.node = engine.open(clock)

    @property
    def pipeline(self) -> Pipeline:
        """The way through it, as it is open now."""
        return self.node.pipeline

    def close(self) -> None:
        """Stop it."""
        self.node.close()

    def restart(self) -> None:
        """Stop it, and start it on what it left."""
        self.close()
        self.node = self.engine.open(self.clock)

    def back_up(self, folder: Path) -> BackupFolder:
        """A backup in a folder, as the command makes it."""
        with new_backup(folder) as writing:
            for piece in back_up(self.pipeline):
                writing.put(msgspec.Raw(msgspec.json.encode(piece)))
            writing.finish(self.clock.now())
        return BackupFolder(folder)

    def restore(
        self, copy: BackupFolder, keys: "CopyOfKeys | None" = None, later: Sequence[bytes] | None = None
    ) -> Restored:
        """Lose the log, put an old copy of the keys back where there is one, and restore a backup.

        With a ``later`` export the record of forgets is lost as well, and that export is named instead.
        """
        self.close()
        self._lose_the_log()
        if keys is not None:
            keys.put_back()
        if later is not None:
            self._lose_the_record()
        self.node = self.engine.open(self.clock)
        return restore(self.pipeline, copy, [forgets_in(later, "later.jsonl")] if later is not None else [])

    def _lose_the_log(self) -> None:
        if isinstance(self.engine, SqliteEngine):
            for path in self.engine.folder.glob("log.db*"):
                path.unlink()
        elif isinstance(self.engine, PostgresEngine):
            with self.engine.superuser() as connection:
                connection.execute("DROP SCHEMA tenure CASCADE")

    def _lose_the_record(self) -> None:
        if isinstance(self.engine, SqliteEngine):
            (self.engine.folder / "forgets.jsonl").unlink()
        elif isinstance(self.engine, PostgresEngine):
            with self.engine.superuser() as connection:
                connection.execute("DELETE FROM forget_ledger")


class CopyOfKeys:
    """The keys as somebody copied them one day, without the record of forgets that lies beside them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.rows = self._rows()

    def put_back(self) -> None:
        """Put them in place of what is there, in a store that is closed."""
        if isinstance(self._engine, SqliteEngine):
            connection = apsw.Connection(str(self._engine.folder / "keyring.db"))
            with connection:
                connection.execute("DELETE FROM subject_key")
                connection.executemany("INSERT INTO subject_key VALUES (?, ?, ?, ?, ?, ?)", self.rows)
            connection.close()
        elif isinstance(self._engine, PostgresEngine):
            with self._engine.superuser() as superuser:
                superuser.execute("DELETE FROM subject_key")
                for row in self.rows:
                    superuser.execute("INSERT INTO subject_key VALUES (%s, %s, %s, %s, %s, %s)", row)

    def _rows(self) -> list[tuple[object, ...]]:
        statement = "SELECT * FROM subject_key"
        if isinstance(self._engine, SqliteEngine):
            connection = apsw.Connection(str(self._engine.folder / "keyring.db"))
            try:
                return [tuple(row) for row in connection.execute(statement)]
            finally:
                connection.close()
        assert isinstance(self._engine, PostgresEngine)
        with self._engine.superuser() as superuser:
            return list(superuser.execute(statement).fetchall())


class CopyOfFiles:
    """The log and the keyring of an embedded store, copied as files while it was closed."""

    def __init__(self, folder: Path, into: Path) -> None:
        self._folder, self._into = folder, into
        into.mkdir()
        self._copied(folder, into)

    def put_back(self) -> None:
        """Put them back into the folder, whose record of forgets stays as it is."""
        for name in ("log.db", "keyring.db"):
            for path in self._folder.glob(f"{name}*"):
                path.unlink()
        self._copied(self._into, self._folder)

    @staticmethod
    def _copied(here: Path, there: Path) -> None:
        for name in ("log.db", "keyring.db"):
            for path in here.glob(f"{name}*"):
                shutil.copy2(path, there / path.name)

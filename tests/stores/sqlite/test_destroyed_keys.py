"""A destroyed key is in no file: the wrapped bytes are overwritten where they lay (SPEC F7)."""

from pathlib import Path

import apsw
import pytest
from tests.stores.engine import SqliteEngine

SUBJECTS = tuple(f"customer-{number:03}" for number in range(120))
"""So many that their keys lie on more than one page."""


def wrapped(folder: Path) -> dict[str, bytes]:
    """The wrapped key of each subject, as another connection reads it."""
    connection = apsw.Connection(str(folder / "keyring.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return dict(connection.execute("SELECT subject, wrapped FROM subject_key ORDER BY subject"))
    finally:
        connection.close()


def files_with(folder: Path, piece: bytes) -> list[str]:
    """The files of a folder in which these bytes are."""
    return [path.name for path in sorted(folder.iterdir()) if path.is_file() and piece in path.read_bytes()]


@pytest.mark.parametrize("is_retired", [False, True])
def test_the_bytes_of_a_destroyed_key_are_in_no_file(
    embedded: SqliteEngine, folder: Path, *, is_retired: bool
) -> None:
    """SPEC F7: neither in the keyring nor in its write-ahead log, at once, and whatever was done before."""
    with embedded.open() as opened:
        for subject in SUBJECTS:
            opened.keyring.ensure([("acme", subject)])
        keys = wrapped(folder)
        gone = SUBJECTS[::3]
        assert all(files_with(folder, keys[subject]) for subject in SUBJECTS)

        for subject in gone:
            if is_retired:
                opened.keyring.retire("acme", subject)
            assert opened.keyring.destroy("acme", subject, opened.keyring.key_ids("acme", subject)) == 1

        assert {subject: files_with(folder, keys[subject]) for subject in gone} == {
            subject: [] for subject in gone
        }
        assert sorted(wrapped(folder)) == sorted(set(SUBJECTS) - set(gone))
    assert {subject: files_with(folder, keys[subject]) for subject in gone} == {
        subject: [] for subject in gone
    }


def test_a_key_is_destroyed_while_somebody_reads_the_keyring(embedded: SqliteEngine, folder: Path) -> None:
    """SPEC F7: an operator's look at the file, which is over by then, leaves no copy of the key behind."""
    with embedded.open() as opened:
        opened.keyring.ensure([("acme", subject) for subject in SUBJECTS[:2]])
        keys = wrapped(folder)
        reader = apsw.Connection(str(folder / "keyring.db"), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN").execute("SELECT count(*) FROM subject_key").fetchall()
        reader.close()

        opened.keyring.destroy("acme", SUBJECTS[0], opened.keyring.key_ids("acme", SUBJECTS[0]))

        assert files_with(folder, keys[SUBJECTS[0]]) == []
        assert files_with(folder, keys[SUBJECTS[1]]) != []

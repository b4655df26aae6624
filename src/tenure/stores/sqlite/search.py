"""The word index: plaintext-derived, in a file of its own, written without syncs and rebuilt when in doubt.

It carries the position up to which it is built. The writer brings it up before it answers, so that a caller
finds
what it just wrote; after a crash it catches up from the log, and after a crash of the machine it starts anew.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import msgspec

from tenure.core.rows import Index, MemoryRow, SearchChange, Unindex, UnindexSubject
from tenure.stores.queries import load_queries
from tenure.stores.replaying import WordsFound
from tenure.stores.sqlite.connection import (
    connect,
    empty_write_ahead_log,
    faults_as_unavailable,
    transaction,
)
from tenure.stores.sqlite.schema import migrate

SQL: Final = load_queries("tenure.stores.sqlite", "search.sql")
CLEARING: Final = ("clear_postings", "clear_documents", "clear_boundaries", "clear_subjects", "clear_built")
NUMBERS_MAX: Final = 50_000
_MACHINE_START: Final = Path("/proc/sys/kernel/random/boot_id")

P = TypeVar("P", bound=tuple[str, ...])


class SearchIndex:
    """Writes the word index; only ever called by whoever holds the store's write lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = self._open()
        self._boundaries: dict[tuple[str, str, str], int] = {}
        self._subjects: dict[tuple[str, str], int] = {}

    def built(self) -> dict[str, int]:
        """Up to which position the index is built, for each tenant."""
        rows: list[Any] = self._connection.execute(SQL["built"]).fetchall()
        return dict(rows)

    def apply(self, changes: Iterable[WordsFound], positions: Mapping[str, int]) -> None:
        """Make changes and move the positions, together."""
        with faults_as_unavailable():
            try:
                with transaction(self._connection):
                    for change, words in changes:
                        self._apply(change, words)
                    self._connection.executemany(SQL["put_built"], list(positions.items()))
            except BaseException:
                self._boundaries.clear()
                self._subjects.clear()
                raise

    def clear(self) -> None:
        """Start anew, within the file that readers have open."""
        self._boundaries.clear()
        self._subjects.clear()
        with faults_as_unavailable(), transaction(self._connection):
            for name in CLEARING:
                self._connection.execute(SQL[name])

    def rewrite(self) -> None:
        """Rewrite the file, so that no page of it keeps a word that was taken away."""
        with faults_as_unavailable():
            self._connection.execute("VACUUM")
            empty_write_ahead_log(self._connection)

    def holds_subject(self, tenant: str, subject: str, *, up_to_seq: int) -> bool:
        """Whether any memory of a subject can still be found by a word."""
        found = self._connection.execute(SQL["find_subject"], (tenant, subject)).fetchone()
        if found is None:
            return False
        documents: list[Any] = self._connection.execute(SQL["documents_of_subject"], found).fetchall()
        return any(created_seq <= up_to_seq for created_seq, _, _ in documents)

    def holds_words(self, words: bytes) -> bool:
        """Whether a memory has exactly these words, as they are written down."""
        return self._connection.execute(SQL["words_of_one"], (words.decode(),)).fetchone() is not None

    def close(self) -> None:
        """Close in order: the index need not be doubted at the next opening."""
        self._connection.execute(SQL["close_session"])
        self._connection.close()

    def _open(self) -> apsw.Connection:
        connection = connect(self._path, durable=False)
        migrate(connection, ("search.sql",))
        machine_start = _MACHINE_START.read_text("ascii").strip() if _MACHINE_START.exists() else ""
        last = connection.execute(SQL["last_session"]).fetchone()
        if last is not None and not last[1] and last[0] != (machine_start or None):
            for name in CLEARING:
                connection.execute(SQL[name])
        with transaction(connection):
            connection.execute(SQL["clear_session"])
            connection.execute(SQL["open_session"], (machine_start,))
        return connection

    def _apply(self, change: SearchChange, words: Counter[str] | None) -> None:
        match change:
            case Index(row=row):
                if row.version > 1:
                    self._drop(row)
                self._put(row, words or Counter())
            case Unindex(row=row):
                self._drop(row)
            case UnindexSubject():
                self._drop_subject(change)

    def _put(self, row: MemoryRow, words: Counter[str]) -> None:
        boundary, subject = self._boundary(row), self._subject(row)
        bindings = (
            row.tenant,
            row.created_seq,
            boundary,
            subject,
            msgspec.json.encode(sorted(words)).decode(),
        )
        self._connection.execute(SQL["put_document"], bindings)
        self._connection.executemany(
            SQL["put_posting"],
            [(boundary, term, subject, row.created_seq, count) for term, count in sorted(words.items())],
        )

    def _drop(self, row: MemoryRow) -> None:
        found = self._connection.execute(SQL["document"], (row.tenant, row.created_seq)).fetchone()
        if found is not None:
            boundary, subject, terms = found
            self._drop_postings(boundary, subject, row.created_seq, terms)
            self._connection.execute(SQL["drop_document"], (row.tenant, row.created_seq))

    def _drop_subject(self, change: UnindexSubject) -> None:
        tenant, subject, standing = change.tenant, change.subject, change.standing
        if not standing:
            self._subjects.pop((tenant, subject), None)
        found = self._connection.execute(SQL["find_subject"], (tenant, subject)).fetchone()
        if found is None:
            return
        documents: list[Any] = self._connection.execute(SQL["documents_of_subject"], found).fetchall()
        for created_seq, boundary, terms in documents:
            if created_seq not in standing:
                self._drop_postings(boundary, found[0], created_seq, terms)
                self._connection.execute(SQL["drop_document"], (tenant, created_seq))
        if not standing:
            self._connection.execute(SQL["drop_subject"], found)

    def _drop_postings(self, boundary: int, subject: int, created_seq: int, terms: str) -> None:
        self._connection.executemany(
            SQL["drop_posting"],
            [(boundary, term, subject, created_seq) for term in msgspec.json.decode(terms)],
        )

    def _boundary(self, row: MemoryRow) -> int:
        place = (row.tenant, row.agent, row.purpose)
        return self._numbered(self._boundaries, place, "find_boundary", "new_boundary")

    def _subject(self, row: MemoryRow) -> int:
        return self._numbered(self._subjects, (row.tenant, row.subject), "find_subject", "new_subject")

    def _numbered(self, known: dict[P, int], place: P, find: str, make: str) -> int:
        number = known.get(place)
        if number is None:
            found = self._connection.execute(SQL[find], place).fetchone()
            if found is None:
                self._connection.execute(SQL[make], place)
                found = (self._connection.last_insert_rowid(),)
            if len(known) >= NUMBERS_MAX:
                known.clear()
            number = known[place] = int(found[0])
        return number

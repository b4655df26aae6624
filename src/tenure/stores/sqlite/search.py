"""The search data: plaintext-derived, in a file of its own, written without syncs and rebuilt when in doubt.

It carries the position up to which it is built. The writer brings it up before it answers, so that a caller
finds
what it just wrote; after a crash it catches up from the log, and after a crash of the machine it starts anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import msgspec

from tenure.core.rows import Index, MemoryRow, SearchChange, Unindex, UnindexSubject
from tenure.stores.found_by import NOTHING, Finder, Found, FoundBy
from tenure.stores.queries import load_queries
from tenure.stores.sqlite.connection import (
    connect,
    empty_write_ahead_log,
    faults_as_unavailable,
    transaction,
)
from tenure.stores.sqlite.schema import migrate

SQL: Final = load_queries("tenure.stores.sqlite", "search.sql")
CLEARING: Final = (
    "clear_postings",
    "clear_documents",
    "clear_vectors",
    "clear_boundaries",
    "clear_subjects",
    "clear_built",
)
MIGRATIONS: Final = ("search.sql", "0002_search.sql")
NUMBERS_MAX: Final = 50_000
_MACHINE_START: Final = Path("/proc/sys/kernel/random/boot_id")

P = TypeVar("P", bound=tuple[str, ...])


class SearchIndex:
    """Writes the word index; only ever called by whoever holds the store's write lock."""

    def __init__(self, path: Path, finder: Finder) -> None:
        self._path = path
        self._finder = finder
        self._models: set[str] = set()
        self._connection = self._open()
        self._boundaries: dict[tuple[str, str, str], int] = {}
        self._subjects: dict[tuple[str, str], int] = {}

    def built(self) -> dict[str, int]:
        """Up to which position the index is built, for each tenant."""
        rows: list[Any] = self._connection.execute(SQL["built"]).fetchall()
        return dict(rows)

    def apply(self, changes: Iterable[Found], positions: Mapping[str, int]) -> None:
        """Make changes and move the positions, together."""
        with faults_as_unavailable():
            try:
                with transaction(self._connection):
                    for change, found in changes:
                        self._apply(change, found)
                    self._connection.executemany(SQL["put_built"], list(positions.items()))
            except BaseException:
                self._boundaries.clear()
                self._subjects.clear()
                self._models.clear()
                raise

    def put_vectors(self, tenant: str, model: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        """Put vectors in: (position, version, packed), of memories that still stand in that version."""
        with faults_as_unavailable():
            try:
                with transaction(self._connection):
                    self._note_model(model)
                    self._connection.executemany(
                        SQL["put_vector_of_version"],
                        [
                            {
                                "tenant": tenant,
                                "model": model,
                                "created_seq": seq,
                                "version": version,
                                "vector": vector,
                            }
                            for seq, version, vector in vectors
                        ],
                    )
            except BaseException:
                self._models.clear()
                raise

    def drop_models(self, tenant: str, *, keep: str) -> None:
        """Drop the vectors of every model but one."""
        with faults_as_unavailable(), transaction(self._connection):
            self._connection.execute(SQL["drop_models"], (tenant, keep))

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
        migrate(connection, MIGRATIONS)
        machine_start = _MACHINE_START.read_text("ascii").strip() if _MACHINE_START.exists() else ""
        last = connection.execute(SQL["last_session"]).fetchone()
        is_doubted = last is not None and not last[1] and last[0] != (machine_start or None)
        is_of_another = connection.execute(SQL["made_by"]).fetchall() != [(self._finder.analyser,)]
        with transaction(connection):
            for name in CLEARING if is_doubted or is_of_another else ():
                connection.execute(SQL[name])
            connection.execute(SQL["forget_analyser"])
            connection.execute(SQL["put_analyser"], (self._finder.analyser,))
            connection.execute(SQL["clear_session"])
            connection.execute(SQL["open_session"], (machine_start,))
        return connection

    def _apply(self, change: SearchChange, found: FoundBy | None) -> None:
        match change:
            case Index(row=row):
                key = self._drop(row) if row.version > 1 else None
                self._put(row, found or NOTHING, key)
            case Unindex(row=row):
                self._drop(row)
            case UnindexSubject():
                self._drop_subject(change)

    def _put(self, row: MemoryRow, found: FoundBy, key: str | None) -> None:
        boundary, subject, words = self._boundary(row), self._subject(row), found.words
        bindings = (
            row.tenant,
            row.created_seq,
            boundary,
            subject,
            row.version,
            found.key or key,
            msgspec.json.encode(sorted(words)).decode(),
        )
        self._connection.execute(SQL["put_document"], bindings)
        self._connection.executemany(
            SQL["put_posting"],
            [(boundary, term, subject, row.created_seq, count) for term, count in sorted(words.items())],
        )
        model = self._finder.model
        if found.vector is not None and model is not None:
            self._note_model(model)
            self._connection.execute(
                SQL["put_vector"], (boundary, subject, model, row.created_seq, found.vector)
            )

    def _note_model(self, model: str) -> None:
        if model not in self._models:
            self._connection.execute(SQL["put_model"], (model,))
            self._models.add(model)

    def _drop(self, row: MemoryRow) -> str | None:
        """Drop a memory; gives back the key that it had."""
        found = self._connection.execute(SQL["document"], (row.tenant, row.created_seq)).fetchone()
        if found is None:
            return None
        boundary, subject, key, terms = found
        self._drop_postings(boundary, subject, row.created_seq, terms)
        self._connection.execute(SQL["drop_document"], (row.tenant, row.created_seq))
        return str(key) if key is not None else None

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
        self._connection.execute(SQL["drop_vectors"], (boundary, subject, created_seq))

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

"""The embedded store: one writer at a time, group commit, durable before the answer (SPEC E5, L8, S5)."""

import contextlib
import logging
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import apsw
import msgspec

from tenure.core.errors import Unavailable
from tenure.core.wording import Language
from tenure.stores.appending import Batch
from tenure.stores.found_by import Finder
from tenure.stores.group_commit import GroupCommit, Ticket
from tenure.stores.residue import files_residue, kept_residue
from tenure.stores.row_cache import RowCache
from tenure.stores.sqlite.connection import (
    connect,
    empty_write_ahead_log,
    faults_as_unavailable,
    transaction,
)
from tenure.stores.sqlite.folder import Folder
from tenure.stores.sqlite.forgets import ForgetFile
from tenure.stores.sqlite.indexing import Indexing
from tenure.stores.sqlite.reading import SQL, LazyReading, SqliteReading
from tenure.stores.sqlite.rebuilding import behind, catch_up, rebuild
from tenure.stores.sqlite.restoring import restore
from tenure.stores.sqlite.schema import migrate
from tenure.stores.sqlite.search import SearchIndex
from tenure.stores.sqlite.writing import SqliteTransaction
from tenure.stores.standing_rows import StandingRows
from tenure.usecases.embedding_ports import Embedder
from tenure.usecases.ports import (
    Append,
    AppendResult,
    Checkpoint,
    Keyring,
    Reading,
    Rebuilt,
    Residue,
    ReturnedPage,
    StoredEvent,
)

READERS: Final = 4
EXPORT_PAGE: Final = 2_000
BEHIND_MAX: Final = 5_000
"""So many events are read for their words while a store opens; more, and that goes on in the background."""
FREE_BYTES_MIN: Final = 262_144
"""Room that a store wants before it calls itself ready: a write-ahead log may still have to grow."""

_log = logging.getLogger("tenure.store")


class SqliteStore:
    """The Store port over one data folder."""

    def __init__(
        self,
        folder: Folder,
        keyring: Keyring,
        embedder: Embedder | None = None,
        *,
        language: Language = Language.ENGLISH,
    ) -> None:
        self._folder = folder
        self._keyring = keyring
        self._finder = Finder(embedder, language, embeds_later=True)
        self._cache = RowCache()
        self._standing = StandingRows(self._finder)
        self._forgets = ForgetFile(folder.forgets)
        self._is_closed = False
        self._writing = threading.Lock()
        self._connection = connect(folder.log, durable=True)
        migrate(self._connection)
        self._bring_views_up()
        search, is_behind = self._index_at(folder)
        self._readers: queue.LifoQueue[apsw.Connection | None] = queue.LifoQueue()
        for _ in range(READERS):
            self._readers.put(_reader(folder))
        self._indexing = Indexing(search, self.reading, keyring, self._finder, is_behind=is_behind)
        self._commits = GroupCommit(self._commit, self._finder)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        """Open one consistent look, which begins with its first question."""
        look = LazyReading(
            self._readers,
            before_words=self._bring_up,
            are_words_at_hand=self._are_words_at_hand,
            cache=self._cache,
            standing=self._standing,
        )
        with faults_as_unavailable():
            try:
                yield look
            finally:
                look.end()

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Store each item whole or not at all; returns once it is durable and findable."""
        return self._commits.append(items)

    def append_soon(self, item: Append) -> None:
        """Store an item with the next batch; bounded loss in a crash, never a wait for the disk."""
        self._commits.append_soon(item)

    def settle(self) -> None:
        """Make durable now what append_soon left waiting."""
        self._commits.settle()

    def lease(self, _name: str, *, seconds: float) -> bool:
        """Whether this node is the one to do a job: an embedded store has only this one."""
        return seconds > 0

    def rebuild(self) -> Rebuilt:
        """Drop every projection, replay the log, and say whether it came out identical."""
        with self._writing, faults_as_unavailable():
            rebuilt = rebuild(self._connection, self._keyring)
            self._indexing.anew()
            self._cache.clear()
            self._standing.clear()
            return rebuilt

    def healthy(self) -> bool:
        """Whether it can read and write now: a change is tried and taken back, and the disk has room."""
        try:
            with self._writing, faults_as_unavailable():
                self._refuse_when_closed()
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    self._connection.execute("INSERT OR REPLACE INTO tenant_head VALUES ('', 0, x'')")
                finally:
                    self._connection.execute("ROLLBACK")
        except Unavailable:
            return False
        return self._folder.free_bytes() >= FREE_BYTES_MIN

    def export(self, tenant: str) -> Iterator[StoredEvent]:
        """A tenant's log, oldest first, page by page, so that no reader is held for long."""
        after = 0
        while True:
            with self.reading() as reading:
                page = reading.log(tenant, after=after, limit=EXPORT_PAGE)
            yield from page
            if len(page) < EXPORT_PAGE:
                return
            after = page[-1].seq

    def restore(self, pages: Iterable[ReturnedPage]) -> None:
        """Put a backup into an empty log, with its views: all in one transaction, or nothing."""
        with self._writing, faults_as_unavailable():
            self._refuse_when_closed()
            restore(self._connection, pages, self._keyring)
            self._indexing.anew()
            self._standing.clear()

    def rewrite_words(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Rewrite what held the words of an erased subject; raises Unavailable where some are still held."""
        self._refuse_when_closed()
        self._indexing.rewrite(tenant, subject, up_to_seq=up_to_seq)

    def search_files(self, needles: Sequence[bytes], indexed: Sequence[bytes]) -> list[Residue]:
        """Look for these bytes in every file, and for words as indexed that no other memory has."""
        with self._writing, faults_as_unavailable():
            self._refuse_when_closed()
            own = [words for words in indexed if not self._indexing.holds_words(words)]
            return [files_residue(self._folder.files(), [*own, *needles])]

    def purge(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Take the sealed bodies of a subject's events away."""
        with self._writing, faults_as_unavailable():
            self._refuse_when_closed()
            with transaction(self._connection):
                self._connection.execute(SQL["purge_bodies"], (tenant, subject, up_to_seq))
            empty_write_ahead_log(self._connection)

    def residue(self, tenant: str, subject: str, *, up_to_seq: int) -> list[Residue]:
        """Look for what is left of an erased subject: rows, sealed bodies, entries in the word index."""
        with self.reading() as look:
            return kept_residue(look, tenant, subject, up_to_seq=up_to_seq)

    def put_vectors(self, tenant: str, model: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep vectors: (position, version, packed), of the memories that still stand in that version."""
        self._refuse_when_closed()
        self._indexing.put_vectors(tenant, model, vectors)
        self._cache.look_again()
        self._standing.clear()

    def drop_models(self, tenant: str, *, keep: str) -> None:
        """Drop the vectors of every model but one."""
        self._refuse_when_closed()
        self._indexing.drop_models(tenant, keep=keep)

    def record_forgets(self, forgets: Sequence[tuple[str, StoredEvent]]) -> None:
        """Add to the record of forgettings some that another store carried out."""
        self._forgets.add(forgets)

    def forgets(self) -> Iterator[tuple[str, StoredEvent]]:
        """Every forgetting that was ever stored, oldest first."""
        return self._forgets.entries()

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep what was signed; the first note of a size stays."""
        self._keep("put_checkpoint", [msgspec.structs.astuple(checkpoint)])

    def keep_tree_blocks(self, tenant: str, roots: Mapping[int, bytes]) -> None:
        """Keep the roots of full blocks of a tenant's Merkle tree."""
        self._keep("put_tree_block", [(tenant, block, root) for block, root in roots.items()])

    def keep_progress(self, name: str, tenant: str, seq: int) -> None:
        """Keep how far a worker got in a tenant's log."""
        self._keep("put_progress", [(name, tenant, seq)])

    def close(self) -> None:
        """Store what still waits, and close every file in order; closing again changes nothing."""
        with self._writing:
            if self._is_closed:
                return
        self._commits.close()
        with self._writing:
            self._is_closed = True
        self._indexing.close()
        for _ in range(READERS):
            reader = self._readers.get()
            if reader is not None:
                reader.close()
        self._readers.put(None)
        self._connection.close()

    def _keep(self, statement: str, rows: list[tuple[object, ...]]) -> None:
        """Write rows that stand beside the log and its views."""
        if not rows:
            return
        with self._writing, faults_as_unavailable():
            self._refuse_when_closed()
            with transaction(self._connection):
                self._connection.executemany(SQL[statement], rows)

    def _bring_views_up(self) -> None:
        """Replay the log once where an earlier program wrote it: today's views hold more."""
        with faults_as_unavailable():
            if self._connection.execute(SQL["views_are_replayed"]).fetchone() != (1,):
                rebuild(self._connection, self._keyring)
                self._connection.execute(SQL["put_views_are_replayed"])

    def _index_at(self, folder: Folder) -> tuple[SearchIndex, bool]:
        """The word index, and whether it is far behind; a damaged one starts anew from the log."""
        try:
            return self._index_caught_up(folder)
        except (apsw.NotADBError, apsw.CorruptError, Unavailable) as fault:
            cause = fault.__cause__ or fault
            if not isinstance(cause, apsw.NotADBError | apsw.CorruptError):
                raise
            _log.warning("the word index is damaged and starts anew: %s", type(cause).__name__)
            folder.remove_search()
            return self._index_caught_up(folder)

    def _index_caught_up(self, folder: Folder) -> tuple[SearchIndex, bool]:
        """The word index up to the end of every log, unless that would hold up the start."""
        index, reading = SearchIndex(folder.search, self._finder), SqliteReading(self._connection)
        is_far_behind = behind(reading, index) > BEHIND_MAX
        if not is_far_behind:
            catch_up(reading, index, self._keyring, self._finder)
        return index, is_far_behind

    def _bring_up(self) -> None:
        self._indexing.bring_up_or_refuse()

    def _are_words_at_hand(self) -> bool:
        return self._indexing.brought_up()

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise Unavailable("this store is closed", hint="Open it again.")

    def _commit(self, tickets: list[Ticket]) -> None:
        with self._writing, faults_as_unavailable():
            self._refuse_when_closed()
            batch, results = self._committed(tickets)
            # Left under the lock, so that the words of one batch never overtake those of an earlier one.
            self._indexing.leave(batch.search, {tenant: head[0] for tenant, head in batch.heads.items()})
            self._cache.let_go(change for change, _ in batch.search)
            self._standing.stored(batch.search, batch.moved, batch.withdrawn)
        for ticket, result in zip(tickets, results, strict=True):
            ticket.results = result

    def _committed(self, tickets: list[Ticket]) -> tuple[Batch, list[list[AppendResult]]]:
        writing = SqliteTransaction(self._connection)
        batch = Batch(writing)
        try:
            with transaction(self._connection):
                results = [
                    [
                        batch.add(item, found)
                        for item, found in zip(ticket.items, ticket.found_by, strict=True)
                    ]
                    for ticket in tickets
                ]
                batch.finish()
                writing.heads(batch.heads)
                self._forgets.add(writing.forgets)
        except apsw.IOError:
            # What came as far as the disk may be found there by the next start: the record stays.
            raise
        except Exception:
            self._forgets.withdraw(writing.forgets)
            raise
        return batch, results


def _reader(folder: Folder) -> apsw.Connection:
    connection = connect(folder.log, durable=True, read_only=True)
    connection.execute("ATTACH DATABASE ? AS search", (str(folder.search),))
    return connection

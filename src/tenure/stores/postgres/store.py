"""The PostgreSQL store: any number of nodes over one database, group commit within each (SPEC E5, L8, S5)."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import psycopg
from psycopg import Cursor, errors
from psycopg_pool import PoolTimeout

from tenure.core.errors import Unavailable
from tenure.core.wording import Language
from tenure.stores.appending import Batch
from tenure.stores.forgets import Recorded
from tenure.stores.found_by import Finder
from tenure.stores.group_commit import GroupCommit, Ticket
from tenure.stores.postgres.connecting import (
    COMMIT_TIMEOUT_SECONDS,
    FAULTS,
    OWNER_FOR_NOW,
    Connection,
    OutcomeUnknown,
    as_owner,
    committed,
    durably,
    faults_as_unavailable,
    one_tenant,
    pool,
)
from tenure.stores.postgres.forgets import PostgresForgets
from tenure.stores.postgres.reading import SQL, Bindings, IndexBehind, LazyReading
from tenure.stores.postgres.rebuilding import index_anew, rebuild
from tenure.stores.postgres.restoring import restore
from tenure.stores.postgres.schema import LOG_MIGRATIONS, migrate
from tenure.stores.postgres.writing import Moved, PostgresTransaction, PostgresWords
from tenure.stores.residue import kept_residue
from tenure.stores.row_cache import RowCache
from tenure.stores.standing_rows import StandingRows
from tenure.usecases.embedding_ports import Embedder
from tenure.usecases.ports import (
    Append,
    AppendResult,
    Checkpoint,
    FirstAnswer,
    Keyring,
    Reading,
    Rebuilt,
    Replayed,
    Residue,
    ReturnedPage,
    StoredEvent,
)

CONNECTIONS_MAX: Final = 12
WRITERS: Final = 2
"""So many batches are under way at once; more would be smaller, and hinder each other in one process."""
ATTEMPTS_MAX: Final = 5
EXPORT_PAGE: Final = 2_000
_REWRITE: Final = "VACUUM (FULL) tenure.posting, tenure.document, tenure.embedding"
"""A word that is deleted stays in its file until the file is written anew."""
CONFIRMING: Final = "SET LOCAL lock_timeout = '5s'"
NOT_WAITING: Final = "SET LOCAL synchronous_commit = off"
"""For leases: one that is lost with the server has run out, so they wait for no disk and no standby."""
GIVING_UP_SECONDS_MAX: Final = 1.0
_AGAIN: Final = (errors.SerializationFailure, errors.DeadlockDetected)
_NOT_AGAIN: Final = (errors.DiskFull, errors.LockNotAvailable, PoolTimeout)

_log = logging.getLogger("tenure.store")


class PostgresStore:
    """The Store port over one database."""

    def __init__(
        self,
        database_url: str,
        keyring: Keyring,
        *,
        node: str,
        forgets: PostgresForgets,
        commit_timeout_seconds: float = COMMIT_TIMEOUT_SECONDS,
        embedder: Embedder | None = None,
        language: Language = Language.ENGLISH,
    ) -> None:
        self._keyring = keyring
        self._finder = Finder(embedder, language)
        self._cache = RowCache()
        self._standing = StandingRows(self._finder)
        self._node = node
        self._forgets = forgets
        self._has_leases = False
        self._is_closed = False
        with faults_as_unavailable():
            migrate(database_url, schema="tenure", migrations=LOG_MIGRATIONS)
            self._pool = pool(
                database_url, size_max=CONNECTIONS_MAX, commit_timeout_seconds=commit_timeout_seconds
            )
        self._commits = [GroupCommit(self._commit, self._finder) for _ in range(WRITERS)]

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        """Open one consistent look, which begins with its first question."""
        self._refuse_when_closed()
        look = _HealingReading(self)
        with faults_as_unavailable():
            try:
                yield look
            finally:
                look.end()

    def append(self, items: Sequence[Append]) -> list[AppendResult]:
        """Store each item whole or not at all; returns once it is durable and findable."""
        shards: dict[int, list[int]] = {}
        for index, item in enumerate(items):
            shards.setdefault(self._shard(item.tenant), []).append(index)
        results: dict[int, AppendResult] = {}
        for shard, indexes in shards.items():
            stored = self._commits[shard].append([items[index] for index in indexes])
            results |= dict(zip(indexes, stored, strict=True))
        return [results[index] for index in range(len(items))]

    def append_soon(self, item: Append) -> None:
        """Store an item with the next batch; bounded loss in a crash, never a wait for the disk."""
        self._commits[self._shard(item.tenant)].append_soon(item)

    def settle(self) -> None:
        """Make durable now what append_soon left waiting."""
        for commits in self._commits:
            commits.settle()

    def lease(self, name: str, *, seconds: float) -> bool:
        """Whether this node is the one to do a job until then."""
        self._refuse_when_closed()
        self._has_leases = True
        bindings = {"name": name, "holder": self._node, "seconds": seconds}
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            connection.execute(NOT_WAITING)
            return connection.execute(SQL["lease"], bindings).fetchone() is not None

    def rebuild(self) -> Rebuilt:
        """Drop every projection, replay the log, and say whether it came out identical."""
        self._refuse_when_closed()
        with self.reading() as reading:
            tenants = reading.tenants()
        events, identical = 0, True
        with faults_as_unavailable():
            for tenant in tenants:
                with self._pool.connection() as connection:
                    rebuilt = rebuild(connection, tenant, self._keyring)
                    index_anew(connection, tenant, self._keyring, self._finder)
                events, identical = events + rebuilt.events, identical and rebuilt.identical
        self._cache.clear()
        self._standing.clear()
        return Rebuilt(events=events, identical=identical)

    def bring_views_up(self) -> None:
        """Replay every log once where an earlier program wrote it: today's views hold more.

        For whoever has just unlocked the keyring. Of nodes that come at once each may do it.
        """
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            connection.execute(OWNER_FOR_NOW)
            is_done = connection.execute(SQL["views_are_replayed"]).fetchone() == (True,)
        if is_done:
            return
        self.rebuild()
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            connection.execute(OWNER_FOR_NOW)
            connection.execute(SQL["put_views_are_replayed"])

    def healthy(self) -> bool:
        """Whether it can read and write now: a commit is made, as every other, and leaves nothing behind."""
        name = f"healthy:{self._node}"
        try:
            self._refuse_when_closed()
            with faults_as_unavailable(), self._pool.connection() as connection:
                connection.execute("BEGIN")
                connection.execute(SQL["lease"], {"name": name, "holder": self._node, "seconds": 0})
                connection.execute(SQL["end_lease"], (name,))
                committed(connection)
        except Unavailable:
            # Where one connection is dead, so are those beside it: whoever asks next gets none of them.
            with contextlib.suppress(*FAULTS):
                self._pool.check()
            return False
        return True

    def export(self, tenant: str) -> Iterator[StoredEvent]:
        """A tenant's log, oldest first, page by page, so that no snapshot is held for long."""
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
        self._refuse_when_closed()
        with faults_as_unavailable(), self._pool.connection() as connection:
            restore(connection, pages, self._keyring)

    def rewrite_words(self, _tenant: str, _subject: str, *, up_to_seq: int) -> None:  # noqa: ARG002 -- the port's
        """Rewrite the word index, which is locked meanwhile: recalls wait for it (docs/operations.md)."""
        self._refuse_when_closed()
        with faults_as_unavailable(), self._pool.connection() as connection:
            as_owner(connection, _REWRITE)

    def search_files(self, _needles: Sequence[bytes], _indexed: Sequence[bytes]) -> list[Residue]:
        """Nothing: the files are the database server's, and not within reach."""
        return []

    def purge(self, tenant: str, subject: str, *, up_to_seq: int) -> None:
        """Take the sealed bodies of a subject's events away."""
        self._refuse_when_closed()
        with faults_as_unavailable(), self._pool.connection() as connection, durably(connection):
            connection.execute(one_tenant(tenant))
            connection.execute(SQL["purge_bodies"], (tenant, subject, up_to_seq))

    def residue(self, tenant: str, subject: str, *, up_to_seq: int) -> list[Residue]:
        """Look for what is left of an erased subject: rows, sealed bodies, entries in the word index."""
        self._refuse_when_closed()
        with self.reading() as look:
            return kept_residue(look, tenant, subject, up_to_seq=up_to_seq)

    def put_vectors(self, tenant: str, model: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep vectors: (position, version, packed), of the memories that still stand in that version."""
        told = [
            {"created_seq": seq, "version": version, "vector": vector} for seq, version, vector in vectors
        ]
        bindings = {"tenant": tenant, "model": model, "vectors": msgspec.json.encode(told).decode()}
        self._beside(tenant, "put_vectors", bindings)
        self._cache.look_again()
        self._standing.clear()

    def drop_models(self, tenant: str, *, keep: str) -> None:
        """Drop the vectors of every model but one."""
        self._beside(tenant, "drop_models", (tenant, keep))

    def record_forgets(self, forgets: Sequence[tuple[str, StoredEvent]]) -> None:
        """Add to the record of forgettings some that another store carried out."""
        self._forgets.record(forgets)

    def forgets(self) -> Iterator[tuple[str, StoredEvent]]:
        """Every forgetting that was ever stored, oldest first."""
        return self._forgets.entries()

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep what was signed; the first note of a size stays."""
        self._keep(checkpoint.tenant, "put_checkpoint", [msgspec.structs.astuple(checkpoint)])

    def keep_tree_blocks(self, tenant: str, roots: Mapping[int, bytes]) -> None:
        """Keep the roots of full blocks of a tenant's Merkle tree."""
        self._keep(tenant, "put_tree_block", [(tenant, block, root) for block, root in roots.items()])

    def keep_progress(self, name: str, tenant: str, seq: int) -> None:
        """Keep how far a worker got in a tenant's log."""
        self._keep(tenant, "put_progress", [(name, tenant, seq)])

    def close(self) -> None:
        """Store what still waits, give up every lease and close every connection; again changes nothing."""
        if self._is_closed:
            return
        for commits in self._commits:
            commits.close()
        self._give_up_leases()
        self._is_closed = True
        self._pool.close()

    def take_look(self) -> LazyReading:
        """A look at the store as it is now."""
        return LazyReading(self._pool)

    def heal_index(self, tenant: str) -> None:
        """Build a tenant's word index anew, unless another node just did."""
        with faults_as_unavailable(), self._pool.connection() as connection:
            index_anew(connection, tenant, self._keyring, self._finder, only_when_behind=True)

    def confirm(self, tenant: str) -> None:
        """Give back when all that can be read of a tenant is as durable as what is acknowledged."""
        with faults_as_unavailable():
            self._confirmed(tenant, 0)

    def _keep(self, tenant: str, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Write rows that stand beside the log and its views."""
        self._refuse_when_closed()
        if not rows:
            return
        with faults_as_unavailable(), self._pool.connection() as connection, durably(connection):
            connection.execute(one_tenant(tenant))
            connection.cursor().executemany(SQL[statement], rows)

    def _beside(self, tenant: str, statement: str, bindings: Bindings) -> None:
        """Change what is found by meaning: search data, so nobody waits for the disk."""
        self._refuse_when_closed()
        with faults_as_unavailable(), self._pool.connection() as connection, connection.transaction():
            connection.execute(NOT_WAITING)
            connection.execute(one_tenant(tenant))
            connection.execute(SQL[statement], bindings)

    def _give_up_leases(self) -> None:
        """Let another node have them at once; where the database is away, they run out by themselves."""
        if not self._has_leases:
            return
        with (
            contextlib.suppress(*FAULTS),
            self._pool.connection(timeout=GIVING_UP_SECONDS_MAX) as connection,
            connection.transaction(),
        ):
            connection.execute(NOT_WAITING)
            connection.execute(SQL["end_leases"], (self._node,))

    def _shard(self, tenant: str) -> int:
        return hash(tenant) % WRITERS

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise Unavailable("this store is closed", hint="Open it again.")

    def _commit(self, tickets: list[Ticket]) -> None:
        self._refuse_when_closed()
        if not any(ticket.items for ticket in tickets):
            return
        with faults_as_unavailable():
            results = self._committed_at_last(tickets)
        for ticket, result in zip(tickets, results, strict=True):
            ticket.results = result

    def _committed_at_last(self, tickets: list[Ticket]) -> list[list[AppendResult]]:
        """Commit a batch, again where the database asks for that or a connection was dead before it began."""
        for attempt in range(1, ATTEMPTS_MAX):
            try:
                return self._committed(tickets)
            except _AGAIN:
                continue
            except psycopg.OperationalError as fault:
                if attempt > 1 or isinstance(fault, _NOT_AGAIN):
                    raise
                # Where one connection is dead, so are those that lie beside it since before.
                self._pool.check()
        return self._committed(tickets)

    def _committed(self, tickets: list[Ticket]) -> list[list[AppendResult]]:
        with self._pool.connection() as connection:
            transaction = PostgresTransaction(connection)
            try:
                transaction.begin(item for ticket in tickets for item in ticket.items)
                batch = Batch(transaction)
                results = [
                    [
                        batch.add(item, found)
                        for item, found in zip(ticket.items, ticket.found_by, strict=True)
                    ]
                    for ticket in tickets
                ]
                with connection.pipeline():
                    batch.finish()
                    words = PostgresWords(connection, self._finder, transaction.tenancy)
                    words.apply(batch.search, transaction.moved(batch.heads))
                    self._forgets.note(connection, transaction.forgets)
            except BaseException:
                # What failed in a pipeline leaves the driver wrong about which statements are prepared.
                connection.close()
                raise
            moved = transaction.moved(batch.heads)
            if batch.heads or _is_answered_again(results):
                self._end(connection, moved, transaction.forgets)
            else:
                connection.execute("ROLLBACK")
        self._cache.let_go(change for change, _ in batch.search)
        ends = {tenant: (before, after) for tenant, (before, after, _) in moved.items()}
        self._standing.stored(batch.search, batch.moved, batch.withdrawn, ends)
        return results

    def _end(self, connection: Connection, moved: Moved, forgets: Sequence[Recorded]) -> None:
        """Commit, and find out what became of it where the connection does not say."""
        try:
            committed(connection)
        except psycopg.OperationalError:
            # A server that answers has kept nothing. One that does not is asked again; what it has not kept
            # can be tried again, as anything that failed before its commit.
            if not connection.closed or not self._was_kept(moved):
                self._forgets.withdraw(forgets)
                raise

    def _was_kept(self, moved: Moved) -> bool:
        """Whether a batch is in the log, by the link of a last event, which no other event can have."""
        for tenant, (_, seq, link) in moved.items():
            try:
                # Where one connection is dead, so are those that lie beside it since before.
                self._pool.check()
                return self._confirmed(tenant, seq) == link
            except psycopg.Error as fault:
                raise OutcomeUnknown from fault
        return False

    def _confirmed(self, tenant: str, seq: int) -> bytes | None:
        """The link at a position, after a commit behind it that waits for standbys as every other does.

        Without that commit, something could be acknowledged here that only this server has, because nobody
        waited to the end when it was written. The lock waits for whoever may still be committing it, and
        stands in the server's own log, or its commit would be empty and wait for nobody.
        """
        with self._pool.connection() as connection, connection.cursor() as cursor:
            try:
                cursor.execute("BEGIN")
                cursor.execute(one_tenant(tenant))
                cursor.execute(CONFIRMING)
                cursor.execute(SQL["lock_head"], (tenant,))
                row = cursor.execute(SQL["event"], (tenant, seq)).fetchone()
            except BaseException:
                connection.close()
                raise
            committed(connection)
        return row[3] if row else None


class _HealingReading(LazyReading):
    """A reading that has a word index built which a crash of the server emptied, and then looks anew."""

    def __init__(self, store: PostgresStore) -> None:
        super().__init__(
            store._pool,  # noqa: SLF001 -- the store's own reading
            store._cache,  # noqa: SLF001
            analyser=store._finder.analyser,  # noqa: SLF001
            standing=store._standing,  # noqa: SLF001
        )
        self._store = store

    def _check_index(self, tenant: str) -> None:
        try:
            super()._check_index(tenant)
        except IndexBehind:
            self.end()
            self._store.heal_index(tenant)
            super()._check_index(tenant)

    def first_answer(self, tenant: str, key: str) -> FirstAnswer | None:
        """What an idempotency key stands for; whoever gave it may not have lived to wait for a standby."""
        first = super().first_answer(tenant, key)
        if first is not None:
            self.end()
            self._store.confirm(tenant)
        return first

    def head(self, tenant: str) -> tuple[int, bytes]:
        """The last position and link of a tenant's log."""
        with faults_as_unavailable():
            return super().head(tenant)

    def _at_once(self, statements: bytes) -> tuple[Connection, Cursor[tuple[Any, ...]]]:
        with faults_as_unavailable():
            return super()._at_once(statements)

    def _asked(self, tenant: str | None, name: str, bindings: Bindings) -> Cursor[tuple[Any, ...]]:
        """Where a question fails, since whoever reads for many has to tell whose fault it is."""
        with faults_as_unavailable():
            return super()._asked(tenant, name, bindings)


def _is_answered_again(results: list[list[AppendResult]]) -> bool:
    """Whether a retry was recognised: its answer has to wait for a commit too, if only that of the lock."""
    return any(isinstance(result, Replayed) for stored in results for result in stored)

"""Opening a store, with everything that is to be settled before anybody is served."""

import logging
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from tenure.config import Settings
from tenure.engines.clock import SystemClock
from tenure.stores.keyring import SealingKeyring
from tenure.stores.sqlite.connection import connect
from tenure.stores.sqlite.folder import Folder
from tenure.stores.sqlite.keys import SqliteKeyTable
from tenure.stores.sqlite.reading import SqliteReading
from tenure.stores.sqlite.schema import migrate
from tenure.stores.sqlite.store import SqliteStore
from tenure.usecases.erasure import destroy_again
from tenure.usecases.ports import Clock, Reading, Store
from tenure.wiring.embedding import Engines
from tenure.wiring.faults import database_explained, folder_explained, lost_keyring
from tenure.wiring.node import Node
from tenure.wiring.root_keys import unlock_root

_log: Final = logging.getLogger("tenure.keys")


def open_store(path: str | Path, *, settings: Settings | None = None, clock: Clock | None = None) -> Node:
    """Open the embedded store in a folder, making it where there is none.

    Raises Unavailable when another process owns the folder, when it cannot be written, or when its root key
    or its keyring is gone.
    """
    folder, settings = Folder(Path(path)), settings or Settings()
    folder.take()
    with ExitStack() as undo, folder_explained(folder):
        undo.callback(folder.release)
        keys = SqliteKeyTable(folder.keyring)
        undo.callback(keys.close)
        if keys.is_empty() and _embedded_log_has_events(folder):
            raise lost_keyring()
        keyring = SealingKeyring(keys)
        unlock_root(keyring, folder, settings, fresh=keys.is_empty())
        engines = Engines(settings)
        undo.callback(engines.close)
        store = SqliteStore(folder, keyring, engines.meaning.embedder, language=settings.recall.language)
        undo.callback(store.close)
        clock = clock or SystemClock()
        node = Node(
            folder=folder,
            settings=settings,
            clock=clock,
            keys=keys,
            keyring=keyring,
            store=store,
            engines=engines,
        )
        _destroy_again(node)
        undo.pop_all()
    return node


def open_database(database_url: str, *, settings: Settings | None = None, clock: Clock | None = None) -> Node:
    """Open the store in a PostgreSQL database, as one node of any number.

    The root key is of the settings, or lies in the data folder; every node must have the same. Raises
    Unavailable when the database cannot be reached, is newer, or was made with another root key.
    """
    # Loaded when needed: an embedded store does without the driver.
    from tenure.stores.postgres.keys import PostgresKeyTable  # noqa: PLC0415
    from tenure.stores.postgres.store import PostgresStore  # noqa: PLC0415

    settings = settings or Settings()
    folder, clock = Folder(Path(settings.data_dir)), clock or SystemClock()
    with ExitStack() as undo, folder_explained(folder), database_explained():
        folder.make()
        keys_url = settings.keys.database_url or database_url
        keys = PostgresKeyTable(keys_url, commit_timeout_seconds=settings.database.commit_timeout_seconds)
        undo.callback(keys.close)
        keyring, engines = SealingKeyring(keys), Engines(settings)
        undo.callback(engines.close)
        store = PostgresStore(
            database_url,
            keyring,
            node=clock.moment().fresh_id.hex,
            forgets=keys.forgets(is_with_log=keys_url == database_url),
            commit_timeout_seconds=settings.database.commit_timeout_seconds,
            embedder=engines.meaning.embedder,
            language=settings.recall.language,
        )
        undo.callback(store.close)
        # Another node may have made the first key and the first event meanwhile: in this order.
        if keys.is_empty() and _has_events(store) and keys.is_empty():
            raise lost_keyring()
        unlock_root(keyring, folder, settings, fresh=keys.is_empty())
        store.bring_views_up()
        node = Node(
            folder=folder,
            settings=settings,
            clock=clock,
            keys=keys,
            keyring=keyring,
            store=store,
            engines=engines,
        )
        _destroy_again(node)
        undo.pop_all()
    return node


def open_node(settings: Settings, *, clock: Clock | None = None) -> Node:
    """Open what the settings name."""
    if settings.database_url is not None:
        return open_database(settings.database_url, settings=settings, clock=clock)
    return open_store(settings.data_dir, settings=settings, clock=clock)


def _embedded_log_has_events(folder: Folder) -> bool:
    """Whether the folder's log holds anything. The store itself cannot be opened without its keys."""
    if not folder.log.exists():
        return False
    with closing(connect(folder.log, durable=True)) as connection:
        migrate(connection)
        return _any_event(SqliteReading(connection))


def _has_events(store: Store) -> bool:
    with store.reading() as reading:
        return _any_event(reading)


def _any_event(reading: Reading) -> bool:
    return any(reading.head(tenant)[0] for tenant in reading.tenants())


def _destroy_again(node: Node) -> None:
    """Before anybody is served: the keys of erased subjects that an old copy of the keyring brought back."""
    destroyed = destroy_again(node.pipeline)
    if destroyed:
        _log.warning("an old copy of the keyring was put back: keys of erased subjects destroyed again")

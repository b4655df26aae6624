"""A node: an open store with its keys, and all that runs over it."""

from types import TracebackType
from typing import Protocol, Self

from tenure.config import Settings
from tenure.engines.checkpoint_folder import CheckpointFolder
from tenure.engines.tokenizing import BundledTokenizers
from tenure.stores.keyring import SealingKeyring
from tenure.stores.sqlite.folder import Folder
from tenure.usecases.embedding import Embedding
from tenure.usecases.notifying import Messenger
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Clock, Store
from tenure.usecases.watching import Watcher
from tenure.wiring.embedding import Engines
from tenure.wiring.probes import memory_probes
from tenure.wiring.rules_in_force import rules
from tenure.wiring.scanners import plugins_named, scanning


class Keys(Protocol):
    """A table of wrapped keys that can be opened and closed."""

    def is_empty(self) -> bool:
        """Whether no key was ever made there."""

    def close(self) -> None:
        """Close it."""


class ClosableStore(Store, Protocol):
    """A store that can be closed."""

    def close(self) -> None:
        """Store what still waits, and close everything."""


class Node:
    """One running Tenure: an open store with its keys, and the pipeline over it."""

    def __init__(
        self,
        *,
        folder: Folder,
        settings: Settings,
        clock: Clock,
        keys: Keys,
        keyring: SealingKeyring,
        store: ClosableStore,
        engines: Engines,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.keyring = keyring
        self.store = store
        self._keys = keys
        self._engines = engines
        plugins = plugins_named(settings)
        self._probes = memory_probes(settings, clock)
        self._scanning = scanning(settings, plugins, clock)
        self.pipeline = Pipeline(
            store=store,
            keyring=keyring,
            clock=clock,
            rules=rules(settings, custom=plugins.rules),
            checkpoint_place=_checkpoint_place(settings),
            scanning=self._scanning,
            meaning=engines.meaning,
            tokenizers=BundledTokenizers(),
        )
        self.pipeline.probes = self._probes
        embedder = engines.meaning.embedder
        self.embedding = (
            Embedding(self.pipeline, embedder, batch_size=settings.embedding.batch_size)
            if embedder is not None
            else None
        )
        self.watcher = Watcher(self.pipeline)
        self.messenger = _messenger(self.pipeline, settings)

    def close(self) -> None:
        """Write what still waits, close everything and give the folder back; again changes nothing."""
        self._scanning.close()
        if self._probes is not None:
            self._probes.close()
        self.store.close()
        self._engines.close()
        self._keys.close()
        self.folder.release()

    def __enter__(self) -> Self:
        """The node itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


def _messenger(pipeline: Pipeline, settings: Settings) -> Messenger | None:
    """The way to whoever is told of alerts, if anybody is."""
    alerts = settings.alerts
    if alerts.webhook_url is None or alerts.webhook_secret is None:
        return None
    # Loaded when needed: most stores have no receiver.
    from tenure.engines.webhook import Webhook  # noqa: PLC0415

    webhook = Webhook(alerts.webhook_url, alerts.webhook_secret, allow=alerts.webhook_allow)
    return Messenger(pipeline, webhook)


def _checkpoint_place(settings: Settings) -> CheckpointFolder | None:
    folder = settings.evidence.checkpoint_dir
    return CheckpointFolder(folder) if folder is not None else None

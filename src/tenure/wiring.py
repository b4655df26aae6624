"""Where ports meet what fills them: the one file that names a database or an engine."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

import msgspec

from tenure.config import ConfigError, Settings, outcome_of_failure, policy_in_force
from tenure.config import Scanning as ScanningSettings
from tenure.core.custom_rules import CustomRule
from tenure.core.errors import InvalidRequest, NotFound, Unauthenticated, Unavailable
from tenure.core.identity import Caller, Tier
from tenure.core.remembering import WriteRules
from tenure.core.retention import Ladder
from tenure.core.review import ReviewRules
from tenure.core.scanning.matching import Scanner
from tenure.core.scanning.running import DEFAULT_SCANNERS
from tenure.core.toolguard import Sensitive, Tools
from tenure.core.truth import Doubt
from tenure.core.watching import AlertKind, Threshold, WatchRules
from tenure.engines.checkpoint_folder import CheckpointFolder
from tenure.engines.classifier_model import shipped_classifier
from tenure.engines.clock import SystemClock, seconds_busy, seconds_passed
from tenure.engines.plugins import BadPlugin, Plugins, load
from tenure.stores.keyring import SealingKeyring
from tenure.stores.root_key import RootKeyFile
from tenure.stores.sqlite.connection import connect
from tenure.stores.sqlite.folder import Folder
from tenure.stores.sqlite.keys import SqliteKeyTable
from tenure.stores.sqlite.reading import SqliteReading
from tenure.stores.sqlite.schema import migrate
from tenure.stores.sqlite.store import SqliteStore
from tenure.stores.unlocking import RootKeys, Rotated, rotate_to_file, rotate_to_service, unlock
from tenure.stores.wrapping import Wrapping, WrongRootKey
from tenure.usecases import access
from tenure.usecases.erasure import destroy_again
from tenure.usecases.notifying import Messenger
from tenure.usecases.pipeline import Pipeline, Rules
from tenure.usecases.ports import Clock, Reading, Store
from tenure.usecases.recording import Reads
from tenure.usecases.scanning import Scanning
from tenure.usecases.scanning_ports import RemoteScanner, Watches
from tenure.usecases.watching import Watcher

if TYPE_CHECKING:
    from tenure.stores.postgres.keys import PostgresKeyTable

Authenticator = Callable[[str | None], Caller]

_log: Final = logging.getLogger("tenure.keys")


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
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.keyring = keyring
        self.store = store
        self._keys = keys
        plugins = _plugins(settings)
        self._scanning = _scanning(settings, plugins, clock)
        self.pipeline = Pipeline(
            store=store,
            keyring=keyring,
            clock=clock,
            rules=rules(settings, custom=plugins.rules),
            checkpoint_place=_checkpoint_place(settings),
            scanning=self._scanning,
        )
        self.watcher = Watcher(self.pipeline)
        self.messenger = _messenger(self.pipeline, settings)

    def close(self) -> None:
        """Write what still waits, close everything and give the folder back; again changes nothing."""
        self._scanning.close()
        self.store.close()
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


def open_store(path: str | Path, *, settings: Settings | None = None, clock: Clock | None = None) -> Node:
    """Open the embedded store in a folder, making it where there is none.

    Raises Unavailable when another process owns the folder, when it cannot be written, or when its root key
    or its keyring is gone.
    """
    folder, settings = Folder(Path(path)), settings or Settings()
    folder.take()
    with ExitStack() as undo, _explained(folder):
        undo.callback(folder.release)
        keys = SqliteKeyTable(folder.keyring)
        undo.callback(keys.close)
        if keys.is_empty() and _embedded_log_has_events(folder):
            raise _lost_keyring()
        keyring = SealingKeyring(keys)
        _unlock(keyring, folder, settings, fresh=keys.is_empty())
        store = SqliteStore(folder, keyring)
        undo.callback(store.close)
        clock = clock or SystemClock()
        node = Node(folder=folder, settings=settings, clock=clock, keys=keys, keyring=keyring, store=store)
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
    with ExitStack() as undo, _explained(folder), _database_explained():
        folder.make()
        keys_url = settings.keys.database_url or database_url
        keys = PostgresKeyTable(keys_url, commit_timeout_seconds=settings.database.commit_timeout_seconds)
        undo.callback(keys.close)
        keyring = SealingKeyring(keys)
        store = PostgresStore(
            database_url,
            keyring,
            node=clock.moment().fresh_id.hex,
            forgets=keys.forgets(is_with_log=keys_url == database_url),
            commit_timeout_seconds=settings.database.commit_timeout_seconds,
        )
        undo.callback(store.close)
        # Another node may have made the first key and the first event meanwhile: in this order.
        if keys.is_empty() and _has_events(store) and keys.is_empty():
            raise _lost_keyring()
        _unlock(keyring, folder, settings, fresh=keys.is_empty())
        store.bring_views_up()
        node = Node(folder=folder, settings=settings, clock=clock, keys=keys, keyring=keyring, store=store)
        _destroy_again(node)
        undo.pop_all()
    return node


def open_node(settings: Settings, *, clock: Clock | None = None) -> Node:
    """Open what the settings name."""
    if settings.database_url is not None:
        return open_database(settings.database_url, settings=settings, clock=clock)
    return open_store(settings.data_dir, settings=settings, clock=clock)


@contextmanager
def _explained(folder: Folder) -> Iterator[None]:
    """Say what is wrong with the key or the folder in words that help."""
    try:
        yield
    except WrongRootKey as fault:
        raise Unavailable(
            str(fault), hint="Give the root key that opens this store, or name what wraps it (docs/keys.md)."
        ) from fault
    except OSError as fault:
        raise Unavailable(
            f"the data folder {folder.path} cannot be written ({fault.strerror})",
            hint="Make space or check its permissions, then start again.",
        ) from fault


@contextmanager
def _database_explained() -> Iterator[None]:
    """Say what is wrong with a database that answers, but not as one that Tenure can be kept in."""
    from psycopg import errors  # noqa: PLC0415

    try:
        yield
    except errors.InsufficientPrivilege as fault:
        raise Unavailable(
            "the user of the database lacks a right that Tenure needs when it starts",
            hint="It must own the schemas tenure and tenure_keys, or may create them, and may become "
            "tenure_app. Let an administrator run: CREATE ROLE tenure_app NOLOGIN; GRANT tenure_app TO that "
            "user; GRANT CREATE ON DATABASE … TO that user.",
        ) from fault
    except (
        errors.UndefinedTable,
        errors.DuplicatePreparedStatement,
        errors.InvalidSqlStatementName,
    ) as fault:
        raise Unavailable(
            f"the database forgets what a connection has set up ({type(fault).__name__})",
            hint="Is there a pooler in transaction mode between? Reach PostgreSQL itself, or let the pooler "
            "keep sessions.",
        ) from fault


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


def _lost_keyring() -> Unavailable:
    return Unavailable(
        "the keyring is empty, but the log has events: the keys of what is sealed there are missing",
        hint="Put the keyring back (keyring.db, or the schema tenure_keys) with its root key. If it is lost "
        "for good, no content can be opened: 'tenure restore --without-keys' puts a backup into a new store, "
        "as evidence (docs/keys.md).",
    )


def _destroy_again(node: Node) -> None:
    """Before anybody is served: the keys of erased subjects that an old copy of the keyring brought back."""
    destroyed = destroy_again(node.pipeline)
    if destroyed:
        _log.warning("an old copy of the keyring was put back: keys of erased subjects destroyed again")


def rules(settings: Settings, *, custom: tuple[CustomRule, ...] = ()) -> Rules:
    """What an operator set, as the rules take it."""
    retention, admission, recall = settings.retention, settings.admission, settings.recall
    return Rules(
        write=WriteRules(
            policy=policy_in_force(settings),
            custom=custom,
            on_failure=outcome_of_failure(settings),
            defers_failures=admission.on_scanner_failure == "defer",
            ladder=Ladder(
                task=timedelta(seconds=retention.task_seconds),
                session=timedelta(seconds=retention.session_seconds),
                user=timedelta(seconds=retention.user_seconds),
                inherits=frozenset(
                    tier
                    for tier, inherits in (
                        (Tier.TASK, retention.task_inherits),
                        (Tier.SESSION, retention.session_inherits),
                    )
                    if inherits
                ),
                probe_margin=timedelta(seconds=retention.probe_margin_seconds),
            ),
        ),
        doubt=Doubt(
            stale_after=timedelta(seconds=recall.stale_after_seconds),
            stale_below_freshness=recall.stale_below_freshness,
        ),
        content_characters_max=admission.content_characters_max,
        recall_items_max=recall.items_max,
        tools=_tools(settings),
        reads=Reads(settings.evidence.reads),
        log_name=settings.evidence.log_name,
        checkpoint_every=timedelta(seconds=settings.evidence.checkpoint_seconds),
        watch=_watch_rules(settings),
        review=ReviewRules(
            second_reviewer_kinds=frozenset(settings.review.second_reviewer_kinds),
            second_reviewer_findings=frozenset(settings.review.second_reviewer_findings),
        ),
    )


def _plugins(settings: Settings) -> Plugins:
    """What the named packages bring; one that cannot be loaded is a mistake in the settings."""
    try:
        return load(settings.scanning.plugins, taken=[one.name for one in _own_scanners(settings)])
    except BadPlugin as bad:
        raise ConfigError((f"scanning.plugins: {bad}.",)) from bad


def _scanning(settings: Settings, plugins: Plugins, clock: Clock) -> Scanning:
    """The scanners that run here, and those that are asked."""
    chosen = settings.scanning
    return Scanning(
        (*_own_scanners(settings), *plugins.scanners),
        remote=_remote_scanners(chosen, clock),
        local_seconds_max=chosen.local_seconds_max,
        remote_seconds_max=chosen.seconds_max,
        together_max=chosen.together_max,
        watches=Watches(busy=seconds_busy, passed=seconds_passed),
    )


def _own_scanners(settings: Settings) -> Sequence[Scanner]:
    """The scanners of this package that run here."""
    if not settings.scanning.classifier:
        return DEFAULT_SCANNERS
    return *DEFAULT_SCANNERS, shipped_classifier()


def _remote_scanners(chosen: ScanningSettings, clock: Clock) -> Sequence[RemoteScanner]:
    if chosen.prompt_shields_endpoint is None and chosen.http_classifier_url is None:
        return ()
    # Loaded when needed: most stores ask nobody.
    from tenure.engines.remote_scanners import remote_scanners  # noqa: PLC0415

    return remote_scanners(chosen, clock.now)


def _watch_rules(settings: Settings) -> WatchRules:
    """From where on something is an alert."""
    chosen = msgspec.structs.asdict(settings.alerts)
    return WatchRules(
        **{
            kind.value: Threshold(
                count=chosen[f"{kind}_count"], within=timedelta(seconds=chosen[f"{kind}_seconds"])
            )
            for kind in AlertKind
        }
    )


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


def _tools(settings: Settings) -> Tools:
    return {
        name: {
            path: Sensitive(resolver=one.resolver, describe=one.describe)
            for path, one in tool.parameters.items()
        }
        for name, tool in settings.tools.items()
    }


def authenticator(node: Node) -> Authenticator:
    """From a bearer token to its caller: Tenure's own keys, and JWTs of the configured issuer (SPEC A1)."""
    if not node.settings.jwt.is_on:
        return lambda token: access.authenticate(node.pipeline, token)
    # Loaded when needed: its libraries cost a fifth of a second at every start.
    from tenure.engines.jwt_tokens import (  # noqa: PLC0415
        JwtSettings,
        JwtVerifier,
        KeysUnavailable,
        Verified,
    )

    chosen = msgspec.structs.asdict(node.settings.jwt)
    verifier = JwtVerifier(JwtSettings(**chosen))

    def authenticate(token: str | None) -> Caller:
        if token is None or not access.looks_like_jwt(token):
            return access.authenticate(node.pipeline, token)
        try:
            verdict = verifier.verify(token, now=node.pipeline.clock.now())
        except KeysUnavailable as fault:
            raise Unavailable(
                "the issuer's keys cannot be read now", hint="Try again in a moment."
            ) from fault
        if not isinstance(verdict, Verified):
            raise Unauthenticated(f"this token does not hold: {verdict.because}", hint="Get a new token.")
        return access.caller_from_claims(verdict.subject, verdict.claims)

    return authenticate


def rotate_root_key(settings: Settings, *, to_kms: str | None = None, to_file: bool = False) -> Rotated:
    """Wrap every tenant's keys by a fresh root key, or by a key in AWS KMS; the old root key is destroyed.

    No other process may have the store open. Whoever dies on the way can call it again. What it leaves or
    comes to, with ``to_kms`` or ``to_file``, the settings must say from then on.
    """
    folder = Folder(Path(settings.data_dir))
    if to_file and to_kms is not None:
        raise InvalidRequest("give one of --to-kms and --to-file", field="to_kms")
    if settings.keys.kek is not None and to_kms is None and not to_file:
        raise InvalidRequest(
            "the root key is a setting (keys.kek), which no program can change",
            field="keys.kek",
            hint="Move to a root key in the data folder with --to-file, or to AWS KMS with --to-kms KEY; "
            "then leave keys.kek out.",
        )
    with ExitStack() as undo, _explained(folder), _database_explained():
        keys = _keys_alone(folder, settings, undo)
        if keys.is_empty():
            raise NotFound("there is no keyring here to rotate the root key of", hint="Name the right store.")
        keyring, root = SealingKeyring(keys), _root_keys(folder, settings)
        service = _kms(settings, to_kms) if to_kms is not None else root.service
        if service is None or to_file:
            return rotate_to_file(keyring, root)
        return rotate_to_service(keyring, root, service)


def _keys_alone(folder: Folder, settings: Settings, undo: ExitStack) -> "SqliteKeyTable | PostgresKeyTable":
    """The keyring's table, closed to every other process where that can be done."""
    if settings.database_url is None:
        folder.take()
        undo.callback(folder.release)
        embedded = SqliteKeyTable(folder.keyring)
        undo.callback(embedded.close)
        return embedded
    from tenure.stores.postgres.keys import PostgresKeyTable  # noqa: PLC0415

    folder.make()
    keys = PostgresKeyTable(
        settings.keys.database_url or settings.database_url,
        commit_timeout_seconds=settings.database.commit_timeout_seconds,
    )
    undo.callback(keys.close)
    return keys


def _unlock(keyring: SealingKeyring, folder: Folder, settings: Settings, *, fresh: bool) -> None:
    root = _root_keys(folder, settings)
    if fresh and root.is_in_file and settings.keys.kek_file is None:
        root.file.make()
    unlock(keyring, root)


def _root_keys(folder: Folder, settings: Settings) -> RootKeys:
    """What holds the root key, as the settings name it."""
    keys = settings.keys
    return RootKeys(
        file=RootKeyFile(Path(keys.kek_file) if keys.kek_file else folder.root_key),
        given=keys.kek,
        service=_kms(settings, keys.kms_aws_key_id) if keys.kms_aws_key_id is not None else None,
    )


def _kms(settings: Settings, key_id: str) -> Wrapping:
    try:
        # Loaded when needed: its library is large, and an extra.
        from tenure.engines.kms_aws import AwsKmsWrapping  # noqa: PLC0415
    except ImportError as fault:
        raise Unavailable(
            "wrapping by AWS KMS needs a package that is not installed",
            hint="Install it: pip install 'tenure[kms-aws]'.",
        ) from fault
    return AwsKmsWrapping(
        key_id, region=settings.keys.kms_aws_region, endpoint_url=settings.keys.kms_aws_endpoint_url
    )

"""Where ports meet what fills them: the one file that names a database or an engine."""

import base64
import binascii
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from tenure.config import Settings
from tenure.core.admission import default_policy
from tenure.core.errors import Unauthenticated, Unavailable
from tenure.core.identity import Caller
from tenure.core.remembering import WriteRules
from tenure.core.retention import Ladder
from tenure.core.truth import Doubt
from tenure.core.vocabulary import Outcome
from tenure.engines.clock import SystemClock
from tenure.stores.keyring import KEY_BYTES, SealingKeyring, WrongRootKey
from tenure.stores.sqlite.folder import Folder, secret_file
from tenure.stores.sqlite.keys import SqliteKeyTable
from tenure.stores.sqlite.store import SqliteStore
from tenure.usecases import access
from tenure.usecases.pipeline import Pipeline, Rules
from tenure.usecases.ports import Clock, Store

if TYPE_CHECKING:
    from tenure.stores.postgres.keys import PostgresKeyTable

Authenticator = Callable[[str | None], Caller]


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
        self.pipeline = Pipeline(store=store, keyring=keyring, clock=clock, rules=rules(settings))

    def close(self) -> None:
        """Write what still waits, close everything and give the folder back; again changes nothing."""
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
    is gone.
    """
    folder, settings = Folder(Path(path)), settings or Settings()
    folder.take()
    with ExitStack() as undo, _explained(folder):
        undo.callback(folder.release)
        keys = SqliteKeyTable(folder.keyring)
        undo.callback(keys.close)
        keyring = _keyring(keys, folder, settings)
        node = Node(
            folder=folder,
            settings=settings,
            clock=clock or SystemClock(),
            keys=keys,
            keyring=keyring,
            store=SqliteStore(folder, keyring),
        )
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
    with ExitStack() as undo, _explained(folder):
        folder.make()
        keys_url = settings.keys.database_url or database_url
        keys = PostgresKeyTable(keys_url, commit_timeout_seconds=settings.database.commit_timeout_seconds)
        undo.callback(keys.close)
        keyring = _keyring(keys, folder, settings)
        store = PostgresStore(
            database_url,
            keyring,
            node=clock.moment().fresh_id.hex,
            forgets=keys.forgets(is_with_log=keys_url == database_url),
            commit_timeout_seconds=settings.database.commit_timeout_seconds,
        )
        node = Node(folder=folder, settings=settings, clock=clock, keys=keys, keyring=keyring, store=store)
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
        raise Unavailable(str(fault), hint="Give the root key that this store was made with.") from fault
    except OSError as fault:
        raise Unavailable(
            f"the data folder {folder.path} cannot be written ({fault.strerror})",
            hint="Make space or check its permissions, then start again.",
        ) from fault


def _keyring(keys: "SqliteKeyTable | PostgresKeyTable", folder: Folder, settings: Settings) -> SealingKeyring:
    keyring = SealingKeyring(keys, _root_key(folder, settings, fresh=keys.is_empty()))
    keyring.check()
    return keyring


def rules(settings: Settings) -> Rules:
    """What an operator set, as the rules take it."""
    retention, admission, recall = settings.retention, settings.admission, settings.recall
    return Rules(
        write=WriteRules(
            policy=default_policy(
                content_characters_max=admission.content_characters_max,
                on_scanner_failure=Outcome(admission.on_scanner_failure),
            ),
            ladder=Ladder(
                task=timedelta(seconds=retention.task_seconds),
                session=timedelta(seconds=retention.session_seconds),
                user=timedelta(seconds=retention.user_seconds),
            ),
        ),
        doubt=Doubt(
            stale_after=timedelta(seconds=recall.stale_after_seconds),
            stale_below_freshness=recall.stale_below_freshness,
        ),
        content_characters_max=admission.content_characters_max,
        recall_items_max=recall.items_max,
    )


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


def _make_root_key(path: Path) -> None:
    """Make the root key, unless another node of the same folder is faster: then its key is the one."""
    if path.exists() and path.stat().st_size == 0:
        path.unlink(missing_ok=True)
    with suppress(FileExistsError):
        secret_file(path, base64.b64encode(SystemClock().secret(KEY_BYTES)).decode() + "\n")


def _root_key(folder: Folder, settings: Settings, *, fresh: bool) -> bytes:
    """The root key from the settings, or from the folder's own file, which a new store makes."""
    if settings.keys.kek is not None:
        return settings.keys.kek
    path = Path(settings.keys.kek_file) if settings.keys.kek_file else folder.root_key
    if fresh and settings.keys.kek_file is None and not (path.exists() and path.stat().st_size):
        _make_root_key(path)
    try:
        return base64.b64decode(path.read_text("ascii").strip(), validate=True)
    except OSError as fault:
        raise Unavailable(
            f"the root key {path} cannot be read ({fault.strerror})",
            hint="Without it nothing here can be opened: put it back, or name it with TENURE_KEYS__KEK_FILE.",
        ) from fault
    except (binascii.Error, UnicodeDecodeError) as fault:
        raise Unavailable(
            f"the root key {path} is not base64 text", hint="Put the right file back."
        ) from fault

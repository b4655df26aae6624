"""Where ports meet what fills them: the one file that names a database or an engine."""

import base64
import binascii
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

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
from tenure.usecases.ports import Clock

Authenticator = Callable[[str | None], Caller]


class Node:
    """One running Tenure: a store that this process owns, and the pipeline over it."""

    def __init__(self, folder: Folder, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.folder = folder
        folder.take()
        try:
            self._keys = SqliteKeyTable(folder.keyring)
            self.keyring = SealingKeyring(
                self._keys, _root_key(folder, settings, fresh=self._keys.is_empty())
            )
            self.keyring.check()
            self.store = SqliteStore(folder, self.keyring)
        except WrongRootKey as fault:
            folder.release()
            raise Unavailable(str(fault), hint="Give the root key that this store was made with.") from fault
        except OSError as fault:
            folder.release()
            raise Unavailable(
                f"the data folder {folder.path} cannot be written ({fault.strerror})",
                hint="Make space or check its permissions, then start again.",
            ) from fault
        except BaseException:
            folder.release()
            raise
        self.pipeline = Pipeline(store=self.store, keyring=self.keyring, clock=clock, rules=rules(settings))

    def close(self) -> None:
        """Write what still waits, close every file and give the folder back; again changes nothing."""
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
    return Node(Folder(Path(path)), settings or Settings(), clock or SystemClock())


def open_node(settings: Settings, *, clock: Clock | None = None) -> Node:
    """Open what the settings name."""
    return open_store(settings.data_dir, settings=settings, clock=clock)


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


def _root_key(folder: Folder, settings: Settings, *, fresh: bool) -> bytes:
    """The root key from the settings, or from the folder's own file, which a new store makes."""
    if settings.keys.kek is not None:
        return settings.keys.kek
    path = Path(settings.keys.kek_file) if settings.keys.kek_file else folder.root_key
    if fresh and settings.keys.kek_file is None and not (path.exists() and path.stat().st_size):
        path.unlink(missing_ok=True)
        secret_file(path, base64.b64encode(SystemClock().secret(KEY_BYTES)).decode() + "\n")
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

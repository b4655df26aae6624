"""What holds the root key of a store: made, found, and changed for another."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.config import Settings
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.stores.keyring import SealingKeyring
from tenure.stores.root_key import RootKeyFile
from tenure.stores.sqlite.folder import Folder
from tenure.stores.sqlite.keys import SqliteKeyTable
from tenure.stores.unlocking import RootKeys, Rotated, rotate_to_file, rotate_to_service, unlock
from tenure.stores.wrapping import Wrapping
from tenure.wiring.faults import database_explained, folder_explained

if TYPE_CHECKING:
    from tenure.stores.postgres.keys import PostgresKeyTable


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
    with ExitStack() as undo, folder_explained(folder), database_explained():
        keys = _keys_alone(folder, settings, undo)
        if keys.is_empty():
            raise NotFound("there is no keyring here to rotate the root key of", hint="Name the right store.")
        keyring, root = SealingKeyring(keys), _root_keys(folder, settings)
        service = _kms(settings, to_kms) if to_kms is not None else root.service
        if service is None or to_file:
            return rotate_to_file(keyring, root)
        return rotate_to_service(keyring, root, service)


def unlock_root(keyring: SealingKeyring, folder: Folder, settings: Settings, *, fresh: bool) -> None:
    """Let the keyring be used: with a new root key where it is fresh, otherwise with the one that made it."""
    root = _root_keys(folder, settings)
    if fresh and root.is_in_file and settings.keys.kek_file is None:
        root.file.make()
    unlock(keyring, root)


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

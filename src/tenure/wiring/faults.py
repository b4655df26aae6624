"""What is wrong with a folder, a key or a database, said in words that help."""

from collections.abc import Iterator
from contextlib import contextmanager

from tenure.core.errors import Unavailable
from tenure.stores.sqlite.folder import Folder
from tenure.stores.wrapping import WrongRootKey


@contextmanager
def folder_explained(folder: Folder) -> Iterator[None]:
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
def database_explained() -> Iterator[None]:
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


def lost_keyring() -> Unavailable:
    """What is said of a store with events and no keys."""
    return Unavailable(
        "the keyring is empty, but the log has events: the keys of what is sealed there are missing",
        hint="Put the keyring back (keyring.db, or the schema tenure_keys) with its root key. If it is lost "
        "for good, no content can be opened: 'tenure restore --without-keys' puts a backup into a new store, "
        "as evidence (docs/keys.md).",
    )

"""Unlocking a keyring by what holds its root key, and moving it to another root key (docs/keys.md)."""

from collections.abc import Iterator
from typing import NamedTuple

from tenure.stores.keyring import SealingKeyring
from tenure.stores.root_key import RootKeyFile
from tenure.stores.wrapping import LocalWrapping, Wrapping, WrongRootKey


class RootKeys(NamedTuple):
    """What holds the root key: a service or a key that was given, and otherwise the file."""

    file: RootKeyFile
    given: bytes | None = None
    service: Wrapping | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether the file is what counts."""
        return self.given is None and self.service is None


class Rotated(NamedTuple):
    """What a rotation did: how many keys are wrapped anew, and by what."""

    keys: int
    wrapped_by: str


class _Candidate(NamedTuple):
    """Something that may open the keyring; ``is_next`` for a root key that is not in its place yet."""

    wrapping: Wrapping
    is_next: bool = False


def unlock(keyring: SealingKeyring, root: RootKeys) -> None:
    """Unlock, finishing a rotation that was left half-way; raises WrongRootKey where nothing opens it."""
    by = keyring.wrapped_by() if root.is_in_file and not root.file.is_there() else ""
    if by:
        raise WrongRootKey(f"this keyring is wrapped by {by}, and the settings name no key service")
    if _first_that_opens(keyring, _candidates(root)).is_next:
        root.file.finish()


def rotate_to_file(keyring: SealingKeyring, root: RootKeys) -> Rotated:
    """Wrap every tenant's keys by a fresh root key in the file; the old one is overwritten.

    Whoever dies on the way can call it again, or just unlock the keyring by the file.
    """
    _first_that_opens(keyring, _candidates(root, root._replace(given=None, service=None)))
    keys = keyring.rewrap(LocalWrapping(root.file.prepare()))
    root.file.finish()
    return Rotated(keys, str(root.file.path))


def rotate_to_service(keyring: SealingKeyring, root: RootKeys, service: Wrapping) -> Rotated:
    """Wrap every tenant's keys by a service; what is in the file is overwritten and removed.

    Whoever dies on the way can call it again, or just unlock the keyring by the service.
    """
    _first_that_opens(keyring, _candidates(root, root._replace(service=service)))
    keys = keyring.rewrap(service)
    root.file.destroy()
    return Rotated(keys, service.id)


def _candidates(root: RootKeys, then: RootKeys | None = None) -> Iterator[_Candidate]:
    """What holds the root key, then what may hold it after a rotation that was left half-way."""
    if root.service is not None:
        yield _Candidate(root.service)
    elif root.given is not None:
        yield _Candidate(LocalWrapping(root.given))
    elif then is None or then == root or root.file.is_there():
        for key, is_next in root.file.read():
            yield _Candidate(LocalWrapping(key), is_next)
    if then is not None and then != root and (not then.is_in_file or then.file.is_there()):
        yield from _candidates(then)


def _first_that_opens(keyring: SealingKeyring, candidates: Iterator[_Candidate]) -> _Candidate:
    """Unlock by the first that opens it; raises what was wrong with the first of all."""
    first: WrongRootKey | None = None
    for candidate in candidates:
        try:
            keyring.unlock(candidate.wrapping)
        except WrongRootKey as fault:
            first = first or fault
        else:
            return candidate
    raise first or WrongRootKey("there is no root key")

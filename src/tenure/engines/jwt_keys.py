"""The public keys that an outside issuer publishes (SPEC A1): where they are read, how often, which count.

Laws, each with the attack it answers:

- Keys come from a file, or from an address that nobody on the way can answer in the issuer's place.
- Strangers cannot make us call the issuer at will: key ids that nobody knows cost one fetch a minute.
- A key that the issuer withdraws stops working within the hour, or the day while the issuer is out of reach.
- Only public keys for signatures count; a shared secret in a key set is left out, and so is a weak key.
"""

import ipaddress
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock

import httpx
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key
from joserfc.util import base64_to_int

REFETCH_AFTER = timedelta(seconds=60)
FIRST_FETCH_AGAIN_AFTER = timedelta(seconds=5)
KEYS_FRESH_FOR = timedelta(hours=1)
KEYS_KEPT_FOR = timedelta(days=1)
FETCH_TIMEOUT_SECONDS = 5
KEY_SET_BYTES_MAX = 512 * 1024
RSA_BITS_MIN = 2_048

_KEY_TYPES = ("RSA", "EC", "OKP")


class KeysUnavailable(Exception):
    """The issuer's keys cannot be read now, so no token can be judged; trying again later may help."""


class PublishedKeys:
    """The issuer's key set, fetched when it is needed and never more often than the limits above say."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._lock = Lock()
        self._keys: tuple[Key, ...] = ()
        self._read_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._fault: str | None = None

    def find(self, fits: Callable[[Key], bool], *, now: datetime) -> list[Key]:
        """Give the keys that fit; where none is known, look whether the issuer has published one since."""
        if _is_over(KEYS_FRESH_FOR, since=self._read_at, now=now):
            # While one thread refreshes a key set, the others go on with the old one.
            self._refresh(now, waits=not self._keys)
        fitting = list(filter(fits, self._keys))
        if not fitting:
            self._refresh(now, waits=True)
            fitting = list(filter(fits, self._keys))
        if not fitting and self._fault is not None:
            raise KeysUnavailable(self._fault)
        return fitting

    def _refresh(self, now: datetime, *, waits: bool) -> None:
        """Read the key set again unless that was just tried; a failure leaves the old keys for a day."""
        if not self._lock.acquire(blocking=waits):
            return
        try:
            pause = REFETCH_AFTER if self._keys else FIRST_FETCH_AGAIN_AFTER
            if not _is_over(pause, since=self._tried_at, now=now):
                return
            self._tried_at = now
            self._keys = _import(self._read())
            self._read_at, self._fault = now, None
        except KeysUnavailable as fault:
            self._fault = str(fault)
            if _is_over(KEYS_KEPT_FOR, since=self._read_at, now=now):
                self._keys = ()
        finally:
            self._lock.release()


def read_file(path: Path) -> bytes:
    """Read the key set from a file that the operator keeps up to date."""
    try:
        with path.open("rb") as file:
            content = file.read(KEY_SET_BYTES_MAX + 1)
    except OSError as fault:
        raise KeysUnavailable(f"The file of jwks_file cannot be read: {fault.strerror}.") from fault
    if len(content) > KEY_SET_BYTES_MAX:
        raise KeysUnavailable(f"The file of jwks_file is larger than {KEY_SET_BYTES_MAX} bytes.")
    return content


def read_address(address: str) -> bytes:
    """Fetch the key set from exactly this address: no redirect, and no proxy before this very machine."""
    content = bytearray()
    try:
        with (
            httpx.Client(
                timeout=FETCH_TIMEOUT_SECONDS,
                follow_redirects=False,
                trust_env=not _is_loopback(httpx.URL(address).host),
            ) as client,
            client.stream("GET", address, headers={"Accept": "application/json"}) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise KeysUnavailable(f"The address of jwks_url answered with status {answer.status_code}.")
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > KEY_SET_BYTES_MAX:
                    raise KeysUnavailable(f"The answer of jwks_url is over {KEY_SET_BYTES_MAX} bytes.")
    except (httpx.HTTPError, OSError) as fault:
        raise KeysUnavailable(f"The address of jwks_url cannot be read: {type(fault).__name__}.") from fault
    return bytes(content)


def check_address(address: str) -> None:
    """Refuse an address from which somebody on the way could serve keys of their own."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as fault:
        raise ValueError("jwks_url is not a valid address.") from fault
    is_safe = url.scheme == "https" or (url.scheme == "http" and _is_loopback(url.host))
    if not is_safe or not url.host or url.userinfo:
        raise ValueError(
            "jwks_url must be an https address, or http to this machine, without user or password."
        )


def _is_over(pause: timedelta, *, since: datetime | None, now: datetime) -> bool:
    """Whether that much time lies between the two; either way, so that a clock set back stops nothing."""
    return since is None or abs(now - since) >= pause


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _KeySet(msgspec.Struct, frozen=True, kw_only=True):
    """The standard's envelope around the keys."""

    keys: list[dict[str, object]]


def _import(content: bytes) -> tuple[Key, ...]:
    """Give the usable keys of a key set; one that is unknown, broken or weak does not spoil the others."""
    try:
        entries = msgspec.json.decode(content, type=_KeySet).keys
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise KeysUnavailable("What the issuer publishes is not a JSON Web Key Set.") from fault
    usable = tuple(key for key in map(_import_key, entries) if key is not None)
    if not usable:
        raise KeysUnavailable("The issuer's key set holds no key that can verify a signature.")
    return usable


def _import_key(entry: dict[str, object]) -> Key | None:
    try:
        if entry.get("kty") not in _KEY_TYPES:
            return None
        # A weak key is left out before the library sees it, which would only warn.
        if entry["kty"] == "RSA" and base64_to_int(str(entry["n"])).bit_length() < RSA_BITS_MIN:
            return None
        return JWKRegistry.import_key(entry)  # type: ignore[arg-type]
    except (JoseError, UnsupportedAlgorithm, KeyError, TypeError, ValueError):
        return None

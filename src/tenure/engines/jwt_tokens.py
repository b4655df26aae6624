"""Tokens of an outside issuer (SPEC A1): who signed this, is it meant for us, and is it valid now.

Laws, each with the attack it answers:

- Only signatures by the issuer's own published keys count. `none`, shared secrets (a public key used as an
  HMAC secret) and keys that the token itself carries or points to (`jwk`, `jku`, `x5u`, `x5c`) admit nothing.
- A key verifies only what it was published for: its type, curve, use and algorithm must fit the token's.
- The token names our issuer and our audience, and it ends: one without an expiry is refused.
- Time is an argument. A bad token is an answer, `Unverified`, never an exception; only keys that cannot be
  had are one, `KeysUnavailable`, because then nothing is known about the token.

What the token may do is not decided here: the object under the agreed claim is handed on as it was signed.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeGuard

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import Key
from joserfc.jws import CompactSignature, JWSRegistry, extract_compact
from joserfc.util import urlsafe_b64decode

from tenure.engines.jwt_keys import KeysUnavailable, PublishedKeys, check_address, read_address, read_file

__all__ = [
    "SIGNATURE_ALGORITHMS",
    "TOKEN_CHARACTERS_MAX",
    "JwtSettings",
    "JwtVerifier",
    "KeysUnavailable",
    "Unverified",
    "Verified",
]

SIGNATURE_ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
)
TOKEN_CHARACTERS_MAX = 16 * 1024

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Unknown header fields are ignored, as the standard says. Verifying goes by our own list of algorithms and
# never through this registry, which falls back to allowing shared secrets where its list is empty.
_HEADERS = JWSRegistry(strict_check_header=False)
# Other types of token (logout, identity proof) are signed by the same keys but grant no access.
_TOKEN_TYPES = ("jwt", "at+jwt", "application/at+jwt")


class JwtSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Whose tokens are accepted and for whom; exactly one place where the issuer's public keys are found."""

    issuer: str
    audience: str
    jwks_file: str | None = None
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    claim: str = "tenure"
    leeway_seconds: int = 30


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A valid token: the issuer's name for its bearer, and the object it carries under the agreed claim."""

    subject: str
    claims: dict[str, object]


class Unverified(msgspec.Struct, frozen=True, kw_only=True):
    """A token that proves nothing, and why; the reason quotes no part of the token."""

    because: str


class JwtVerifier:
    """Verifies tokens of one issuer; safe to share between threads, and closed unless fully configured."""

    def __init__(self, settings: JwtSettings) -> None:
        """Refuse settings that would admit too much; no key is read yet."""
        _check(settings)
        self._settings = settings
        self._keys = PublishedKeys(_reader(settings))

    def verify(self, token: str, *, now: datetime) -> Verified | Unverified:
        """Judge the token at that moment; raises `KeysUnavailable` only."""
        signed = _take_apart(token, self._settings.algorithms)
        if isinstance(signed, Unverified):
            return signed
        keys = self._keys.find(lambda key: _fits(key, signed), now=now)
        if not keys:
            return Unverified(because="the issuer publishes no key that fits it")
        if not any(_is_signed_by(key, signed) for key in keys):
            return Unverified(because="its signature does not match")
        return _judge(_claims_of(signed), self._settings, now)


def _check(settings: JwtSettings) -> None:
    """Refuse settings under which a token would prove too little."""
    if not settings.issuer or not settings.audience or not settings.claim:
        raise ValueError("issuer, audience and claim must be named; without them any token would do.")
    possible = SIGNATURE_ALGORITHMS.intersection(JWSRegistry.algorithms)
    if not settings.algorithms or not possible.issuperset(settings.algorithms):
        raise ValueError(f"algorithms must be one or more of {', '.join(sorted(possible))}.")
    if (settings.jwks_file is None) == (settings.jwks_url is None):
        raise ValueError("Exactly one of jwks_file and jwks_url must be set.")
    if settings.jwks_url is not None:
        check_address(settings.jwks_url)


def _reader(settings: JwtSettings) -> Callable[[], bytes]:
    if settings.jwks_file is not None:
        path = Path(settings.jwks_file)
        return lambda: read_file(path)
    address = str(settings.jwks_url)
    return lambda: read_address(address)


def _take_apart(token: str, algorithms: tuple[str, ...]) -> CompactSignature | Unverified:
    """Split the token and refuse by its header what no signature could make good."""
    if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
        return Unverified(because="it is too long or not plain text")
    try:
        signed = extract_compact(token.encode("ascii"), registry=_HEADERS)
        header: object = signed.headers()
        if not isinstance(header, dict) or "crit" in header or "b64" in header:
            return Unverified(because="its header asks for something that is not supported")
        _HEADERS.check_header(header)
    except (JoseError, ValueError, TypeError, RecursionError):
        return Unverified(because="it is not a signed JSON Web Token")
    if header["alg"] not in algorithms:
        return Unverified(because="its signature algorithm is not allowed")
    if header.get("typ", "jwt").lower() not in _TOKEN_TYPES:
        return Unverified(because="it is another type of token, not one for access")
    return signed


def _fits(key: Key, signed: CompactSignature) -> bool:
    """Whether the key was published for such a token; one that names no key may be tried with several."""
    header = signed.headers()
    try:
        JWSRegistry.algorithms[header["alg"]].check_key(key)
        key.check_key_op("verify")
    except JoseError:
        return False
    return "kid" not in header or key.kid == header["kid"]


def _is_signed_by(key: Key, signed: CompactSignature) -> bool:
    """Whether this key made the signature; the algorithm was checked against ours and the key's before."""
    algorithm = JWSRegistry.algorithms[signed.headers()["alg"]]
    signing_input = signed.segments["header"] + b"." + signed.segments["payload"]
    try:
        signature = urlsafe_b64decode(signed.segments["signature"])
        return algorithm.verify(signing_input, signature, key)
    except (JoseError, ValueError, TypeError):
        return False


def _claims_of(signed: CompactSignature) -> Mapping[str, object]:
    """Give the signed claims; a payload that is no object has none, and so lacks all that are required."""
    try:
        return msgspec.json.decode(signed.payload, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def _judge(claims: Mapping[str, object], settings: JwtSettings, now: datetime) -> Verified | Unverified:
    """Check what a true signature says: by whom, for whom, when, about whom, and with which grants."""
    if claims.get("iss") != settings.issuer:
        return Unverified(because="it is from another issuer")
    if not _names(claims.get("aud"), settings.audience):
        return Unverified(because="it is meant for another audience")
    untimely = _untimely(claims, (now - _EPOCH).total_seconds(), settings.leeway_seconds)
    if untimely is not None:
        return Unverified(because=untimely)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        return Unverified(because="it names no subject")
    granted = claims.get(settings.claim)
    if not isinstance(granted, dict):
        return Unverified(because="the claim that should hold its grants is missing or not an object")
    return Verified(subject=subject, claims=granted)


def _names(audience: object, wanted: str) -> bool:
    return audience == wanted or (isinstance(audience, list) and wanted in audience)


def _untimely(claims: Mapping[str, object], now_seconds: float, leeway_seconds: int) -> str | None:
    """Say why the token is not valid at that moment, if so; a time that is no number makes it invalid."""
    expires, begins, issued = claims.get("exp"), claims.get("nbf", 0), claims.get("iat", 0)
    if not (_is_time(expires) and _is_time(begins) and _is_time(issued)):
        return "it has no expiry, or a time that is not a number"
    if now_seconds >= expires + leeway_seconds:
        return "it has expired"
    if now_seconds < max(begins, issued) - leeway_seconds:
        return "it is not valid yet"
    return None


def _is_time(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Callers' keys: what may be granted, and how a token is spelled (SPEC A1-A5). Pure.

A token is ``tnr.TENANT.ID.SECRET`` in URL-safe text. The tenant and id find the key; only the secret, of
which a
hash is stored, opens it: a familiar tenant id is worth nothing.
"""

import base64
import binascii
import hashlib
import hmac
from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core.access_events import KeyCreated, KeyRevoked
from tenure.core.decision import Decided, Refused
from tenure.core.errors import Forbidden, InvalidRequest, NotFound, TenureError
from tenure.core.events import Event
from tenure.core.identity import Caller, Grants, Moment, Role, checked_name

SECRET_BYTES = 32
_PREFIX = "tnr"
_TOKEN_PARTS = 4
_TOKEN_CHARACTERS_MAX = 1_000


class CreateKey(msgspec.Struct, frozen=True, kw_only=True):
    """A wish for a credential. Sides left out are not narrowed."""

    name: str
    grants: Grants


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token taken apart; nothing in it is believed before the hash of its secret was compared."""

    tenant: str
    key_id: UUID
    secret: bytes


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A stored credential, without its secret."""

    id: UUID
    tenant: str
    name: str
    grants: Grants
    created_at: datetime
    revoked_at: datetime | None = None


def spell(token: Token) -> str:
    """The text that a caller sends as its bearer token."""
    return ".".join((_PREFIX, _text(token.tenant.encode()), token.key_id.hex, _text(token.secret)))


def take_apart(text: str) -> Token | None:
    """The parts of a token, or None when it is not one of ours."""
    parts = text.split(".")
    if len(text) > _TOKEN_CHARACTERS_MAX or len(parts) != _TOKEN_PARTS or parts[0] != _PREFIX:
        return None
    try:
        tenant = _bytes(parts[1]).decode()
        return Token(tenant=tenant, key_id=UUID(hex=parts[2]), secret=_bytes(parts[3]))
    except (ValueError, binascii.Error):
        return None


def secret_hash(secret: bytes) -> bytes:
    """What is stored. The secret has 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(b"tenure-key\x00" + secret).digest()


def opens(secret: bytes, stored_hash: bytes) -> bool:
    """Whether the secret is the one whose hash was stored; in constant time."""
    return hmac.compare_digest(secret_hash(secret), stored_hash)


def create_key(command: CreateKey, hashed: bytes, caller: Caller, moment: Moment) -> Decided[Key] | Refused:
    """Grant a credential in the caller's own tenant, unless the grants contradict a rule."""
    checked_name(command.name, field="name")
    wrong = check_grants(command.grants) or _beyond(command.grants, caller.grants)
    if wrong is not None:
        return Refused(wrong)
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        data=KeyCreated(key_id=moment.fresh_id, name=command.name, grants=command.grants, secret_hash=hashed),
    )
    key = Key(
        id=moment.fresh_id,
        tenant=caller.tenant,
        name=command.name,
        grants=command.grants,
        created_at=moment.now,
    )
    return Decided(answer=key, events=(event,))


def check_grants(grants: Grants) -> TenureError | None:
    """What is wrong with grants, if anything: a rule they contradict, a name that is no name."""
    if not grants.roles:
        return InvalidRequest("a key needs at least one role", field="roles")
    if grants.model_driven and Role.REVIEWER in grants.roles:
        return Forbidden(
            "a model-driven principal can never hold the reviewer role",
            hint="Give the reviewer role to a person's own key.",
            field="roles",
        )
    if Role.SUBJECT in grants.roles and not grants.subjects:
        return InvalidRequest("a subject's key must name its subject", field="subjects")
    for field in ("agents", "purposes", "subjects"):
        for name in getattr(grants, field) or ():
            checked_name(name, field=field)
    return None


def _beyond(granted: Grants, own: Grants) -> Forbidden | None:
    """Nobody grants more than they may touch themselves; roles are an operator's to give."""
    for field in ("agents", "purposes", "subjects", "source_types"):
        mine, theirs = getattr(own, field), getattr(granted, field)
        if mine is not None and (theirs is None or not theirs <= mine):
            return Forbidden(
                f"this credential's own grants do not reach as far as those {field}",
                hint=f"Narrow the new key's {field} to what you were granted yourself.",
                field=field,
            )
    return None


def revoke_key(key_id: UUID, key: Key | None, caller: Caller, moment: Moment) -> Decided[Key] | Refused:
    """End a credential; doing it again changes nothing."""
    if key is None:
        return Refused(NotFound("there is no key of this id", key_id=str(key_id)))
    if key.revoked_at is not None:
        return Decided(answer=key)
    event = Event(tenant=caller.tenant, at=moment.now, actor=caller.id, data=KeyRevoked(key_id=key_id))
    return Decided(answer=msgspec.structs.replace(key, revoked_at=moment.now), events=(event,))


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)

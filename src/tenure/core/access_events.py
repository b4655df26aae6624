"""The shapes of events about who may ask: refusals, and credentials that come and go (SPEC A1, A2).

They are stored like every other event; ``core/events.py`` names them and has the rule of change.
"""

from uuid import UUID

import msgspec

from tenure.core.identity import Grants


class AccessDenied(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Somebody asked beyond their grants (SPEC A2)."""

    permission: str
    because: str
    field: str | None = None


class KeyCreated(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A caller's credential: its grants, and a hash that the secret part is held against (SPEC A1)."""

    key_id: UUID
    name: str
    grants: Grants
    secret_hash: bytes


class KeyRevoked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A caller's credential holds no longer."""

    key_id: UUID

"""Who asks, for whom and where: callers, grants, boundaries and scopes (SPEC M2, A1-A5).

Everything here is built from authenticated state (a credential or the embedding program), never from
what a model or a request body says about itself.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from tenure.core.errors import InvalidRequest


class Role(StrEnum):
    """What a caller is trusted to do (SPEC A4)."""

    WRITER = "writer"
    READER = "reader"
    REVIEWER = "reviewer"
    PRIVACY_OFFICER = "privacy_officer"
    AUDITOR = "auditor"
    OPERATOR = "operator"
    SUBJECT = "subject"


class SourceType(StrEnum):
    """Where a text came from; a caller attests only the types it was granted (SPEC M4, A3)."""

    DIRECT_USER = "direct_user"
    APPLICATION = "application"
    EMAIL = "email"
    DOCUMENT = "document"
    WEB = "web"
    TOOL = "tool"
    OTHER_AGENT = "other_agent"


class Tier(StrEnum):
    """The retention ladder, innermost first (SPEC F3)."""

    TASK = "task"
    SESSION = "session"
    USER = "user"


class Scope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A retention scope: its tier and id, and the outer scopes it lies in where they are known."""

    tier: Tier
    id: str
    session: str | None = None
    user: str | None = None


class Grants(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a credential may touch. ``None`` means that this side is not narrowed (SPEC A2)."""

    roles: frozenset[Role]
    agents: frozenset[str] | None = None
    purposes: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    source_types: frozenset[SourceType] | None = None
    model_driven: bool = False


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """An authenticated principal: a tenant, an id that is stable for audit, and its grants."""

    tenant: str
    id: str
    name: str
    grants: Grants


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """The four walls around a memory (SPEC M2). No subject means: every subject that is granted."""

    tenant: str
    agent: str
    purpose: str
    subject: str | None = None


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The world as a decision sees it: the time, and one fresh id should it need one."""

    now: datetime
    fresh_id: UUID


_NAME = re.compile(r"[\w.@:+/#=~|-](?:[\w .@:+/#=~|-]{0,198}[\w.@:+/#=~|-])?", re.UNICODE)
NAME_CHARACTERS_MAX = 200
REFERENCE_CHARACTERS_MAX = 500


def checked_name(value: str, *, field: str) -> str:
    """Return ``value`` if it may serve as an id; else raise InvalidRequest that names the field.

    Ids are printable, at most 200 characters, and never begin or end with a space: they appear in
    logs, keys and paths of the user's own making.
    """
    if not _NAME.fullmatch(value):
        raise InvalidRequest(
            f"{field} must be 1 to {NAME_CHARACTERS_MAX} letters, digits, inner spaces or one of ._@:+/#=~|-",
            field=field,
        )
    return value


def checked_reference(value: str, *, field: str) -> str:
    """Return ``value`` if it may name something of another system; else raise InvalidRequest.

    Message ids, addresses and call ids are of others' making, so any printable text will do.
    """
    if not 0 < len(value) <= REFERENCE_CHARACTERS_MAX or not value.isprintable() or value != value.strip():
        raise InvalidRequest(
            f"{field} must be 1 to {REFERENCE_CHARACTERS_MAX} printable characters without spaces around",
            field=field,
        )
    return value


def only(allowed: Iterable[str] | None) -> str | None:
    """The one granted value where a credential grants exactly one, so that it may be left out."""
    values = tuple(allowed) if allowed is not None else ()
    return values[0] if len(values) == 1 else None

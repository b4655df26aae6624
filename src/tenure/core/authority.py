"""Who may ask for what (SPEC A1-A5): pure, closed by default.

Laws: no role, no permission; a side that a credential narrows can never be widened by a request; what lies
outside a caller's grants is absent for it, not forbidden, so that its existence is not shown.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec

from tenure.core.errors import Forbidden, InvalidRequest
from tenure.core.identity import Caller, Grants, Role, SourceType, only
from tenure.core.memory import WITHHELD, Memory
from tenure.core.vocabulary import Status, Trust


class Permission(StrEnum):
    """One thing that may be asked for, spelled ``what:action``."""

    PROPOSE = "memory:propose"
    READ = "memory:read"
    READ_WITHHELD = "memory:read-withheld"
    RECALL = "memory:recall"
    RENEW = "memory:renew"
    REVOKE = "memory:revoke"
    REVIEW = "memory:review"
    FORGET = "subject:forget"
    ERASE = "subject:erase"
    EXPORT = "subject:export"
    HOLD = "subject:hold"
    READ_ALERTS = "alert:read"
    REVOKE_SOURCE = "source:revoke"
    READ_IMPACT = "source:impact"
    AUTHORIZE_TOOL = "tool:authorize"
    READ_LOG = "log:read"
    MANAGE_POLICY = "policy:manage"
    MANAGE_KEYS = "key:manage"


_READS: Final = frozenset({Permission.READ, Permission.READ_WITHHELD})

ROLE_PERMISSIONS: Final = MappingProxyType(
    {
        Role.WRITER: frozenset({Permission.PROPOSE, Permission.RENEW, Permission.AUTHORIZE_TOOL}),
        Role.READER: frozenset({Permission.READ, Permission.RECALL, Permission.AUTHORIZE_TOOL}),
        Role.REVIEWER: _READS
        | {
            Permission.REVIEW,
            Permission.RENEW,
            Permission.REVOKE,
            Permission.REVOKE_SOURCE,
            Permission.READ_IMPACT,
            Permission.READ_ALERTS,
        },
        Role.PRIVACY_OFFICER: _READS
        | {
            Permission.FORGET,
            Permission.ERASE,
            Permission.EXPORT,
            Permission.HOLD,
            Permission.READ_ALERTS,
        },
        Role.AUDITOR: frozenset({Permission.READ_LOG, Permission.READ_ALERTS, Permission.READ_IMPACT}),
        Role.OPERATOR: frozenset(
            {
                Permission.MANAGE_KEYS,
                Permission.MANAGE_POLICY,
                Permission.RENEW,
                Permission.REVOKE,
                Permission.REVOKE_SOURCE,
                Permission.READ_IMPACT,
                Permission.READ_LOG,
                Permission.READ_ALERTS,
            }
        ),
        Role.SUBJECT: _READS
        | {
            Permission.RECALL,
            Permission.PROPOSE,
            Permission.FORGET,
            Permission.ERASE,
            Permission.EXPORT,
        },
    }
)

NEVER_MODEL_DRIVEN: Final = frozenset(
    {
        Permission.REVIEW,
        Permission.READ_WITHHELD,
        Permission.RENEW,
        Permission.MANAGE_KEYS,
        Permission.MANAGE_POLICY,
        Permission.REVOKE_SOURCE,
        Permission.ERASE,
        Permission.EXPORT,
        Permission.HOLD,
    }
)
"""What a principal steered by a model can never do, whatever roles it was given (SPEC A5)."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a request reaches for; None where the request leaves a side open."""

    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    source_type: SourceType | None = None
    everything: bool = False
    """Whether it reaches for the whole tenant, which a credential that is narrowed to a part never may."""


class Allowed(msgspec.Struct, frozen=True):
    """Go on; ``role`` is why."""

    role: Role


class Denied(msgspec.Struct, frozen=True, kw_only=True):
    """Stop; audited by the pipeline (SPEC A2)."""

    because: str
    field: str | None = None

    def error(self) -> Forbidden:
        """What the caller is told: the field and what to ask the operator for."""
        hint = "Ask an operator for a credential with this grant."
        return Forbidden(self.because, hint=hint, **({"field": self.field} if self.field else {}))


def authorise(caller: Caller, permission: Permission, target: Target) -> Allowed | Denied:
    """Whether the caller may do this to that."""
    role = next(
        (role for role in Role if role in caller.grants.roles and permission in ROLE_PERMISSIONS[role]), None
    )
    if role is None:
        return Denied(because=f"this credential's roles do not include {permission}", field="role")
    if caller.grants.model_driven and permission in NEVER_MODEL_DRIVEN:
        return Denied(because=f"a model-driven principal never holds {permission}", field="role")
    return _within(caller, target) or Allowed(role)


def _within(caller: Caller, target: Target) -> Denied | None:
    grants = caller.grants
    sides = (
        ("agent", target.agent, grants.agents),
        ("purpose", target.purpose, grants.purposes),
        ("subject", target.subject, grants.subjects),
        ("source.type", target.source_type, grants.source_types),
    )
    for field, wanted, granted in sides:
        if wanted is not None and granted is not None and wanted not in granted:
            return Denied(because=f"this credential was not granted that {field}", field=field)
    return _beyond(grants) if target.everything else None


def _beyond(grants: Grants) -> Denied | None:
    """What the whole tenant is to a credential that is narrowed to a part of it."""
    sides = (("agent", grants.agents), ("purpose", grants.purposes), ("subject", grants.subjects))
    narrowed = next((field for field, granted in sides if granted is not None), None)
    if narrowed is None:
        return None
    return Denied(
        because="this reaches the whole tenant, and this credential only a part of it", field=narrowed
    )


def may(caller: Caller, permission: Permission) -> bool:
    """Whether some role of the caller carries the permission at all."""
    return isinstance(authorise(caller, permission, Target()), Allowed)


def reaches(caller: Caller, *, agent: str, purpose: str, subject: str | None) -> bool:
    """Whether what lies within these walls lies within what the caller was granted."""
    grants = caller.grants
    sides = ((agent, grants.agents), (purpose, grants.purposes), (subject, grants.subjects))
    return all(granted is None or value in granted for value, granted in sides)


def sees(caller: Caller, memory: Memory) -> bool:
    """Whether the memory lies within what the caller was granted; if not, it is absent for it."""
    walls = {"agent": memory.agent, "purpose": memory.purpose, "subject": memory.subject}
    return memory.tenant == caller.tenant and reaches(caller, **walls)


def shown(caller: Caller, memory: Memory) -> Memory:
    """The memory as the caller may see it: what nobody let in reaches only who must judge it (SPEC L6)."""
    withheld = memory.status in WITHHELD or memory.trust is Trust.UNTRUSTED
    if memory.status is Status.REJECTED or (withheld and not may(caller, Permission.READ_WITHHELD)):
        return without_text(memory)
    return memory


def shown_now(caller: Caller, past: Memory, now: Memory) -> Memory:
    """A memory as it was, as the caller may see it: what is withheld of it now, its past included."""
    return past if shown(caller, now) is now else without_text(past)


def answered(caller: Caller, memory: Memory) -> Memory:
    """The memory in the answer to a change of it: its text only for who may read it at all."""
    return shown(caller, memory) if may(caller, Permission.READ) else without_text(memory)


def without_text(memory: Memory) -> Memory:
    """The memory without its content and all that quotes or identifies it."""
    return msgspec.structs.replace(
        memory,
        content=None,
        claim=None,
        key=None,
        fingerprint=None,
        decision_reason=None,
        source=msgspec.structs.replace(memory.source, uri=None),
    )


def filled(value: str | None, granted: frozenset[str] | None, *, field: str) -> str:
    """The value asked for, or the only one granted; raises InvalidRequest when it must be named."""
    if value is not None:
        return value
    single = only(granted)
    if single is None:
        raise InvalidRequest(
            f"{field} is missing",
            field=field,
            hint=f"Name the {field}: this credential does not grant exactly one.",
        )
    return single

"""Every error a caller can meet: stable code, status, message and what to do about it (SPEC S2).

    TenureError
    ├── Unauthenticated       401  no credential, or one that does not hold
    ├── Forbidden             403  known, but not granted
    │   └── ToolRefused            a guarded tool was not called; names parameters and memories
    ├── NotFound              404  absent, or outside the caller's boundary
    ├── VersionConflict       409  somebody else was first; says the current version
    ├── IdempotencyMismatch   409  the key was used for another command
    ├── IllegalTransition     409  the life cycle has no such step
    ├── OnHold                409  a legal hold stands in the way
    ├── TooLarge              413  more bytes than the limit
    ├── InvalidRequest        422  names the field and what it may be
    ├── ScopeNotNamed         422  a forget must say where
    ├── MemoryRejected        422  the gate said no, with rule and reason
    ├── RateLimited           429  says when to come back
    └── Unavailable           503  not now; nothing was done unless outcome_unknown

Messages never hold the content of a memory (SPEC E6). Rule of change: a code is for ever; add, never rename.
"""

from typing import ClassVar

from tenure.core.refused_parameters import RefusedParameter


class TenureError(Exception):
    """The root of the tree; ``details`` are the extra members of its Problem Details (RFC 9457)."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Error"

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class Unauthenticated(TenureError):
    """There is no credential, or it is unknown, revoked or expired."""

    code, status, title = "unauthenticated", 401, "Authentication needed"


class Forbidden(TenureError):
    """The caller is known, and this was not granted to it."""

    code, status, title = "forbidden", 403, "Not granted"


class ToolRefused(Forbidden):
    """The guard refused a sensitive value, or a tool that nobody declared; it was not called (SPEC X2)."""

    def __init__(self, *, tool: str, refused: tuple[RefusedParameter, ...], hint: str) -> None:
        said = "; ".join(f"{one.parameter} was {_because(one)}" for one in refused) or "it is not declared"
        super().__init__(f"{tool} was not called: {said}", hint=hint, tool=tool, refused=refused)
        self.tool = tool
        self.refused = refused


def _because(one: RefusedParameter) -> str:
    found = ", ".join(str(memory_id) for memory_id in one.memory_ids)
    return f"found in memory ({found})" if found else one.because.replace("_", " ")


class NotFound(TenureError):
    """There is no such thing within what the caller may see."""

    code, status, title = "not-found", 404, "Not found"


class VersionConflict(TenureError):
    """The memory is no longer at the version that was expected; nothing was changed."""

    code, status, title = "version-conflict", 409, "Version conflict"

    def __init__(self, *, expected: int, current: int, memory_id: str | None = None) -> None:
        super().__init__(
            f"expected version {expected}, but the current version is {current}; nothing was changed",
            hint="Read the memory again, decide again, and send its current version as expected_version.",
            expected_version=expected,
            current_version=current,
            **({"memory_id": memory_id} if memory_id else {}),
        )
        self.expected_version = expected
        self.current_version = current


class IdempotencyMismatch(TenureError):
    """The idempotency key stands for another command; nothing was changed."""

    code, status, title = "idempotency-mismatch", 409, "Idempotency key already used"


class IllegalTransition(TenureError):
    """The life cycle has no such step from the memory's present status."""

    code, status, title = "illegal-transition", 409, "Not possible from this status"


class OnHold(TenureError):
    """A legal hold forbids it."""

    code, status, title = "on-hold", 409, "On legal hold"


class TooLarge(TenureError):
    """The request is larger than the limit."""

    code, status, title = "too-large", 413, "Request too large"


class InvalidRequest(TenureError):
    """A field is missing, unknown, of the wrong type or out of range."""

    code, status, title = "invalid-request", 422, "Invalid request"

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, **({"field": field} if field else {}))
        self.field = field


class ScopeNotNamed(TenureError):
    """Forgetting must say what, and where."""

    code, status, title = "scope-not-named", 422, "Scope not named"


class MemoryRejected(TenureError):
    """The admission policy rejected the memory; its content was not kept."""

    code, status, title = "memory-rejected", 422, "Memory rejected"

    def __init__(self, *, rule: str, reason: str, policy_version: str) -> None:
        super().__init__(
            f"the admission policy rejected this memory: {reason}",
            hint="Only an audit record without the content was kept. Change the memory; do not retry it.",
            rule=rule,
            reason=reason,
            policy_version=policy_version,
        )
        self.rule = rule
        self.reason = reason
        self.policy_version = policy_version


class RateLimited(TenureError):
    """The credential has used up its requests for now."""

    code, status, title = "rate-limited", 429, "Too many requests"

    def __init__(self, *, retry_after_seconds: int) -> None:
        super().__init__(
            "this credential has sent too many requests",
            hint=f"Try again in {retry_after_seconds} s.",
            retry_after_seconds=retry_after_seconds,
        )
        self.retry_after_seconds = retry_after_seconds


class Unavailable(TenureError):
    """The store cannot serve now.

    Nothing was done, unless ``details["outcome_unknown"]`` says that it may have been: the same command with
    the same idempotency key then finds out, and is done once. Nothing is ever half-written.
    """

    code, status, title = "unavailable", 503, "Not available now"

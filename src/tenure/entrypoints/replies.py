"""One table for every way in: what happened, and the status, problem and exit code that say so (SPEC S2).

A problem is RFC 9457 Problem Details: ``type`` ends in the error's stable code, ``detail`` says what is wrong
and ``hint`` what to do. It never holds the content of a memory (SPEC E6).
"""

from types import MappingProxyType
from typing import Final

from tenure.core.errors import (
    IdempotencyMismatch,
    InvalidRequest,
    RateLimited,
    ScopeNotNamed,
    TenureError,
    Unavailable,
    VersionConflict,
)

PROBLEM_TYPE_PREFIX: Final = "https://tenure.dev/problems/"
PROBLEM_MEDIA_TYPE: Final = "application/problem+json"

EXIT_FINE: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2

UNAVAILABLE_RETRY_SECONDS: Final = 1

_USAGE: Final = (InvalidRequest, ScopeNotNamed)

_FIELD_AT_FAULT: Final = MappingProxyType(
    {VersionConflict.code: "expected_version", IdempotencyMismatch.code: "Idempotency-Key"}
)
"""The field to look at where the error itself names none."""


class MethodNotAllowed(TenureError):
    """The address exists, and does not take this method."""

    code, status, title = "method-not-allowed", 405, "Method not allowed"


class Internal(TenureError):
    """A fault of the program itself; its cause is in the log, never in the answer."""

    code, status, title = "internal", 500, "Internal error"


def problem(error: TenureError, *, instance: str | None = None) -> dict[str, object]:
    """The Problem Details of an error; ``instance`` is the address that was asked for."""
    document: dict[str, object] = {
        "type": PROBLEM_TYPE_PREFIX + error.code,
        "title": error.title,
        "status": error.status,
        "detail": error.message,
    }
    if instance is not None:
        document["instance"] = instance
    if error.hint is not None:
        document["hint"] = error.hint
    if error.code in _FIELD_AT_FAULT:
        document["field"] = _FIELD_AT_FAULT[error.code]
    document.update(error.details)
    return document


def retry_after_seconds(error: TenureError) -> int | None:
    """When it is worth to ask again, where waiting helps at all."""
    if isinstance(error, RateLimited):
        return error.retry_after_seconds
    return UNAVAILABLE_RETRY_SECONDS if isinstance(error, Unavailable) else None


def exit_code(error: TenureError) -> int:
    """What a command exits with: 2 when it was asked wrongly, 1 when it could not be done."""
    return EXIT_USAGE if isinstance(error, _USAGE) else EXIT_FAILED

"""Tenure: governed memory for AI agents. This is the library's face; everything else is behind it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.core.errors import (
        Forbidden,
        IdempotencyMismatch,
        IllegalTransition,
        InvalidRequest,
        MemoryRejected,
        NotFound,
        OnHold,
        RateLimited,
        ScopeNotNamed,
        TenureError,
        TooLarge,
        ToolRefused,
        Unauthenticated,
        Unavailable,
        VersionConflict,
    )
    from tenure.core.identity import Scope
    from tenure.core.rendering import POLICY_TEXT
    from tenure.core.vocabulary import Claim
    from tenure.entrypoints.library.awaited import AsyncTenure
    from tenure.entrypoints.library.client import AsyncClient, Client
    from tenure.entrypoints.library.embedded import Tenure
    from tenure.entrypoints.library.sources import Source
    from tenure.entrypoints.library.tool_guard import ToolGuard

_WHERE = {
    "AsyncClient": "tenure.entrypoints.library.client",
    "AsyncTenure": "tenure.entrypoints.library.awaited",
    "Client": "tenure.entrypoints.library.client",
    "Tenure": "tenure.entrypoints.library.embedded",
    "ToolGuard": "tenure.entrypoints.library.tool_guard",
    "Source": "tenure.entrypoints.library.sources",
    "Scope": "tenure.core.identity",
    "Claim": "tenure.core.vocabulary",
    "POLICY_TEXT": "tenure.core.rendering",
}

__all__ = [
    "POLICY_TEXT",
    "AsyncClient",
    "AsyncTenure",
    "Claim",
    "Client",
    "Forbidden",
    "IdempotencyMismatch",
    "IllegalTransition",
    "InvalidRequest",
    "MemoryRejected",
    "NotFound",
    "OnHold",
    "RateLimited",
    "Scope",
    "ScopeNotNamed",
    "Source",
    "Tenure",
    "TenureError",
    "TooLarge",
    "ToolGuard",
    "ToolRefused",
    "Unauthenticated",
    "Unavailable",
    "VersionConflict",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing a part does not load the whole."""
    if name not in __all__:
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")
    return getattr(import_module(_WHERE.get(name, "tenure.core.errors")), name)

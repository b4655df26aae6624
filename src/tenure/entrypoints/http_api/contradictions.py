"""The calls about what cannot both be true, and about what was taken for the same (SPEC T2, T3)."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tenure.core.errors import IdempotencyMismatch, IllegalTransition, NotFound, VersionConflict
from tenure.core.resolving import Resolve, Unmerge, read_keep
from tenure.entrypoints.http_api.calls import Ask, Call, Visit, plainly
from tenure.entrypoints.http_api.fields import Reason, Version
from tenure.entrypoints.http_api.memories import MemoryAnswer, with_memory
from tenure.usecases.contradictions import (
    CONTRADICTIONS,
    CONTRADICTIONS_MAX,
    RESOLVE,
    ContradictionPage,
    ListContradictions,
    Resolved,
)
from tenure.usecases.unmerging import UNMERGE


class ContradictionQuery(ListContradictions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which contradictions to list, newest first."""

    limit: Annotated[int, Meta(ge=1, le=CONTRADICTIONS_MAX)] = 50


class ResolveBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the two is kept, and why."""

    keep: Annotated[
        str | None, Meta(description="The id of one of the two; `both`, or null, where both are right.")
    ]
    reason: Reason


class UnmergeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The version that was looked at, and why the two are not the same."""

    expected_version: Version
    reason: Reason


def _list(visit: Visit[ContradictionQuery]) -> Ask[Any, Any, Any]:
    return Ask(CONTRADICTIONS, visit.given, plainly)


def _resolve(visit: Visit[ResolveBody]) -> Ask[Any, Any, Any]:
    command = Resolve(
        contradiction_id=visit.id("contradiction_id"),
        keep=read_keep(visit.given.keep),
        reason=visit.given.reason,
    )
    return Ask(RESOLVE, command, plainly)


def _unmerge(visit: Visit[UnmergeBody]) -> Ask[Any, Any, Any]:
    given = visit.given
    command = Unmerge(
        memory_id=visit.id("memory_id"), expected_version=given.expected_version, reason=given.reason
    )
    return Ask(UNMERGE, command, with_memory)


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/contradictions",
        name="list_contradictions",
        summary="Memories that cannot both be true, newest first.",
        work=_list,
        takes=ContradictionQuery,
        answers={200: ContradictionPage},
    ),
    Call(
        method="POST",
        path="/v1/contradictions/{contradiction_id:str}/resolve",
        name="resolve_contradiction",
        summary="Decide which of two memories is kept, or that both are right.",
        work=_resolve,
        takes=ResolveBody,
        answers={200: Resolved},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition),
        takes_idempotency_key=True,
    ),
    Call(
        method="POST",
        path="/v1/memories/{memory_id:str}/unmerge",
        name="unmerge_memory",
        summary="Let a memory that was merged with another stand for itself again.",
        work=_unmerge,
        takes=UnmergeBody,
        answers={200: MemoryAnswer},
        problems=(NotFound, VersionConflict, IdempotencyMismatch, IllegalTransition),
        takes_idempotency_key=True,
    ),
)

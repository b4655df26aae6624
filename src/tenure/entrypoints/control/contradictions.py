"""Contradictions and merges on the machine of the store (SPEC T2, T3, A5).

Its owner sees what waits for a person, and decides on nothing: a decision takes a reviewer's own credential,
by whose id nobody approves what they proposed.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final
from uuid import UUID

import msgspec

from tenure.core.identity import Caller, Grants, Role
from tenure.core.resolving import Resolve, Unmerge, read_keep
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, result
from tenure.usecases import access
from tenure.usecases.contradictions import CONTRADICTIONS, RESOLVE, ListContradictions, Which
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, Get
from tenure.usecases.unmerging import UNMERGE
from tenure.wiring import Node, authenticator


class ContradictionsArguments(Arguments, frozen=True, kw_only=True):
    """A page of a tenant's contradictions."""

    operation: ClassVar[str] = "contradictions.list"

    tenant: str
    agent: str | None = None
    purpose: str | None = None
    subject: str | None = None
    open: Which = Which.OPEN
    limit: int = 50
    cursor: str | None = None


class ResolveArguments(Arguments, frozen=True, kw_only=True):
    """A reviewer's word on a contradiction, with the reviewer's own key."""

    operation: ClassVar[str] = "contradictions.resolve"

    token: str
    contradiction_id: UUID
    keep: str
    reason: str


class UnmergeArguments(Arguments, frozen=True, kw_only=True):
    """A memory that is to stand for itself again, at its present version, with the reviewer's own key."""

    operation: ClassVar[str] = "unmerge"

    token: str
    memory_id: UUID
    reason: str


def list_contradictions(node: Node, arguments: ContradictionsArguments) -> Iterator[Line]:
    """What cannot both be true, newest first."""
    asked = ListContradictions(
        agent=arguments.agent,
        purpose=arguments.purpose,
        subject=arguments.subject,
        open=arguments.open,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )
    yield result(node.pipeline.run(CONTRADICTIONS, _onlooker(node.pipeline, arguments.tenant), asked))


def resolve(node: Node, arguments: ResolveArguments) -> Iterator[Line]:
    """Which of the two is kept, or both."""
    command = Resolve(
        contradiction_id=arguments.contradiction_id,
        keep=read_keep(arguments.keep),
        reason=arguments.reason,
    )
    yield result(node.pipeline.run(RESOLVE, authenticator(node)(arguments.token), command))


def unmerge(node: Node, arguments: UnmergeArguments) -> Iterator[Line]:
    """A memory stands for itself again."""
    reviewer = authenticator(node)(arguments.token)
    memory = node.pipeline.run(GET, reviewer, Get(memory_id=arguments.memory_id))
    command = Unmerge(memory_id=memory.id, expected_version=memory.version, reason=arguments.reason)
    yield result(node.pipeline.run(UNMERGE, reviewer, command))


CONTRADICTION_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(ContradictionsArguments, list_contradictions),
    operation(ResolveArguments, resolve),
    operation(UnmergeArguments, unmerge),
)


def _onlooker(pipeline: Pipeline, tenant: str) -> Caller:
    """The owner of the store, who sees what a reviewer of a tenant that is there would see."""
    caller = access.local_operator(tenant)
    tenants(pipeline, tenant)
    return msgspec.structs.replace(caller, grants=Grants(roles=frozenset({Role.REVIEWER})))

"""What an operator does about a source that went bad: see what it touched, and revoke it (SPEC I1, I2).

The machine's owner acts as the operator of the tenant that is named, and the log says that it did.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from tenure.core.identity import Caller
from tenure.core.incidents import AskImpact, RevokeSource
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, result
from tenure.usecases import access
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.sources import IMPACT, revoke_source
from tenure.wiring import Node


class ImpactArguments(Arguments, frozen=True, kw_only=True):
    """The source that is asked about."""

    operation: ClassVar[str] = "source.impact"

    tenant: str
    ask: AskImpact


class RevokeSourceArguments(Arguments, frozen=True, kw_only=True):
    """The source to revoke, and how many ids each list of the answer may hold."""

    operation: ClassVar[str] = "source.revoke"

    tenant: str
    revoke: RevokeSource
    limit: int


def show_impact(node: Node, arguments: ImpactArguments) -> Iterator[Line]:
    """What a source has touched."""
    yield result(node.pipeline.run(IMPACT, _operator(node.pipeline, arguments.tenant), arguments.ask))


def revoke(node: Node, arguments: RevokeSourceArguments) -> Iterator[Line]:
    """All that came from a source out of every read."""
    caller = _operator(node.pipeline, arguments.tenant)
    yield result(revoke_source(node.pipeline, caller, arguments.revoke, limit=arguments.limit))


SOURCE_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(ImpactArguments, show_impact),
    operation(RevokeSourceArguments, revoke),
)


def _operator(pipeline: Pipeline, tenant: str) -> Caller:
    """The owner of the store, for a tenant that is there."""
    caller = access.local_operator(tenant)
    tenants(pipeline, tenant)
    return caller

"""How reviewers decide, for the owner of the store, who decides on nothing itself (SPEC L7, S1)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Final

from tenure.core.review_statistics import AskStatistics
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, result
from tenure.usecases import access
from tenure.usecases.review_statistics import STATISTICS
from tenure.wiring import Node


class ReviewStatisticsArguments(Arguments, frozen=True, kw_only=True):
    """The tenant whose reviewers are asked about, and since when."""

    operation: ClassVar[str] = "review.statistics"

    tenant: str
    since: datetime | None = None


def tell_statistics(node: Node, arguments: ReviewStatisticsArguments) -> Iterator[Line]:
    """What each reviewer decided, and what became of it."""
    caller = access.local_operator(arguments.tenant)
    tenants(node.pipeline, arguments.tenant)
    yield result(node.pipeline.run(STATISTICS, caller, AskStatistics(since=arguments.since)))


REVIEW_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(ReviewStatisticsArguments, tell_statistics),
)

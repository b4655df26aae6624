"""The story of one memory, for the owner of the store (SPEC L2, S1)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final
from uuid import UUID

from tenure.core.errors import NotFound
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, result
from tenure.entrypoints.control.subjects import officer
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import HISTORY, Get
from tenure.wiring import Node


class HistoryArguments(Arguments, frozen=True, kw_only=True):
    """The memory whose story is wanted; its tenant may be left out."""

    operation: ClassVar[str] = "history"

    memory_id: UUID
    tenant: str | None = None


def read_history(node: Node, arguments: HistoryArguments) -> Iterator[Line]:
    """What happened to a memory, oldest first."""
    tenant = arguments.tenant or tenant_of(node.pipeline, arguments.memory_id)
    caller = officer(node.pipeline, tenant)
    yield result(node.pipeline.run(HISTORY, caller, Get(memory_id=arguments.memory_id)))


HISTORY_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(HistoryArguments, read_history),
)


def tenant_of(pipeline: Pipeline, memory_id: UUID) -> str:
    """The tenant that has this memory; raises NotFound when there is none."""
    for tenant in tenants(pipeline, None):
        with pipeline.store.reading() as reading:
            if reading.memory_row(tenant, memory_id) is not None:
                return tenant
    raise NotFound("there is no such memory here", memory_id=str(memory_id))

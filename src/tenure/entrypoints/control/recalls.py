"""Recalls by the owner of the store, who sees what an agent would, and leaves a receipt (SPEC R7)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final
from uuid import UUID

import msgspec

from tenure.core.identity import Caller, Grants, Role
from tenure.core.neighbours import Around
from tenure.core.retrieval import Recall
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.histories import tenant_of
from tenure.entrypoints.control.protocol import Line, result
from tenure.usecases import access
from tenure.usecases.neighbours import NEIGHBOURS, AskNeighbours
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.recall_probing import recall
from tenure.wiring import Node


class RecallArguments(Arguments, frozen=True, kw_only=True):
    """A question to one boundary of a tenant."""

    operation: ClassVar[str] = "recall"

    tenant: str
    recall: Recall


class NeighboursArguments(Arguments, frozen=True, kw_only=True):
    """The memory whose neighbours are wanted; its tenant may be left out."""

    operation: ClassVar[str] = "neighbours"

    memory_id: UUID
    around: Around
    tenant: str | None = None


def answer_recall(node: Node, arguments: RecallArguments) -> Iterator[Line]:
    """What is remembered and may be shown."""
    caller = _reader(node.pipeline, arguments.tenant)
    yield result(recall(node.pipeline, caller, arguments.recall))


def show_neighbours(node: Node, arguments: NeighboursArguments) -> Iterator[Line]:
    """A memory and what stood around it in its thread."""
    tenant = arguments.tenant or tenant_of(node.pipeline, arguments.memory_id)
    command = AskNeighbours(memory_id=arguments.memory_id, around=arguments.around)
    yield result(node.pipeline.run(NEIGHBOURS, _reader(node.pipeline, tenant), command))


RECALL_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(RecallArguments, answer_recall),
    operation(NeighboursArguments, show_neighbours),
)


def _reader(pipeline: Pipeline, tenant: str) -> Caller:
    """The owner of the store as a reader of one tenant that is there."""
    caller = access.local_operator(tenant)
    tenants(pipeline, tenant)
    return msgspec.structs.replace(caller, grants=Grants(roles=frozenset({Role.READER})))

"""What every operation has: arguments that name it, and a decoder that reads them strictly."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import msgspec

from tenure.core.errors import NotFound
from tenure.entrypoints.control.protocol import Line
from tenure.usecases.pipeline import Pipeline
from tenure.wiring import Node


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operation is given; the class names the operation."""

    operation: ClassVar[str]


C = TypeVar("C", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Operation(Generic[C]):
    """An operation with what it reads its arguments with."""

    decoder: msgspec.json.Decoder[C]
    perform: Callable[[Node, C], Iterator[Line]]


def operation(kind: type[C], function: Callable[[Node, C], Iterator[Line]]) -> tuple[str, Operation[C]]:
    """An operation under its name."""
    return kind.operation, Operation(msgspec.json.Decoder(kind), function)


def tenants(pipeline: Pipeline, named: str | None) -> list[str]:
    """Every tenant, or the named one; raises NotFound when the store has none of this name."""
    with pipeline.store.reading() as reading:
        known = reading.tenants()
    if named is None:
        return known
    if named not in known:
        raise NotFound("this store has no such tenant", hint="Look at the name, and at the data folder.")
    return [named]

"""One command on its way through the pipeline, and what became of it so far."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tenure.core.decision import Decided
from tenure.core.identity import Caller
from tenure.core.scanning import Finding
from tenure.usecases.embedding_ports import MadeVectors
from tenure.usecases.ports import Idempotency
from tenure.usecases.turns import Ticket

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Prepared(Generic[A]):
    """A command between steps 4 and 5."""

    decided: Decided[A]
    idempotency: Idempotency | None
    vectors: MadeVectors


class Asked(Ticket):
    """One command on its way, and what became of it."""

    __slots__ = ("answer", "caller", "command", "key", "prepared", "scanned", "use_case")

    def __init__(self, use_case: Any, caller: Caller, command: Any, key: str | None) -> None:
        super().__init__()
        self.use_case = use_case
        self.caller = caller
        self.command = command
        self.key = key
        self.prepared: Prepared[Any] | None = None
        self.answer: Any = None
        self.scanned: tuple[Finding, ...] = ()

    @property
    def decided(self) -> Decided[Any]:
        """What step 4 said."""
        return self._went_on.decided

    @property
    def vectors(self) -> MadeVectors:
        """What was embedded on the way."""
        return self._went_on.vectors

    @property
    def idempotency(self) -> Idempotency | None:
        """Its idempotency key, if it has one."""
        return self.prepared.idempotency if self.prepared is not None else None

    @property
    def _went_on(self) -> Prepared[Any]:
        if self.prepared is None:
            raise AssertionError("only a prepared command goes on to be stored")
        return self.prepared

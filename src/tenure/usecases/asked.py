"""One command on its way through the pipeline, and what became of it so far."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tenure.core.decision import Decided
from tenure.core.errors import TenureError
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
    def repeated(self) -> Idempotency:
        """The key by which the store knew it again."""
        if self.idempotency is None:
            raise AssertionError("only an item with an idempotency key can be replayed")
        return self.idempotency

    @property
    def error_code(self) -> str | None:
        """The code of the error that it was refused with, or ended in; None for an answer."""
        if self.fault is not None:
            return "internal"
        return self.answer.code if isinstance(self.answer, TenureError) else None

    def answered(self) -> Any:
        """The answer; raises the fault or the TenureError that there is instead."""
        if self.fault is not None:
            raise self.fault
        if isinstance(self.answer, TenureError):
            raise self.answer
        return self.answer

    @property
    def _went_on(self) -> Prepared[Any]:
        if self.prepared is None:
            raise AssertionError("only a prepared command goes on to be stored")
        return self.prepared

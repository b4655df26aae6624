"""Operations on what is signed of the log: checkpoints, proofs, and the keys to check them with (SPEC E2)."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

import msgspec

from tenure.core.errors import InvalidRequest, NotFound
from tenure.entrypoints.control.arguments import Arguments, Operation, operation, tenants
from tenure.entrypoints.control.protocol import Line, item, result
from tenure.usecases import access
from tenure.usecases.checkpoints import ReadCheckpoint, read_checkpoint, verifier
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.proofs import ReadProof, read_proof
from tenure.wiring import Node

_NAMES_MAX: Final = 10


class CheckpointArguments(Arguments, frozen=True, kw_only=True):
    """A tenant, which may be left out where there is only one; and the size of an earlier checkpoint."""

    operation: ClassVar[str] = "log.checkpoint"

    tenant: str | None = None
    size: int | None = None


class ProofArguments(Arguments, frozen=True, kw_only=True):
    """What is to be proven of a tenant's log."""

    operation: ClassVar[str] = "log.proof"

    tenant: str
    proof: ReadProof


class VerifierKeysArguments(Arguments, frozen=True, kw_only=True):
    """The logs of one tenant, or of all."""

    operation: ClassVar[str] = "log.key"

    tenant: str | None = None


class VerifierKey(msgspec.Struct, frozen=True, kw_only=True):
    """What the checkpoints of one tenant's log are checked with."""

    tenant: str
    key: str


class KeyCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many keys were given."""

    count: int


def make_checkpoint(node: Node, arguments: CheckpointArguments) -> Iterator[Line]:
    """Sign a log as it stands, or give back what was signed of it before."""
    caller = access.local_operator(_only(node.pipeline, arguments.tenant))
    yield result(read_checkpoint(node.pipeline, caller, ReadCheckpoint(size=arguments.size)))


def prove(node: Node, arguments: ProofArguments) -> Iterator[Line]:
    """Prove that events stand in a log, or that it grew."""
    tenants(node.pipeline, arguments.tenant)
    yield result(read_proof(node.pipeline, access.local_operator(arguments.tenant), arguments.proof))


def list_verifier_keys(node: Node, arguments: VerifierKeysArguments) -> Iterator[Line]:
    """The keys to check checkpoints with, one item a tenant: one key under many names."""
    named = tenants(node.pipeline, arguments.tenant)
    for tenant in named:
        yield item(VerifierKey(tenant=tenant, key=verifier(node.pipeline, tenant).text()))
    yield result(KeyCount(count=len(named)))


CHECKPOINT_OPERATIONS: Final[tuple[tuple[str, Operation[Any]], ...]] = (
    operation(CheckpointArguments, make_checkpoint),
    operation(ProofArguments, prove),
    operation(VerifierKeysArguments, list_verifier_keys),
)


def _only(pipeline: Pipeline, tenant: str | None) -> str:
    """The tenant that is named, or the only one that there is."""
    named = tenants(pipeline, tenant)
    if not named:
        raise NotFound("the log is empty: there is nothing to sign", hint="Write something first.")
    if len(named) > 1:
        shown = ", ".join(named[:_NAMES_MAX]) + (" …" if len(named) > _NAMES_MAX else "")
        raise InvalidRequest(
            "each tenant has a log of its own", field="tenant", hint=f"Name one with --tenant: {shown}."
        )
    return named[0]

"""The calls that prove things of the log: signed checkpoints, inclusion, consistency (SPEC E2)."""

from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from tenure.core.errors import NotFound
from tenure.entrypoints.http_api.calls import Answer, Call, Visit
from tenure.entrypoints.http_api.fields import WHOLE_NUMBER_MAX
from tenure.usecases.checkpoints import ReadCheckpoint, SignedCheckpoint, read_checkpoint
from tenure.usecases.proofs import (
    ConsistencyProof,
    InclusionProof,
    MemoryProof,
    ReadProof,
    read_proof,
)

_Size = Annotated[int, Meta(ge=1, le=WHOLE_NUMBER_MAX, description="The size of a checkpoint that was kept.")]


class CheckpointQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which checkpoint to read; without a size, a new one of the whole log."""

    size: _Size | None = None


class ProofQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to prove, exactly one of ``seq``, ``memory_id`` and ``from``; and against which checkpoint."""

    seq: Annotated[int, Meta(ge=1, le=WHOLE_NUMBER_MAX, description="The position of an event.")] | None = (
        None
    )
    memory_id: UUID | None = None
    from_size: _Size | None = msgspec.field(default=None, name="from")
    size: _Size | None = None


def _checkpoint(visit: Visit[CheckpointQuery]) -> Answer:
    return Answer(200, read_checkpoint(visit.pipeline, visit.caller, ReadCheckpoint(size=visit.given.size)))


def _proof(visit: Visit[ProofQuery]) -> Answer:
    given = visit.given
    command = ReadProof(seq=given.seq, memory_id=given.memory_id, from_size=given.from_size, size=given.size)
    return Answer(200, read_proof(visit.pipeline, visit.caller, command))


CALLS: Final = (
    Call(
        method="GET",
        path="/v1/log/checkpoint",
        name="read_checkpoint",
        summary="How long the log is and what its root is, signed; keep it where nobody can change it.",
        work=_checkpoint,
        takes=CheckpointQuery,
        answers={200: SignedCheckpoint},
        problems=(NotFound,),
    ),
    Call(
        method="GET",
        path="/v1/log/proof",
        name="read_proof",
        summary="That events stand in a signed log, or that one signed log grew into another.",
        work=_proof,
        takes=ProofQuery,
        answers={200: InclusionProof | MemoryProof | ConsistencyProof},
        problems=(NotFound,),
    ),
)

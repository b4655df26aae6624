"""What auditors ask of the log, in embedded use and over HTTP: signed checkpoints and proofs (SPEC E2)."""

from typing import Final
from uuid import UUID

import msgspec

from tenure.core.identity import Caller
from tenure.entrypoints.library.client_request import Request, a_read, given
from tenure.usecases import checkpoints, proofs
from tenure.usecases.pipeline import Pipeline


class LogSession:
    """The part of a Session that proves things of the log."""

    _pipeline: Pipeline
    caller: Caller

    def checkpoint(self, *, size: int | None = None) -> checkpoints.SignedCheckpoint:
        """How long the log is and what its root is, signed; with a size, an earlier one that was kept.

        Keep ``.note`` where nobody who may change the store can change it.
        """
        command = checkpoints.ReadCheckpoint(size=size)
        return checkpoints.read_checkpoint(self._pipeline, self.caller, command)

    def log_proof(
        self,
        *,
        seq: int | None = None,
        memory_id: UUID | None = None,
        from_size: int | None = None,
        size: int | None = None,
    ) -> proofs.Proof:
        """That an event, or all events of a memory, stand in a signed log; or that one grew from a size."""
        command = proofs.ReadProof(seq=seq, memory_id=memory_id, from_size=from_size, size=size)
        return proofs.read_proof(self._pipeline, self.caller, command)


class LogRequests:
    """The same calls of a client."""

    __slots__ = ()

    def checkpoint(self, *, size: int | None = None) -> Request[checkpoints.SignedCheckpoint]:
        """How long the log is and what its root is, signed; with a size, an earlier one that was kept.

        Keep ``.note`` where nobody who may change the store can change it.
        """
        return a_read("/v1/log/checkpoint", given(size=size), read=_CHECKPOINT.decode)

    def log_proof(
        self,
        *,
        seq: int | None = None,
        memory_id: UUID | None = None,
        from_size: int | None = None,
        size: int | None = None,
    ) -> Request[proofs.Proof]:
        """That an event, or all events of a memory, stand in a signed log; or that one grew from a size."""
        asked = given(seq=seq, memory_id=memory_id, size=size)
        if from_size is not None:
            asked["from"] = from_size
        return a_read("/v1/log/proof", asked, read=_PROOF.decode)


_CHECKPOINT: Final = msgspec.json.Decoder(checkpoints.SignedCheckpoint)
_PROOF: Final[msgspec.json.Decoder[proofs.Proof]] = msgspec.json.Decoder(proofs.Proof)

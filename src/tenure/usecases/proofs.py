"""Proofs that events stand in a signed log, and that one signed log grew into another (SPEC E2).

Every proof is one against a checkpoint, which it carries: without its signature a proof says nothing. What is
handed out of an event is its header, never its content. The header of an event that made a credential is
kept back, since it holds what a token is held against; its link is proven all the same.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.authority import Permission, Target, may
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.core.events import decode_header
from tenure.core.identity import Caller
from tenure.core.ledger import GENESIS, link
from tenure.core.merkle import Tree, leaf_hash
from tenure.core.rows import FOREVER
from tenure.usecases.checkpoints import altered, make, named, tree
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import Checkpoint, Reading, StoredEvent
from tenure.usecases.recording import Showed

MEMORY_EVENTS_MAX: Final = 1_000

_KEPT_BACK: Final = "secret_hash"


class ReadProof(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be proven: an event, all events of a memory, or that the log of an earlier size grew.

    ``size`` is that of the checkpoint to prove against; without it, the last one that reaches so far.
    """

    seq: int | None = None
    memory_id: UUID | None = None
    from_size: int | None = None
    size: int | None = None


class InclusionProof(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="inclusion"):
    """An event stands in the log at its position: what its link is made of, and the way to the root."""

    seq: int
    size: int
    header: str | None
    previous_link: str
    link: str
    leaf_hash: bytes
    hashes: tuple[bytes, ...]
    checkpoint: str


class MemoryProof(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="memory"):
    """Every event of a memory up to a checkpoint stands in the log."""

    memory_id: UUID
    size: int
    events: tuple[InclusionProof, ...]
    checkpoint: str


class ConsistencyProof(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="consistency"):
    """The log of an earlier size stands unchanged at the beginning of the later one."""

    from_size: int = msgspec.field(name="from")
    size: int
    hashes: tuple[bytes, ...]
    from_checkpoint: str
    checkpoint: str


Proof = InclusionProof | MemoryProof | ConsistencyProof


def read_proof(pipeline: Pipeline, caller: Caller, command: ReadProof) -> Proof:
    """The proof that is asked for; the checkpoint that it needs is made now where it can be."""
    if may(caller, Permission.READ_LOG):
        _ensure(pipeline, caller.tenant, command)
    return pipeline.run(READ_PROOF, caller, command)


def _ensure(pipeline: Pipeline, tenant: str, command: ReadProof) -> None:
    """Make the checkpoint that a proof needs: of the whole log, unless an earlier one will do."""
    _checked(command)
    pipeline.store.settle()
    with pipeline.store.reading() as reading:
        head, last = reading.head(tenant)[0], reading.checkpoints(tenant, limit=1)
        needed = _reach(reading, tenant, command)
    if command.size is None and (not last or last[0].size < needed <= head):
        make(pipeline, tenant)
    elif command.size == head:
        make(pipeline, tenant, size=head)


def _reach(reading: Reading, tenant: str, command: ReadProof) -> int:
    """How far a checkpoint must go to prove what is asked."""
    if command.memory_id is not None:
        stream = reading.stream(tenant, command.memory_id)
        return stream[-1].seq if stream else 0
    if command.from_size is not None:
        # A log that did not grow since proves little: better one that did, where there is one.
        return min(command.from_size + 1, reading.head(tenant)[0])
    return command.seq or 0


def _checked(command: ReadProof) -> None:
    given = [one for one in (command.seq, command.memory_id, command.from_size) if one is not None]
    if len(given) != 1:
        raise InvalidRequest(
            "a proof is of exactly one of seq, memory_id and from",
            field="seq",
            hint="seq: one event; memory_id: all events of a memory; from: the log grew from that size.",
        )
    for field, value in (("seq", command.seq), ("from", command.from_size), ("size", command.size)):
        if value is not None and not 0 < value < FOREVER:
            raise InvalidRequest(f"{field} must be 1 or more", field=field)
    if command.size is not None and (command.from_size or 0) > command.size:
        raise InvalidRequest("a log does not shrink: from must be at most size", field="from")
    if command.size is not None and (command.seq or 0) > command.size:
        raise NotFound(
            f"a log of {command.size} events has none at position {command.seq}",
            hint="Ask without a size: the proof is then against a checkpoint that reaches so far.",
        )


def _gather(world: World, caller: Caller, command: ReadProof) -> Proof:
    _checked(command)
    reading, tenant = world.reading, caller.tenant
    head = reading.head(tenant)[0]
    if (command.seq or 0) > head:
        raise NotFound(f"there is no event at position {command.seq}: the log ends at {head}")
    if command.from_size is not None:
        earlier = named(reading, tenant, command.from_size)
        checkpoint = _against(reading, tenant, command)
        if checkpoint.size < earlier.size:
            raise InvalidRequest("a log does not shrink: from must be at most size", field="from")
        return _consistency(_whole(reading, checkpoint), earlier, checkpoint)
    checkpoint = _against(reading, tenant, command)
    whole = _whole(reading, checkpoint)
    if command.memory_id is not None:
        return _of_memory(reading, whole, checkpoint, command.memory_id)
    stored = reading.event(tenant, command.seq or 0)
    if stored is None:
        raise NotFound(f"the event at position {command.seq} is missing", hint="Verify the log.")
    return _inclusion(reading, whole, checkpoint, stored)


def _against(reading: Reading, tenant: str, command: ReadProof) -> Checkpoint:
    """The checkpoint to prove against."""
    if command.size is not None:
        return named(reading, tenant, command.size)
    last = reading.checkpoints(tenant, limit=1)
    if not last or last[0].size < (command.seq or 0):
        raise Unavailable("the checkpoint that was just made cannot be read back", hint="Try again.")
    return last[0]


def _whole(reading: Reading, checkpoint: Checkpoint) -> Tree:
    """The tree under a checkpoint; a log that has been altered since proves nothing by it."""
    whole = tree(reading, checkpoint.tenant, checkpoint.size)
    if whole.root() != checkpoint.root:
        raise altered(checkpoint)
    return whole


def _consistency(whole: Tree, earlier: Checkpoint, checkpoint: Checkpoint) -> ConsistencyProof:
    return ConsistencyProof(
        from_size=earlier.size,
        size=checkpoint.size,
        hashes=tuple(whole.consistency(earlier.size)),
        from_checkpoint=earlier.note,
        checkpoint=checkpoint.note,
    )


def _of_memory(reading: Reading, whole: Tree, checkpoint: Checkpoint, memory_id: UUID) -> MemoryProof:
    stream = [one for one in reading.stream(checkpoint.tenant, memory_id) if one.seq <= checkpoint.size]
    if not stream:
        raise NotFound("the log has no event of this memory up to this size", memory_id=str(memory_id))
    if len(stream) > MEMORY_EVENTS_MAX:
        raise InvalidRequest(
            f"this memory has more than {MEMORY_EVENTS_MAX:,} events",
            field="memory_id",
            hint="Ask for its events one by one, with seq.",
        )
    return MemoryProof(
        memory_id=memory_id,
        size=checkpoint.size,
        events=tuple(_inclusion(reading, whole, checkpoint, stored) for stored in stream),
        checkpoint=checkpoint.note,
    )


def _inclusion(reading: Reading, whole: Tree, checkpoint: Checkpoint, stored: StoredEvent) -> InclusionProof:
    previous = _link_before(reading, checkpoint.tenant, stored.seq)
    if link(previous, stored.seq, stored.header) != stored.link:
        raise Unavailable(
            f"the event at position {stored.seq} is not what was written",
            hint="'tenure log verify' says what is wrong with the log.",
        )
    return InclusionProof(
        seq=stored.seq,
        size=checkpoint.size,
        header=_handed_out(stored),
        previous_link=previous.hex(),
        link=stored.link.hex(),
        leaf_hash=leaf_hash(stored.link),
        hashes=tuple(whole.inclusion(stored.seq - 1)),
        checkpoint=checkpoint.note,
    )


def _handed_out(stored: StoredEvent) -> str | None:
    """The exact text of a header, unless it holds what a token is held against."""
    data = msgspec.json.decode(decode_header(stored.header).data)
    return None if _KEPT_BACK in data else stored.header.decode()


def _link_before(reading: Reading, tenant: str, seq: int) -> bytes:
    before: Sequence[bytes] = reading.links(tenant, after=seq - 2, limit=1) if seq > 1 else [GENESIS]
    return before[0]


def _showed(proof: Proof) -> Showed:
    if isinstance(proof, MemoryProof):
        return Showed(len(proof.events), proof.memory_id)
    return Showed(1)


READ_PROOF: UseCase[ReadProof, Proof, Proof] = UseCase(
    name="read-proof",
    permission=Permission.READ_LOG,
    target=lambda _command: Target(),
    gather=_gather,
    decide=lambda _command, proof, _caller, _moment, _rules: Decided(answer=proof),
    showed=_showed,
)

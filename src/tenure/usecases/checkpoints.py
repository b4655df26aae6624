"""Checkpoints of a tenant's log: signed when somebody asks and by upkeep, kept, and put outside (SPEC E2).

    1 settle     what reads left waiting stands in the log first
    2 extend     the roots of full blocks that are new
    3 compare    the tree still holds the last root that was signed
    4 sign       origin, size and root
    5 keep       the first note of a size stays, whichever node made it
    6 put        upkeep carries each new note to the one place outside, if there is one

Law: nothing is signed that does not go on from what was signed before. Then the log was altered, or an older
one was put back, and `tenure log verify` says where.
"""

import hashlib
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from tenure.core.authority import Permission, Target, may
from tenure.core.checkpoints import Head, Verifier, log_name, origin, signed
from tenure.core.decision import Decided
from tenure.core.errors import InvalidRequest, NotFound, Unavailable
from tenure.core.identity import Caller
from tenure.core.merkle import BLOCK, Tree
from tenure.core.rows import FOREVER, from_microseconds, microseconds
from tenure.usecases.checkpoint_ports import CheckpointPlace
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import Checkpoint, Reading
from tenure.usecases.recording import Showed

SIZES_TOLD_MAX: Final = 5
PUT_AT_ONCE_MAX: Final = 1_000


class ReadCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoint of a size that one was kept of; without a size, a new one of the whole log."""

    size: int | None = None


class SignedCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint, and what it is checked with; compare ``key`` with the one that you were given before."""

    origin: str
    size: int
    root: bytes
    note: str
    key: str
    made_at: datetime


def verifier(pipeline: Pipeline, tenant: str) -> Verifier:
    """What the notes of one tenant's log are checked with."""
    public_key = pipeline.keyring.public_key()
    name = pipeline.rules.log_name or log_name(public_key)
    return Verifier(name=origin(name, tenant), public_key=public_key)


def make(pipeline: Pipeline, tenant: str, *, size: int | None = None) -> Checkpoint:
    """Sign a tenant's log as it stands, or as it stood at a size; gives an existing one back (steps 1 to 5).

    Raises Unavailable where the log does not go on from what was signed before.
    """
    pipeline.store.settle()
    with pipeline.store.reading() as reading:
        head = reading.head(tenant)[0]
        wanted = head if size is None else size
        if wanted > head:
            raise NotFound(f"the log ends at position {head}")
        found = kept(reading, tenant, wanted)
        if found is not None:
            return found
        last = reading.checkpoints(tenant, limit=1)
        blocks = reading.tree_blocks(tenant)
        whole = Tree(head, blocks, partial(_links, reading, tenant))
        fresh = {block: whole.block_root(block) for block in range(len(blocks), head // BLOCK)}
        grown = blocks + list(fresh.values())
        if last and not _goes_on(reading, last[0], head, grown):
            raise altered(last[0])
        root = tree(reading, tenant, wanted, grown).root()
    pipeline.store.keep_tree_blocks(tenant, fresh)
    checkpoint = _signed(pipeline, tenant, wanted, root)
    pipeline.store.keep_checkpoint(checkpoint)
    return _first(pipeline, checkpoint)


def read_checkpoint(pipeline: Pipeline, caller: Caller, command: ReadCheckpoint) -> SignedCheckpoint:
    """The checkpoint that is asked for; that of the whole log is made now, before the read is recorded."""
    if command.size is None and may(caller, Permission.READ_LOG):
        make(pipeline, caller.tenant)
    checkpoint = pipeline.run(READ_CHECKPOINT, caller, command)
    return shown(pipeline, checkpoint)


def shown(pipeline: Pipeline, checkpoint: Checkpoint) -> SignedCheckpoint:
    """A checkpoint as it is given out."""
    key = verifier(pipeline, checkpoint.tenant)
    return SignedCheckpoint(
        origin=checkpoint.note.partition("\n")[0],
        size=checkpoint.size,
        root=checkpoint.root,
        note=checkpoint.note,
        key=key.text(),
        made_at=from_microseconds(checkpoint.made_at),
    )


def checkpoint_round(pipeline: Pipeline, *, batch_size: int) -> int:
    """Sign every log that grew and whose last checkpoint is old; gives back how many were signed.

    A log that cannot be signed is in no other's way; what kept it is raised at the end.
    """
    before = microseconds(pipeline.clock.now() - pipeline.rules.checkpoint_every)
    with pipeline.store.reading() as reading:
        due = [tenant for tenant in reading.tenants() if _is_due(reading, tenant, before)]
    made = 0
    failed: Unavailable | None = None
    for tenant in due[:batch_size]:
        try:
            make(pipeline, tenant)
            made += 1
        except Unavailable as fault:
            failed = failed or fault
    if pipeline.checkpoint_place is not None:
        _put_outside(pipeline, pipeline.checkpoint_place)
    if failed is not None:
        raise failed
    return made


def kept(reading: Reading, tenant: str, size: int) -> Checkpoint | None:
    """The checkpoint that was kept of exactly this size."""
    found = reading.checkpoints(tenant, below=size + 1, limit=1)
    return found[0] if found and found[0].size == size else None


def named(reading: Reading, tenant: str, size: int) -> Checkpoint:
    """The checkpoint that was kept of exactly this size; raises NotFound that says which there are."""
    if not 0 <= size < FOREVER:
        raise InvalidRequest("size must be the size of a log, 0 or more", field="size")
    found = kept(reading, tenant, size)
    if found is not None:
        return found
    sizes = ", ".join(str(one.size) for one in reading.checkpoints(tenant, limit=SIZES_TOLD_MAX))
    raise NotFound(
        f"there is no checkpoint of size {size}",
        hint=f"The last ones are of size {sizes}." if sizes else "There is none yet: ask without a size.",
    )


def tree(reading: Reading, tenant: str, size: int, blocks: list[bytes] | None = None) -> Tree:
    """The Merkle tree over the first events of a log; reads only what a question cuts through."""
    roots = reading.tree_blocks(tenant) if blocks is None else blocks
    return Tree(size, roots, partial(_links, reading, tenant))


def altered(last: Checkpoint) -> Unavailable:
    """The log is not what was signed."""
    return Unavailable(
        f"the log does not go on from its checkpoint of size {last.size:,}: nothing is signed",
        hint="It was altered, or an older one was put back. 'tenure log verify' says where.",
    )


def _links(reading: Reading, tenant: str, block: int) -> list[bytes]:
    return reading.links(tenant, after=block * BLOCK, limit=BLOCK)


def _goes_on(reading: Reading, last: Checkpoint, head: int, blocks: list[bytes]) -> bool:
    return last.size <= head and tree(reading, last.tenant, last.size, blocks).root() == last.root


def _signed(pipeline: Pipeline, tenant: str, size: int, root: bytes) -> Checkpoint:
    key = verifier(pipeline, tenant)
    note = signed(Head(origin=key.name, size=size, root=root), key, pipeline.keyring.sign)
    return Checkpoint(tenant, size, root, note, microseconds(pipeline.clock.now()))


def _first(pipeline: Pipeline, checkpoint: Checkpoint) -> Checkpoint:
    """What was kept of this size: another node may have been first."""
    with pipeline.store.reading() as reading:
        return kept(reading, checkpoint.tenant, checkpoint.size) or checkpoint


def _is_due(reading: Reading, tenant: str, before: int) -> bool:
    last = reading.checkpoints(tenant, limit=1)
    return not last or (last[0].made_at <= before and reading.head(tenant)[0] > last[0].size)


def _put_outside(pipeline: Pipeline, place: CheckpointPlace) -> None:
    """Step 6: what the place has not got yet, the smallest first; what fails is tried in the next round."""
    done = "checkpoints at " + hashlib.sha256(place.name.encode()).hexdigest()[:16]
    with pipeline.store.reading() as reading:
        tenants = reading.tenants()
    for tenant in tenants:
        with pipeline.store.reading() as reading:
            above = reading.progress(done, tenant)
            waiting = [one for one in reading.checkpoints(tenant, limit=PUT_AT_ONCE_MAX) if one.size > above]
        for checkpoint in reversed(waiting):
            if not place.put(tenant, checkpoint.size, checkpoint.note):
                return
            pipeline.store.keep_progress(done, tenant, checkpoint.size)


def _gather(world: World, caller: Caller, command: ReadCheckpoint) -> Checkpoint:
    if command.size is not None:
        return named(world.reading, caller.tenant, command.size)
    found = world.reading.checkpoints(caller.tenant, limit=1)
    if not found:
        raise Unavailable("the checkpoint that was just made cannot be read back", hint="Try again.")
    return found[0]


READ_CHECKPOINT: UseCase[ReadCheckpoint, Checkpoint, Checkpoint] = UseCase(
    name="read-checkpoint",
    permission=Permission.READ_LOG,
    target=lambda _command: Target(),
    gather=_gather,
    decide=lambda _command, checkpoint, _caller, _moment, _rules: Decided(answer=checkpoint),
    showed=lambda _checkpoint: Showed(1),
)

"""Undoing a merge: two memories were taken for one, and are two (SPEC T2)."""

import msgspec

from tenure.core import resolving
from tenure.core.authority import Permission, Target, answered
from tenure.core.decision import Decided, Refused
from tenure.core.events import Event
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory
from tenure.core.resolving import Behind, Unmerge
from tenure.usecases.comparing import behind
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.reading import first_memory, visible
from tenure.usecases.sealing import load


def _gather(world: World, caller: Caller, command: Unmerge) -> Behind:
    memory = visible(world, caller, command.memory_id)
    if memory.merged_into is None:
        return Behind(memory=memory)
    stands = load(world.reading, world.keyring, caller.tenant, memory.merged_into)
    if stands is None:
        return Behind(memory=memory)
    return Behind(memory=memory, stands=stands, voices=behind(world, stands, but={memory.id}))


def _decide(
    command: Unmerge, facts: Behind, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Memory] | Refused:
    decided = resolving.unmerge(command, facts, caller, moment)
    if isinstance(decided, Refused):
        return decided
    return msgspec.structs.replace(decided, answer=answered(caller, decided.answer))


def _replay(world: World, caller: Caller, first: Event | None, _outcome: bytes) -> Memory:
    return answered(caller, first_memory(world, first))


UNMERGE: UseCase[Unmerge, Behind, Memory] = UseCase(
    name="unmerge",
    permission=Permission.REVIEW,
    target=lambda _command: Target(),
    gather=_gather,
    decide=_decide,
    replay=_replay,
)

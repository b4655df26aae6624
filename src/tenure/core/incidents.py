"""Withdrawing what should not have been believed (SPEC L12). Pure."""

from tenure.core.decision import Decided, Refused
from tenure.core.errors import VersionConflict
from tenure.core.events import Revoked
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.review import Judge, judged


def revoke(command: Judge, memory: Memory, caller: Caller, moment: Moment) -> Decided[Memory] | Refused:
    """Take one memory out of every read from the next one on."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status, Step.REVOKE)
    event = judged(memory, Revoked(), command.reason, caller, moment)
    return Decided(answer=evolve(memory, event), events=(event,))

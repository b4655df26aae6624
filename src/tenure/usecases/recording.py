"""What a read leaves in the log, and what of it a crash may take (SPEC E2, R7).

Law: an event of a read says who, what, when, whose and how much. It quotes neither content nor a question.
Only what changes nothing may be lost: receipts of recalls and events of reads.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from tenure.core.authority import Target
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller, checked_name
from tenure.core.incident_events import Looked


class Reads(StrEnum):
    """What reads leave in the log, and whether an answer waits for it."""

    BATCHED = "batched"
    DURABLE = "durable"
    RECALLS = "recalls"


class Showed(NamedTuple):
    """How many things an answer shows; and which memory, where it is about one."""

    returned: int
    memory_id: UUID | None = None


_MAY_BE_LOST: Final = (Recalled, Looked)


def look(what: str, target: Target, showed: Showed, caller: Caller, now: datetime) -> Event:
    """The event of a read that is answered; raises InvalidRequest where the subject can be no name."""
    return Event(
        tenant=caller.tenant,
        at=now,
        actor=caller.id,
        # A name and nothing else: whatever text came as a subject would stand in the log in the open.
        subject=checked_name(target.subject, field="subject") if target.subject is not None else None,
        data=Looked(what=what, returned=showed.returned, memory_id=showed.memory_id),
    )


def may_be_lost(events: Sequence[Event], reads: Reads) -> bool:
    """Whether an answer may go out before its events are durable."""
    return (
        reads is not Reads.DURABLE
        and bool(events)
        and all(isinstance(event.data, _MAY_BE_LOST) for event in events)
    )

"""Receipts: what a recall leaves, and finding it again (SPEC R7)."""

from collections.abc import Sequence
from uuid import UUID

from tenure.core.decision import Decided
from tenure.core.errors import NotFound
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller, Moment
from tenure.core.retrieval import Found
from tenure.usecases.pipeline import World
from tenure.usecases.sealing import open_event


def answered(
    found: Found,
    receipt: Recalled,
    caller: Caller,
    moment: Moment,
    *,
    subject: str | None,
    beside: Sequence[Event],
) -> Decided[Found]:
    """The answer with its receipt, and the events of what was kept out of it."""
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=moment.fresh_id,
        subject=subject,
        data=receipt,
    )
    return Decided(answer=found, events=(event, *beside))


def receipt(world: World, caller: Caller, receipt_id: UUID) -> Event:
    """The caller's own receipt of this id; raises NotFound, for another caller's as well."""
    for stored in world.reading.stream(caller.tenant, receipt_id):
        event = open_event(stored, world.keyring)
        if isinstance(event.data, Recalled) and event.actor == caller.id:
            return event
    raise NotFound("there is no receipt of this id for this caller", receipt_id=str(receipt_id))

"""Finding a recall's receipt again (SPEC R7)."""

from uuid import UUID

from tenure.core.errors import NotFound
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller
from tenure.usecases.pipeline import World
from tenure.usecases.sealing import open_event


def receipt(world: World, caller: Caller, receipt_id: UUID) -> Event:
    """The caller's own receipt of this id; raises NotFound, for another caller's as well."""
    for stored in world.reading.stream(caller.tenant, receipt_id):
        event = open_event(stored, world.keyring)
        if isinstance(event.data, Recalled) and event.actor == caller.id:
            return event
    raise NotFound("there is no receipt of this id for this caller", receipt_id=str(receipt_id))

"""The workers' rounds: bounded batches that never hold a writer up for long (SPEC T8, L11).

Of many nodes over one store one does them: whoever holds the lease, which each round prolongs. When the
holder is gone, the lease runs out and the next node that asks has it. Two holders at once would double
nothing, since the store takes an event only on the version that it was decided on.
"""

from typing import Final

import msgspec

from tenure.core.retention import expire
from tenure.core.views import microseconds
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended
from tenure.usecases.sealing import fold, seal

LEASE: Final = "upkeep"
LEASE_SECONDS_MIN: Final = 10.0
"""Longer than a round takes, and than the wait for a database that is busy."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one round did. ``more`` says that the batch was full and another round should follow at once."""

    expired: int
    more: bool


def expiry_round(pipeline: Pipeline, *, batch_size: int, lease_seconds: float = LEASE_SECONDS_MIN) -> Round:
    """Write the explicit expired event for memories whose time has passed; reads skipped them already.

    Does nothing where another node holds the lease.
    """
    if not pipeline.store.lease(LEASE, seconds=lease_seconds):
        return Round(expired=0, more=False)
    now = pipeline.clock.now()
    appends: list[Append] = []
    with pipeline.store.reading() as reading:
        due = reading.due(microseconds(now), batch_size)
        for row in due:
            memory = fold(reading, pipeline.keyring, row.tenant, row.memory_id)
            event = expire(memory, now) if memory is not None else None
            if event is not None:
                appends.append(Append(tenant=row.tenant, events=(seal(event, pipeline.keyring),)))
    results = pipeline.store.append(appends) if appends else []
    expired = sum(isinstance(result, Appended) for result in results)
    return Round(expired=expired, more=len(due) == batch_size and expired > 0)

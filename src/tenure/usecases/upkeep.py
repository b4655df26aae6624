"""The workers' rounds: bounded batches that never hold a writer up for long (SPEC T8, L11).

Of many nodes over one store one does them: whoever holds the lease, which each round prolongs. When the
holder is gone, the lease runs out and the next node that asks has it. Two holders at once would double
nothing, since the store takes an event only on the version that it was decided on.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from tenure.core.events import Event, ScopeCompacted
from tenure.core.forgetting import probe
from tenure.core.identity import Scope
from tenure.core.retention import UPKEEP, expire
from tenure.core.retrieval import Filter
from tenure.core.rows import microseconds
from tenure.core.scopes import places
from tenure.usecases.erasure import finish_begun
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.ports import Append, Appended, EndedScope
from tenure.usecases.scopes import resolved
from tenure.usecases.sealing import fold, seal

LEASE: Final = "upkeep"
LEASE_SECONDS_MIN: Final = 10.0
"""Longer than a round takes, and than the wait for a database that is busy."""
LEFT_ALONE: Final = timedelta(minutes=2)
"""How long an erasure is whose it is that began it, before a round takes it up."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one round did. ``more`` says that a batch was full and another round should follow at once."""

    expired: int = 0
    probed: int = 0
    compacted: int = 0
    erased: int = 0
    more: bool = False


def upkeep_round(pipeline: Pipeline, *, batch_size: int, lease_seconds: float = LEASE_SECONDS_MIN) -> Round:
    """Write what time has done, probe forgets that may not hold, and finish what somebody left half-way.

    Does nothing where another node holds the lease.
    """
    if not pipeline.store.lease(LEASE, seconds=lease_seconds):
        return Round()
    expired, is_full = _expire(pipeline, batch_size)
    return Round(
        expired=expired,
        probed=_probe(pipeline, batch_size),
        compacted=_compact(pipeline, batch_size),
        erased=finish_begun(pipeline, left_alone=LEFT_ALONE),
        more=is_full and expired > 0,
    )


def _expire(pipeline: Pipeline, batch_size: int) -> tuple[int, bool]:
    """The explicit expired event for memories whose time has passed; reads skipped them already."""
    now = pipeline.clock.now()
    appends: list[Append] = []
    with pipeline.store.reading() as reading:
        due = reading.due(microseconds(now), batch_size)
        for row in due:
            memory = fold(reading, pipeline.keyring, row.tenant, row.memory_id)
            event = expire(memory, now) if memory is not None else None
            if event is not None:
                appends.append(Append(tenant=row.tenant, events=(seal(event, pipeline.keyring),)))
    return _stored(pipeline, appends), len(due) == batch_size


def _probe(pipeline: Pipeline, batch_size: int) -> int:
    """Ask for keys that were forgotten at a leaf alone, as a read there would (SPEC F6)."""
    now, ladder = pipeline.clock.now(), pipeline.rules.write.ladder
    appends: list[Append] = []
    with pipeline.store.reading() as reading:
        for row in reading.probes_due(microseconds(now), batch_size):
            where = Filter(
                tenant=row.tenant,
                agent=row.agent,
                purpose=row.purpose,
                subjects=frozenset({row.subject}),
                now=microseconds(now),
            )
            scope = msgspec.json.decode(row.scope, type=Scope)
            around = places(scope, row.subject, ladder.inherits)
            found = resolved(reading, where, around, row.key_digest, ignoring=row)
            events = probe(row, found, now, ladder)
            sealed = tuple(seal(event, pipeline.keyring) for event in events)
            appends.append(Append(tenant=row.tenant, events=sealed))
    return _stored(pipeline, appends)


def _compact(pipeline: Pipeline, batch_size: int) -> int:
    """Take what ended in task and session scopes out of the working set; the log keeps it (SPEC F3)."""
    now = pipeline.clock.now()
    with pipeline.store.reading() as reading:
        ended = reading.scopes_ended(microseconds(now), batch_size)
    return _stored(
        pipeline,
        [Append(tenant=one.tenant, events=(seal(_compacted(one, now), pipeline.keyring),)) for one in ended],
    )


def _compacted(ended: EndedScope, now: datetime) -> Event:
    return Event(
        tenant=ended.tenant,
        at=now,
        actor=UPKEEP,
        subject=ended.subject,
        data=ScopeCompacted(
            agent=ended.agent, purpose=ended.purpose, tier=ended.tier, scope_id=ended.scope_id
        ),
    )


def _stored(pipeline: Pipeline, appends: list[Append]) -> int:
    results = pipeline.store.append(appends) if appends else []
    return sum(isinstance(result, Appended) for result in results)

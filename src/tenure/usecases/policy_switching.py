"""Switching a policy on: the log says so, and what is stored is examined under it (SPEC I4).

Laws: only an active memory that no reviewer let in is ever touched, and only by holding it back; nothing is
let in, trusted more or less, or ended by a change of rules alone. An examination that stops half-way goes on
where it was; to examine a batch again holds nothing twice.

Where no switch was ever recorded, the first policy that shipped was in force.
"""

from typing import Final

import msgspec

from tenure.core.admission import Policy, is_default
from tenure.core.events import Event, EventData, decode_event, decode_header
from tenure.core.incident_events import Held, PolicyReevaluated, PolicySwitched
from tenure.core.policy_documents import digest
from tenure.core.policy_replay import Effect, holding, is_reviewed, reconsider
from tenure.core.read_scanning import FOUND_AT_READ
from tenure.core.retention import UPKEEP
from tenure.core.rows import MemoryRow, PolicyRow
from tenure.core.vocabulary import Status
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.policy_replay import looked_at
from tenure.usecases.ports import Append, Appended, Reading, Stale
from tenure.usecases.sealing import seal

UNRECORDED: Final = "default-1"
"""The version that ruled wherever no switch was recorded; it stays, whatever ships later."""
_LOG_PAGE: Final = 1_000
_HELD: Final = "memory.held"


class Switching(msgspec.Struct, frozen=True, kw_only=True):
    """What one round of examinations did. ``more`` says that something is left to examine."""

    examined: int = 0
    held: int = 0
    more: bool = False


class _Batch(msgspec.Struct, frozen=True, kw_only=True):
    examined: int
    held: int
    done: bool


def switch_round(pipeline: Pipeline, *, batch_size: int) -> Switching:
    """Record the policy that this node runs where another was in force, and examine the next batch."""
    policy = pipeline.rules.write.policy
    running, left, held = digest(policy), batch_size, 0
    for tenant, recorded in _tenants(pipeline):
        is_known = _is_running(recorded, policy, running)
        row = recorded if is_known else _switched(pipeline, tenant, recorded, policy)
        if row is None or row.done_seq:
            continue
        batch = _examined(pipeline, row, policy, left)
        left, held = left - batch.examined, held + batch.held
        if not batch.done:
            return Switching(examined=batch_size - left, held=held, more=True)
    return Switching(examined=batch_size - left, held=held)


def _tenants(pipeline: Pipeline) -> list[tuple[str, PolicyRow | None]]:
    with pipeline.store.reading() as reading:
        return [(tenant, reading.policy(tenant)) for tenant in reading.tenants()]


def _is_running(row: PolicyRow | None, policy: Policy, running: str) -> bool:
    if row is None:
        return policy.version == UNRECORDED and is_default(policy)
    return row.digest == running


def _switched(pipeline: Pipeline, tenant: str, row: PolicyRow | None, policy: Policy) -> PolicyRow | None:
    """The row of the switch, now recorded; None where the tenant has no memory that it could matter to."""
    with pipeline.store.reading() as reading:
        if not reading.memory_page(tenant, after=0, limit=1):
            return None
    before = row.version if row is not None else UNRECORDED
    _append(pipeline, tenant, PolicySwitched(version=policy.version, digest=digest(policy), before=before))
    with pipeline.store.reading() as reading:
        return reading.policy(tenant)


def _examined(pipeline: Pipeline, row: PolicyRow, policy: Policy, limit: int) -> _Batch:
    """Examine the next memories that were written before the switch, and say so once all are."""
    place = f"policy:{row.seq}"
    with pipeline.store.reading() as reading:
        after = reading.progress(place, row.tenant)
        before = reading.progress(f"{place}:examined", row.tenant)
        page = [
            one
            for one in reading.memory_page(row.tenant, after=after, limit=max(1, limit))
            if one.created_seq < row.seq
        ]
        holds = _holds(pipeline, reading, page, policy)
    results = pipeline.append([append for _, append in holds]) if holds else []
    stale = [
        one.created_seq for (one, _), result in zip(holds, results, strict=True) if isinstance(result, Stale)
    ]
    examined = [one for one in page if not stale or one.created_seq < stale[0]]
    if examined:
        # The count first: a crash between the two counts a batch twice, and skips none.
        pipeline.store.keep_progress(f"{place}:examined", row.tenant, before + len(examined))
        pipeline.store.keep_progress(place, row.tenant, examined[-1].created_seq)
    held = sum(isinstance(result, Appended) for result in results)
    is_done = not stale and len(page) < max(1, limit)
    if is_done:
        _finish(pipeline, row, before + len(examined))
    return _Batch(examined=len(examined), held=held, done=is_done)


def _holds(
    pipeline: Pipeline, reading: Reading, page: list[MemoryRow], policy: Policy
) -> list[tuple[MemoryRow, Append]]:
    """What of these is active, was let in by no reviewer, and would not be let in today."""
    now = pipeline.clock.now()
    found: list[tuple[MemoryRow, Append]] = []
    for row in page:
        if row.status != Status.ACTIVE:
            continue
        looked = looked_at(reading, pipeline.keyring, row, now)
        if looked is None or looked.standing is None or is_reviewed(looked.memory):
            continue
        said = reconsider(policy, looked.standing, pipeline.rules.write.custom)
        if said.effect is Effect.HELD:
            event = holding(looked.memory, said.ruling, now)
            found.append((row, Append(tenant=row.tenant, events=(seal(event, pipeline.keyring),))))
    return found


def _finish(pipeline: Pipeline, row: PolicyRow, examined: int) -> None:
    """Everything that was stored before the switch has been examined; the log has what was held."""
    held = 0
    after = row.seq
    while True:
        with pipeline.store.reading() as reading:
            page = reading.log(row.tenant, after=after, limit=_LOG_PAGE)
        for stored in page:
            header = decode_header(stored.header)
            if header.type == _HELD:
                data = decode_event(header, None).data
                held += _was_held_for(row, data)
        if len(page) < _LOG_PAGE:
            break
        after = page[-1].seq
    _append(
        pipeline,
        row.tenant,
        PolicyReevaluated(seq=row.seq, version=row.version, examined=examined, held=held),
    )


def _was_held_for(row: PolicyRow, data: EventData) -> bool:
    """Whether a memory was held by this examination, and not for what was found when it was to be shown."""
    return isinstance(data, Held) and data.policy_version == row.version and data.rule != FOUND_AT_READ


def _append(pipeline: Pipeline, tenant: str, data: EventData) -> None:
    event = Event(tenant=tenant, at=pipeline.clock.now(), actor=UPKEEP, data=data)
    pipeline.append([Append(tenant=tenant, events=(seal(event, pipeline.keyring),))])

"""Sources that went bad: what they touched, and taking all of them out of every read (SPEC I1, I2).

    1 revoke     one event: from its commit on no read of any node finds anything of the source
    2 record     the own event of each memory, in batches: who, why, because of which revocation
    3 finish     one event with the counts, and how long it took

Laws: whoever dies between two of these is taken up where it was, by the same call or by upkeep; every step
may be done again and then changes nothing; revocations of a tenant are recorded in the order in which they
were made, so that each memory says which one reached it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from tenure.core import incidents
from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import Unavailable
from tenure.core.events import Event, Revoked, decode_event, decode_header
from tenure.core.identity import Caller, Moment
from tenure.core.incident_events import Influenced, SourceRevocationFinished, SourceRevoked
from tenure.core.incidents import (
    LISTED_MAX,
    AskImpact,
    Called,
    Counts,
    Impact,
    Revocation,
    RevokeSource,
    SourceFacts,
    SourceRevocation,
    Withdrawn,
)
from tenure.core.memory import REVOCABLE
from tenure.core.rows import CONNECTOR, REVOKING, MemoryRow, RevokedSourceRow, microseconds
from tenure.usecases.paging import batched, log_events
from tenure.usecases.pipeline import Pipeline, Rules, UseCase, World
from tenure.usecases.ports import Append, Appended, Idempotency, Reading
from tenure.usecases.recording import Showed
from tenure.usecases.sealing import open_event, seal

BATCH: Final = 500
"""So many memories get their own events in one transaction: other writers wait no longer than that takes."""
PAGE: Final = 2_000
ATTEMPTS_MAX: Final = 5
_REVOKED: Final = b'"memory.revoked"'
_GOES_ON: Final = (
    "The source is revoked, and no read finds anything of it. Ask again, or leave it to upkeep: what is not "
    "recorded yet is taken up there."
)
_OUTCOME: Final = msgspec.json.Decoder(Withdrawn)


class Measured(NamedTuple):
    """When a revocation was asked for, and when its event was durable."""

    seq: int
    called_at: datetime
    held_at: datetime


def revoke_source(
    pipeline: Pipeline,
    caller: Caller,
    command: RevokeSource,
    *,
    idempotency_key: str | None = None,
    limit: int = LISTED_MAX,
) -> SourceRevocation:
    """Revoke a source, record it with each of its memories, and say what it had touched.

    Raises Unavailable where a step could not be done: what is done stays done, and the same call goes on.
    """
    incidents.check_listed(limit)
    called_at = pipeline.clock.now()
    withdrawn = pipeline.run(REVOKE_SOURCE, caller, command, idempotency_key=idempotency_key)
    measured = Measured(withdrawn.revoked_seq, called_at, pipeline.clock.now())
    try:
        finish_revocations(pipeline, tenant=caller.tenant, measured=measured)
        return _told(pipeline, caller.tenant, command, withdrawn, limit=limit)
    except Unavailable as fault:
        raise Unavailable(
            fault.message, hint=_GOES_ON, **(fault.details | {"outcome_unknown": True})
        ) from fault


def finish_revocations(
    pipeline: Pipeline,
    *,
    tenant: str | None = None,
    left_alone: timedelta = timedelta(),
    measured: Measured | None = None,
) -> int:
    """Record every revocation that somebody left half-way; gives back how many were finished.

    One that began less than so long ago may still be somebody's, and is left to them. One that cannot be
    finished now is in no other tenant's way; what kept it is raised at the end.
    """
    before = microseconds(pipeline.clock.now() - left_alone)
    with pipeline.store.reading() as reading:
        begun = [row for row in reading.revocations_begun(tenant) if row.revoked_at <= before]
    finished = 0
    failed: dict[str, Unavailable] = {}
    for row in sorted(begun, key=lambda row: row.seq):
        if row.tenant in failed:
            continue
        try:
            _finish(pipeline, row, measured)
            finished += 1
        except Unavailable as fault:
            failed[row.tenant] = fault
    if failed:
        raise next(iter(failed.values()))
    return finished


def impact_of(
    reading: Reading, tenant: str, source_type: str | None, source_id: str, *, limit: int
) -> Impact:
    """Everything that a source touched, transitively, as of this look."""
    sourced = reading.source_memories(tenant, source_type, source_id)
    ids = sorted({one.memory_id for one in sourced})
    if not ids:
        return Impact()
    recalls, receipts = reading.recalls_of(tenant, ids, limit=limit)
    responses, calls = _reported(reading, tenant, [seq for seq, _ in reading.used_in(tenant, ids)])
    agents = sorted({one.agent for one in sourced})
    subjects = sorted({one.subject for one in sourced})
    displaced = sorted(set(reading.displaced(tenant, ids)).difference(ids))
    counts = Counts(
        memories=len(ids),
        recalls=recalls,
        responses=len(responses),
        tool_calls=len(calls),
        agents=len(agents),
        subjects=len(subjects),
        displaced=len(displaced),
    )
    return Impact(
        memories=tuple(ids[:limit]),
        recalls=tuple(receipts),
        responses=tuple(responses[:limit]),
        tool_calls=tuple(calls[:limit]),
        agents=tuple(agents[:limit]),
        subjects=tuple(subjects[:limit]),
        displaced=tuple(displaced[:limit]),
        counts=counts,
        truncated=max(msgspec.structs.astuple(counts)) > limit,
    )


def _reported(reading: Reading, tenant: str, seqs: Sequence[int]) -> tuple[list[str], list[Called]]:
    """The responses and tool calls that these reports name, each once, in the order of the log."""
    responses: dict[str, None] = {}
    calls: dict[Called, None] = {}
    for page in batched(seqs, PAGE):
        for stored in reading.events_at(tenant, page):
            data = decode_event(decode_header(stored.header), None).data
            if isinstance(data, Influenced):
                responses[data.response_id] = None
                calls.update((Called(id=call.id, name=call.name), None) for call in data.tool_calls)
    return list(responses), list(calls)


def _finish(pipeline: Pipeline, row: RevokedSourceRow, measured: Measured | None) -> None:
    """Steps 2 and 3 of a revocation that has begun."""
    begun, data = _begun(pipeline, row)
    for _attempt in range(ATTEMPTS_MAX):
        waiting = _waiting(pipeline, row)
        if not waiting:
            break
        for batch in batched(waiting, BATCH):
            _record(pipeline, batch, begun, row.seq, data.reason)
    else:
        raise Unavailable("the memories of a revoked source change faster than they can be recorded")
    with pipeline.store.reading() as reading:
        touched = impact_of(reading, row.tenant, row.source_type or None, row.source_id, limit=1).counts
        revoked = sum(1 for _ in _recorded(reading, row))
    done = SourceRevocationFinished(
        seq=row.seq,
        revoked=revoked,
        seconds=_seconds(begun, row.seq, data, measured),
        responses=touched.responses,
        tool_calls=touched.tool_calls,
    )
    event = seal(incidents.finished(begun, done, pipeline.clock.now()), pipeline.keyring)
    # No caller's key has a character like this one: whoever else finishes it finds that it is finished.
    once = Idempotency(key=f"\x1fsource-revoked {row.seq}", request=b"")
    pipeline.append([Append(tenant=row.tenant, events=(event,), idempotency=once)])


def _seconds(begun: Event, seq: int, data: SourceRevoked, measured: Measured | None) -> float:
    """How long it took; who takes up what somebody else began knows only when that was decided."""
    called_at = held_at = begun.at
    if measured is not None and measured.seq == seq and measured.called_at <= begun.at:
        called_at, held_at = measured.called_at, measured.held_at
    return incidents.seconds_until(held_at, called_at=called_at, detected_at=data.detected_at)


def _begun(pipeline: Pipeline, row: RevokedSourceRow) -> tuple[Event, SourceRevoked]:
    with pipeline.store.reading() as reading:
        stored = reading.event(row.tenant, row.seq)
    event = open_event(stored, pipeline.keyring) if stored is not None else None
    if event is None or not isinstance(event.data, SourceRevoked):
        raise Unavailable("the event that began this revocation is missing", hint="Verify the log.")
    return event, event.data


def _waiting(pipeline: Pipeline, row: RevokedSourceRow) -> list[MemoryRow]:
    """Memories of the source that are withdrawn and have no event of their own yet, in the log's order."""
    with pipeline.store.reading() as reading:
        found = reading.source_memories(row.tenant, row.source_type or None, row.source_id)
        rows = reading.rows_of(row.tenant, {one.memory_id for one in found})
    return sorted((one for one in rows if one.status == REVOKING), key=lambda one: one.created_seq)


def _record(pipeline: Pipeline, rows: Sequence[MemoryRow], begun: Event, seq: int, reason: str) -> None:
    """The own events of some memories; one that was first recorded or forgotten by others is passed over."""
    now, keyring = pipeline.clock.now(), pipeline.keyring
    keyring.ensure(sorted({(row.tenant, row.subject) for row in rows}))
    events = [incidents.withdrawal(row, begun, seq, reason, now) for row in rows]
    pipeline.append([Append(tenant=begun.tenant, events=(seal(event, keyring),)) for event in events])


def _recorded(reading: Reading, row: RevokedSourceRow) -> Iterator[int]:
    """Where the events lie that say they are because of this revocation."""
    for stored in log_events(reading, row.tenant, after=row.seq):
        if _REVOKED in stored.header:
            data = decode_event(decode_header(stored.header), None).data
            if isinstance(data, Revoked) and data.because_of == row.seq:
                yield stored.seq


def _told(
    pipeline: Pipeline, tenant: str, command: RevokeSource, withdrawn: Withdrawn, *, limit: int
) -> SourceRevocation:
    """The whole answer: what the log says of the revocation, and what the source has touched by now."""
    # Receipts of recalls that were answered before the revocation may still wait.
    pipeline.store.settle()
    with pipeline.store.reading() as reading:
        impact = impact_of(reading, tenant, command.source_type, command.source_id, limit=limit)
        begun = reading.event(tenant, withdrawn.revoked_seq)
        row = _covering(reading, tenant, command)
        is_this = row is not None and row.seq == withdrawn.revoked_seq
        done = reading.event(tenant, row.finished_seq) if row is not None and is_this else None
    revoked = open_event(begun, pipeline.keyring).data if begun is not None else None
    finished = open_event(done, pipeline.keyring).data if done is not None else None
    return SourceRevocation(
        status=withdrawn.status,
        revoked=withdrawn.revoked,
        revoked_seq=withdrawn.revoked_seq,
        impact=impact,
        detected_at=revoked.detected_at if isinstance(revoked, SourceRevoked) else None,
        seconds_to_revocation=finished.seconds if isinstance(finished, SourceRevocationFinished) else None,
    )


def _covering(reading: Reading, tenant: str, command: RevokeSource) -> RevokedSourceRow | None:
    """The last revocation of the source: of its type, or of every type."""
    exact = reading.revoked_source(tenant, command.source_type, command.source_id)
    if exact is not None or command.source_type in {None, CONNECTOR}:
        return exact
    return reading.revoked_source(tenant, None, command.source_id)


def _gather(world: World, caller: Caller, command: RevokeSource) -> SourceFacts:
    incidents.check_revoke_source(command, world.moment.now)
    reading = world.reading
    found = reading.source_memories(caller.tenant, command.source_type, command.source_id)
    rows = reading.rows_of(caller.tenant, {one.memory_id for one in found})
    return SourceFacts(
        last=_covering(reading, caller.tenant, command),
        standing=sum(row.status in REVOCABLE for row in rows),
    )


def _decide(
    command: RevokeSource, facts: SourceFacts, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Withdrawn]:
    return incidents.revoke_source(command, facts, caller, moment)


def _settle(withdrawn: Withdrawn, appended: Appended) -> Withdrawn:
    """What the transaction did: it may have found more, or fewer, than were read before it."""
    if withdrawn.status is Revocation.ALREADY_REVOKED:
        return withdrawn
    return msgspec.structs.replace(withdrawn, revoked=appended.dropped, revoked_seq=appended.seq)


def _ask(world: World, caller: Caller, command: AskImpact) -> Impact:
    incidents.check_source_named(command.source_type, command.source_id)
    limit = incidents.check_listed(command.limit)
    return impact_of(world.reading, caller.tenant, command.source_type, command.source_id, limit=limit)


REVOKE_SOURCE: UseCase[RevokeSource, SourceFacts, Withdrawn] = UseCase(
    name="revoke-source",
    permission=Permission.REVOKE_SOURCE,
    target=lambda _command: Target(everything=True),
    gather=_gather,
    decide=_decide,
    settle=_settle,
    outcome=msgspec.json.encode,
    replay=lambda _world, _caller, _first, outcome: _OUTCOME.decode(outcome),
)

IMPACT: UseCase[AskImpact, Impact, Impact] = UseCase(
    name="source-impact",
    permission=Permission.READ_IMPACT,
    target=lambda _command: Target(everything=True),
    gather=_ask,
    decide=lambda _command, impact, _caller, _moment, _rules: Decided(answer=impact),
    showed=lambda impact: Showed(impact.counts.memories),
    after_receipts=True,
)

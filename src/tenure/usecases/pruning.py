"""Pruning: superseded and fully decayed memories are no longer kept at hand (SPEC T7).

    1 a page of a tenant's memories, each looked at once a day
    2 what is old enough, by the rules of core/pruning.py
    3 of that, what nobody needs: its subject is under no hold, it is no evidence for what stands or could
      stand again, and no side of a contradiction that waits for a person
    4 the events, if each memory still stands as it was looked at

The log keeps what is pruned; a recall as of before shows it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core.pruning import prunable
from tenure.core.retention import UPKEEP
from tenure.core.rows import MERGED, REVOKING, MemoryRow, microseconds
from tenure.core.truth_rules import TruthRules
from tenure.core.truth_steps import pruned
from tenure.core.vocabulary import Status
from tenure.usecases.passes import Page, keep_place, next_page
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.portions import PAGES_MAX, Passed, Portions, Turn, at_a_standstill, sweep
from tenure.usecases.ports import Append, Appended, Reading
from tenure.usecases.sealing import fold, seal

WALK: Final = "pruning"
SUPERSEDED: Final = "superseded"
DECAYED: Final = "decayed"
"""Why a memory is pruned, as its event says it."""

_STANDS: Final = frozenset({Status.ACTIVE, Status.QUARANTINED})
_LEAVES_BEHIND: Final = frozenset({Status.REVOKED, Status.EXPIRED, REVOKING})
"""What is behind one of these is to stand again, as long as it has time left."""


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """What one round pruned. ``more`` says that a pass is under way."""

    pruned: int = 0
    more: bool = False


def prune_round(
    pipeline: Pipeline, portions: Portions, *, batch_size: int, passed: Passed = at_a_standstill
) -> Pruned:
    """Go on with the passes that are under way or due, some pages of them."""
    with pipeline.store.reading() as reading:
        tenants = reading.tenants()
    done: list[int] = []
    turn = Turn(rows=PAGES_MAX * batch_size, passed=passed)

    def work(tenant: str) -> bool:
        page, count = _prune(pipeline, portions, tenant, turn.rows(batch_size))
        done.append(count)
        turn.looked(len(page.rows) if page is not None else 0)
        return page is not None and not page.is_last

    more = sweep(tenants, turn, work)
    return Pruned(pruned=sum(done), more=more)


def _prune(pipeline: Pipeline, portions: Portions, tenant: str, limit: int) -> tuple[Page | None, int]:
    """One page of a tenant's pass, and how many of it were pruned."""
    now = pipeline.clock.now()
    with pipeline.store.reading() as reading:
        page = next_page(reading, WALK, tenant, now, limit=limit)
        if page is None:
            return None, 0
        rows = _unneeded(reading, page.rows, pipeline.rules.truth, microseconds(now))
        appends = [_append(pipeline, reading, row, now) for row in rows]
    results = portions.append([append for append in appends if append is not None])
    # What changed meanwhile is looked at again in the next pass.
    keep_place(pipeline.store, WALK, page, now)
    return page, sum(isinstance(result, Appended) for result in results)


def _unneeded(reading: Reading, rows: Iterable[MemoryRow], rules: TruthRules, now: int) -> list[MemoryRow]:
    """What of these can be pruned."""
    old = [row for row in rows if prunable(row, now, rules.pruning, rules.half_lives)]
    if not old:
        return []
    held = {row.subject for row in old if reading.hold(row.tenant, row.subject) is not None}
    free = [row for row in old if row.subject not in held]
    needed = _disputed(reading, free) | _evidence(reading, free, now)
    return [row for row in free if row.memory_id not in needed]


def _disputed(reading: Reading, rows: Sequence[MemoryRow]) -> set[UUID]:
    """Those that have a part in a contradiction that waits for a person."""
    if not rows:
        return set()
    found = reading.contradictions_of(rows[0].tenant, [row.memory_id for row in rows])
    return {side for one in found if not one.resolved_seq for side in (one.believed, one.doubted)}


def _evidence(reading: Reading, rows: Sequence[MemoryRow], now: int) -> set[UUID]:
    """Those that are evidence for what stands, or that could stand again for themselves."""
    if not rows:
        return set()
    tenant = rows[0].tenant
    parent_of = _parents(reading, tenant, [row.memory_id for row in rows])
    status_of = {row.memory_id: row.status for row in reading.rows_of(tenant, set(parent_of.values()))}
    needed: set[UUID] = set()
    for row in rows:
        counting = _STANDS | _LEAVES_BEHIND if row.expires_at > now else _STANDS
        parent = parent_of.get(row.memory_id)
        while parent is not None:
            if status_of.get(parent) in counting:
                needed.add(row.memory_id)
            parent = parent_of.get(parent)
    return needed


def _parents(reading: Reading, tenant: str, memory_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """Of each of these, and of all that they stand behind, what stands before it."""
    parent_of: dict[UUID, UUID] = {}
    waiting = set(memory_ids)
    while waiting:
        edges = reading.edges(tenant, (MERGED,), children=waiting)
        parent_of.update((edge.child, edge.parent) for edge in edges)
        waiting = {edge.parent for edge in edges} - parent_of.keys()
    return parent_of


def _append(pipeline: Pipeline, reading: Reading, row: MemoryRow, now: datetime) -> Append | None:
    memory = fold(reading, pipeline.keyring, row.tenant, row.memory_id)
    if memory is None or memory.version != row.version:
        return None
    because = SUPERSEDED if memory.status is Status.SUPERSEDED else DECAYED
    event = pruned(memory, because, actor=UPKEEP, at=now)
    return Append(tenant=row.tenant, events=(seal(event, pipeline.keyring),))

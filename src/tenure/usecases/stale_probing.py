"""Looking at what stale memories name, before anybody asks (SPEC T6).

1 the next memories of a tenant, each once a day: those that are recalled at all, and are stale
2 of these, opened, those that name something; the first few
3 they are looked at while nothing of the store is held, and a person is told of what failed
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from tenure.core.identity import SourceType
from tenure.core.memory import Memory
from tenure.core.rows import MemoryRow, microseconds
from tenure.core.truth import is_stale
from tenure.core.vocabulary import Kind, Status
from tenure.usecases.passes import keep_place, next_page
from tenure.usecases.pipeline import Pipeline, Rules
from tenure.usecases.portions import PAGES_MAX, Passed, Turn, at_a_standstill, sweep
from tenure.usecases.ports import Reading
from tenure.usecases.recall_probing import probe_memories
from tenure.usecases.sealing import fold

WALK: Final = "probing"
MEMORIES_MAX: Final = 25
"""How many memories one round looks at, whatever there are: looks go out to other machines."""
OF_A_TENANT_MAX: Final = 5
"""How many of one tenant are looked at before the next has its turn."""
_NOT_AS_WRITTEN: Final = (ValueError, msgspec.MsgspecError)


def check_round(pipeline: Pipeline, *, batch_size: int, passed: Passed = at_a_standstill) -> int:
    """Look at what the next stale memories name; gives back of how many something was found out.

    What is left waits for the next round, and not for this one to end: nobody is in a hurry.
    """
    if pipeline.probes is None:
        return 0
    with pipeline.store.reading() as reading:
        tenants = reading.tenants()
    checked: list[int] = []
    turn, rows = Turn(rows=MEMORIES_MAX, passed=passed), Turn(rows=PAGES_MAX * batch_size, passed=passed)

    def work(tenant: str) -> bool:
        seen, memories, more = _next(pipeline, tenant, min(rows.rows(batch_size), batch_size))
        rows.looked(seen)
        turn.looked(len(memories))
        if memories:
            checked.append(len(probe_memories(pipeline, tenant, memories)))
        return more and not rows.is_over()

    sweep(_from_another(tenants, pipeline.clock.now()), turn, work)
    return sum(checked)


def _from_another(tenants: list[str], now: datetime) -> list[str]:
    """The tenants, beginning with another one each minute, so that none comes last for ever."""
    first = int(now.timestamp() // 60) % len(tenants) if tenants else 0
    return [*tenants[first:], *tenants[:first]]


def _next(pipeline: Pipeline, tenant: str, limit: int) -> tuple[int, list[Memory], bool]:
    """The next memories to look at, of how many rows, and whether the pass goes on behind them.

    The place is kept before they are looked at: whatever a look does, no memory has two of them a day.
    """
    # Loaded when needed: most stores allow nothing to be looked at.
    from tenure.core.probe_targets import named_by  # noqa: PLC0415

    now = pipeline.clock.now()
    found: list[Memory] = []
    up_to: int | None = None
    with pipeline.store.reading() as reading:
        page = next_page(reading, WALK, tenant, now, limit=limit)
        if page is None:
            return 0, [], False
        for row in page.rows:
            if not _is_stale(row, pipeline.rules, now):
                continue
            memory = _opened(pipeline, reading, row)
            if memory is not None and named_by(memory):
                found.append(memory)
            if len(found) == OF_A_TENANT_MAX:
                up_to = row.created_seq
                break
    keep_place(pipeline.store, WALK, page, now, up_to=up_to)
    return len(page.rows), found, up_to is not None or not page.is_last


def _is_stale(row: MemoryRow, rules: Rules, now: datetime) -> bool:
    """Whether a recall would show it, with a banner."""
    at = microseconds(now)
    if row.status != Status.ACTIVE or row.expires_at <= at or not row.valid_from <= at < row.valid_to:
        return False
    half_life = rules.truth.half_lives.of(Kind(row.kind), SourceType(row.source_type))
    return is_stale(timedelta(microseconds=at - row.written_at), half_life, rules.doubt)


def _opened(pipeline: Pipeline, reading: Reading, row: MemoryRow) -> Memory | None:
    """The memory; None for what was tampered with, which `tenure log verify` tells of."""
    try:
        return fold(reading, pipeline.keyring, row.tenant, row.memory_id)
    except _NOT_AS_WRITTEN:
        return None

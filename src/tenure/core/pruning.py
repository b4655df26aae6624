"""What is no longer kept at hand (SPEC T7). Pure.

Laws: nothing under a hold is pruned, nothing that a person still has to judge, and nothing before its audit
retention is over; what is pruned is still in the log.
"""

from datetime import timedelta
from typing import Final

import msgspec

from tenure.core.identity import SourceType
from tenure.core.rows import MemoryRow
from tenure.core.truth import HalfLives, freshness
from tenure.core.vocabulary import Kind, Status


class Pruning(msgspec.Struct, frozen=True, kw_only=True):
    """When a memory is no longer kept at hand."""

    below_freshness: float = 0.05
    kept_for: timedelta = timedelta(days=90)
    """How long each is kept at hand for audits, from when it was written."""


def prunable(
    row: MemoryRow,
    now: int,
    rules: Pruning,
    half_lives: HalfLives,
    *,
    is_held: bool = False,
    is_needed: bool = False,
) -> bool:
    """Whether a memory may be pruned: superseded, or decayed and not waiting for anybody.

    ``is_held`` says that its subject is under a legal hold, ``is_needed`` that it is evidence for a memory
    that stands, or one side of a contradiction that is open.
    """
    age = timedelta(microseconds=now - row.written_at)
    if is_held or is_needed or age < rules.kept_for:
        return False
    if row.status == Status.SUPERSEDED:
        return True
    half_life = half_lives.of(Kind(row.kind), SourceType(row.source_type))
    return row.status in _DECAYING and freshness(age, half_life) < rules.below_freshness


_DECAYING: Final = frozenset({Status.ACTIVE, Status.EXPIRED, Status.REVOKED, Status.REJECTED})
"""What can be pruned once it is decayed; what waits in quarantine is for a person to decide."""

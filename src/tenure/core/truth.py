"""How a memory is doubted as it ages: freshness and staleness as pure functions of time (SPEC T1, T5)."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from tenure.core.vocabulary import LIFETIMES, Kind


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """When an item counts as stale."""

    stale_after: timedelta = timedelta(days=7)
    stale_below_freshness: float = 0.35


_HALF_LIFE_SECONDS: Final = {kind: lifetime.half_life.total_seconds() for kind, lifetime in LIFETIMES.items()}


def freshness(kind: Kind, age_seconds: float) -> float:
    """1.0 when just written, halved with every half-life of its kind; never above 1 (SPEC T1)."""
    return float(0.5 ** (max(age_seconds, 0.0) / _HALF_LIFE_SECONDS[kind]))


def is_stale(kind: Kind, written_at: datetime, now: datetime, doubt: Doubt) -> bool:
    """Whether a reader must be told to verify before acting (SPEC T5)."""
    age = now - written_at
    return age > doubt.stale_after or freshness(kind, age.total_seconds()) < doubt.stale_below_freshness


def banner(*, source_type: str, written_at: datetime, now: datetime) -> str:
    """What a stale item carries: its age, source and date, and what to do."""
    days = max((now - written_at).days, 0)
    return (
        f"Written {written_at:%Y-%m-%d} ({days} days ago), source {source_type}. It may no longer be true: "
        "verify it before acting on it."
    )

"""How a memory is doubted as it ages: freshness and staleness as pure functions of time (SPEC T1, T5).

Laws: freshness is a function of kind, source type and age alone, the same on every node and replay; a source
type can only make doubt quicker than the kind does.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

import msgspec

from tenure.core.identity import SourceType
from tenure.core.vocabulary import LIFETIMES, Kind


class HalfLives(msgspec.Struct, frozen=True, kw_only=True):
    """How fast memories are doubted, where an operator set it: by kind, and by the type of their source."""

    kinds: Mapping[Kind, timedelta] = MappingProxyType({})
    source_types: Mapping[SourceType, timedelta] = MappingProxyType({})

    def of(self, kind: Kind, source_type: SourceType) -> timedelta:
        """The half-life of the kind, or that of the source type where it is shorter."""
        by_kind = self.kinds.get(kind, LIFETIMES[kind].half_life)
        return min(by_kind, self.source_types.get(source_type, by_kind))


PLAIN: Final = HalfLives()
"""Where an operator set nothing, each kind has its own."""


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """When an item counts as stale."""

    stale_after: timedelta = timedelta(days=7)
    stale_below_freshness: float = 0.35


def freshness(age: timedelta, half_life: timedelta) -> float:
    """1.0 when just written, halved with every half-life; never above 1 (SPEC T1)."""
    return float(0.5 ** (max(age, timedelta(0)) / half_life))


def is_stale(age: timedelta, half_life: timedelta, doubt: Doubt) -> bool:
    """Whether a reader must be told to verify before acting (SPEC T5)."""
    return age > doubt.stale_after or freshness(age, half_life) < doubt.stale_below_freshness


def banner(*, source_type: str, written_at: datetime, now: datetime) -> str:
    """What a stale item carries: its age, source and date, and what to do."""
    days = max((now - written_at).days, 0)
    return (
        f"Written {written_at:%Y-%m-%d} ({days} days ago), source {source_type}. It may no longer be true: "
        "verify it before acting on it."
    )

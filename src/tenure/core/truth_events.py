"""The shapes of events about duplicates, contradictions and what is no longer at hand (SPEC T2-T4, T7).

They are stored like every other event; ``core/events.py`` names them and has the rule of change. None holds
what a memory says: ids, effects, times and counts alone.
"""

from datetime import datetime
from uuid import UUID

import msgspec


class Merged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The memory says the same as another, which stands for both; it is kept, as evidence (SPEC T2).

    ``voices`` is how many independent sources say so after this, ``trusted_voices`` how many of them are
    more than untrusted.
    """

    into: UUID
    voices: int
    trusted_voices: int
    cosine: float | None = None


class Unmerged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The memory stands for itself again, as it was before it was merged.

    The event's secret says again what the memory says, so that it is found again.
    """

    out_of: UUID
    voices: int
    trusted_voices: int
    source_id: str
    observed_at: datetime | None = None


class Corroborated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Another memory bears out what this one claims; both stand (SPEC M5a). It moves neither of them."""

    memory_id: UUID
    by: UUID
    voices: int
    trusted_voices: int


class ContradictionFound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Two memories cannot both be true: a person is to decide (SPEC T3).

    The stream is the contradiction's id; ``valid_to_before`` is the end that the doubted one had.
    """

    agent: str
    purpose: str
    believed: UUID
    doubted: UUID
    effect: str
    because: str
    valid_to_before: datetime | None = None


class ContradictionResolved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A person decided which of the two is kept; none named says that both are (SPEC T3)."""

    kept: UUID | None = None


class ValidUntil(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What the memory says holds until then, or again without an end; it stands as before (SPEC T4)."""

    because_of: UUID
    valid_to: datetime | None = None


class Reinstated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A superseded memory stands again: a person decided for it, against the one that took its place.

    ``valid_to`` is the end that it had before it was closed. The event's secret says again what the memory
    says, so that it is found again.
    """

    instead_of: UUID
    source_id: str
    observed_at: datetime | None = None
    valid_to: datetime | None = None


class Pruned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The memory is no longer kept at hand; the log has it still (SPEC T7)."""

    because: str

"""What an operator set for keeping memory true (SPEC T1-T4, T7)."""

import msgspec

from tenure.core.contradictions import Showing
from tenure.core.duplicates import Likeness
from tenure.core.pruning import Pruning
from tenure.core.truth import HalfLives


class TruthRules(msgspec.Struct, frozen=True, kw_only=True):
    """How memories are compared, doubted and no longer kept at hand."""

    compares: bool = True
    """Whether a new memory is compared with those that stand."""
    merges: bool = True
    """Whether duplicates are merged."""
    like: Likeness = Likeness()
    compared_max: int = 5_000
    """In a boundary of more memories than this, a write is compared by claims; upkeep does the rest."""
    showing: Showing = Showing.TRUSTED
    half_lives: HalfLives = HalfLives()
    pruning: Pruning = Pruning()

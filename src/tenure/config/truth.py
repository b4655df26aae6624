"""The settings of what keeps memory true: how memories are compared, doubted and no longer kept at hand."""

from datetime import timedelta
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from tenure.config.kinds import Name
from tenure.core.contradictions import Showing
from tenure.core.duplicates import Likeness
from tenure.core.identity import SourceType
from tenure.core.pruning import Pruning
from tenure.core.truth import HalfLives
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Kind

DAY_SECONDS: Final = 86_400
TEN_YEARS_SECONDS: Final = 3_650 * DAY_SECONDS
HALF_LIFE_SECONDS_MIN: Final = 60
Named = TypeVar("Named", Kind, SourceType)
HalfLife = Annotated[str, Meta(pattern=r"^[a-z_]+=[0-9]{2,9}$")]


class Truth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of memories that say the same, contradict each other, or grow old."""

    compare: Annotated[bool, Meta(description="Whether a new memory is compared with those that stand.")] = (
        True
    )
    merge_duplicates: Annotated[
        bool, Meta(description="Whether memories that say the same are merged; that can be undone.")
    ] = True
    merge_cosine: Annotated[
        float, Meta(description="Likeness from which on two memories may be one.", ge=0.9, le=1)
    ] = 0.97
    near_cosine: Annotated[
        float,
        Meta(description="Likeness above which a memory is looked at for a contradiction.", ge=0.5, le=1),
    ] = 0.90
    neighbours: Annotated[
        int, Meta(description="Nearest memories of each trust that a new one is compared with.", ge=1, le=50)
    ] = 5
    compared_max: Annotated[
        int,
        Meta(
            description="In a boundary of more memories, a write is compared by its claims; upkeep does the "
            "rest.",
            ge=0,
            le=1_000_000,
        ),
    ] = 5_000
    several: Annotated[
        tuple[Name, ...],
        Meta(
            description="Attributes of which one thing can have several values at once.",
            extra={"accepts": "names of attributes, parted by commas"},
        ),
    ] = ()
    show: Annotated[
        Literal["trusted", "both"],
        Meta(description="What a recall shows of two memories that contradict each other."),
    ] = "trusted"
    kind_half_lives: Annotated[
        tuple[HalfLife, ...],
        Meta(
            description="How fast kinds of memories are doubted.",
            extra={"accepts": "KIND=SECONDS, such as fact=604800, parted by commas"},
        ),
    ] = ()
    source_half_lives: Annotated[
        tuple[HalfLife, ...],
        Meta(
            description="How fast what a type of source says is doubted, where that is faster than its kind.",
            extra={"accepts": "TYPE=SECONDS, such as web=86400, parted by commas"},
        ),
    ] = ()
    prune_below_freshness: Annotated[
        float, Meta(description="Freshness under which a memory is no longer kept at hand.", ge=0, le=1)
    ] = 0.05
    prune_after_seconds: Annotated[
        int,
        Meta(
            description="Age up to which every memory is kept at hand, for audits.",
            ge=DAY_SECONDS,
            le=TEN_YEARS_SECONDS,
        ),
    ] = 90 * DAY_SECONDS

    def __post_init__(self) -> None:
        """Refuse what would only be noticed at the first memory."""
        if self.merge_cosine < self.near_cosine:
            raise ValueError("merge_cosine must not be below near_cosine: what is merged is looked at first")
        _half_lives(self.kind_half_lives, Kind, "kind_half_lives")
        _half_lives(self.source_half_lives, SourceType, "source_half_lives")

    @property
    def rules(self) -> TruthRules:
        """What was set, as the rules take it."""
        return TruthRules(
            compares=self.compare,
            merges=self.merge_duplicates,
            like=Likeness(
                merge_cosine=self.merge_cosine,
                near_cosine=self.near_cosine,
                neighbours=self.neighbours,
                several=frozenset(self.several),
            ),
            compared_max=self.compared_max,
            showing=Showing(self.show),
            half_lives=HalfLives(
                kinds=_half_lives(self.kind_half_lives, Kind, "kind_half_lives"),
                source_types=_half_lives(self.source_half_lives, SourceType, "source_half_lives"),
            ),
            pruning=Pruning(
                below_freshness=self.prune_below_freshness,
                kept_for=timedelta(seconds=self.prune_after_seconds),
            ),
        )


def _half_lives(texts: tuple[str, ...], names: type[Named], field: str) -> dict[Named, timedelta]:
    """What was set for each; raises ValueError for an unknown name, one that stands twice, or too short."""
    found: dict[Named, timedelta] = {}
    for text in texts:
        name, _, seconds = text.partition("=")
        if name not in set(names):
            raise ValueError(f"{field} has {name!r}, which is none of: {', '.join(sorted(names))}")
        if names(name) in found:
            raise ValueError(f"{field} has {name} twice")
        if int(seconds) < HALF_LIFE_SECONDS_MIN:
            raise ValueError(f"{field}: a half-life is at least {HALF_LIFE_SECONDS_MIN} seconds ({name})")
        found[names(name)] = timedelta(seconds=int(seconds))
    return found

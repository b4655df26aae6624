"""The settings of what keeps memory true (SPEC T1-T3, T7): a slip is noticed at the start."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tenure.config import ConfigError, Settings, Truth, load
from tenure.core.contradictions import Showing
from tenure.core.duplicates import Likeness
from tenure.core.identity import SourceType
from tenure.core.pruning import Pruning
from tenure.core.truth_rules import TruthRules
from tenure.core.vocabulary import Kind
from tenure.wiring.rules_in_force import rules


def test_without_a_setting_the_rules_are_those_that_the_rules_have() -> None:
    """SPEC S3: the default of a setting is that of what it sets."""
    assert Truth().rules == TruthRules()
    assert Truth().rules.like == Likeness()
    assert Truth().rules.pruning == Pruning()


def test_what_is_set_is_what_the_rules_go_by() -> None:
    """SPEC T1-T3, T7: each setting, in the form that the rules take it."""
    given = {
        "compare": False,
        "merge_duplicates": False,
        "merge_cosine": 0.99,
        "near_cosine": 0.8,
        "neighbours": 7,
        "compared_max": 0,
        "several": ["uses", "email"],
        "show": "both",
        "kind_half_lives": ["fact=604800", "preference=60"],
        "source_half_lives": ["web=86400"],
        "prune_below_freshness": 0.1,
        "prune_after_seconds": 86_400,
    }

    in_force = msgspec.convert(given, Truth).rules

    assert (in_force.compares, in_force.merges, in_force.compared_max) == (False, False, 0)
    assert in_force.like == Likeness(
        merge_cosine=0.99, near_cosine=0.8, neighbours=7, several=frozenset({"uses", "email"})
    )
    assert in_force.showing is Showing.BOTH
    assert in_force.half_lives.kinds == {
        Kind.FACT: timedelta(days=7),
        Kind.PREFERENCE: timedelta(minutes=1),
    }
    assert in_force.half_lives.source_types == {SourceType.WEB: timedelta(days=1)}
    assert in_force.pruning == Pruning(below_freshness=0.1, kept_for=timedelta(days=1))


def test_the_store_goes_by_what_is_set() -> None:
    """SPEC S3: a setting that no rule reads would be none."""
    settings = Settings(truth=Truth(compare=False, kind_half_lives=("fact=604800",)))

    assert rules(settings).truth == settings.truth.rules


@pytest.mark.parametrize(
    "given",
    [
        {"merge_cosine": 0.89},
        {"merge_cosine": 1.01},
        {"near_cosine": 0.49},
        {"near_cosine": 0.98},
        {"merge_cosine": 0.9, "near_cosine": 0.95},
        {"neighbours": 0},
        {"neighbours": 51},
        {"compared_max": -1},
        {"several": [""]},
        {"show": "newest"},
        {"kind_half_lives": ["opinion=604800"]},
        {"kind_half_lives": ["web=604800"]},
        {"kind_half_lives": ["fact"]},
        {"kind_half_lives": ["fact=soon"]},
        {"kind_half_lives": ["fact=59"]},
        {"kind_half_lives": ["fact=0604800000"]},
        {"kind_half_lives": ["fact=604800", "fact=86400"]},
        {"source_half_lives": ["fact=604800"]},
        {"source_half_lives": ["web=-1"]},
        {"prune_below_freshness": -0.1},
        {"prune_below_freshness": 1.1},
        {"prune_after_seconds": 86_399},
        {"prune_after_seconds": 3_650 * 86_400 + 1},
        {"nonsense": 1},
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    """SPEC S3: at the start, not at the first memory."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, Truth)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TENURE_TRUTH__KIND_HALF_LIVES", "fact=604800,opinion=60", "opinion"),
        ("TENURE_TRUTH__SOURCE_HALF_LIVES", "web=1000,web=2000", "web twice"),
        ("TENURE_TRUTH__NEAR_COSINE", "0.99", "merge_cosine"),
        ("TENURE_TRUTH__SHOW", "newest", "TENURE_TRUTH__SHOW"),
    ],
)
def test_the_message_names_what_is_wrong(name: str, value: str, said: str) -> None:
    """SPEC S3: in the words of the setting."""
    with pytest.raises(ConfigError, match=said):
        load(environment={name: value})

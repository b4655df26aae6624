"""What is done and seldom meant in a policy, and what no rule is about (SPEC L2, S2)."""

from typing import Any

import pytest
from msgspec.structs import replace

from tenure.core.admission import Condition, Policy, Rule, default_policy, is_default
from tenure.core.identity import Role, SourceType
from tenure.core.policy_doubts import Gap, doubts, gaps
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Kind, Outcome, Trust


def policy_of(*rules: Rule) -> Policy:
    """A policy of these rules."""
    return Policy(version="v1", rules=rules)


def rule(name: str, outcome: Outcome = Outcome.QUARANTINE, **when: Any) -> Rule:
    """A rule in few words."""
    trust = Trust.USER_ASSERTED if outcome is Outcome.APPROVE else Trust.UNTRUSTED
    return Rule(name=name, reason="because", when=Condition(**when), outcome=outcome, trust=trust)


def longer(name: str, characters: int) -> Rule:
    """A rule about length."""
    return rule(name, empty_or_longer_than_characters=characters)


APPROVE = Outcome.APPROVE
FACT = frozenset({Kind.FACT})
MAIL = frozenset({SourceType.EMAIL})
OUTSIDE = frozenset(SourceType) - {SourceType.APPLICATION}
SPOKEN = rule("found", Outcome.REJECT, findings=frozenset(FindingKind))
B_IS_HIDDEN = "rule b is never reached: a matches all that it would"
A_IS_OPEN = "rule a lets in text from outside"
WRITER = frozenset({Role.WRITER})
DOUBTED: list[tuple[tuple[Rule, ...], str]] = [
    ((SPOKEN,), ""),
    ((SPOKEN, rule("a", kinds=FACT), rule("b", kinds=FACT)), B_IS_HIDDEN),
    ((SPOKEN, rule("a", kinds=frozenset(Kind)), rule("b", kinds=FACT, source_types=MAIL)), B_IS_HIDDEN),
    ((SPOKEN, rule("b", kinds=FACT, source_types=MAIL), rule("a", kinds=FACT)), ""),
    ((SPOKEN, rule("a", source_types=MAIL), rule("b", kinds=FACT)), ""),
    ((SPOKEN, longer("a", 10), longer("b", 20)), B_IS_HIDDEN),
    ((SPOKEN, longer("a", 20), longer("b", 10)), ""),
    ((SPOKEN, rule("a", APPROVE, source_types=MAIL)), A_IS_OPEN),
    ((SPOKEN, rule("a", APPROVE, kinds=FACT)), A_IS_OPEN),
    ((SPOKEN, rule("e", source_types=OUTSIDE), rule("a", APPROVE, kinds=FACT)), ""),
    ((rule("a", kinds=FACT),), "no rule is about the findings credential, attack"),
    ((SPOKEN, rule("a", roles=frozenset(Role)), rule("b", roles=WRITER, kinds=FACT)), B_IS_HIDDEN),
    ((SPOKEN, rule("a", roles=WRITER), rule("b", kinds=FACT)), ""),
    ((SPOKEN, rule("a", model_driven=True), rule("b", model_driven=True, kinds=FACT)), B_IS_HIDDEN),
    ((SPOKEN, rule("a", model_driven=True), rule("b", model_driven=False, kinds=FACT)), ""),
    ((SPOKEN, rule("a", has_claim=True), rule("b", claim_entities=frozenset({"x"}))), B_IS_HIDDEN),
    ((SPOKEN, rule("a", has_claim=True), rule("b", has_claim=False)), ""),
    ((SPOKEN, rule("a", characters_min=5), rule("b", characters_min=6, kinds=FACT)), B_IS_HIDDEN),
    ((SPOKEN, rule("a", characters_min=5), rule("b", characters_min=4)), ""),
    ((SPOKEN, rule("a", characters_max=5), rule("b", characters_max=4)), B_IS_HIDDEN),
    ((SPOKEN, rule("a", characters_max=5), rule("b", characters_max=6)), ""),
    (
        (SPOKEN, rule("e", source_types=OUTSIDE), rule("m", APPROVE, model_driven=True)),
        "what a model proposes",
    ),
]


@pytest.mark.parametrize(("rules", "doubt"), DOUBTED)
def test_what_is_seldom_meant_is_doubted(rules: tuple[Rule, ...], doubt: str) -> None:
    """SPEC S2: it can be done, so it is said and not refused."""
    found = doubts(policy_of(*rules))

    assert [one for one in found if not doubt or doubt not in one] == []
    assert bool(found) == bool(doubt)


def test_the_name_of_the_policy_that_ships_is_its_own() -> None:
    """SPEC L2: a stored version tells which rules decided."""
    changed = replace(default_policy(), rules=default_policy().rules[:-1])

    assert doubts(default_policy(content_characters_max=10)) == ()
    assert ["is called default-1" in one for one in doubts(changed) if "called" in one] == [True]
    assert (is_default(default_policy()), is_default(changed), is_default(policy_of())) == (
        True,
        False,
        False,
    )


def test_what_falls_through_is_named_by_source() -> None:
    """SPEC L2: under the policy that ships, what a person says of anything but preferences waits."""
    (gap,) = gaps(default_policy())

    assert gap.source_type is SourceType.DIRECT_USER
    assert set(gap.kinds) == set(Kind) - {Kind.PREFERENCE, Kind.SENSITIVE_CHANGE}


def test_a_rule_that_asks_for_more_fills_no_gap() -> None:
    """SPEC L2: what it does not match still falls through."""
    everything = frozenset(Kind)

    assert gaps(policy_of(rule("all", kinds=everything))) == ()
    assert gaps(policy_of(rule("some", kinds=everything, roles=WRITER))) == tuple(
        Gap(source_type=source, kinds=tuple(Kind)) for source in SourceType
    )

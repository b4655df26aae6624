"""The write policy: the order of its rules, and what no rule can be made to say."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.core.examples import MODEST

from tenure.core.admission import Condition, Policy, Proposal, Rule, default_policy, rule_on
from tenure.core.identity import Role, SourceType
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Claim, Kind, Outcome, Trust

POLICY = default_policy()
PLAIN = Proposal(
    kind=Kind.PREFERENCE, source_type=SourceType.DIRECT_USER, characters=20, findings=frozenset()
)
STRICTNESS = {Outcome.APPROVE: 0, Outcome.QUARANTINE: 1, Outcome.REJECT: 2}

# Each rule alone, in the order of SPEC L3: what makes a plain preference match it, and what it says.
IN_ORDER: list[tuple[str, dict[str, object], Outcome]] = [
    ("content_length", {"characters": 0}, Outcome.REJECT),
    ("credential", {"findings": frozenset({FindingKind.CREDENTIAL})}, Outcome.REJECT),
    ("attack", {"findings": frozenset({FindingKind.ATTACK})}, Outcome.REJECT),
    ("scanner_failed", {"findings": frozenset({FindingKind.FAILURE})}, Outcome.QUARANTINE),
    ("sensitive_change", {"kind": Kind.SENSITIVE_CHANGE}, Outcome.QUARANTINE),
    ("sensitive_content", {"findings": frozenset({FindingKind.SENSITIVE})}, Outcome.QUARANTINE),
    ("external_source", {"source_type": SourceType.EMAIL}, Outcome.QUARANTINE),
    ("direct_user_preference", {}, Outcome.APPROVE),
    ("application", {"source_type": SourceType.APPLICATION}, Outcome.APPROVE),
]
DEFAULT_ROWS = [
    ("direct_user", "preference", "approve", "user_asserted", 90),
    ("direct_user", "fact", "quarantine", "untrusted", None),
    ("direct_user", "skill", "quarantine", "untrusted", None),
    ("direct_user", "summary", "quarantine", "untrusted", None),
    ("direct_user", "sensitive_change", "quarantine", "untrusted", None),
    ("application", "preference", "approve", "application_verified", 30),
    ("application", "fact", "approve", "application_verified", 30),
    ("application", "summary", "approve", "application_verified", 30),
    ("application", "external_claim", "approve", "application_verified", 30),
    ("application", "sensitive_change", "quarantine", "untrusted", None),
    ("email", "preference", "quarantine", "untrusted", None),
    ("document", "preference", "quarantine", "untrusted", None),
    ("web", "preference", "quarantine", "untrusted", None),
    ("tool", "preference", "quarantine", "untrusted", None),
    ("other_agent", "preference", "quarantine", "untrusted", None),
]

WRITER, OFFICER = frozenset({Role.WRITER}), frozenset({Role.WRITER, Role.PRIVACY_OFFICER})
PRICE = Claim(entity="Shop 7", attribute="Opening\u00a0hours", value="9 to 5")
# A condition, the proposal changed, whether it matches.
ASKED: list[tuple[dict[str, object], dict[str, object], bool]] = [
    ({"roles": frozenset({Role.PRIVACY_OFFICER})}, {"roles": OFFICER}, True),
    ({"roles": frozenset({Role.PRIVACY_OFFICER})}, {"roles": WRITER}, False),
    ({"model_driven": True}, {"model_driven": True}, True),
    ({"model_driven": True}, {}, False),
    ({"model_driven": False}, {}, True),
    ({"has_claim": True}, {"claim": PRICE}, True),
    ({"has_claim": True}, {}, False),
    ({"has_claim": False}, {"claim": PRICE}, False),
    ({"has_claim": False}, {}, True),
    ({"claim_entities": frozenset({"shop 7"})}, {"claim": PRICE}, True),
    ({"claim_entities": frozenset({"shop 8"})}, {"claim": PRICE}, False),
    ({"claim_attributes": frozenset({"opening hours"})}, {"claim": PRICE}, True),
    ({"claim_attributes": frozenset({"opening hours"})}, {}, False),
    ({"characters_min": 20}, {"characters": 20}, True),
    ({"characters_min": 21}, {"characters": 20}, False),
    ({"characters_max": 20}, {"characters": 20}, True),
    ({"characters_max": 19}, {"characters": 20}, False),
    ({"characters_max": 19}, {"characters": 0}, True),
    ({"has_claim": True, "model_driven": True}, {"claim": PRICE}, False),
]

finding_sets = st.frozensets(st.sampled_from(FindingKind))
proposals = st.builds(
    Proposal,
    kind=st.sampled_from(Kind),
    source_type=st.sampled_from(SourceType),
    characters=st.integers(min_value=0, max_value=4_000),
    findings=finding_sets,
    input_trusts=st.lists(st.sampled_from(Trust), max_size=3).map(tuple),
    corrected_trust=st.none() | st.sampled_from(Trust),
)
policies = st.builds(default_policy, on_scanner_failure=st.sampled_from([Outcome.QUARANTINE, Outcome.REJECT]))


def combined(*changes: dict[str, object]) -> Proposal:
    """A proposal that several rules match at once."""
    found: frozenset[FindingKind] = frozenset()
    merged: dict[str, object] = {}
    for change in changes:
        merged |= change
        findings = change.get("findings", frozenset())
        assert isinstance(findings, frozenset)
        found |= findings
    return replace(PLAIN, **{**merged, "findings": found})


@given(proposal=proposals, outcome=st.sampled_from(Outcome))
def test_no_rule_lets_in_what_a_scanner_found(proposal: Proposal, outcome: Outcome) -> None:
    """SPEC L4, L5, M5b: not even one that approves everything; a failed scan is a finding too."""
    anything = Rule(
        name="anything",
        reason="because",
        when=Condition(kinds=frozenset(Kind)),
        outcome=outcome,
        trust=Trust.USER_ASSERTED,
    )
    decision = rule_on(Policy(version="open", rules=(anything,)), proposal).decision

    assert not (proposal.findings and decision.outcome is Outcome.APPROVE)
    assert (decision.rule == "found_by_scanner") == (bool(proposal.findings) and outcome is Outcome.APPROVE)


def test_the_default_rules_stand_in_the_order_of_the_specification() -> None:
    """SPEC L3: the order, by name."""
    assert [rule.name for rule in POLICY.rules] == [name for name, _, _ in IN_ORDER]


@pytest.mark.parametrize(("name", "change", "outcome"), IN_ORDER)
def test_each_rule_alone_decides_and_says_why(name: str, change: dict[str, object], outcome: Outcome) -> None:
    """SPEC L2, L3: outcome, rule, reason and policy version."""
    decision = rule_on(POLICY, replace(PLAIN, **change)).decision

    assert (decision.outcome, decision.rule, decision.policy_version) == (outcome, name, "default-1")
    assert decision.reason


@pytest.mark.parametrize(
    ("earlier", "later"),
    [(earlier, later) for at, earlier in enumerate(IN_ORDER[:7]) for later in IN_ORDER[at + 1 : 7]],
    ids=lambda row: row[0],
)
def test_where_two_rules_match_the_earlier_one_decides(
    earlier: tuple[str, dict[str, object], Outcome], later: tuple[str, dict[str, object], Outcome]
) -> None:
    """SPEC L3: in order."""
    assert rule_on(POLICY, combined(later[1], earlier[1])).decision.rule == earlier[0]


@pytest.mark.parametrize(("source_type", "kind", "outcome", "trust", "days"), DEFAULT_ROWS)
def test_source_and_kind_decide_what_a_clean_proposal_becomes(
    source_type: str, kind: str, outcome: str, trust: str, days: int | None
) -> None:
    """SPEC L3, M5: trust comes from who wrote and where it came from."""
    ruling = rule_on(POLICY, replace(PLAIN, source_type=SourceType(source_type), kind=Kind(kind)))

    assert (ruling.decision.outcome, ruling.trust) == (outcome, trust)
    assert ruling.lifetime == (timedelta(days=days) if days else None)


@pytest.mark.parametrize(
    ("characters", "rule"),
    [
        (0, "content_length"),
        (1, "direct_user_preference"),
        (2_000, "direct_user_preference"),
        (2_001, "content_length"),
    ],
)
def test_content_has_one_to_two_thousand_characters(characters: int, rule: str) -> None:
    """SPEC L3: empty or over 2,000 characters is rejected."""
    assert rule_on(POLICY, replace(PLAIN, characters=characters)).decision.rule == rule


def test_the_length_limit_is_configurable_and_named_in_the_reason() -> None:
    """SPEC L3: the figure in brackets is a default."""
    policy = default_policy(content_characters_max=10)

    decision = rule_on(policy, replace(PLAIN, characters=11)).decision

    assert (decision.outcome, decision.reason) == (Outcome.REJECT, "content must have 1 to 10 characters")


@pytest.mark.parametrize("setting", [Outcome.QUARANTINE, Outcome.REJECT])
def test_a_failed_scanner_has_the_outcome_that_was_configured(setting: Outcome) -> None:
    """SPEC L5: quarantine or reject."""
    policy = default_policy(on_scanner_failure=setting)

    decision = rule_on(policy, replace(PLAIN, findings=frozenset({FindingKind.FAILURE}))).decision

    assert (decision.outcome, decision.rule) == (setting, "scanner_failed")


@pytest.mark.parametrize("source_type", SourceType)
def test_a_failed_scanner_never_admits_even_if_it_was_configured_to(source_type: SourceType) -> None:
    """SPEC L5: no configuration admits what nobody scanned."""
    policy = default_policy(on_scanner_failure=Outcome.APPROVE)

    ruling = rule_on(
        policy, replace(PLAIN, source_type=source_type, findings=frozenset({FindingKind.FAILURE}))
    )

    assert ruling.decision.outcome is not Outcome.APPROVE


@pytest.mark.parametrize("inputs", [(first, second) for first in Trust for second in Trust])
def test_what_is_derived_has_the_lowest_trust_of_its_inputs(inputs: tuple[Trust, Trust]) -> None:
    """SPEC M5a: and never more than its own source earns; with an untrusted input it waits."""
    ruling = rule_on(POLICY, replace(PLAIN, source_type=SourceType.APPLICATION, input_trusts=inputs))

    lowest = min((Trust.APPLICATION_VERIFIED, *inputs), key=lambda trust: trust.rank)
    if lowest is Trust.UNTRUSTED:
        assert ruling.decision.outcome is Outcome.QUARANTINE
        assert ruling.decision.rule == "derived_from_untrusted"
    else:
        assert (ruling.decision.outcome, ruling.trust) == (Outcome.APPROVE, lowest)


@pytest.mark.parametrize("corrected", Trust)
@pytest.mark.parametrize(
    ("source_type", "earned"),
    [(SourceType.DIRECT_USER, Trust.USER_ASSERTED), (SourceType.APPLICATION, Trust.APPLICATION_VERIFIED)],
)
def test_a_correction_displaces_only_what_is_trusted_no_more(
    source_type: SourceType, earned: Trust, corrected: Trust
) -> None:
    """SPEC L10: an untrusted claim never displaces a trusted one."""
    decision = rule_on(POLICY, replace(PLAIN, source_type=source_type, corrected_trust=corrected)).decision

    if corrected.rank > earned.rank:
        assert (decision.outcome, decision.rule) == (Outcome.QUARANTINE, "correction_outranked")
    else:
        assert decision.outcome is Outcome.APPROVE


def test_what_an_untrusted_input_lowers_is_held_back_as_a_correction_too() -> None:
    """SPEC M5a, L10: the trust that counts against the corrected memory is the lowered one."""
    proposal = replace(
        PLAIN,
        source_type=SourceType.APPLICATION,
        input_trusts=(Trust.USER_ASSERTED,),
        corrected_trust=Trust.APPLICATION_VERIFIED,
    )

    assert rule_on(POLICY, proposal).decision.rule == "correction_outranked"


@MODEST
@given(proposal=proposals)
def test_an_empty_policy_quarantines_everything(proposal: Proposal) -> None:
    """SPEC L2: anything no rule matches is quarantined."""
    ruling = rule_on(Policy(version="empty-1", rules=()), proposal)

    assert (ruling.decision.outcome, ruling.trust) == (Outcome.QUARANTINE, Trust.UNTRUSTED)
    assert (ruling.decision.rule, ruling.decision.policy_version) == ("no_rule_matched", "empty-1")


@MODEST
@given(proposal=proposals)
def test_a_rule_without_a_condition_matches_nothing(proposal: Proposal) -> None:
    """SPEC L2: a rule that forgot to say when never approves anything."""
    careless = Rule(
        name="careless", reason="-", when=Condition(), outcome=Outcome.APPROVE, trust=Trust.REVIEWER_VERIFIED
    )

    assert rule_on(Policy(version="1", rules=(careless,)), proposal).decision.rule == "no_rule_matched"


def test_every_side_of_a_condition_must_hold() -> None:
    """SPEC L3: `direct_user` and `preference`, not either."""
    both = Condition(kinds=frozenset({Kind.FACT}), source_types=frozenset({SourceType.TOOL}))
    policy = Policy(version="1", rules=(Rule(name="both", reason="-", when=both, outcome=Outcome.REJECT),))
    tried = {
        (kind, source_type): rule_on(policy, replace(PLAIN, kind=kind, source_type=source_type)).decision.rule
        for kind in Kind
        for source_type in SourceType
    }

    assert [pair for pair, rule in tried.items() if rule == "both"] == [(Kind.FACT, SourceType.TOOL)]


@MODEST
@given(policy=policies, proposal=proposals, more=finding_sets)
def test_what_scanners_find_never_makes_an_outcome_laxer(
    policy: Policy, proposal: Proposal, more: frozenset[FindingKind]
) -> None:
    """SPEC M5b: a finding can only quarantine, reject or lower."""
    before = rule_on(policy, proposal)
    after = rule_on(policy, replace(proposal, findings=proposal.findings | more))

    assert STRICTNESS[before.decision.outcome] <= STRICTNESS[after.decision.outcome]
    assert before.trust.rank >= after.trust.rank


@MODEST
@given(proposal=proposals)
def test_only_what_is_approved_is_trusted(proposal: Proposal) -> None:
    """SPEC L6, M5: what waits or was turned down is untrusted, and what is approved is not."""
    ruling = rule_on(POLICY, proposal)

    assert (ruling.decision.outcome is Outcome.APPROVE) == (ruling.trust is not Trust.UNTRUSTED)
    assert ruling.trust is not Trust.REVIEWER_VERIFIED


def test_trust_has_an_order_and_four_steps() -> None:
    """SPEC M5: untrusted < user_asserted < application_verified < reviewer_verified."""
    in_order = ["untrusted", "user_asserted", "application_verified", "reviewer_verified"]

    assert list(Trust) == in_order
    assert all(lower.rank < higher.rank for lower, higher in pairwise(Trust))


@pytest.mark.parametrize(("when", "change", "matches"), ASKED)
def test_a_rule_may_ask_who_proposes_and_what_is_claimed(
    when: dict[str, object], change: dict[str, object], *, matches: bool
) -> None:
    """SPEC L2: every side that is given must hold; names in claims are compared without case and width."""
    rule = Rule(name="asks", reason="because", when=Condition(**when), outcome=Outcome.REJECT)  # type: ignore[arg-type]

    decision = rule_on(Policy(version="v1", rules=(rule,)), replace(PLAIN, **change)).decision

    assert (decision.rule == "asks") is matches


def test_the_policy_sees_neither_content_nor_confidence_nor_a_wish_for_trust() -> None:
    """SPEC M5: what the policy cannot see cannot sway it."""
    assert set(Proposal.__struct_fields__) == {
        "kind",
        "source_type",
        "characters",
        "findings",
        "roles",
        "model_driven",
        "claim",
        "input_trusts",
        "corrected_trust",
    }

"""What another policy would say of one memory, or of a refused proposal (SPEC I4)."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.examples import NOW, memory

from tenure.core.admission import Condition, Policy, Proposal, Rule, Side, default_policy
from tenure.core.custom_rules import Objection
from tenure.core.events import Refused
from tenure.core.identity import Role, SourceType
from tenure.core.memory import evolve
from tenure.core.policy_replay import UNKNOWN, Effect, Standing, after_refusal, holding, reconsider
from tenure.core.vocabulary import Kind, Outcome, Status, Trust, Verdict

ACTIVE, QUARANTINED = Status.ACTIVE, Status.QUARANTINED
APPROVE, QUARANTINE, REJECT = Outcome
USER, APPLICATION = Trust.USER_ASSERTED, Trust.APPLICATION_VERIFIED
PROPOSAL = Proposal(kind=Kind.FACT, source_type=SourceType.APPLICATION, characters=20, findings=frozenset())
REFUSED = Refused(
    agent="a",
    purpose="p",
    kind=Kind.FACT,
    source_type=SourceType.APPLICATION,
    source_id="crm-1",
    rule="credential",
    reason="because",
    policy_version="v0",
    fingerprint=b"f",
)
WRITER = frozenset({Role.WRITER})
BY_MODEL = replace(REFUSED, proposer_roles=(Role.WRITER,), proposer_model_driven=True)
FOUND = (Verdict(kind="credential", rule="r", scanner="s", start=0, end=1, confidence=1.0),)

# Where it stands, its trust and the rule it stands by, whether a policy held it; what is said; the effect.
JUDGED: list[tuple[Status, Trust, str, bool, Outcome, Trust, Effect | None]] = [
    (ACTIVE, USER, "other", False, APPROVE, USER, None),
    (ACTIVE, USER, "other", False, APPROVE, APPLICATION, None),
    (ACTIVE, APPLICATION, "other", False, APPROVE, USER, Effect.KEEPS_TRUST),
    (ACTIVE, USER, "other", False, QUARANTINE, USER, Effect.HELD),
    (ACTIVE, USER, "rule", False, REJECT, USER, Effect.HELD),
    (QUARANTINED, USER, "other", False, APPROVE, USER, Effect.STAYS_QUARANTINED),
    (QUARANTINED, USER, "other", False, QUARANTINE, USER, None),
    (QUARANTINED, USER, "rule", False, REJECT, USER, Effect.STAYS_QUARANTINED),
    (QUARANTINED, USER, "other", True, REJECT, USER, Effect.STAYS_QUARANTINED),
    (QUARANTINED, USER, "rule", True, REJECT, USER, None),
    (QUARANTINED, USER, "rule", True, APPROVE, USER, Effect.STAYS_QUARANTINED),
]


def policy(outcome: Outcome, trust: Trust = USER, **when: Any) -> Policy:
    """A policy of one rule."""
    condition = Condition(**(when or {"kinds": frozenset(Kind)}))
    rule = Rule(name="rule", reason="because", when=condition, outcome=outcome, trust=trust)
    return Policy(version="v1", rules=(rule,))


def standing(status: Status, trust: Trust = USER, rule: str = "other", *, held: bool = False) -> Standing:
    """A memory as it stands."""
    one = memory(status=status, trust=trust)
    one = replace(one, decision=replace(one.decision, rule=rule))
    return Standing(memory=one, proposal=PROPOSAL, held=held)


@pytest.mark.parametrize("row", JUDGED, ids=str)
def test_what_would_come_of_it(
    row: tuple[Status, Trust, str, bool, Outcome, Trust, Effect | None],
) -> None:
    """SPEC I4: only an active memory is ever touched, and only by holding it."""
    status, trust, rule, held, outcome, gives, effect = row
    said = reconsider(policy(outcome, gives), standing(status, trust, rule, held=held))

    assert said.effect is effect


def test_what_turns_on_what_was_not_kept_stays_as_it_is() -> None:
    """SPEC I4: of old memories it is not known who proposed them; a switch does not guess."""
    old = replace(standing(ACTIVE), unknown=frozenset({Side.CALLER}))
    by_role, by_kind = policy(REJECT, roles=WRITER), policy(REJECT)

    ruling, effect, _custom = reconsider(by_role, old)

    assert (ruling.decision.outcome, ruling.decision.rule, effect) == (APPROVE, UNKNOWN, None)
    assert reconsider(by_kind, old).effect is Effect.HELD
    assert reconsider(replace(by_role, rules=by_kind.rules + by_role.rules), old).effect is Effect.HELD


class House:
    """A custom rule that says what a test wants of what it is shown."""

    version = "1"

    def __init__(self, judge: Callable[[Proposal], Any], name: str = "house") -> None:
        self.name = name
        self.judge = judge


def against(outcome: Outcome) -> Callable[[Proposal], Objection]:
    """Something against every proposal."""
    return lambda _proposal: Objection(outcome=outcome, reason="house rules")


def of_writers(proposal: Proposal) -> Objection | None:
    """Something against what no writer proposes."""
    match proposal:
        case Proposal(roles=roles) if Role.WRITER not in roles:
            return Objection(outcome=REJECT, reason="writers only")
        case _:
            return None


@pytest.mark.parametrize(
    ("status", "said", "outcome", "rule", "effect"),
    [
        (ACTIVE, None, APPROVE, "rule", None),
        (ACTIVE, QUARANTINE, QUARANTINE, "custom.house", Effect.HELD),
        (ACTIVE, REJECT, REJECT, "custom.house", Effect.HELD),
        (QUARANTINED, QUARANTINE, QUARANTINE, "custom.house", None),
        (QUARANTINED, REJECT, REJECT, "custom.house", Effect.STAYS_QUARANTINED),
    ],
)
def test_custom_rules_have_their_word(
    status: Status, said: Outcome | None, outcome: Outcome, rule: str, effect: Effect | None
) -> None:
    """SPEC I4: a replay asks the rules in code as a write does, behind the policy."""
    house = House(against(said) if said else lambda _proposal: None)

    ruling, found, custom = reconsider(policy(APPROVE), standing(status), (house,))

    assert (ruling.decision.outcome, ruling.decision.rule, found) == (outcome, rule, effect)
    assert custom is not None
    assert (custom.untold, custom.failed) == ((), ())


def _fails(_proposal: Proposal) -> None:
    raise LookupError


@pytest.mark.parametrize(
    "answer", [_fails, lambda _proposal: "no", against(APPROVE)], ids=["raises", "a text", "lets it in"]
)
def test_a_memory_is_not_touched_where_a_custom_rule_fails(answer: Callable[[Proposal], Any]) -> None:
    """SPEC I4, L5: a plug-in that breaks empties no memory; the answer names it."""
    ruling, effect, custom = reconsider(policy(APPROVE), standing(ACTIVE), (House(answer),))

    assert (ruling.decision.rule, effect) == (UNKNOWN, None)
    assert custom is not None
    assert (custom.untold, custom.failed) == ((), ("house",))


def test_a_custom_rule_that_looks_at_what_was_not_kept_has_no_word() -> None:
    """SPEC I4: whatever it says of a caller that nobody knows any more; one that does not look has."""
    old = replace(standing(ACTIVE), unknown=frozenset({Side.CALLER}))
    kinds = House(lambda proposal: None if proposal.kind is Kind.FACT else against(REJECT)(proposal))

    guessed, effect, custom = reconsider(policy(APPROVE), old, (House(of_writers),))

    assert (guessed.decision.rule, effect) == (UNKNOWN, None)
    assert custom is not None
    assert custom.untold == ("house",)
    assert reconsider(policy(APPROVE), old, (kinds,)).ruling.decision.rule == "rule"
    assert reconsider(policy(APPROVE), standing(ACTIVE), (House(of_writers),)).effect is Effect.HELD


def test_where_something_turns_it_away_nobody_else_need_be_asked() -> None:
    """SPEC L2: nothing is stricter than that, so a rule without a word changes nothing."""
    strict = House(against(REJECT), "strict")

    said = reconsider(policy(APPROVE), standing(ACTIVE), (House(_fails), strict))

    assert (said.ruling.decision.rule, said.effect) == ("custom.strict", Effect.HELD)
    assert reconsider(policy(REJECT), standing(ACTIVE), (House(_fails),)).ruling.decision.rule == "rule"


@pytest.mark.parametrize(
    ("refused", "judge", "outcome", "rule"),
    [
        (replace(REFUSED, proposer_roles=()), of_writers, "reject", "custom.house"),
        (replace(REFUSED, proposer_roles=tuple(WRITER)), of_writers, "approve", "rule"),
        (REFUSED, of_writers, UNKNOWN, UNKNOWN),
        (BY_MODEL, lambda proposal: proposal.claim and against(REJECT)(proposal), UNKNOWN, UNKNOWN),
        (BY_MODEL, lambda proposal: proposal.input_trusts and None, UNKNOWN, UNKNOWN),
        (REFUSED, lambda proposal: proposal.characters and None, UNKNOWN, UNKNOWN),
        (replace(REFUSED, characters=9), lambda proposal: proposal.characters and None, "approve", "rule"),
        (replace(REFUSED, rule="forgotten-value"), _fails, "reject", "forgotten-value"),
    ],
)
def test_custom_rules_have_their_word_on_what_was_refused(
    refused: Refused, judge: Callable[[Proposal], Any], outcome: str, rule: str
) -> None:
    """SPEC I4, L13: of what the log has of it; where they ask for more it cannot be told."""
    said = after_refusal(policy(APPROVE), refused, (House(judge),))

    assert (said.outcome, said.rule) == (outcome, rule)


def test_holding_it_says_which_rule_of_which_policy_and_changes_nothing_else() -> None:
    """SPEC I4, L2: the decision is the new one; trust and end stay."""
    before = standing(ACTIVE, APPLICATION)
    ruling = reconsider(policy(REJECT), before).ruling
    after = evolve(before.memory, holding(before.memory, ruling, NOW))

    assert (after.status, after.version) == (QUARANTINED, before.memory.version + 1)
    assert (after.decision.rule, after.decision.outcome, after.policy_version) == ("rule", QUARANTINE, "v1")
    assert (after.trust, after.expires_at) == (APPLICATION, before.memory.expires_at)


@pytest.mark.parametrize(
    ("refused", "chosen", "outcome", "rule"),
    [
        (REFUSED, policy(APPROVE), "approve", "rule"),
        (replace(REFUSED, findings=FOUND), policy(APPROVE), "quarantine", "found_by_scanner"),
        (replace(REFUSED, findings=FOUND), default_policy(), "reject", "credential"),
        (replace(REFUSED, rule="content_length"), policy(APPROVE), UNKNOWN, UNKNOWN),
        (replace(REFUSED, rule="content_bound"), policy(APPROVE), UNKNOWN, UNKNOWN),
        (replace(REFUSED, rule="rule"), policy(REJECT, empty_or_longer_than_characters=9), UNKNOWN, UNKNOWN),
        (replace(REFUSED, rule="forgotten-value"), policy(APPROVE), "reject", "forgotten-value"),
        (replace(REFUSED, rule="forgotten-source"), policy(APPROVE), "reject", "forgotten-source"),
        (replace(REFUSED, rule="source_revoked"), policy(APPROVE), "reject", "source_revoked"),
        (replace(REFUSED, rule="derived_from_revoked"), policy(APPROVE), "reject", "derived_from_revoked"),
        (replace(REFUSED, rule="content_length", characters=9), policy(APPROVE), "approve", "rule"),
        (replace(REFUSED, characters=9), policy(APPROVE, characters_max=9), "approve", "rule"),
        (replace(REFUSED, characters=10), policy(APPROVE, characters_max=9), "quarantine", "no_rule_matched"),
        (REFUSED, policy(APPROVE, roles=WRITER), UNKNOWN, UNKNOWN),
        (replace(REFUSED, proposer_roles=tuple(WRITER)), policy(APPROVE, roles=WRITER), "approve", "rule"),
        (replace(REFUSED, proposer_roles=()), policy(APPROVE, roles=WRITER), "quarantine", "no_rule_matched"),
        (BY_MODEL, policy(APPROVE, model_driven=True), "approve", "rule"),
        (BY_MODEL, policy(APPROVE, has_claim=False), UNKNOWN, UNKNOWN),
        (
            BY_MODEL,
            policy(APPROVE, has_claim=True, source_types=frozenset({SourceType.WEB})),
            "quarantine",
            "no_rule_matched",
        ),
        (
            replace(REFUSED, attested_type=SourceType.EMAIL),
            policy(APPROVE, source_types=frozenset({SourceType.APPLICATION})),
            "quarantine",
            "no_rule_matched",
        ),
    ],
)
def test_a_refused_proposal_is_judged_by_what_was_kept_of_it(
    refused: Refused, chosen: Policy, outcome: str, rule: str
) -> None:
    """SPEC I4, L13, F4a: what was forgotten or revoked is so under any policy."""
    assert after_refusal(chosen, refused) == (outcome, rule, None)

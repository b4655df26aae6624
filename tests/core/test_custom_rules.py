"""Rules in code: they can only make an outcome stricter, whatever they answer (SPEC L2, L5)."""

from typing import Any

import pytest

from tenure.core.admission import CUSTOM_FAILED, Proposal, Ruling, default_policy, rule_on
from tenure.core.custom_rules import Objection, tightened
from tenure.core.identity import SourceType
from tenure.core.vocabulary import Kind, Outcome, Trust

POLICY = default_policy()
ORDER = (Outcome.APPROVE, Outcome.QUARANTINE, Outcome.REJECT)


class Rule:
    """A rule that answers as a test says."""

    version = "1"

    def __init__(self, answer: Any, name: str = "house") -> None:
        self.name = name
        self.answer = answer

    def judge(self, proposal: Proposal) -> Any:
        """The answer; an exception is raised."""
        assert proposal.characters
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def objection(outcome: Outcome, reason: str = "house rules") -> Objection:
    """A word against it."""
    return Objection(outcome=outcome, reason=reason)


def proposed(source_type: SourceType = SourceType.APPLICATION) -> Proposal:
    """A proposal: an application's is approved, one from outside is not."""
    return Proposal(kind=Kind.FACT, source_type=source_type, characters=20, findings=frozenset())


def judged(*rules: Rule, proposal: Proposal | None = None, **sides: Any) -> Ruling:
    """The policy's word, and what the rules make of it."""
    proposal = proposal or proposed()
    return tightened(rule_on(POLICY, proposal), proposal, POLICY, rules, **sides)


@pytest.mark.parametrize("said", [None, *ORDER])
@pytest.mark.parametrize("source_type", [SourceType.APPLICATION, SourceType.WEB])
def test_no_rule_makes_an_outcome_looser(said: Outcome | None, source_type: SourceType) -> None:
    """SPEC L2: what the policy holds back stays held back, at least."""
    proposal = proposed(source_type)
    before = rule_on(POLICY, proposal)

    after = judged(Rule(said and objection(said)), proposal=proposal)

    assert ORDER.index(after.decision.outcome) >= ORDER.index(before.decision.outcome)
    assert after.trust.rank <= before.trust.rank
    assert (after == before) is (said is None or after.decision.outcome is before.decision.outcome)


def test_the_strictest_of_several_speaks() -> None:
    """SPEC L2: in whatever order they are named."""
    rules = [
        Rule(objection(Outcome.QUARANTINE), "first"),
        Rule(objection(Outcome.REJECT, "no"), "second"),
        Rule(objection(Outcome.QUARANTINE), "third"),
    ]

    for ordered in (rules, rules[::-1]):
        ruling = judged(*ordered)
        assert (ruling.decision.rule, ruling.decision.reason) == ("custom.second", "no")
        assert (ruling.trust, ruling.lifetime) == (Trust.UNTRUSTED, None)


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("broken"),
        True,
        "reject",
        objection(Outcome.APPROVE),
        objection(Outcome.REJECT, ""),
        objection(Outcome.REJECT, "two\nlines"),
        objection(Outcome.REJECT, "x" * 201),
        Objection(outcome="reject please", reason="no"),  # type: ignore[arg-type]  # a rule may be wrong
    ],
    ids=str,
)
@pytest.mark.parametrize("on_failure", [Outcome.QUARANTINE, Outcome.REJECT])
def test_a_rule_that_fails_never_admits(answer: object, on_failure: Outcome) -> None:
    """SPEC L5: it raises, wishes to let something in, or says what is no objection."""
    ruling = judged(Rule(answer), on_failure=on_failure)

    assert (ruling.decision.outcome, ruling.decision.rule) == (on_failure, CUSTOM_FAILED)
    assert "broken" not in ruling.decision.reason

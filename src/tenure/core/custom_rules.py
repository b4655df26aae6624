"""Rules of an operator's own, in code: they see a proposal's facts and can only make its outcome stricter.

Laws: a custom rule is asked after the policy, never instead of it; what it says can hold back or turn away,
never let in, raise trust or lengthen a lifetime; one that fails never admits (SPEC L2, L5). Pure, as long as
the rules are: they get no content, no caller's name and no way to the store.
"""

from collections.abc import Iterable
from typing import Final, Protocol

import msgspec

from tenure.core.admission import CUSTOM_FAILED, Policy, Proposal, Ruling
from tenure.core.vocabulary import Decision, Outcome, Trust

REASON_CHARACTERS_MAX: Final = 200
_STRICTNESS: Final = {Outcome.APPROVE: 0, Outcome.QUARANTINE: 1, Outcome.REJECT: 2}


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """What a custom rule says against a proposal: to hold it back or to turn it away, and why."""

    outcome: Outcome
    reason: str


class CustomRule(Protocol):
    """One rule in code; its version changes whenever its word may."""

    @property
    def name(self) -> str:
        """A short stable name."""

    @property
    def version(self) -> str:
        """The version of the rule."""

    def judge(self, proposal: Proposal) -> Objection | None:
        """What speaks against the proposal; None where nothing does."""


def tightened(
    ruling: Ruling,
    proposal: Proposal,
    policy: Policy,
    rules: Iterable[CustomRule],
    *,
    on_failure: Outcome = Outcome.QUARANTINE,
) -> Ruling:
    """The policy's ruling, or the strictest objection where one is stricter than it."""
    for rule in rules:
        decision = _word(rule, proposal, policy, on_failure)
        if decision is not None and _STRICTNESS[decision.outcome] > _STRICTNESS[ruling.decision.outcome]:
            ruling = Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)
    return ruling


def _word(rule: CustomRule, proposal: Proposal, policy: Policy, on_failure: Outcome) -> Decision | None:
    try:
        said = rule.judge(proposal)
        if said is None:
            return None
        if _is_sound(said):
            return Decision(
                outcome=said.outcome,
                rule=f"custom.{rule.name}",
                reason=said.reason,
                policy_version=policy.version,
            )
    except Exception:  # noqa: BLE001, S110 -- a rule is a plug-in: it may raise anything, and must never admit by it
        pass
    return Decision(
        outcome=on_failure,
        rule=CUSTOM_FAILED,
        reason="a custom rule failed, so nothing is admitted by it",
        policy_version=policy.version,
    )


def _is_sound(said: object) -> bool:
    """Whether it is an objection that says why, and no wish to let something in."""
    return (
        isinstance(said, Objection)
        and said.outcome in {Outcome.QUARANTINE, Outcome.REJECT}
        and type(said.reason) is str
        and 0 < len(said.reason) <= REASON_CHARACTERS_MAX
        and said.reason.isprintable()
    )

"""The write policy: approve, quarantine or reject, with the rule that spoke and why (SPEC L2-L5, M5).

Laws: rules are tried in order and the first that matches decides; what no rule matches is quarantined; a rule
without a condition matches nothing; scanners can only make an outcome stricter, and what they found is let in
by no rule; what is derived keeps the lowest trust of its inputs; a correction never displaces what is trusted
more.
"""

from datetime import timedelta
from typing import Final

import msgspec

from tenure.core.identity import SourceType
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Decision, Kind, Outcome, Trust


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold for a rule to match: every side that is given, and at least one."""

    empty_or_longer_than_characters: int | None = None
    findings: frozenset[FindingKind] | None = None
    kinds: frozenset[Kind] | None = None
    source_types: frozenset[SourceType] | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the policy."""

    name: str
    reason: str
    when: Condition
    outcome: Outcome
    trust: Trust = Trust.UNTRUSTED
    lifetime: timedelta | None = None


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """An ordered list of rules under one version."""

    version: str
    rules: tuple[Rule, ...]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What the policy may look at: never the caller's wish for trust, never a model's confidence."""

    kind: Kind
    source_type: SourceType
    characters: int
    findings: frozenset[FindingKind]
    input_trusts: tuple[Trust, ...] = ()
    corrected_trust: Trust | None = None


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """The decision, and what follows from it when the memory is kept."""

    decision: Decision
    trust: Trust
    lifetime: timedelta | None


EXTERNAL: Final = frozenset(
    {SourceType.EMAIL, SourceType.DOCUMENT, SourceType.WEB, SourceType.TOOL, SourceType.OTHER_AGENT}
)
"""Where text from outside comes from."""
DEFAULT_VERSION: Final = "default-1"
"""The version of the policy that ships."""
NO_RULE, DERIVED, OUTRANKED = "no_rule_matched", "derived_from_untrusted", "correction_outranked"
FOUND, BOUND = "found_by_scanner", "content_bound"
GATE_RULES: Final = frozenset({NO_RULE, DERIVED, OUTRANKED, FOUND})
"""The words that the gate gives by itself, whatever the policy; no rule of a policy may have their names."""


_SCANNED: Final = (
    Rule(
        name="credential",
        reason="content looks like a credential; secrets do not belong in memory",
        when=Condition(findings=frozenset({FindingKind.CREDENTIAL})),
        outcome=Outcome.REJECT,
    ),
    Rule(
        name="attack",
        reason="a scanner found an instruction aimed at the agent",
        when=Condition(findings=frozenset({FindingKind.ATTACK})),
        outcome=Outcome.REJECT,
    ),
)

_WHAT_AND_WHENCE: Final = (
    Rule(
        name="sensitive_change",
        reason="payment, access and identity changes wait for a person",
        when=Condition(kinds=frozenset({Kind.SENSITIVE_CHANGE})),
        outcome=Outcome.QUARANTINE,
    ),
    Rule(
        name="sensitive_content",
        reason="content speaks of a payment destination, an access right or an identity change",
        when=Condition(findings=frozenset({FindingKind.SENSITIVE})),
        outcome=Outcome.QUARANTINE,
    ),
    Rule(
        name="external_source",
        reason="text from outside waits until somebody authorised promotes it",
        when=Condition(source_types=EXTERNAL),
        outcome=Outcome.QUARANTINE,
    ),
    Rule(
        name="direct_user_preference",
        reason="a person states their own preference",
        when=Condition(source_types=frozenset({SourceType.DIRECT_USER}), kinds=frozenset({Kind.PREFERENCE})),
        outcome=Outcome.APPROVE,
        trust=Trust.USER_ASSERTED,
        lifetime=timedelta(days=90),
    ),
    Rule(
        name="application",
        reason="an application vouches for it",
        when=Condition(source_types=frozenset({SourceType.APPLICATION})),
        outcome=Outcome.APPROVE,
        trust=Trust.APPLICATION_VERIFIED,
        lifetime=timedelta(days=30),
    ),
)


def default_policy(
    *, content_characters_max: int = 2_000, on_scanner_failure: Outcome = Outcome.QUARANTINE
) -> Policy:
    """The policy that ships, in the order of SPEC L3; a failed scanner never admits (SPEC L5)."""
    return Policy(
        version=DEFAULT_VERSION,
        rules=(
            Rule(
                name="content_length",
                reason=f"content must have 1 to {content_characters_max} characters",
                when=Condition(empty_or_longer_than_characters=content_characters_max),
                outcome=Outcome.REJECT,
            ),
            *_SCANNED,
            Rule(
                name="scanner_failed",
                reason="a scanner failed, and an unscanned memory is not admitted",
                when=Condition(findings=frozenset({FindingKind.FAILURE})),
                outcome=on_scanner_failure,
            ),
            *_WHAT_AND_WHENCE,
        ),
    )


def is_default(policy: Policy) -> bool:
    """Whether it is the policy that ships, whatever an operator set in it."""
    limit = policy.rules[0].when.empty_or_longer_than_characters if policy.rules else None
    return limit is not None and any(
        policy == default_policy(content_characters_max=limit, on_scanner_failure=failing)
        for failing in (Outcome.QUARANTINE, Outcome.REJECT)
    )


def bounded(policy: Policy, *, content_characters_max: int) -> Policy:
    """The policy behind a rule that turns away what is too long to be scanned, where its first does not."""
    limit = Condition(empty_or_longer_than_characters=content_characters_max)
    first = policy.rules[0] if policy.rules else None
    if first is not None and first.outcome is Outcome.REJECT and covers(first.when, limit):
        return policy
    reason = f"content must have 1 to {content_characters_max} characters"
    rule = Rule(name=BOUND, reason=reason, when=limit, outcome=Outcome.REJECT)
    return msgspec.structs.replace(policy, rules=(rule, *policy.rules))


def covers(wide: Condition, narrow: Condition) -> bool:
    """Whether the one surely matches whatever the other matches, and anything at all."""
    longest, shorter = wide.empty_or_longer_than_characters, narrow.empty_or_longer_than_characters
    sides = ("findings", "kinds", "source_types")
    return (
        wide != _ANYTHING
        and (longest is None or (shorter is not None and shorter >= longest))
        and all(_within(getattr(narrow, side), getattr(wide, side)) for side in sides)
    )


def _within(narrow: frozenset[object] | None, wide: frozenset[object] | None) -> bool:
    return wide is None or (narrow is not None and narrow <= wide)


def rule_on(policy: Policy, proposal: Proposal) -> Ruling:
    """The policy's word on a proposal, tightened by findings, by its inputs and by what it would displace."""
    ruling = _first_match(policy, proposal)
    if ruling.decision.outcome is not Outcome.APPROVE:
        return ruling
    if proposal.findings:
        return _held(policy, FOUND, "a scanner found something in it, or failed, and no rule may let that in")
    trust = min((ruling.trust, *proposal.input_trusts), key=lambda candidate: candidate.rank)
    if trust is Trust.UNTRUSTED:
        return _held(policy, DERIVED, "it derives from a memory that is not trusted or not active")
    if proposal.corrected_trust is not None and trust.rank < proposal.corrected_trust.rank:
        return _held(policy, OUTRANKED, "it would displace a memory that is trusted more")
    return msgspec.structs.replace(ruling, trust=trust)


def _first_match(policy: Policy, proposal: Proposal) -> Ruling:
    for rule in policy.rules:
        if _matches(rule.when, proposal):
            decision = Decision(
                outcome=rule.outcome, rule=rule.name, reason=rule.reason, policy_version=policy.version
            )
            admits = rule.outcome is Outcome.APPROVE
            return Ruling(
                decision=decision, trust=rule.trust if admits else Trust.UNTRUSTED, lifetime=rule.lifetime
            )
    return _held(policy, NO_RULE, "no rule admits it, so it waits for a person")


def _matches(when: Condition, proposal: Proposal) -> bool:
    """Every side that is given must hold, and one at least must be given."""
    longest = when.empty_or_longer_than_characters
    return (
        when != _ANYTHING
        and (longest is None or not 0 < proposal.characters <= longest)
        and (when.findings is None or not when.findings.isdisjoint(proposal.findings))
        and (when.kinds is None or proposal.kind in when.kinds)
        and (when.source_types is None or proposal.source_type in when.source_types)
    )


_ANYTHING: Final = Condition()


def _held(policy: Policy, rule: str, reason: str) -> Ruling:
    decision = Decision(outcome=Outcome.QUARANTINE, rule=rule, reason=reason, policy_version=policy.version)
    return Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)

"""The write policy: approve, quarantine or reject, with the rule that spoke and why (SPEC L2-L5, M5).

Laws: rules are tried in order and the first that matches decides; what no rule matches is quarantined; a rule
without a condition matches nothing; scanners can only make an outcome stricter, and what they found is let in
by no rule; what is derived keeps the lowest trust of its inputs; a correction never displaces what is trusted
more.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from tenure.core.identity import Role, SourceType
from tenure.core.proposals import canonical
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Claim, Decision, Kind, Outcome, Trust


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold for a rule to match: every side that is given, and at least one."""

    empty_or_longer_than_characters: int | None = None
    findings: frozenset[FindingKind] | None = None
    kinds: frozenset[Kind] | None = None
    source_types: frozenset[SourceType] | None = None
    characters_min: int | None = None
    characters_max: int | None = None
    roles: frozenset[Role] | None = None
    model_driven: bool | None = None
    has_claim: bool | None = None
    claim_entities: frozenset[str] | None = None
    claim_attributes: frozenset[str] | None = None


class Side(StrEnum):
    """What a condition may ask of a proposal that is not kept of every one, or not of old ones."""

    LENGTH = "length"
    CALLER = "caller"
    CLAIM = "claim"


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
    roles: frozenset[Role] = frozenset()
    model_driven: bool = False
    claim: Claim | None = None
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
FOUND, BOUND, CUSTOM_FAILED = "found_by_scanner", "content_bound", "custom_rule_failed"
GATE_RULES: Final = frozenset({NO_RULE, DERIVED, OUTRANKED, FOUND, CUSTOM_FAILED})
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
    return (
        wide != _ANYTHING
        and _longer_within(narrow, wide)
        and all(_within(getattr(narrow, side), getattr(wide, side)) for side in _LISTS)
        and wide.model_driven in {None, narrow.model_driven}
        and wide.has_claim in {None, asks_for_claim(narrow)}
    )


def asks_for_claim(when: Condition) -> bool | None:
    """Whether a condition needs a claim, or none; a part of a claim needs one as well."""
    named = when.claim_entities is not None or when.claim_attributes is not None
    return True if named else when.has_claim


def turns_on(policy: Policy, proposal: Proposal, unknown: frozenset[Side]) -> bool:
    """Whether the policy's word on the proposal may depend on what is not known of it."""
    silenced = {field: None for side in unknown for field in _ASKING[side]}
    for rule in policy.rules:
        rest = msgspec.structs.replace(rule.when, **silenced)
        if rest == rule.when:
            if _matches(rest, proposal):
                return False
        elif rest == _ANYTHING or _matches(rest, proposal):
            return True
    return False


def _longer_within(narrow: Condition, wide: Condition) -> bool:
    longest, shorter = wide.empty_or_longer_than_characters, narrow.empty_or_longer_than_characters
    least, most = wide.characters_min, wide.characters_max
    return (
        (longest is None or (shorter is not None and shorter >= longest))
        and (least is None or (narrow.characters_min is not None and narrow.characters_min >= least))
        and (most is None or (narrow.characters_max is not None and narrow.characters_max <= most))
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
    return (
        when != _ANYTHING
        and (when.findings is None or not when.findings.isdisjoint(proposal.findings))
        and (when.kinds is None or proposal.kind in when.kinds)
        and (when.source_types is None or proposal.source_type in when.source_types)
        and _is_so_long(when, proposal.characters)
        and (when.roles is None or not when.roles.isdisjoint(proposal.roles))
        and when.model_driven in {None, proposal.model_driven}
        and _claims(when, proposal.claim)
    )


def _is_so_long(when: Condition, characters: int) -> bool:
    longest, least, most = when.empty_or_longer_than_characters, when.characters_min, when.characters_max
    return (
        (longest is None or not 0 < characters <= longest)
        and (least is None or characters >= least)
        and (most is None or characters <= most)
    )


def _claims(when: Condition, claim: Claim | None) -> bool:
    """Whether the claim is one that the condition asks for; names are compared without case."""
    if claim is None:
        return asks_for_claim(when) is not True
    entities, attributes = when.claim_entities, when.claim_attributes
    return (
        when.has_claim is not False
        and (entities is None or canonical(claim.entity) in entities)
        and (attributes is None or canonical(claim.attribute) in attributes)
    )


def counted(content: str) -> int:
    """How long a content is to the policy: what is blank has no characters."""
    return len(content.strip()) and len(content)


_ANYTHING: Final = Condition()
_LISTS: Final = ("findings", "kinds", "source_types", "roles", "claim_entities", "claim_attributes")
_ASKING: Final = {
    Side.LENGTH: ("empty_or_longer_than_characters", "characters_min", "characters_max"),
    Side.CALLER: ("roles", "model_driven"),
    Side.CLAIM: ("has_claim", "claim_entities", "claim_attributes"),
}


def _held(policy: Policy, rule: str, reason: str) -> Ruling:
    decision = Decision(outcome=Outcome.QUARANTINE, rule=rule, reason=reason, policy_version=policy.version)
    return Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)

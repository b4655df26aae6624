"""What another policy would say of what is stored (SPEC I4), for looking ahead and for switching. Pure.

    standing = known(memory, decided_on(its_events), input_trusts=…, corrected_trust=…)
    said = reconsider(policy, standing, custom)

Laws: the policy that decided changes nothing, nor do the custom rules; a change of rules alone lets nothing
in, raises no trust and shortens no life; what a reviewer let in stays the reviewer's; ``HELD`` is exactly
what a switch holds; where a custom rule has no word, nothing changes, and that is said.
A memory is judged by what was seen when it was decided on: findings as stored, inputs as trusted then.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from tenure.core.admission import DERIVED, Policy, Proposal, Ruling, Side, counted, rule_on, turns_on
from tenure.core.contradictions import WAITS_RULE
from tenure.core.custom_rules import CustomRule, Retold, retold
from tenure.core.events import Admitted, Event, Quarantined, Refused, Revised
from tenure.core.incident_events import Held
from tenure.core.memory import Memory, evolve
from tenure.core.policy_documents import REFUSED_ANYWAY
from tenure.core.remembering import waiting
from tenure.core.retention import UPKEEP
from tenure.core.scanning import FindingKind
from tenure.core.vocabulary import Decision, Outcome, Status, Trust, Verdict

UNKNOWN: Final = "unknown"
"""What is said where the policy turns on what was not kept: it cannot be told."""
_LENGTH_RULES: Final = frozenset({"content_length", "content_bound"})
_CALLER_UNKNOWN: Final = frozenset({Side.CALLER})
_SIDES: Final = {
    Side.LENGTH: frozenset({"characters"}),
    Side.CALLER: frozenset({"roles", "model_driven"}),
    Side.CLAIM: frozenset({"claim"}),
}
_OTHERS: Final = frozenset({"input_trusts", "corrected_trust"})
"""What a proposal had to do with other memories: of one that was refused it was not kept."""


class Effect(StrEnum):
    """What a switch to the policy would do about a memory that it judges differently."""

    HELD = "held"
    """It is active and goes back to quarantine."""
    STAYS_QUARANTINED = "stays_quarantined"
    """It waits, and goes on waiting: only a reviewer lets it in."""
    KEEPS_TRUST = "keeps_trust"
    """It would get less trust today, and keeps what it has."""


class DecidedOn(msgspec.Struct, frozen=True, kw_only=True):
    """The event that the present text of a memory was decided by, and what the memory was before it."""

    data: Admitted | Quarantined | Revised
    before: Memory | None
    at: datetime
    characters: int | None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that stands, with what the gate knew when it decided."""

    memory: Memory
    proposal: Proposal
    held: bool
    """Whether a policy held it after it was let in: then how strictly is not known."""
    unknown: frozenset[Side] = frozenset()
    """What the log does not say of the proposal: of old events, who proposed it."""


class Reconsidered(NamedTuple):
    """The word on a memory, what would come of it where it differs, and what custom rules did about it."""

    ruling: Ruling
    effect: Effect | None
    custom: Retold | None = None


class AfterRefusal(NamedTuple):
    """The word on a proposal that was refused: the outcome, and the rule that it is by."""

    outcome: str
    rule: str
    custom: Retold | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that the policy judges differently. Names and words only, never content."""

    memory_id: UUID
    subject: str
    agent: str
    purpose: str
    kind: str
    source_type: str
    source_id: str
    status: str
    before: str
    before_rule: str
    before_trust: str
    after: str
    after_rule: str
    after_trust: str
    effect: Effect


def decided_on(history: Sequence[Event]) -> DecidedOn | None:
    """What the present text of a memory was decided by; None where there is no such event."""
    memory: Memory | None = None
    found: DecidedOn | None = None
    for event in history:
        if isinstance(event.data, Admitted | Quarantined | Revised):
            content = event.secret.content if event.secret else None
            found = DecidedOn(data=event.data, before=memory, at=event.at, characters=_characters(content))
        memory = evolve(memory, event)
    return found


def known(
    memory: Memory, decided: DecidedOn, *, input_trusts: tuple[Trust, ...], corrected_trust: Trust | None
) -> Standing | None:
    """What the gate knew of a memory; None where its content cannot be opened any more."""
    data = decided.data
    if decided.characters is None:
        return None
    if data.rule == DERIVED:
        # Its inputs may have been out of use in ways that their own events say only later.
        input_trusts = (Trust.UNTRUSTED,)
    proposal = Proposal(
        kind=memory.kind,
        source_type=data.attested_type or data.source_type,
        characters=decided.characters,
        # Those of the decision, or what was found since when it was to be shown.
        findings=_kinds(memory.findings),
        roles=frozenset(data.proposer_roles or ()),
        model_driven=data.proposer_model_driven is True,
        claim=memory.claim,
        input_trusts=input_trusts,
        # What was let in has displaced what it corrects: that is not asked again.
        corrected_trust=corrected_trust if isinstance(data, Quarantined) else None,
    )
    held = memory.status is Status.QUARANTINED and not isinstance(data, Quarantined)
    unknown = _CALLER_UNKNOWN if data.proposer_roles is None else frozenset[Side]()
    return Standing(memory=memory, proposal=proposal, held=held, unknown=unknown)


def is_reviewed(memory: Memory) -> bool:
    """Whether a reviewer let it in: then no policy has a word in it."""
    return memory.status is Status.ACTIVE and memory.trust is Trust.REVIEWER_VERIFIED


def reconsider(policy: Policy, standing: Standing, custom: Sequence[CustomRule] = ()) -> Reconsidered:
    """The word of the policy and the custom rules on a memory, and what would come of it where it differs.

    Where it turns on what was not kept, or on a custom rule that fails, the memory is not judged: it stays as
    it is, by ``UNKNOWN``.
    """
    if standing.unknown and turns_on(policy, standing.proposal, standing.unknown):
        return Reconsidered(_untold(policy, standing), None)
    ruling = rule_on(policy, standing.proposal)
    if not custom:
        ruling = _still_waiting(ruling, standing)
        return Reconsidered(ruling, _effect(ruling, standing))
    said = retold(ruling, standing.proposal, policy, custom, unknown=_unknown(standing.unknown))
    if said.ruling is None:
        return Reconsidered(_untold(policy, standing), None, said)
    ruling = _still_waiting(said.ruling, standing)
    return Reconsidered(ruling, _effect(ruling, standing), said)


def _still_waiting(ruling: Ruling, standing: Standing) -> Ruling:
    """What waits since it contradicts what has more trust does so under any policy (SPEC T3)."""
    memory = standing.memory
    waits = memory.status is Status.QUARANTINED and memory.decision.rule == WAITS_RULE
    return waiting(ruling) if waits and ruling.decision.outcome is Outcome.APPROVE else ruling


def holding(memory: Memory, ruling: Ruling, now: datetime) -> Event:
    """The event that puts an active memory back into quarantine."""
    decision = ruling.decision
    return Event(
        tenant=memory.tenant,
        at=now,
        actor=UPKEEP,
        data=Held(rule=decision.rule, reason=decision.reason, policy_version=decision.policy_version),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
    )


def change(standing: Standing, ruling: Ruling, effect: Effect) -> Change:
    """A memory that would change, in words."""
    memory = standing.memory
    return Change(
        memory_id=memory.id,
        subject=memory.subject,
        agent=memory.agent,
        purpose=memory.purpose,
        kind=memory.kind,
        source_type=memory.source.type,
        source_id=memory.source.id,
        status=memory.status,
        before=before(standing),
        before_rule=memory.decision.rule,
        before_trust=memory.trust,
        after=ruling.decision.outcome,
        after_rule=ruling.decision.rule,
        after_trust=ruling.trust,
        effect=effect,
    )


def before(standing: Standing) -> Outcome:
    """What holds for a memory today."""
    return Outcome.APPROVE if standing.memory.status is Status.ACTIVE else Outcome.QUARANTINE


def after_refusal(policy: Policy, refused: Refused, custom: Sequence[CustomRule] = ()) -> AfterRefusal:
    """Outcome and rule for a proposal that was refused, as if it stood alone.

    What was refused because it had been forgotten, or its source revoked, is so under any policy.
    """
    if refused.rule in REFUSED_ANYWAY:
        return AfterRefusal(Outcome.REJECT, refused.rule)
    if refused.characters is None and refused.rule in _LENGTH_RULES | _asking_for_length(policy):
        return AfterRefusal(UNKNOWN, UNKNOWN)
    proposal = Proposal(
        kind=refused.kind,
        source_type=refused.attested_type or refused.source_type,
        characters=1 if refused.characters is None else refused.characters,
        findings=_kinds(refused.findings),
        roles=frozenset(refused.proposer_roles or ()),
        model_driven=refused.proposer_model_driven is True,
    )
    if turns_on(policy, proposal, _not_kept(refused)):
        return AfterRefusal(UNKNOWN, UNKNOWN)
    ruling, said = rule_on(policy, proposal), None
    if custom:
        sides = _not_kept(refused) | (frozenset({Side.LENGTH}) if refused.characters is None else frozenset())
        said = retold(ruling, proposal, policy, custom, unknown=_unknown(sides) | _OTHERS)
        if said.ruling is None:
            return AfterRefusal(UNKNOWN, UNKNOWN, said)
        ruling = said.ruling
    return AfterRefusal(ruling.decision.outcome, ruling.decision.rule, said)


def _not_kept(refused: Refused) -> frozenset[Side]:
    """What the record of a refusal does not say: its claim, and in old ones who proposed it."""
    return frozenset({Side.CLAIM, *(_CALLER_UNKNOWN if refused.proposer_roles is None else ())})


def _unknown(sides: frozenset[Side]) -> frozenset[str]:
    """The names that custom rules have for these sides."""
    return frozenset(name for side in sides for name in _SIDES[side])


def _untold(policy: Policy, standing: Standing) -> Ruling:
    """What stands in for a word that cannot be told: all as it is."""
    decision = Decision(
        outcome=before(standing),
        rule=UNKNOWN,
        reason="the word on it turns on what was not kept, or on a rule that fails",
        policy_version=policy.version,
    )
    return Ruling(decision=decision, trust=standing.memory.trust, lifetime=None)


def _effect(ruling: Ruling, standing: Standing) -> Effect | None:
    memory, outcome = standing.memory, ruling.decision.outcome
    if memory.status is Status.ACTIVE:
        if outcome is not Outcome.APPROVE:
            return Effect.HELD
        return Effect.KEEPS_TRUST if ruling.trust.rank < memory.trust.rank else None
    if outcome is Outcome.QUARANTINE:
        return None
    if outcome is Outcome.REJECT and standing.held and ruling.decision.rule == memory.decision.rule:
        return None
    return Effect.STAYS_QUARANTINED


def _asking_for_length(policy: Policy) -> frozenset[str]:
    return frozenset(
        rule.name
        for rule in policy.rules
        if (rule.when.empty_or_longer_than_characters or rule.when.characters_min or rule.when.characters_max)
    )


def _kinds(findings: Iterable[Verdict]) -> frozenset[FindingKind]:
    return frozenset(FindingKind(finding.kind) for finding in findings)


def _characters(content: str | None) -> int | None:
    if content is None:
        return None
    return counted(content)

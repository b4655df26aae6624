"""Deciding on a write: a new memory, a correction, a revision (SPEC L1-L5, L8, L10, L13, M5a). Pure.

Laws: every write passes ``admission.rule_on``; a correction that is held back supersedes nothing until it is
promoted; of two corrections of one memory exactly one can win; a rejection keeps no content.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core.admission import Policy, Proposal, Ruling, counted, rule_on
from tenure.core.custom_rules import CustomRule, tightened
from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import InvalidRequest, MemoryRejected, NotFound, VersionConflict
from tenure.core.events import (
    Admitted,
    Event,
    Quarantined,
    Revised,
    Secret,
    Superseded,
)
from tenure.core.events import (
    Refused as RefusedEvent,
)
from tenure.core.forgetting import below
from tenure.core.identity import Caller, Moment, Role, Scope, SourceType, Tier
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.proposals import Remember, Revise
from tenure.core.retention import Ladder, asked_expiry, first_expiry
from tenure.core.revoked_sources import from_revoked
from tenure.core.rows import FloorRow
from tenure.core.scanning import Finding
from tenure.core.token_estimate import estimate_tokens
from tenure.core.vocabulary import Decision, Origin, Outcome, Source, Status, Trust, Verdict


class WriteRules(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator set for writing."""

    policy: Policy
    ladder: Ladder
    custom: tuple[CustomRule, ...] = ()
    """Rules in code, asked after the policy."""
    on_failure: Outcome = Outcome.QUARANTINE
    defers_failures: bool = False
    """Whether what could not be judged is refused for now, with nothing stored."""

    def judge(self, proposal: Proposal) -> Ruling:
        """The policy's word, made stricter by the custom rules."""
        ruling = rule_on(self.policy, proposal)
        return tightened(ruling, proposal, self.policy, self.custom, on_failure=self.on_failure)


class WriteFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read before deciding: all that the decision may know of the world."""

    findings: tuple[Finding, ...]
    fingerprint: bytes
    key_digest: bytes | None = None
    present: Memory | None = None
    corrected: Memory | None = None
    parents: tuple[Memory, ...] = ()
    floors: tuple[FloorRow, ...] = ()
    revoked: tuple[FloorRow, ...] = ()
    forgot_seq: int = 0


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a write; ``memory`` is None when nothing was kept."""

    memory: Memory | None
    decision: Decision
    findings: tuple[Verdict, ...] = ()


def remember(
    command: Remember, facts: WriteFacts, caller: Caller, moment: Moment, rules: WriteRules
) -> Decided[Written] | Refused:
    """Decide on a proposal that is well formed and authorised."""
    conflict = _conflict(command, facts, moment.now)
    if conflict is not None:
        return conflict
    barred = _barred(command, facts)
    if barred is not None:
        return _turned_away(command, facts, caller, moment, rules.policy, barred)
    proposal = Proposal(
        kind=command.kind,
        source_type=command.source.type,
        characters=counted(command.content),
        findings=frozenset(finding.kind for finding in facts.findings),
        roles=caller.grants.roles,
        model_driven=caller.grants.model_driven,
        claim=command.claim,
        input_trusts=tuple(_usable_trust(parent, moment.now) for parent in facts.parents),
        corrected_trust=facts.corrected.trust if facts.corrected else None,
    )
    ruling = rules.judge(proposal)
    if ruling.decision.outcome is Outcome.REJECT:
        return _rejected(command, facts, caller, moment, ruling)
    event = _creation(command, facts, caller, moment, rules.ladder, ruling)
    return _kept(event, ruling, facts, caller, moment)


def revise(
    command: Revise, memory: Memory, facts: WriteFacts, caller: Caller, moment: Moment, rules: WriteRules
) -> Decided[Written] | Refused:
    """A new version through the same gate; held back, it waits as a correction of its own (SPEC L10)."""
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    next_status(memory.status_at(moment.now), Step.REVISE)
    if command.content is None and command.claim is None and command.confidence is None:
        return Refused(InvalidRequest("give content, claim or confidence to change", field="content"))
    decided = _revised(command, memory, facts, caller, moment, rules)
    if command.content is not None or command.source.type is memory.source.type:
        return decided
    events = tuple(_attested(event, command.source.type) for event in decided.events)
    return msgspec.structs.replace(decided, events=events)


def own_scope(subject: str) -> Scope:
    """Where a memory lies that names no scope: the subject's own user scope."""
    return Scope(tier=Tier.USER, id=subject)


def verdicts(findings: Iterable[Finding]) -> tuple[Verdict, ...]:
    """Findings as they are kept with the memory."""
    return tuple(
        Verdict(
            kind=str(finding.kind),
            rule=finding.rule,
            scanner=finding.scanner,
            start=finding.start,
            end=finding.end,
            confidence=finding.confidence,
        )
        for finding in findings
    )


def supersession(corrected: Memory, by: UUID, caller: Caller, moment: Moment) -> Event:
    """The event that takes the corrected memory's place away (SPEC L10)."""
    return Event(
        tenant=corrected.tenant,
        at=moment.now,
        actor=caller.id,
        data=Superseded(by=by),
        stream=corrected.id,
        version=corrected.version + 1,
        subject=corrected.subject,
    )


def _revised(
    command: Revise, memory: Memory, facts: WriteFacts, caller: Caller, moment: Moment, rules: WriteRules
) -> Decided[Written]:
    whole = completed(command, memory)
    barred = _barred(whole, facts)
    if barred is not None:
        attested = msgspec.structs.replace(whole, source=command.source)
        return _turned_away(attested, facts, caller, moment, rules.policy, barred)
    facts = msgspec.structs.replace(facts, corrected=memory)
    proposal = Proposal(
        kind=memory.kind,
        source_type=command.source.type,
        characters=counted(whole.content),
        findings=frozenset(finding.kind for finding in facts.findings),
        roles=caller.grants.roles,
        model_driven=caller.grants.model_driven,
        claim=whole.claim,
        input_trusts=(memory.trust,) if command.content is None else (),
        corrected_trust=memory.trust,
    )
    ruling = rules.judge(proposal)
    if ruling.decision.outcome is Outcome.REJECT:
        return _rejected(whole, facts, caller, moment, ruling)
    if ruling.decision.outcome is Outcome.QUARANTINE:
        event = _creation(whole, facts, caller, moment, rules.ladder, ruling)
        return _kept(event, ruling, facts, caller, moment)
    event = Event(
        tenant=memory.tenant,
        at=moment.now,
        actor=caller.id,
        data=_revision(whole, facts, caller, ruling, origins=_origins_revised(command, memory)),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
        secret=_secret(whole, facts),
    )
    answer = Written(
        memory=evolve(memory, event), decision=ruling.decision, findings=verdicts(facts.findings)
    )
    return Decided(answer=answer, events=(event,), forgot_seq=facts.forgot_seq)


def _attested(event: Event, attested_type: SourceType) -> Event:
    """The event with the source type that it was judged by, which is not that of the text it keeps."""
    if not isinstance(event.data, Quarantined | Revised | RefusedEvent):
        return event
    return msgspec.structs.replace(
        event, data=msgspec.structs.replace(event.data, attested_type=attested_type)
    )


def _conflict(command: Remember, facts: WriteFacts, now: datetime) -> Refused | None:
    if facts.present is not None:
        if command.expected_version == facts.present.version:
            return Refused(
                InvalidRequest(
                    "this id already names a memory; a new memory expects version 0",
                    field="expected_version",
                    hint="Send PATCH to the memory for a new version of it.",
                )
            )
        return Refused(VersionConflict(expected=command.expected_version, current=facts.present.version))
    if command.expected_version != 0:
        return Refused(VersionConflict(expected=command.expected_version, current=0))
    if command.supersedes is not None:
        return _bad_correction(command, facts.corrected, now)
    return None


def _bad_correction(command: Remember, corrected: Memory | None, now: datetime) -> Refused | None:
    if corrected is None:
        return Refused(NotFound("the memory named in supersedes does not exist here", field="supersedes"))
    walls = (corrected.agent, corrected.purpose, corrected.subject)
    if walls != (command.agent, command.purpose, command.subject):
        return Refused(
            InvalidRequest(
                "a correction has the agent, purpose and subject of what it corrects", field="supersedes"
            )
        )
    next_status(corrected.status_at(now), Step.SUPERSEDE)
    return None


def _usable_trust(parent: Memory, now: datetime) -> Trust:
    return parent.trust if parent.status_at(now) is Status.ACTIVE else Trust.UNTRUSTED


def _rejected(
    command: Remember, facts: WriteFacts, caller: Caller, moment: Moment, ruling: Ruling
) -> Decided[Written]:
    decision, findings = ruling.decision, verdicts(facts.findings)
    event = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        subject=command.subject,
        data=RefusedEvent(
            agent=command.agent,
            purpose=command.purpose,
            kind=command.kind,
            source_type=command.source.type,
            source_id=command.source.id,
            rule=decision.rule,
            reason=decision.reason,
            policy_version=decision.policy_version,
            fingerprint=facts.fingerprint,
            findings=findings,
            proposer_roles=_roles(caller),
            proposer_model_driven=caller.grants.model_driven,
            characters=counted(command.content),
        ),
    )
    error = MemoryRejected(rule=decision.rule, reason=decision.reason, policy_version=decision.policy_version)
    answer = Written(memory=None, decision=decision, findings=findings)
    return Decided(answer=answer, events=(event,), error=error)


def _barred(command: Remember, facts: WriteFacts) -> tuple[str, str] | None:
    """Rule and reason for which no policy is asked: a source that was revoked, or something forgotten."""
    return from_revoked(facts.revoked, facts.parents) or below(command.source.observed_at, facts.floors)


def _turned_away(
    command: Remember,
    facts: WriteFacts,
    caller: Caller,
    moment: Moment,
    policy: Policy,
    barred: tuple[str, str],
) -> Decided[Written]:
    """Refused like what the gate rejects: with a record, without content (SPEC F4a, I1)."""
    rule, reason = barred
    decision = Decision(outcome=Outcome.REJECT, rule=rule, reason=reason, policy_version=policy.version)
    return _rejected(
        command, facts, caller, moment, Ruling(decision=decision, trust=Trust.UNTRUSTED, lifetime=None)
    )


def _kept(
    event: Event, ruling: Ruling, facts: WriteFacts, caller: Caller, moment: Moment
) -> Decided[Written]:
    memory = evolve(None, event)
    appended = [event]
    if ruling.decision.outcome is Outcome.APPROVE and facts.corrected is not None:
        appended.append(supersession(facts.corrected, memory.id, caller, moment))
    return Decided(
        answer=Written(memory=memory, decision=ruling.decision, findings=verdicts(facts.findings)),
        events=tuple(appended),
        needs=tuple(Needs(memory_id=parent.id, version=parent.version) for parent in facts.parents),
        forgot_seq=facts.forgot_seq,
    )


def _creation(
    command: Remember, facts: WriteFacts, caller: Caller, moment: Moment, ladder: Ladder, ruling: Ruling
) -> Event:
    shape = Admitted if ruling.decision.outcome is Outcome.APPROVE else Quarantined
    return Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=command.id or moment.fresh_id,
        version=1,
        subject=command.subject,
        secret=_secret(command, facts),
        data=shape(
            agent=command.agent,
            purpose=command.purpose,
            kind=command.kind,
            scope=command.scope or own_scope(command.subject),
            source_type=command.source.type,
            source_id=command.source.id,
            source_version=command.source.version,
            observed_at=command.source.observed_at,
            thread=command.source.thread,
            position=command.source.position,
            trust=ruling.trust,
            confidence=command.confidence,
            expires_at=_expiry(command, moment.now, ladder, ruling),
            valid_from=command.valid_from,
            valid_to=command.valid_to,
            supersedes=command.supersedes,
            derived_from=tuple(parent.id for parent in facts.parents),
            origins=_origins(command.source, facts.parents),
            findings=verdicts(facts.findings),
            tokens=estimate_tokens(command.content),
            rule=ruling.decision.rule,
            reason=ruling.decision.reason,
            policy_version=ruling.decision.policy_version,
            proposer_roles=_roles(caller),
            proposer_model_driven=caller.grants.model_driven,
        ),
    )


def _revision(
    command: Remember, facts: WriteFacts, caller: Caller, ruling: Ruling, *, origins: tuple[Origin, ...]
) -> Revised:
    return Revised(
        source_type=command.source.type,
        source_id=command.source.id,
        source_version=command.source.version,
        observed_at=command.source.observed_at,
        thread=command.source.thread,
        position=command.source.position,
        trust=ruling.trust,
        confidence=command.confidence,
        origins=origins,
        findings=verdicts(facts.findings),
        tokens=estimate_tokens(command.content),
        rule=ruling.decision.rule,
        reason=ruling.decision.reason,
        policy_version=ruling.decision.policy_version,
        proposer_roles=_roles(caller),
        proposer_model_driven=caller.grants.model_driven,
    )


def _roles(caller: Caller) -> tuple[Role, ...]:
    """The caller's roles as an event keeps them, for policies that ask who proposed (SPEC I4)."""
    return tuple(sorted(caller.grants.roles))


def _expiry(command: Remember, now: datetime, ladder: Ladder, ruling: Ruling) -> datetime:
    return first_expiry(
        kind=command.kind,
        now=now,
        asked=asked_expiry(
            kind=command.kind, now=now, expires_at=command.expires_at, ttl_seconds=command.ttl_seconds
        ),
        lifetime=ruling.lifetime,
        kept=ladder.retention(command.scope.tier) if command.scope else None,
    )


def _origins(source: Source, parents: tuple[Memory, ...]) -> tuple[Origin, ...]:
    """The union of the inputs' roots; text of its own is its own root (SPEC M5a)."""
    own = Origin(type=source.type, id=source.id)
    return tuple(sorted({origin for parent in parents for origin in parent.origins})) if parents else (own,)


def _origins_revised(command: Revise, memory: Memory) -> tuple[Origin, ...]:
    """Text that stays is still its author's; a claim added to it has roots of its own beside (SPEC M5a)."""
    own = Origin(type=command.source.type, id=command.source.id)
    if command.content is not None:
        return (own,)
    return tuple(sorted({*memory.origins, own})) if command.claim is not None else memory.origins


def _secret(command: Remember, facts: WriteFacts) -> Secret:
    return Secret(
        content=command.content,
        fingerprint=facts.fingerprint,
        key=command.key,
        key_digest=facts.key_digest,
        claim=command.claim,
        uri=command.source.uri,
    )


def completed(command: Revise, memory: Memory) -> Remember:
    """The proposal that a revision amounts to."""
    return Remember(
        agent=memory.agent,
        purpose=memory.purpose,
        subject=memory.subject,
        kind=memory.kind,
        content=command.content if command.content is not None else memory.content or "",
        source=command.source if command.content is not None else memory.source,
        scope=memory.scope,
        key=memory.key,
        claim=command.claim if command.claim is not None else memory.claim,
        confidence=command.confidence if command.confidence is not None else memory.confidence,
        expires_at=None,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        supersedes=memory.id,
    )

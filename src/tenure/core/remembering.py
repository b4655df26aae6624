"""Deciding on a write: a new memory, a correction, a revision (SPEC L1-L5, L8, L10, L13, M5a). Pure.

Laws: every write passes ``admission.rule_on``; a correction that is held back supersedes nothing until it is
promoted; of two corrections of one memory exactly one can win; a rejection keeps no content.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from tenure.core.admission import Policy, Proposal, Ruling, counted
from tenure.core.comparing import Follows, carried_out, what_follows
from tenure.core.contradictions import WAITS_REASON, WAITS_RULE
from tenure.core.creation import creation, roles, secret, verdicts
from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import InvalidRequest, MemoryRejected, NotFound, VersionConflict
from tenure.core.events import (
    Event,
    Quarantined,
    Revised,
)
from tenure.core.events import (
    Refused as RefusedEvent,
)
from tenure.core.forgetting import below
from tenure.core.identity import Caller, Moment, SourceType
from tenure.core.memory import Memory, Step, evolve, next_status
from tenure.core.proposals import Remember, Revise
from tenure.core.revoked_sources import from_revoked
from tenure.core.statements import Statement
from tenure.core.token_estimate import estimate_tokens
from tenure.core.truth_steps import superseded
from tenure.core.validity import Closed, closing, interval_of
from tenure.core.vocabulary import Decision, Origin, Outcome, Status, Trust, Verdict
from tenure.core.write_facts import WriteFacts, WriteRules


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a write; ``memory`` is None when nothing was kept."""

    memory: Memory | None
    decision: Decision
    findings: tuple[Verdict, ...] = ()
    contradictions: tuple[UUID, ...] = ()
    """The contradictions that were found with it and wait for a person (SPEC T3)."""


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
    trusts = tuple(_usable_trust(parent, moment.now) for parent in facts.parents)
    ruling = rules.judge(_proposal(command, facts, caller, command.source.type, trusts))
    if ruling.decision.outcome is Outcome.REJECT:
        return _rejected(command, facts, caller, moment, ruling)
    return _kept(command, facts, caller, moment, rules, ruling)


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


def supersession(corrected: Memory, by: UUID, closed: Closed | None, caller: Caller, moment: Moment) -> Event:
    """The event that takes the corrected memory's place away, and closes its time (SPEC L10, T4)."""
    valid_to = closed.old.end if closed is not None else None
    return superseded(corrected, by, valid_to=valid_to, actor=caller.id, at=moment.now)


def _revised(
    command: Revise, memory: Memory, facts: WriteFacts, caller: Caller, moment: Moment, rules: WriteRules
) -> Decided[Written]:
    whole = completed(command, memory)
    barred = _barred(whole, facts)
    if barred is not None:
        attested = msgspec.structs.replace(whole, source=command.source)
        return _turned_away(attested, facts, caller, moment, rules.policy, barred)
    facts = msgspec.structs.replace(facts, corrected=memory)
    trusts = (memory.trust,) if command.content is None else ()
    ruling = rules.judge(_proposal(whole, facts, caller, command.source.type, trusts))
    if ruling.decision.outcome is Outcome.REJECT:
        return _rejected(whole, facts, caller, moment, ruling)
    said = _said(facts, ruling)
    follows = _followed(said, facts, rules, ruling, moment)
    if ruling.decision.outcome is Outcome.QUARANTINE or follows.waits:
        apart = msgspec.structs.replace(said, id=moment.fresh_id) if said is not None else None
        facts = msgspec.structs.replace(facts, said=apart)
        return _kept(whole, facts, caller, moment, rules, ruling)
    event = Event(
        tenant=memory.tenant,
        at=moment.now,
        actor=caller.id,
        data=_revision(whole, facts, caller, ruling, origins=_origins_revised(command, memory)),
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
        secret=secret(whole, facts),
    )
    left, behind = _carried_out(follows, said, evolve(memory, event), facts, caller, moment)
    answer = Written(
        memory=left,
        decision=ruling.decision,
        findings=verdicts(facts.findings),
        contradictions=follows.contradictions,
    )
    return Decided(answer=answer, events=(event, *behind), forgot_seq=facts.forgot_seq)


def _proposal(
    command: Remember,
    facts: WriteFacts,
    caller: Caller,
    source_type: SourceType,
    input_trusts: tuple[Trust, ...],
) -> Proposal:
    """What the gate judges; a revision is judged by who attests it, and not by whose text it keeps."""
    return Proposal(
        kind=command.kind,
        source_type=source_type,
        characters=counted(command.content),
        findings=frozenset(finding.kind for finding in facts.findings),
        roles=caller.grants.roles,
        model_driven=caller.grants.model_driven,
        claim=command.claim,
        input_trusts=input_trusts,
        corrected_trust=facts.corrected.trust if facts.corrected else None,
    )


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
            proposer_roles=roles(caller),
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
    command: Remember,
    facts: WriteFacts,
    caller: Caller,
    moment: Moment,
    rules: WriteRules,
    ruling: Ruling,
) -> Decided[Written]:
    """A memory is written, and what it changes among those that stand with it (SPEC L10, T2, T3)."""
    said = _said(facts, ruling)
    follows = _followed(said, facts, rules, ruling, moment)
    if follows.waits and ruling.decision.outcome is Outcome.APPROVE:
        ruling = waiting(ruling)
    stands = ruling.decision.outcome is Outcome.APPROVE
    corrected = facts.corrected if stands else None
    closed = closed_by(corrected, said) if corrected is not None and said is not None else None
    begins = follows.weighed.valid_from or (closed.new.start if closed is not None else follows.begins)
    event = creation(command, facts, caller, moment, rules.ladder, ruling, begins=begins)
    memory, behind = _carried_out(follows, said, evolve(None, event), facts, caller, moment)
    appended = [event]
    if corrected is not None:
        appended.append(supersession(corrected, memory.id, closed, caller, moment))
    return Decided(
        answer=Written(
            memory=memory,
            decision=ruling.decision,
            findings=verdicts(facts.findings),
            contradictions=follows.contradictions,
        ),
        events=(*appended, *behind),
        needs=tuple(Needs(memory_id=parent.id, version=parent.version) for parent in facts.parents),
        forgot_seq=facts.forgot_seq,
    )


def waiting(ruling: Ruling) -> Ruling:
    """What the gate approved waits for a person, since what has more trust says otherwise (SPEC T3)."""
    decision = msgspec.structs.replace(
        ruling.decision, outcome=Outcome.QUARANTINE, rule=WAITS_RULE, reason=WAITS_REASON
    )
    return msgspec.structs.replace(ruling, decision=decision)


def closed_by(corrected: Memory, said: Statement) -> Closed:
    """The times of a memory and of its correction, one after the other (SPEC T4)."""
    return closing(interval_of(corrected), said.valid, said_at=said.said_at)


def _said(facts: WriteFacts, ruling: Ruling) -> Statement | None:
    if facts.said is None:
        return None
    return msgspec.structs.replace(facts.said, trust=ruling.trust)


def _followed(
    said: Statement | None, facts: WriteFacts, rules: WriteRules, ruling: Ruling, moment: Moment
) -> Follows:
    if said is None or not facts.compared:
        return Follows()
    stands = ruling.decision.outcome is Outcome.APPROVE
    return what_follows(said, facts.compared, rules.truth, stands=stands, now=moment.now)


def _carried_out(
    follows: Follows,
    said: Statement | None,
    memory: Memory,
    facts: WriteFacts,
    caller: Caller,
    moment: Moment,
) -> tuple[Memory, tuple[Event, ...]]:
    if said is None or not facts.compared:
        return memory, ()
    return carried_out(follows, said, memory, facts.compared, actor=caller.id, at=moment.now)


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
        proposer_roles=roles(caller),
        proposer_model_driven=caller.grants.model_driven,
    )


def _origins_revised(command: Revise, memory: Memory) -> tuple[Origin, ...]:
    """Text that stays is still its author's; a claim added to it has roots of its own beside (SPEC M5a)."""
    own = Origin(type=command.source.type, id=command.source.id)
    if command.content is not None:
        return (own,)
    return tuple(sorted({*memory.origins, own})) if command.claim is not None else memory.origins


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

"""The first event of a memory, made of a proposal and what was decided on it (SPEC M1, M5a, L11). Pure."""

from collections.abc import Iterable
from datetime import datetime

from tenure.core.admission import Ruling
from tenure.core.events import Admitted, Event, Quarantined, Secret
from tenure.core.identity import Caller, Moment, Role, Scope, Tier
from tenure.core.memory import Memory
from tenure.core.proposals import Remember
from tenure.core.retention import Ladder, asked_expiry, first_expiry
from tenure.core.scanning import Finding
from tenure.core.token_estimate import estimate_tokens
from tenure.core.vocabulary import Origin, Outcome, Source, Verdict
from tenure.core.write_facts import WriteFacts


def creation(
    command: Remember,
    facts: WriteFacts,
    caller: Caller,
    moment: Moment,
    ladder: Ladder,
    ruling: Ruling,
    *,
    begins: datetime | None,
) -> Event:
    """The first event of a memory; ``begins`` is since when it holds, where it does not say so."""
    shape = Admitted if ruling.decision.outcome is Outcome.APPROVE else Quarantined
    return Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=command.id or moment.fresh_id,
        version=1,
        subject=command.subject,
        secret=secret(command, facts),
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
            valid_from=command.valid_from or begins,
            valid_to=command.valid_to,
            supersedes=command.supersedes,
            derived_from=tuple(parent.id for parent in facts.parents),
            origins=origins(command.source, facts.parents),
            findings=verdicts(facts.findings),
            tokens=estimate_tokens(command.content),
            rule=ruling.decision.rule,
            reason=ruling.decision.reason,
            policy_version=ruling.decision.policy_version,
            proposer_roles=roles(caller),
            proposer_model_driven=caller.grants.model_driven,
        ),
    )


def roles(caller: Caller) -> tuple[Role, ...]:
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


def origins(source: Source, parents: tuple[Memory, ...]) -> tuple[Origin, ...]:
    """The union of the inputs' roots; text of its own is its own root (SPEC M5a)."""
    own = Origin(type=source.type, id=source.id)
    return tuple(sorted({origin for parent in parents for origin in parent.origins})) if parents else (own,)


def secret(command: Remember, facts: WriteFacts) -> Secret:
    """What is sealed of a memory."""
    return Secret(
        content=command.content,
        fingerprint=facts.fingerprint,
        key=command.key,
        key_digest=facts.key_digest,
        claim=command.claim,
        uri=command.source.uri,
        things=facts.things,
    )


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

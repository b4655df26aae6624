"""The events of keeping memory true, made of decisions (SPEC T2-T4, T7). Pure.

Each names the memory in whose stream it stands, at the version after the one that was read, so that whoever
was first wins and nothing is done twice.
"""

from datetime import datetime
from uuid import UUID

from tenure.core.contradictions import Conflict
from tenure.core.events import Event, EventData, Secret, Superseded
from tenure.core.memory import Memory
from tenure.core.merging import Voices
from tenure.core.truth_events import (
    ContradictionFound,
    ContradictionResolved,
    Corroborated,
    Merged,
    Pruned,
    Reinstated,
    Unmerged,
    ValidUntil,
)


def superseded(memory: Memory, by: UUID, *, valid_to: datetime | None, actor: str, at: datetime) -> Event:
    """The memory's place is taken; what it says holds until ``valid_to`` (SPEC L10, T3, T4)."""
    return _step(memory, Superseded(by=by, valid_to=valid_to), actor, at)


def merged(
    evidence: Memory, into: UUID, voices: Voices, *, cosine: float | None, actor: str, at: datetime
) -> Event:
    """The memory stands behind another that says the same (SPEC T2)."""
    data = Merged(into=into, cosine=cosine, voices=voices.voices, trusted_voices=voices.trusted_voices)
    return _step(evidence, data, actor, at)


def unmerged(evidence: Memory, out_of: UUID, voices: Voices, *, actor: str, at: datetime) -> Event:
    """The memory stands for itself again, and is found again by what it says (SPEC T2)."""
    data = Unmerged(
        out_of=out_of,
        voices=voices.voices,
        trusted_voices=voices.trusted_voices,
        source_id=evidence.source.id,
        observed_at=evidence.source.observed_at,
    )
    return _step(evidence, data, actor, at, _said(evidence))


def reinstated(
    memory: Memory, instead_of: UUID, *, valid_to: datetime | None, actor: str, at: datetime
) -> Event:
    """A superseded memory stands again, with the end that it had (SPEC T3)."""
    data = Reinstated(
        instead_of=instead_of,
        source_id=memory.source.id,
        observed_at=memory.source.observed_at,
        valid_to=valid_to,
    )
    return _step(memory, data, actor, at, _said(memory))


def valid_until(
    memory: Memory, because_of: UUID, *, valid_to: datetime | None, actor: str, at: datetime
) -> Event:
    """What the memory says holds until then, or again without an end (SPEC T4)."""
    return _step(memory, ValidUntil(because_of=because_of, valid_to=valid_to), actor, at)


def pruned(memory: Memory, because: str, *, actor: str, at: datetime) -> Event:
    """The memory is no longer kept at hand (SPEC T7)."""
    return _step(memory, Pruned(because=because), actor, at)


def corroborated(stands: Memory, by: UUID, voices: Voices, *, actor: str, at: datetime) -> Event:
    """Another memory bears out what this one claims; neither of them moves (SPEC M5a)."""
    return Event(
        tenant=stands.tenant,
        at=at,
        actor=actor,
        subject=stands.subject,
        data=Corroborated(
            memory_id=stands.id, by=by, voices=voices.voices, trusted_voices=voices.trusted_voices
        ),
    )


def contradiction_found(conflict: Conflict, memory: Memory, *, actor: str, at: datetime) -> Event:
    """Two memories cannot both be true; ``memory`` is either of them, for the walls around both (SPEC T3)."""
    return Event(
        tenant=memory.tenant,
        at=at,
        actor=actor,
        stream=conflict.id,
        subject=memory.subject,
        data=ContradictionFound(
            agent=memory.agent,
            purpose=memory.purpose,
            believed=conflict.believed,
            doubted=conflict.doubted,
            effect=conflict.effect,
            because=conflict.because,
            valid_to_before=conflict.valid_to_before,
        ),
    )


def contradiction_resolved(
    contradiction_id: UUID, memory: Memory, *, kept: UUID | None, reason: str, actor: str, at: datetime
) -> Event:
    """A person decided; the reason is sealed, since it may quote a memory (SPEC T3)."""
    return Event(
        tenant=memory.tenant,
        at=at,
        actor=actor,
        stream=contradiction_id,
        subject=memory.subject,
        data=ContradictionResolved(kept=kept),
        secret=Secret(reason=reason),
    )


def _said(memory: Memory) -> Secret:
    """What the memory says, as its first event had it."""
    return Secret(content=memory.content, key=memory.key, claim=memory.claim, uri=memory.source.uri)


def _step(memory: Memory, data: EventData, actor: str, at: datetime, secret: Secret | None = None) -> Event:
    return Event(
        tenant=memory.tenant,
        at=at,
        actor=actor,
        data=data,
        stream=memory.id,
        version=memory.version + 1,
        subject=memory.subject,
        secret=secret,
    )

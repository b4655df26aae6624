"""Writing memories: a proposal, a correction, a revision (SPEC L1)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict
from uuid import UUID

import msgspec

from tenure.core import remembering
from tenure.core.admission import CUSTOM_FAILED
from tenure.core.authority import Permission, Target, answered
from tenure.core.claims import Found, extracted
from tenure.core.comparing import Compared
from tenure.core.creation import origins, own_scope
from tenure.core.decision import Decided, Refused
from tenure.core.errors import MemoryRejected, NotFound, Unavailable
from tenure.core.events import Event
from tenure.core.events import Refused as RefusedEvent
from tenure.core.forgetting import write_targets
from tenure.core.identity import Boundary, Caller, Moment, Scope
from tenure.core.memory import Memory
from tenure.core.proposals import (
    Remember,
    Revise,
    canonical,
    check_claim,
    check_confidence,
    check_remember,
    check_source,
    check_text,
)
from tenure.core.read_scanning import scanned_text
from tenure.core.remembering import Written, completed
from tenure.core.revoked_sources import write_sources
from tenure.core.rows import FloorRow
from tenure.core.scanning import Finding, FindingKind
from tenure.core.statements import Statement, as_found
from tenure.core.validity import Interval
from tenure.core.views import NO_SUBJECT, own_words
from tenure.core.vocabulary import Source, Status, Trust
from tenure.core.write_facts import WriteFacts
from tenure.usecases.comparing import compared, embed, things
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.read_scanning import keep
from tenure.usecases.reading import first_memory, visible
from tenure.usecases.sealing import load


class ReviseMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A revision, and the memory that it is of."""

    memory_id: UUID
    revise: Revise


def _remember_target(command: Remember) -> Target:
    return Target(
        agent=command.agent,
        purpose=command.purpose,
        subject=command.subject,
        source_type=command.source.type,
    )


def _gather_remember(world: World, caller: Caller, command: Remember) -> WriteFacts:
    check_remember(command, world.moment.now)
    corrected = None
    if command.supersedes is not None:
        corrected = _corrected(world, caller, command.supersedes)
    fingerprint = world.keyring.digest(caller.tenant, "content", canonical(command.content))
    key_digest = world.keyring.digest(caller.tenant, "key", command.key) if command.key else None
    scope = command.scope or own_scope(command.subject)
    floors, forgot_seq = _floors(world, caller, command, scope, fingerprint, key_digest)
    parents = tuple(_parent(world, caller, command, parent) for parent in command.derived_from)
    said = _said(world, caller, command, fingerprint, parents)
    return WriteFacts(
        findings=_findings(world, caller, _whole(command), content=command.content, stands=True),
        fingerprint=fingerprint,
        key_digest=key_digest,
        floors=floors,
        revoked=_revoked(world, caller, command.source, parents),
        forgot_seq=forgot_seq,
        present=load(world.reading, world.keyring, caller.tenant, command.id) if command.id else None,
        corrected=corrected,
        parents=parents,
        **_compared(world, said, command, is_new=True),
    )


class Beside(TypedDict, total=False):
    """What a write is compared with, as the facts name it."""

    said: Statement
    things: tuple[bytes, ...]
    compared: tuple[Compared, ...]


def _compared(world: World, said: Statement | None, command: Remember, *, is_new: bool) -> Beside:
    """What stands and says the same, or otherwise (SPEC T2, T3); nothing, where that is not looked for."""
    if said is None:
        return {}
    about = things(world.keyring, said.boundary.tenant, said.claims)
    corrected = {command.supersedes} if command.supersedes is not None else set[UUID]()
    found = compared(world, said, command.claim, about, leaving_out=corrected, is_new=is_new)
    return {"said": said, "things": about, "compared": found}


def _said(
    world: World,
    caller: Caller,
    command: Remember,
    fingerprint: bytes,
    parents: Sequence[Memory],
    memory_id: UUID | None = None,
) -> Statement | None:
    """The memory as it is compared; None where nothing is, or where it is too long to be taken in."""
    rules, now = world.rules, world.moment.now
    if not rules.truth.compares or len(command.content) > rules.content_characters_max:
        return None
    given = () if command.claim is None else (as_found(command.claim),)
    return Statement(
        id=memory_id or command.id or world.moment.fresh_id,
        boundary=Boundary(
            tenant=caller.tenant,
            agent=command.agent,
            purpose=command.purpose,
            subject=command.subject,
        ),
        scope=command.scope or own_scope(command.subject),
        kind=command.kind,
        content=command.content,
        trust=Trust.UNTRUSTED,
        said_at=min(command.source.observed_at or now, now),
        valid=Interval(start=command.valid_from, end=command.valid_to),
        claims=(*given, *_claimed(world, command.content)),
        origins=origins(command.source, tuple(parents)),
        thread=command.source.thread,
        fingerprint=fingerprint.hex(),
        derived_from=tuple(parent.id for parent in parents),
    )


def _claimed(world: World, content: str) -> tuple[Found, ...]:
    said = world.stood.claims.get(content)
    return extracted(content) if said is None else said


def _look_ahead(world: World, commands: Sequence[Remember]) -> None:
    """Scan all the texts, then read what they claim, then embed them: each kind of work stays warm so."""
    rules, stood = world.rules, world.stood
    short = [one for one in commands if len(one.content) <= rules.content_characters_max]
    for text in map(_whole, short):
        stood.findings[text] = world.scanning.findings(text)
    if not rules.truth.compares:
        return
    for one in short:
        stood.claims[one.content] = extracted(one.content)
    embed(world, [own_words(one.content, one.claim) for one in short])


def _floors(
    world: World,
    caller: Caller,
    command: Remember,
    scope: Scope,
    fingerprint: bytes,
    key_digest: bytes | None,
) -> tuple[tuple[FloorRow, ...], int]:
    """The floors that a write may lie below, and up to which position of the log that is known (SPEC F4a).

    A tenant in which this node knows of nothing forgotten is not asked: the store says so if it is wrong.
    """
    if world.forgot_seq == 0:
        return (), 0
    targets = write_targets(command, scope, fingerprint, key_digest)
    forgot_seq = world.reading.forgot_seq(caller.tenant)
    if forgot_seq > world.forgot_seq:
        world.keyring.let_go(caller.tenant)
    return tuple(world.reading.floors(caller.tenant, command.subject, targets)), forgot_seq


def _revoked(
    world: World, caller: Caller, source: Source, parents: Sequence[Memory] = ()
) -> tuple[FloorRow, ...]:
    """The floors of revoked sources that a write comes from, itself or through its inputs (SPEC I1).

    An input that is revoked says by itself that this node may know too little.
    """
    if world.forgot_seq == 0 and all(parent.status is not Status.REVOKED for parent in parents):
        return ()
    targets = write_sources(source, caller.id, parents)
    return tuple(world.reading.floors(caller.tenant, NO_SUBJECT, targets))


def _corrected(world: World, caller: Caller, memory_id: UUID) -> Memory:
    try:
        return visible(world, caller, memory_id)
    except NotFound:
        raise NotFound("the memory named in supersedes does not exist here", field="supersedes") from None


def _parent(world: World, caller: Caller, command: Remember, memory_id: UUID) -> Memory:
    """An input of a derived memory; it must stand within the same four walls (SPEC M2, M5a)."""
    memory = load(world.reading, world.keyring, caller.tenant, memory_id)
    walls = (command.agent, command.purpose, command.subject)
    if memory is None or (memory.agent, memory.purpose, memory.subject) != walls:
        raise NotFound(
            "a memory named in derived_from does not exist within this agent, purpose and subject",
            field="derived_from",
            memory_id=str(memory_id),
        )
    return memory


def _findings(world: World, caller: Caller, text: str, *, content: str, stands: bool) -> tuple[Finding, ...]:
    """What the scanners say of the whole text of a write; where it ``stands``, no recall has to ask again.

    Content that is too long is rejected for its length, so it is not scanned.
    """
    if len(content) > world.rules.content_characters_max:
        return ()
    said = world.stood.findings.get(text)
    found = (*(world.scanning.findings(text) if said is None else said), *world.scanned)
    if stands:
        keep(world, caller.tenant, text, found)
    return found


def _whole(command: Remember) -> str:
    return scanned_text(command.content, command.claim, command.key, command.source.uri)


def _remembered_text(command: Remember, rules: Rules) -> str | None:
    if len(command.content) > rules.content_characters_max:
        return None
    return _whole(command)


def _revised_text(command: ReviseMemory, rules: Rules) -> str | None:
    """What is new in it: the text that stays was looked at when it was written."""
    revise = command.revise
    if revise.content is not None and len(revise.content) > rules.content_characters_max:
        return None
    return scanned_text(revise.content, revise.claim, revise.source.uri) or None


def _decide_remember(
    command: Remember, facts: WriteFacts, caller: Caller, moment: Moment, rules: Rules
) -> Decided[Written] | Refused:
    decided = remembering.remember(command, facts, caller, moment, rules.write)
    return _unless_deferred(decided, facts, rules)


def _unless_deferred(
    decided: Decided[Written] | Refused, facts: WriteFacts, rules: Rules
) -> Decided[Written] | Refused:
    """Where an operator defers what could not be scanned, nothing of it is stored (SPEC L5).

    What is rejected anyway is rejected: trying again would change nothing.
    """
    if not rules.write.defers_failures or isinstance(decided, Refused) or decided.error is not None:
        return decided
    failed = {one.scanner for one in facts.findings if one.kind is FindingKind.FAILURE}
    if decided.answer.decision.rule == CUSTOM_FAILED:
        failed.add("a custom rule")
    if not failed:
        return decided
    return Refused(
        Unavailable(
            f"it could not be scanned, so it was not decided on and nothing was stored; what failed: "
            f"{', '.join(sorted(failed))}",
            hint="Try the same command again in a moment.",
        )
    )


def _revise_target(command: ReviseMemory) -> Target:
    return Target(source_type=command.revise.source.type)


def _gather_revise(world: World, caller: Caller, command: ReviseMemory) -> tuple[Memory, WriteFacts]:
    memory = visible(world, caller, command.memory_id)
    revise = command.revise
    check_source(revise.source, world.moment.now)
    if revise.claim is not None:
        check_claim(revise.claim)
    if revise.confidence is not None:
        check_confidence(revise.confidence)
    content = revise.content if revise.content is not None else memory.content or ""
    if revise.content is None:
        # What was asked outside has no place in the text as it stands.
        world = replace(world, scanned=tuple(_of_all(finding, content) for finding in world.scanned))
    check_text(content, field="content")
    fingerprint = world.keyring.digest(caller.tenant, "content", canonical(content))
    key_digest = world.keyring.digest(caller.tenant, "key", memory.key) if memory.key else None
    whole = completed(revise, memory)
    floors, forgot_seq = _floors(world, caller, whole, memory.scope, fingerprint, key_digest)
    facts = WriteFacts(
        findings=_findings(
            world,
            caller,
            scanned_text(content, revise.claim or memory.claim, memory.key, revise.source.uri),
            content=content,
            # Scanners outside were asked about what is new in it alone.
            stands=not world.scanning.asks_outside,
        ),
        fingerprint=fingerprint,
        key_digest=key_digest,
        floors=floors if revise.content is not None else (),
        revoked=_revoked(world, caller, revise.source),
        forgot_seq=forgot_seq,
        **_compared(world, _said(world, caller, whole, fingerprint, (), memory.id), whole, is_new=False),
    )
    return memory, facts


def _of_all(finding: Finding, content: str) -> Finding:
    return msgspec.structs.replace(finding, start=0, end=len(content))


def _decide_revise(
    command: ReviseMemory, facts: tuple[Memory, WriteFacts], caller: Caller, moment: Moment, rules: Rules
) -> Decided[Written] | Refused:
    memory, write = facts
    decided = _unless_deferred(
        remembering.revise(command.revise, memory, write, caller, moment, rules.write), write, rules
    )
    if isinstance(decided, Refused) or decided.answer.memory is None or command.revise.content is not None:
        return decided
    # Whoever changes only the confidence has not shown that they know the text.
    told = msgspec.structs.replace(decided.answer, memory=answered(caller, decided.answer.memory))
    return msgspec.structs.replace(decided, answer=told)


def _replay(world: World, caller: Caller, first: Event | None, _outcome: bytes) -> Written:
    """The first answer again, as it was: the same memory at the same version, or the same rejection."""
    if first is not None and isinstance(first.data, RefusedEvent):
        data = first.data
        raise MemoryRejected(rule=data.rule, reason=data.reason, policy_version=data.policy_version)
    memory = first_memory(world, first)
    told = memory if memory.proposed_by == caller.id else answered(caller, memory)
    return Written(memory=told, decision=memory.decision, findings=memory.findings)


REMEMBER: UseCase[Remember, WriteFacts, Written] = UseCase(
    name="remember",
    permission=Permission.PROPOSE,
    is_combined=True,
    target=_remember_target,
    gather=_gather_remember,
    text=_remembered_text,
    ahead=_look_ahead,
    decide=_decide_remember,
    replay=_replay,
)

REVISE: UseCase[ReviseMemory, tuple[Memory, WriteFacts], Written] = UseCase(
    name="revise",
    permission=Permission.PROPOSE,
    is_combined=True,
    target=_revise_target,
    gather=_gather_revise,
    text=_revised_text,
    decide=_decide_revise,
    replay=_replay,
)

"""A person's word on a contradiction, and on a merge that was none, carried out (SPEC T2, T3, A5). Pure.

    settled = resolve(command, dispute, caller, moment, rules, truth=…)
    memory = unmerge(command, merge, caller, moment)

Laws: what is kept stands afterwards, or nothing is changed; the other one stands no longer, but where both
are kept; a contradiction is decided once; what waits is let in by the rules of review alone, so that nobody
lets in what they proposed, and where two reviewers are asked for, one is not enough; what changed meanwhile,
so that nothing is left to do about it, is left as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from tenure.core import contradictions, review
from tenure.core.comparing import Compared
from tenure.core.contradictions import Effect, Open, Plan
from tenure.core.decision import Decided, Needs, Refused
from tenure.core.errors import IllegalTransition, InvalidRequest, TenureError, VersionConflict
from tenure.core.events import Event, Rejected
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory, evolve
from tenure.core.merging import support
from tenure.core.retention import checked_reason
from tenure.core.review import Judge, ReviewRules, judged
from tenure.core.rows import FOREVER, ContradictionRow, from_microseconds
from tenure.core.statements import Statement, statement_of
from tenure.core.truth_rules import TruthRules
from tenure.core.truth_steps import contradiction_resolved, reinstated, superseded, unmerged, valid_until
from tenure.core.validity import closing, interval_of
from tenure.core.vocabulary import Status

BOTH: Final = "both"
"""What is said instead of an id where both memories are right."""

_KEPT: Final = frozenset({Status.ACTIVE, Status.QUARANTINED, Status.SUPERSEDED})


class Resolve(msgspec.Struct, frozen=True, kw_only=True):
    """Which of two memories that contradict each other is kept, or both where none is named; and why."""

    contradiction_id: UUID
    keep: UUID | None
    reason: str


class Unmerge(msgspec.Struct, frozen=True, kw_only=True):
    """A memory is to stand for itself again, as it was looked at, for a reason."""

    memory_id: UUID
    expected_version: int
    reason: str


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction as it was recorded, and what stands for each of the two now.

    A memory that was merged is stood for by another. None is no longer at hand. ``corrected`` is what the
    doubted one would take the place of, ``compared`` what else stands and says the same or otherwise, and
    ``until`` the end that the believed one had, where the doubted one took its place since.
    """

    row: ContradictionRow
    believed: Memory | None
    doubted: Memory | None
    corrected: Memory | None = None
    compared: tuple[Compared, ...] = ()
    until: datetime | None = None


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided, and every memory that it moved, as it stands now."""

    kept: UUID | None
    moved: tuple[Memory, ...] = ()


class Behind(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that may be behind another, that other one, and all else that says so with it."""

    memory: Memory
    stands: Memory | None = None
    voices: tuple[Statement, ...] = ()


def resolve(
    command: Resolve,
    dispute: Dispute,
    caller: Caller,
    moment: Moment,
    rules: ReviewRules,
    *,
    truth: TruthRules = TruthRules(),  # noqa: B008 -- a frozen record
) -> Decided[Settled] | Refused:
    """Carry out what a person decided; everything at the versions that were read."""
    checked_reason(command.reason)
    plan = _plan(command, dispute, moment.now)
    refusal = _unfit(command, dispute, plan, caller, moment.now, rules)
    if refusal is not None:
        return Refused(refusal)
    let_in = _let_in(command, dispute, plan, caller, moment, rules, truth=truth)
    if isinstance(let_in, Refused):
        return let_in
    before = {one.id: one for one in _at_hand(dispute)}
    events = [*let_in, *_put_back(command, dispute, plan, caller, moment)]
    events += _put_down(command, dispute, _after(before, events), caller, moment)
    after = _after(before, events)
    moved = dict.fromkeys(one.stream for one in events if one.stream is not None and one.stream in after)
    return _decided(command, dispute, events, tuple(after[one] for one in moved), caller, moment)


def unmerge(command: Unmerge, behind: Behind, caller: Caller, moment: Moment) -> Decided[Memory] | Refused:
    """Let a memory stand for itself again, and count anew who says what it stood behind (SPEC T2)."""
    memory, stands = behind.memory, behind.stands
    if memory.version != command.expected_version:
        return Refused(VersionConflict(expected=command.expected_version, current=memory.version))
    checked_reason(command.reason)
    if memory.merged_into is None or memory.status is not Status.SUPERSEDED:
        return Refused(
            IllegalTransition(
                "this memory is not merged with another",
                hint="Only what stands behind another memory that says the same can be unmerged.",
                memory_status=str(memory.status),
            )
        )
    if memory.expires_at <= moment.now:
        return Refused(_over(memory))
    said = () if stands is None else (statement_of(stands),)
    voices = support([*said, *behind.voices])
    event = unmerged(memory, memory.merged_into, voices, actor=caller.id, at=moment.now)
    event = _with_reason(event, command.reason)
    return Decided(answer=evolve(memory, event), events=(event,))


def read_keep(said: UUID | str | None) -> UUID | None:
    """What is to be kept, as it was said outside: an id, or none where both are right."""
    if said is None or said == BOTH:
        return None
    try:
        return UUID(str(said))
    except ValueError:
        raise InvalidRequest(
            "keep is no id", field="keep", hint=f"Give the id of one of the two memories, or {BOTH}."
        ) from None


def spelled(kept: UUID | None) -> str:
    """What was decided, as it is said outside."""
    return str(kept) if kept is not None else BOTH


def _plan(command: Resolve, dispute: Dispute, now: datetime) -> Plan:
    row, doubted = dispute.row, dispute.doubted
    until = from_microseconds(row.valid_to_before) if row.valid_to_before != FOREVER else None
    return contradictions.resolve(
        Open(row.believed, row.doubted, Effect(row.effect), until),
        keep=command.keep,
        doubted_is=doubted.status_at(now) if doubted is not None else Status.FORGOTTEN,
    )


def _unfit(
    command: Resolve, dispute: Dispute, plan: Plan, caller: Caller, now: datetime, rules: ReviewRules
) -> TenureError | None:
    """Why this cannot be decided so, if it cannot."""
    row, keep = dispute.row, command.keep
    if row.resolved_seq:
        return IllegalTransition(
            f"a person has decided already: {spelled(row.kept)} was kept",
            hint="Revoke, correct or write a memory, where that was wrong.",
            kept=spelled(row.kept),
        )
    if keep not in {None, row.believed, row.doubted}:
        return InvalidRequest(
            "keep is none of the two memories",
            field="keep",
            hint=f"Known: {row.believed}, {row.doubted}, {BOTH}.",
        )
    sides = ((row.believed, dispute.believed), (row.doubted, dispute.doubted))
    for memory_id, memory in sides:
        if keep in {None, memory_id} and (refusal := _unkept(memory_id, memory, now)) is not None:
            return refusal
    waits = _waiting(dispute.believed, now) if keep != row.doubted else None
    return waits or _not_put_back(dispute, plan, caller, now, rules)


def _unkept(memory_id: UUID, memory: Memory | None, now: datetime) -> IllegalTransition | None:
    """Why a memory cannot be kept: its time is over, or it was taken away."""
    if memory is None:
        return IllegalTransition(
            "the memory to be kept is no longer at hand",
            hint="Keep the other one; what is forgotten or pruned comes back as a new memory alone.",
            memory_id=str(memory_id),
        )
    status = memory.status_at(now)
    if status is Status.EXPIRED or (status is Status.SUPERSEDED and memory.expires_at <= now):
        return _over(memory)
    if status in _KEPT:
        return None
    return IllegalTransition(
        f"the memory to be kept is {status}", hint="Keep the other one.", memory_id=str(memory_id)
    )


def _over(memory: Memory) -> IllegalTransition:
    return IllegalTransition(
        f"the memory expired at {memory.expires_at.isoformat()}, and what has expired stands no more",
        hint="Write it again where it still holds.",
        memory_id=str(memory.id),
    )


def _waiting(believed: Memory | None, now: datetime) -> IllegalTransition | None:
    """Why the one that was believed cannot be kept, where it was held back since."""
    if believed is None or believed.status_at(now) is not Status.QUARANTINED:
        return None
    return IllegalTransition(
        "the memory to be kept waits in quarantine itself",
        hint="Decide on it in the review first.",
        memory_id=str(believed.id),
    )


def _not_put_back(
    dispute: Dispute, plan: Plan, caller: Caller, now: datetime, rules: ReviewRules
) -> IllegalTransition | None:
    """Why the one that was doubted cannot be put back by this word alone."""
    doubted = dispute.doubted
    if doubted is None:
        return None
    if plan.promote is not None and _takes_another(doubted, caller, rules):
        return IllegalTransition(
            "it takes two reviewers to let this memory in",
            hint="Let two reviewers promote it in the review, and resolve the contradiction then.",
            memory_id=str(doubted.id),
        )
    if plan.supersede is not None and doubted.status_at(now) is Status.SUPERSEDED:
        return _displaced(dispute, doubted)
    return None


def _takes_another(memory: Memory, caller: Caller, rules: ReviewRules) -> bool:
    """Whether a second reviewer is missing; whoever proposed it is told that, and not this."""
    return rules.asks_for_two(memory) and memory.endorsed_by is None and memory.proposed_by != caller.id


def _displaced(dispute: Dispute, doubted: Memory) -> IllegalTransition | None:
    """Why it cannot be kept against the other one, where a third one took its place."""
    if _is_displaced_by(doubted, dispute.row.believed, dispute.believed):
        return None
    return IllegalTransition(
        "a third memory took the place of the one to be kept",
        hint="Decide between those two first, or correct the one that stands.",
        superseded_by=str(doubted.superseded_by),
    )


def _is_displaced_by(memory: Memory, other_id: UUID, other: Memory | None) -> bool:
    """Whether it is the other one of the two, or what stands for it, that took its place."""
    if memory.status is not Status.SUPERSEDED or memory.merged_into is not None:
        return False
    return memory.superseded_by in {other_id, other.id if other is not None else other_id}


def _let_in(
    command: Resolve,
    dispute: Dispute,
    plan: Plan,
    caller: Caller,
    moment: Moment,
    rules: ReviewRules,
    *,
    truth: TruthRules,
) -> tuple[Event, ...] | Refused:
    """Promoted by the rules of review; against the other one it is weighed where it is kept alone."""
    doubted = dispute.doubted
    if plan.promote is None or doubted is None:
        return ()
    rival = dispute.believed.id if dispute.believed is not None else None
    compared = tuple(_weighed(command, dispute, doubted, moment.now))
    corrected = dispute.corrected
    if command.keep is None and corrected is not None and corrected.id == rival:
        # It was meant as a correction of the other one; a person said that both are right.
        corrected = None
    judge = Judge(expected_version=doubted.version, reason=command.reason)
    decided = review.promote(judge, doubted, corrected, caller, moment, rules, truth=truth, compared=compared)
    if isinstance(decided, Refused):
        return decided
    # This contradiction is decided, and must not be found again in the same step.
    return tuple(one for one in decided.events if one.stream != dispute.row.contradiction_id)


def _weighed(command: Resolve, dispute: Dispute, doubted: Memory, now: datetime) -> Iterator[Compared]:
    """What it is weighed against; the other one is among it only to be displaced, where it is kept alone."""
    said = review.reviewed(doubted, now)
    for one in dispute.compared:
        if dispute.believed is None or one.memory.id != dispute.believed.id:
            yield one
        elif command.keep is not None and one.statement.standing < said.standing:
            yield msgspec.structs.replace(one, is_recorded=False)


def _put_back(
    command: Resolve, dispute: Dispute, plan: Plan, caller: Caller, moment: Moment
) -> Iterator[Event]:
    """What is kept stands again, or holds as long as it did; of both it is one that was displaced."""
    row, doubted = dispute.row, dispute.doubted
    if (again := _again(command, dispute, plan)) is not None:
        memory, until = again
        instead_of = memory.superseded_by or row.believed
        event = reinstated(memory, instead_of, valid_to=until, actor=caller.id, at=moment.now)
        yield _with_reason(event, command.reason)
    if plan.reopen is not None and doubted is not None and doubted.valid_to != plan.valid_to:
        yield valid_until(doubted, row.believed, valid_to=plan.valid_to, actor=caller.id, at=moment.now)


def _again(command: Resolve, dispute: Dispute, plan: Plan) -> tuple[Memory, datetime | None] | None:
    """The one of the two that is kept and whose place the other one took, and the end that it had."""
    row, believed, doubted = dispute.row, dispute.believed, dispute.doubted
    takes_back = believed is not None and _is_displaced_by(believed, row.doubted, doubted)
    if believed is not None and takes_back and command.keep != row.doubted:
        return believed, dispute.until
    if doubted is None or plan.reinstate is None or not _is_displaced_by(doubted, row.believed, believed):
        return None
    return doubted, plan.valid_to


def _put_down(
    command: Resolve, dispute: Dispute, after: Mapping[UUID, Memory], caller: Caller, moment: Moment
) -> Iterator[Event]:
    """The other one stands no longer, or waits no longer, or holds until the kept one begins."""
    if command.keep is None or dispute.believed is None or dispute.doubted is None:
        return
    pair = (after[dispute.believed.id], after[dispute.doubted.id])
    kept, other = pair if command.keep == dispute.row.believed else pair[::-1]
    status, begins = other.status_at(moment.now), kept.valid_from
    if status is Status.QUARANTINED:
        yield judged(other, Rejected(), command.reason, caller, moment)
    elif status is not Status.ACTIVE or kept.id == other.id:
        return
    elif begins is None or begins <= moment.now:
        closed = closing(interval_of(other), interval_of(kept), said_at=statement_of(kept).said_at)
        yield superseded(other, kept.id, valid_to=closed.old.end, actor=caller.id, at=moment.now)
    elif other.valid_to is None or other.valid_to > begins:
        # Until the kept one begins, nothing else says what holds.
        yield valid_until(other, kept.id, valid_to=begins, actor=caller.id, at=moment.now)


def _at_hand(dispute: Dispute) -> Iterator[Memory]:
    """Every memory that this may move."""
    yield from (one.memory for one in dispute.compared)
    yield from (one for one in (dispute.believed, dispute.doubted, dispute.corrected) if one is not None)


def _after(before: Mapping[UUID, Memory], events: Iterable[Event]) -> Mapping[UUID, Memory]:
    """The memories as these events leave them."""
    after = dict(before)
    for event in events:
        if event.stream in after:
            after[event.stream] = evolve(after[event.stream], event)
    return after


def _decided(
    command: Resolve,
    dispute: Dispute,
    events: Sequence[Event],
    moved: tuple[Memory, ...],
    caller: Caller,
    moment: Moment,
) -> Decided[Settled]:
    """The word first, then what it moves; what was looked at and does not move must not have moved."""
    sides = [one for one in (dispute.believed, dispute.doubted) if one is not None]
    word = contradiction_resolved(
        dispute.row.contradiction_id,
        sides[0],
        kept=command.keep,
        reason=command.reason,
        actor=caller.id,
        at=moment.now,
    )
    streams = {event.stream for event in events}
    needs = {one.id: Needs(memory_id=one.id, version=one.version) for one in sides if one.id not in streams}
    return Decided(
        answer=Settled(kept=command.keep, moved=moved),
        events=(word, *events),
        needs=tuple(needs.values()),
    )


def _with_reason(event: Event, reason: str) -> Event:
    """The event with a reason, which is sealed, since it may quote the memory."""
    if event.secret is None:
        raise AssertionError("what stands again says what it says")
    return msgspec.structs.replace(event, secret=msgspec.structs.replace(event.secret, reason=reason))

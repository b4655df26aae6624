"""One word of a reviewer on many memories, each decided on by itself (SPEC A5, L7, L8).

1 select   which memories are meant, and at which versions they were seen: one read
2 decide   each by the rule for one, in one batch
3 answer   a result for each, whatever became of it
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from tenure.core import bulk_review
from tenure.core.authority import Permission, Target, reaches
from tenure.core.bulk_review import DECIDED_MAX, Action, DecideMany, Decisions, OfSource, Result
from tenure.core.decision import Decided
from tenure.core.identity import Caller
from tenure.core.memory import Memory
from tenure.core.review import Judge
from tenure.core.rows import MemoryRow, microseconds
from tenure.core.vocabulary import Status
from tenure.usecases.pipeline import Pipeline, UseCase, World
from tenure.usecases.ports import Listing
from tenure.usecases.reading import absent, narrowed
from tenure.usecases.recording import Showed
from tenure.usecases.review import PROMOTE, REJECT, REVOKE, JudgeMemory
from tenure.usecases.review_queue import candidates_of


class Selection(NamedTuple):
    """What is to be decided on, at which versions; what is not, and why; whether more waits."""

    seen: dict[UUID, int]
    passed_over: tuple[Result, ...]
    order: tuple[UUID, ...]
    more: bool


def decide_many(pipeline: Pipeline, caller: Caller, command: DecideMany) -> Decisions:
    """Say one word on many memories; the answer has a result for each."""
    selection = pipeline.run(SELECT, caller, command)
    judged = [
        (JudgeMemory(memory_id=one, judge=Judge(expected_version=version, reason=command.reason)), None)
        for one, version in selection.seen.items()
    ]
    answers = pipeline.run_many(_USE_CASES[command.action], caller, judged) if judged else []
    results = {one.memory_id: one for one in selection.passed_over}
    for (given, _), answer in zip(judged, answers, strict=True):
        results[given.memory_id] = bulk_review.done(command.action, given.memory_id, answer)
    items = tuple(results[memory_id] for memory_id in selection.order)
    return bulk_review.decisions(command.action, items, more=selection.more)


def _select(world: World, caller: Caller, command: DecideMany) -> Selection:
    bulk_review.check_decide_many(command)
    bulk_review.check_position(command, world.reading.head(caller.tenant)[0])
    versions = {seen.id: seen.version for seen in command.expected}
    named = command.ids or tuple(versions)
    rows = world.reading.rows_of(caller.tenant, named) if named else _of_source(world, caller, command)
    by_id = {row.memory_id: row for row in rows[:DECIDED_MAX]}
    order = named or tuple(by_id)
    if command.seen_until is not None:
        versions = _unchanged(world, caller, list(by_id.values()), command.seen_until)
    seen: dict[UUID, int] = {}
    passed_over: list[Result] = []
    for memory_id in order:
        row = by_id.get(memory_id)
        if row is None or not _is_of(row, command.source) or not _is_granted(row, caller):
            passed_over.append(bulk_review.done(command.action, memory_id, absent(memory_id)))
        elif memory_id not in versions:
            passed_over.append(bulk_review.not_seen(memory_id, row.version))
        else:
            seen[memory_id] = versions[memory_id]
    return Selection(seen, tuple(passed_over), order, more=not named and len(rows) > DECIDED_MAX)


def _of_source(world: World, caller: Caller, command: DecideMany) -> list[MemoryRow]:
    """What waits from a source, that which waits longest first, and one more than is decided on."""
    source, grants = command.source, caller.grants
    if source is None:
        return []
    listing = Listing(
        tenant=caller.tenant,
        now=microseconds(world.moment.now),
        limit=DECIDED_MAX + 1,
        agents=narrowed(None, grants.agents),
        purposes=narrowed(None, grants.purposes),
        subjects=narrowed(None, grants.subjects),
        status=Status.QUARANTINED,
        source_type=source.type,
        source_id=source.id,
    )
    return world.reading.waiting(listing, after_seq=0)


def _unchanged(world: World, caller: Caller, rows: Sequence[MemoryRow], until: int) -> dict[UUID, int]:
    """The versions of those that were there at a position and did not change behind it."""
    return {
        one.row.memory_id: one.row.version
        for one in candidates_of(world, caller.tenant, rows)
        if one.changed_seq <= until
    }


def _is_of(row: MemoryRow, source: OfSource | None) -> bool:
    if source is None:
        return True
    is_theirs = (row.source_type, row.source_id) == (source.type, source.id)
    return is_theirs and row.status == Status.QUARANTINED


def _is_granted(row: MemoryRow, caller: Caller) -> bool:
    return reaches(caller, agent=row.agent, purpose=row.purpose, subject=row.subject)


SELECT: UseCase[DecideMany, Selection, Selection] = UseCase(
    name="review-selection",
    permission=Permission.REVIEW,
    target=lambda _command: Target(),
    gather=_select,
    decide=lambda _command, selection, _caller, _moment, _rules: Decided(answer=selection),
    showed=lambda selection: Showed(len(selection.order)),
)

_USE_CASES: Final[dict[Action, UseCase[JudgeMemory, Any, Memory]]] = {
    Action.PROMOTE: PROMOTE,
    Action.REJECT: REJECT,
    Action.REVOKE: REVOKE,
}

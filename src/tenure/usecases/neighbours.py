"""What stood around a memory in its thread: filtered, scanned and recorded as a recall is (SPEC R1, R2a, R5).

The four walls are the memory's own, so nothing is asked but which memory. What is shown leaves a receipt, on
which the caller may report what was used.
"""

from uuid import UUID

import msgspec

from tenure.core.authority import Permission, Target
from tenure.core.decision import Decided
from tenure.core.errors import NotFound
from tenure.core.events import Recalled
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory
from tenure.core.neighbours import Around, check_around, place_of, standing_around
from tenure.core.retrieval import Filter, Found, Recall, unranked
from tenure.core.rows import microseconds
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.read_scanning import Shown, show
from tenure.usecases.reading import visible
from tenure.usecases.receipts import answered
from tenure.usecases.retrieval import opened


class AskNeighbours(msgspec.Struct, frozen=True, kw_only=True):
    """The memory whose neighbours are wanted, and how many."""

    memory_id: UUID
    around: Around = Around()


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that was asked about, and what may be shown of it and around it."""

    memory: Memory
    shown: Shown


def _gather(world: World, caller: Caller, command: AskNeighbours) -> Passage:
    check_around(command.around, items_max=world.rules.recall_items_max)
    memory = visible(world, caller, command.memory_id)
    asked = _asked(memory, command.around)
    where = Filter(
        tenant=caller.tenant,
        agent=memory.agent,
        purpose=memory.purpose,
        subjects=frozenset({memory.subject}),
        now=microseconds(world.moment.now),
    )
    rows = world.reading.search(where, (), None).rows
    row = world.reading.memory_row(caller.tenant, memory.id)
    place = place_of(rows, row.created_seq) if row is not None else None
    if place is None:
        raise NotFound(
            "no recall would show this memory now, so nothing around it is shown",
            memory_id=str(memory.id),
            hint="Its history says what became of it.",
        )
    places = standing_around(rows, place, command.around)
    passage = opened(world, caller.tenant, (unranked(rows, one) for one in places), at_once=len(places))
    return Passage(memory=memory, shown=show(world, asked, caller.tenant, [passage], wanted=len(places)))


def _asked(memory: Memory, around: Around) -> Recall:
    """The recall that shows a passage: as many items as it has at most, and no question."""
    return Recall(
        agent=memory.agent,
        purpose=memory.purpose,
        subject=memory.subject,
        limit=around.before + around.after + 1,
    )


def _decide(
    command: AskNeighbours, passage: Passage, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Found]:
    found, memory = passage.shown.found, passage.memory
    receipt = Recalled(
        agent=memory.agent,
        purpose=memory.purpose,
        query_fingerprint=b"",
        memory_ids=tuple(item.memory.id for item in found.items),
        limit=command.around.before + command.around.after + 1,
        around=memory.id,
    )
    return answered(found, receipt, caller, moment, subject=memory.subject, beside=passage.shown.events)


NEIGHBOURS: UseCase[AskNeighbours, Passage, Found] = UseCase(
    name="neighbours",
    permission=Permission.RECALL,
    target=lambda _command: Target(),
    gather=_gather,
    decide=_decide,
)

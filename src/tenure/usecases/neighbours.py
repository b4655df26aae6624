"""What stood around a memory in its thread: filtered, scanned and recorded as a recall is (SPEC R1, R2a, R5).

The four walls are the memory's own, so nothing is asked but which memory. What is shown leaves a receipt, on
which the caller may report what was used.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from tenure.core.authority import Permission, Target
from tenure.core.boundary_rows import Rows
from tenure.core.decision import Decided
from tenure.core.errors import NotFound
from tenure.core.events import Event, Recalled
from tenure.core.identity import Caller, Moment
from tenure.core.memory import Memory
from tenure.core.neighbours import Around, check_around, place_of, standing_around
from tenure.core.retrieval import Filter, Found, Ranked, Recall, unranked
from tenure.core.rows import microseconds
from tenure.usecases.pipeline import Rules, UseCase, World
from tenure.usecases.read_scanning import Shown, show
from tenure.usecases.reading import visible
from tenure.usecases.sealing import fold


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
    opened = _opened(world, caller.tenant, rows, places)
    return Passage(memory=memory, shown=show(world, asked, caller.tenant, [opened], wanted=len(places)))


def _asked(memory: Memory, around: Around) -> Recall:
    """The recall that shows a passage: as many items as it has at most, and no question."""
    return Recall(
        agent=memory.agent,
        purpose=memory.purpose,
        subject=memory.subject,
        limit=around.before + around.after + 1,
    )


def _opened(world: World, tenant: str, rows: Rows, places: Sequence[int]) -> Iterator[tuple[Ranked, Memory]]:
    """The memories in these places that can be read, none of them ranked."""
    for place in places:
        memory = fold(world.reading, world.keyring, tenant, rows.ids[place])
        if memory is not None and memory.content is not None:
            yield unranked(rows, place), memory


def _decide(
    command: AskNeighbours, passage: Passage, caller: Caller, moment: Moment, _rules: Rules
) -> Decided[Found]:
    found, memory = passage.shown.found, passage.memory
    receipt = Event(
        tenant=caller.tenant,
        at=moment.now,
        actor=caller.id,
        stream=moment.fresh_id,
        subject=memory.subject,
        data=Recalled(
            agent=memory.agent,
            purpose=memory.purpose,
            query_fingerprint=b"",
            memory_ids=tuple(item.memory.id for item in found.items),
            limit=command.around.before + command.around.after + 1,
            around=memory.id,
        ),
    )
    return Decided(answer=found, events=(receipt, *passage.shown.events))


NEIGHBOURS: UseCase[AskNeighbours, Passage, Found] = UseCase(
    name="neighbours",
    permission=Permission.RECALL,
    target=lambda _command: Target(),
    gather=_gather,
    decide=_decide,
)

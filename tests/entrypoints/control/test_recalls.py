"""Recalls by the owner of the store: the same with and without a server, and recorded (SPEC S1, R7)."""

from pathlib import Path
from uuid import UUID

import pytest
from tests.entrypoints.control.standing import Standing, standing

from tenure.config import Settings
from tenure.core.errors import InvalidRequest, NotFound
from tenure.core.events import Recalled
from tenure.core.neighbours import Around
from tenure.core.retrieval import Found, Recall
from tenure.entrypoints.control.arguments import Arguments
from tenure.entrypoints.control.client import Connection
from tenure.entrypoints.control.operations import ImportArguments
from tenure.entrypoints.control.reaching import Opened, Reached, answer, reach
from tenure.entrypoints.control.recalls import NeighboursArguments, RecallArguments
from tenure.usecases.importing import Conversion, Imported, Turn
from tenure.usecases.sealing import open_event
from tenure.wiring import Node

ASKED = Recall(agent="a", purpose="p", queries=("red", "third"), limit=3)


def walked(reached: Reached) -> list[object]:
    """A conversation, what it is asked, and what stood around one of its turns."""
    conversion = Conversion(agent="a", purpose="p")
    turns = [Turn(id=number, text=f"Van {number} is red.") for number in (1, 2, 3)]
    proposals = [one for turn in turns for one in conversion.proposals("talk", turn)]
    answer(reached, ImportArguments(tenant="acme", items=proposals), Imported)
    found = answer(reached, RecallArguments(tenant="acme", recall=ASKED), Found)
    first = next(item.memory for item in found.items if item.memory.content == "Van 1 is red.")
    around = NeighboursArguments(memory_id=first.id, around=Around(before=0, after=1))
    passage = answer(reached, around, Found)
    return [
        sorted(item.memory.content or "" for item in found.items),
        [item.memory.content for item in passage.items],
    ]


def test_what_is_asked_is_the_same_with_and_without_a_server(tmp_path: Path) -> None:
    """SPEC S1: one copy of each operation, whichever way it is reached."""
    with reach(Settings(data_dir=str(tmp_path / "one"))) as opened:
        alone = walked(opened)
    with standing(tmp_path / "two") as stands, reach(Settings(data_dir=str(tmp_path / "two"))) as connected:
        served = walked(connected)
        assert isinstance(connected, Connection)
        assert actors(stands.node) == ["local:operator"] * 2

    assert alone == served
    assert alone[0] == ["Van 1 is red.", "Van 2 is red.", "Van 3 is red."]
    assert alone[1] == ["Van 1 is red.", "Van 2 is red."]


def actors(node: Node) -> list[str]:
    """Who recalled."""
    node.store.settle()
    events = [open_event(stored, node.keyring) for stored in node.store.export("acme")]
    return [event.actor for event in events if isinstance(event.data, Recalled)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (RecallArguments(tenant="nobody", recall=ASKED), NotFound),
        (NeighboursArguments(memory_id=UUID(int=9), around=Around()), NotFound),
        (NeighboursArguments(memory_id=UUID(int=9), around=Around(), tenant="nobody"), NotFound),
    ],
    ids=["no tenant", "no memory", "no tenant and no memory"],
)
def test_what_is_not_there_is_the_same_error_on_both_ways(
    stands: Standing, arguments: Arguments, expected: type[Exception]
) -> None:
    """SPEC S2: a slip of the hand makes nothing."""
    with reach(Settings(data_dir=str(stands.folder))) as connected:
        for reached in (connected, Opened(stands.node)):
            with pytest.raises(expected):
                answer(reached, arguments, Found)


def test_a_question_that_is_none_is_refused(stands: Standing) -> None:
    """SPEC S2: here as everywhere."""
    proposals = Conversion(agent="a", purpose="p").proposals("talk", Turn(id=1, text="Prefers tea"))
    with reach(Settings(data_dir=str(stands.folder))) as reached:
        answer(reached, ImportArguments(tenant="acme", items=list(proposals)), Imported)

        with pytest.raises(InvalidRequest):
            answer(reached, RecallArguments(tenant="acme", recall=Recall(agent="a", purpose="p")), Found)

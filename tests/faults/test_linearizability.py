"""Each memory behaves as one register, on however many nodes (SPEC L8), and the check sees it if not."""

from functools import partial

import pytest
from tests.faults.histories import Recording
from tests.faults.linearizability import NEVER, Operation, Read, State, Swap, is_linearizable
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once
from tests.usecases.asking import written

from tenure.wiring import Node

FIRST = State(1, "first")
SECOND = State(2, "second")
MEMORIES = 3
CALLERS = 8
OPERATIONS = 30

CORRECT = {
    "nothing happens": [],
    "one after the other": [
        Operation(0, 1, Read(FIRST)),
        Operation(2, 3, Swap(1, "second", 1)),
        Operation(4, 5, Read(SECOND)),
    ],
    "a read beside a write sees it or not": [
        Operation(0, 9, Swap(1, "second", 1)),
        Operation(1, 2, Read(FIRST)),
        Operation(3, 4, Read(SECOND)),
    ],
    "of two writers one wins": [
        Operation(0, 3, Swap(1, "second", 1)),
        Operation(1, 2, Swap(1, "other", 2)),
    ],
    "what is unknown happened": [
        Operation(0, NEVER, Swap(1, "second", None)),
        Operation(1, 2, Read(FIRST)),
        Operation(3, 4, Read(SECOND)),
    ],
    "what is unknown did not happen": [
        Operation(0, NEVER, Swap(1, "second", None)),
        Operation(1, 2, Swap(1, "other", 1)),
        Operation(3, 4, Read(State(2, "other"))),
    ],
    "what is unknown happened late": [
        Operation(0, NEVER, Swap(2, "third", None)),
        Operation(1, 2, Swap(1, "second", 1)),
        Operation(3, 4, Read(State(3, "third"))),
    ],
}
WRONG = {
    "a lost acknowledgement": [
        Operation(0, 1, Swap(1, "second", 1)),
        Operation(2, 3, Read(FIRST)),
        Operation(4, 5, Read(FIRST)),
    ],
    "two winners": [
        Operation(0, 3, Swap(1, "second", 1)),
        Operation(1, 2, Swap(1, "other", 1)),
    ],
    "a stale read": [
        Operation(0, 9, Swap(1, "second", 1)),
        Operation(1, 2, Read(SECOND)),
        Operation(3, 4, Read(FIRST)),
    ],
    "a conflict with what was not there": [
        Operation(0, 1, Swap(1, "second", 2)),
        Operation(2, 3, Read(FIRST)),
    ],
    "a read of the future": [
        Operation(0, 1, Read(SECOND)),
        Operation(2, 3, Swap(1, "second", 1)),
    ],
    "what was refused happened": [Operation(0, 1, Read(SECOND))],
    "what is unknown happened and was undone": [
        Operation(0, NEVER, Swap(1, "second", None)),
        Operation(1, 2, Read(SECOND)),
        Operation(3, 4, Read(FIRST)),
    ],
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_history_that_one_memory_could_have_had_is_accepted(name: str) -> None:
    """The check finds the order, whichever way the list is sorted."""
    assert is_linearizable(CORRECT[name], FIRST)
    assert is_linearizable(CORRECT[name][::-1], FIRST)


@pytest.mark.parametrize("name", WRONG)
def test_a_history_that_no_memory_could_have_had_is_refused(name: str) -> None:
    """The check tries every order, and there is none."""
    assert not is_linearizable(WRONG[name], FIRST)
    assert not is_linearizable(WRONG[name][::-1], FIRST)


def recording_on(node: Node, *, seed: int) -> Recording:
    """A recording that begins with a few fresh memories."""
    return Recording([written(node.pipeline, f"Sentence {number}") for number in range(MEMORIES)], seed=seed)


def assert_linearizable(recording: Recording) -> None:
    """SPEC L8: every memory's history is that of one register, and the same history with a fault is not."""
    for memory_id, history in recording.histories.items():
        first = recording.first(memory_id)
        assert is_linearizable(history, first)
        for name, wrong in spoilt(history).items():
            assert not is_linearizable(wrong, first), name


def succeeded(operation: Operation) -> bool:
    """Whether it set new content, and was told so."""
    return isinstance(operation.what, Swap) and operation.what.found == operation.what.expected


def spoilt(history: list[Operation]) -> dict[str, list[Operation]]:
    """The history with a fault of each kind seeded into its end."""
    won = max((one for one in history if succeeded(one)), key=lambda one: one.what[0])
    assert isinstance(won.what, Swap)
    end = 1 + max(one.returned for one in history if one.returned != NEVER)
    before, after = (
        State(won.what.expected, "whatever"),
        State(won.what.expected + 1, won.what.content),
    )
    return {
        "the last write is lost": [*history, Operation(end, end + 1, Read(before))],
        "a second winner": [
            *history,
            Operation(won.called, won.returned, won.what._replace(content="other")),
        ],
        "a stale read": [
            *history,
            Operation(end, end + 1, Read(after)),
            Operation(end + 2, end + 3, Read(before)),
        ],
    }


def test_two_nodes_give_histories_that_one_memory_could_have_had(nodes: list[Node]) -> None:
    """SPEC L8, S5: eight callers on two nodes read and revise three memories."""
    recording = recording_on(nodes[0], seed=1)
    recording.record(nodes, callers=CALLERS, operations=OPERATIONS)
    assert recording.unavailable == 0
    assert recording.operations == CALLERS * OPERATIONS
    assert_linearizable(recording)


def restart_amid(recording: Recording, server: PostgresServer, *, at: int) -> None:
    """Kill the server when so many operations are done, and start it again."""
    wait_until(lambda: recording.operations >= at, what="the callers are at work", seconds_max=60)
    server.kill()
    server.start()


def assert_linearizable_with_restarts(
    server: PostgresServer, nodes: list[Node], *, operations: int, kills: int, seed: int
) -> None:
    """Record with kills of the server spread over the time, and check."""
    recording = recording_on(nodes[0], seed=seed)

    def harm() -> None:
        for number in range(1, 1 + kills):
            restart_amid(recording, server, at=CALLERS * operations * number // (kills + 1))

    at_once(partial(recording.record, nodes, callers=CALLERS, operations=operations), harm, seconds_max=150)
    assert recording.operations == CALLERS * operations
    assert_linearizable(recording)


def test_a_restart_of_the_server_changes_nothing_about_that(
    mortal_server: PostgresServer, nodes: list[Node]
) -> None:
    """SPEC L8, E5: what was refused did not happen, what is unknown happened once or never."""
    assert_linearizable_with_restarts(mortal_server, nodes, operations=OPERATIONS, kills=1, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_restarts_of_the_server_change_nothing_about_that(
    mortal_server: PostgresServer, nodes: list[Node], seed: int
) -> None:
    """SPEC L8, E5: longer histories with five restarts in each."""
    assert_linearizable_with_restarts(mortal_server, nodes, operations=120, kills=5, seed=seed)

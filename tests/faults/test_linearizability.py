"""Each memory behaves as one register, on however many nodes (SPEC L8), and the check sees it if not.

The nodes are processes that speak HTTP; what they are asked, and what they answer, is the history.
"""

from collections.abc import Callable
from functools import partial

import pytest
from tests.faults.histories import RECORDING_SECONDS_MAX, Recording
from tests.faults.linearizability import NEVER, Operation, Read, State, Swap, is_linearizable
from tests.faults.served import Served
from tests.postgres.server import PostgresServer
from tests.postgres.waiting import wait_until
from tests.stores.concurrently import at_once

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


def recording_on(served: Served, *, seed: int) -> Recording:
    """A recording that begins with a few fresh memories."""
    [tenant] = served.tenants()
    for number in range(MEMORIES):
        served.nodes[0].remember(tenant, f"Sentence {number}")
    return Recording(tenant, served.nodes[0].memories(tenant), seed=seed)


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


def test_two_nodes_give_histories_that_one_memory_could_have_had(lasting: Served) -> None:
    """SPEC L8, S5: eight callers on two nodes read and revise three memories."""
    recording = recording_on(lasting, seed=1)
    recording.record(lasting.nodes, callers=CALLERS, operations=OPERATIONS)
    assert recording.unavailable == 0
    assert recording.operations == CALLERS * OPERATIONS
    assert_linearizable(recording)


def assert_linearizable_despite(
    harm: Callable[[], None], served: Served, *, operations: int, times: int, seed: int
) -> None:
    """Record with harm done so many times, spread over the operations, and check."""
    recording = recording_on(served, seed=seed)

    def harm_amid() -> None:
        for number in range(1, 1 + times):
            reached = partial(recording.has_done, CALLERS * operations * number // (times + 1))
            wait_until(reached, what="the callers are at work", seconds_max=60)
            harm()

    record = partial(recording.record, served.nodes, callers=CALLERS, operations=operations)
    at_once(record, harm_amid, seconds_max=RECORDING_SECONDS_MAX)
    assert recording.operations == CALLERS * operations
    assert_linearizable(recording)


def restart(server: PostgresServer) -> None:
    """Kill the server, and start it again."""
    server.kill()
    server.start()


def test_a_restart_of_the_server_changes_nothing_about_that(
    mortal_server: PostgresServer, lasting: Served
) -> None:
    """SPEC L8, E5: what was refused did not happen, what is unknown happened once or never."""
    harm = partial(restart, mortal_server)
    assert_linearizable_despite(harm, lasting, operations=OPERATIONS, times=1, seed=2)


def test_a_node_that_is_killed_changes_nothing_about_that(mortal_nodes: Served) -> None:
    """SPEC L8, E5: nor does it when it comes back; whom it owed an answer may try again, or never know."""
    node = mortal_nodes.nodes[0]

    def kill_and_start() -> None:
        node.kill()
        node.start()

    assert_linearizable_despite(kill_and_start, mortal_nodes, operations=OPERATIONS, times=1, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_restarts_of_the_server_change_nothing_about_that(
    mortal_server: PostgresServer, lasting: Served, seed: int
) -> None:
    """SPEC L8, E5: longer histories with five restarts in each."""
    harm = partial(restart, mortal_server)
    assert_linearizable_despite(harm, lasting, operations=120, times=5, seed=seed)

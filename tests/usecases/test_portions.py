"""What workers store comes in portions, and each step has its turn (SPEC T8)."""

from collections.abc import Callable, Sequence
from itertools import count

import pytest
from tests.usecases.asking import TENANT, log

from tenure.core.events import AlertRaised, Event
from tenure.core.retention import UPKEEP
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.portions import Portions, Turn, sweep
from tenure.usecases.ports import Append, Appended
from tenure.usecases.sealing import seal


class Sizes:
    """Whoever counts, here how many events were stored together."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def stored(self, events: Sequence[Event]) -> None:
        """These came in one step."""
        self.seen.append(len(events))

    def began(self, use_case: str) -> Callable[[Sequence[str | None]], None]:
        """Nobody asks here."""
        raise AssertionError(use_case)

    def delivered(self, result: str, number: int) -> None:
        """Nothing is delivered here."""
        raise AssertionError(result, number)


def alert(pipeline: Pipeline, at: int) -> Append:
    """An event on its own."""
    data = AlertRaised(kind="a", message=str(at))
    event = Event(tenant=TENANT, at=pipeline.clock.now(), actor=UPKEEP, data=data)
    return Append(tenant=TENANT, events=(seal(event, pipeline.keyring),))


@pytest.mark.parametrize(
    ("seconds_each", "expected"),
    [(0.001, [16, 32, 64, 64, 24]), (0.1, [16, *[8] * 23]), (0.0, [*[16] * 12, 8])],
    ids=["quick", "slow", "nobody-measures"],
)
def test_portions_are_as_large_as_the_last_ones_were_quick(
    pipeline: Pipeline, seconds_each: float, expected: list[int]
) -> None:
    """SPEC T8: so that whoever writes meanwhile waits for a short one; the order stays."""
    ticks, sizes = count(), Sizes()
    pipeline.observer = sizes
    portions = Portions(pipeline, events_max=500, passed=lambda: next(ticks) * seconds_each)

    results = portions.append([alert(pipeline, at) for at in range(200)])

    told = [one.data.message for one in log(pipeline) if isinstance(one.data, AlertRaised)]
    assert sizes.seen == expected
    assert all(isinstance(result, Appended) for result in results)
    assert told == [str(at) for at in range(200)]


def test_no_portion_is_larger_than_a_batch(pipeline: Pipeline) -> None:
    """SPEC T8: the operator's word goes first."""
    sizes = Sizes()
    pipeline.observer = sizes

    Portions(pipeline, events_max=3, passed=lambda: 0.0).append([alert(pipeline, at) for at in range(7)])

    assert sizes.seen == [3, 3, 1]


def test_a_turn_is_over_after_so_many_rows_or_so_long() -> None:
    """SPEC T8: then the next step begins."""
    ticks = count()
    by_rows = Turn(rows=10, passed=lambda: 0.0)
    by_time = Turn(rows=10, passed=lambda: float(next(ticks)), seconds_max=2.0)
    by_rows.looked(7)

    assert (by_rows.rows(5), by_rows.is_over()) == (3, False)
    by_rows.looked(3)
    assert by_rows.is_over()
    assert [by_time.is_over() for _ in range(3)] == [False, False, True]


def test_tenants_take_turns_page_by_page() -> None:
    """SPEC T8: one with much to do does not keep the others waiting until it is done."""
    left, order = {"a": 3, "b": 1, "c": 2}, list[str]()

    def work(tenant: str) -> bool:
        order.append(tenant)
        left[tenant] -= 1
        return left[tenant] > 0

    assert sweep(left, Turn(rows=1, passed=lambda: 0.0), work) is False
    assert order == ["a", "b", "c", "a", "c", "a"]


def test_what_is_left_when_the_turn_is_over_is_told() -> None:
    """SPEC T8: another round follows."""
    turn = Turn(rows=2, passed=lambda: 0.0)

    def work(_tenant: str) -> bool:
        turn.looked(1)
        return False

    assert sweep(["a", "b", "c"], turn, work) is True


def test_a_tenant_that_fails_is_in_no_others_way() -> None:
    """SPEC T8: what kept it is raised once the others had their turn."""
    done: list[str] = []

    def work(tenant: str) -> bool:
        if tenant == "a":
            raise ValueError("of a")
        done.append(tenant)
        return False

    with pytest.raises(ValueError, match="of a"):
        sweep(["a", "b"], Turn(rows=5, passed=lambda: 0.0), work)
    assert done == ["b"]

"""Looking at what stale memories name before anybody asks: bounded, and once a day (SPEC T6, T8)."""

import pytest
from tests.clock import MovableClock
from tests.usecases.asking import REVIEWER, caller, happened, judgement, proposal, written
from tests.usecases.test_recall_probing import TEXT, WHERE, Web, probes, stale

from tenure.core.probing import Reason
from tenure.usecases.passes import EVERY
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.review import REVOKE
from tenure.usecases.stale_probing import MEMORIES_MAX
from tenure.usecases.upkeep import upkeep_round


@pytest.fixture
def web() -> Web:
    """A web on which nothing is found."""
    return Web()


@pytest.fixture
def probing(pipeline: Pipeline, web: Web, clock: MovableClock) -> Pipeline:
    """The way through, with probes of the tenant's own addresses."""
    pipeline.probes = probes(web, clock)
    return pipeline


def checked(pipeline: Pipeline) -> int:
    """How many memories one round looked at."""
    return upkeep_round(pipeline, batch_size=100).checked


def test_a_stale_memory_is_looked_at_once_a_day(probing: Pipeline, web: Web, clock: MovableClock) -> None:
    """SPEC T6: a person is told of what failed; the memory stays as it is."""
    stale(probing, clock)

    rounds = [checked(probing) for _ in range(2)]
    clock.pass_time(seconds=EVERY.total_seconds())
    next_day = checked(probing)

    assert (rounds, next_day) == ([1, 0], 1)
    assert web.looked == [WHERE] * 2
    assert happened(probing)[:2] == ["memory.admitted", "alert.raised"]


def test_what_no_recall_would_doubt_is_not_looked_at(
    probing: Pipeline, web: Web, clock: MovableClock
) -> None:
    """SPEC T6: what is fresh, names nothing, or is shown to nobody."""
    gone = stale(probing, clock)
    probing.run(REVOKE, REVIEWER, judgement(gone.id, gone.version))
    stale(probing, clock, "Prefers e-mail to phone")
    written(probing, TEXT.replace("health", "fresh"))

    assert checked(probing) == 0
    assert web.looked == []


def test_nothing_is_opened_where_probes_are_off(pipeline: Pipeline, clock: MovableClock) -> None:
    """SPEC T6: nobody allowed anything."""
    stale(pipeline, clock)

    assert checked(pipeline) == 0


def test_a_round_looks_at_so_many_and_the_next_goes_on(
    probing: Pipeline, web: Web, clock: MovableClock
) -> None:
    """SPEC T8: none twice, and none left out; the round does not ask for another at once."""
    for number in range(2 * MEMORIES_MAX + 5):
        written(probing, f"The status page of shop {number} is at https://s{number}.shop.example/health.")
    clock.pass_time(days=8)

    rounds = [upkeep_round(probing, batch_size=100) for _ in range(4)]

    assert [one.checked for one in rounds] == [MEMORIES_MAX, MEMORIES_MAX, 5, 0]
    assert not any(one.more for one in rounds)
    assert len(web.looked) == len(set(web.looked)) == 2 * MEMORIES_MAX + 5


def test_each_tenant_has_its_turn(probing: Pipeline, web: Web, clock: MovableClock) -> None:
    """SPEC T8, M2: what one may have looked at is looked at, however much another has to say."""
    for number in range(MEMORIES_MAX):
        said = f"The status page of shop {number} is at https://s{number}.shop.example/health."
        probing.run(REMEMBER, caller(tenant="other"), proposal(said))
    stale(probing, clock)

    checked(probing)

    assert WHERE in web.looked


def test_a_look_that_fails_is_in_no_other_workers_way(
    probing: Pipeline, web: Web, clock: MovableClock
) -> None:
    """SPEC T8: and nothing is said about what could not be looked at."""

    def fails() -> Reason:
        raise OSError("no network")

    web.does = fails
    stale(probing, clock)

    assert checked(probing) == 1
    assert "alert.raised" not in happened(probing)

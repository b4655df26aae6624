"""Durable writes through the library: the gate, the audit event and the word index included."""

from collections.abc import Iterator, Sequence

from bench import floor
from bench.results import Row, middle, milliseconds, rate, share
from bench.running import Paced, Run, paced
from bench.stores import Proposal, proposals, remember, session, warmed
from tenure import Tenure

LEAVES_OUT = """\
library: `Session.remember` from threads of one process; facts of 80 to 120 characters from an
application, ten subjects that have their keys. Rounds of the floor and of the library take turns, and
each figure is the median of its rounds. The floor has one caller, whatever stands beside it."""

FLOOR_SHARE_MIN = 0.4
GROUPED_RATIO_MIN = 5.0
SLOW_SYNC_SECONDS = 0.002
PER_SECOND_MIN = {8: 1_500, 32: 2_000}
CALLERS = (1, *PER_SECOND_MIN)


def measure(run: Run) -> Iterator[Row]:
    """Rounds of a sync, the floor, one caller, eight and thirty-two; a figure is the median of its rounds."""
    syncs: list[float] = []
    beside: list[float] = []
    rounds: dict[int, list[Paced]] = {number: [] for number in CALLERS}
    for turn in range(run.size(3, 1)):
        syncs += floor.sync_seconds(run)
        beside.append(floor.one_caller(run).per_second)
        for number, mine in rounds.items():
            mine.append(callers(run, number, proposals(seed=20 + turn, count=run.size(6_000, 2_000))))
    for number, mine in rounds.items():
        yield _rated(number, mine, middle(beside), middle(syncs))
        yield _core_time(number, mine)


def callers(run: Run, number: int, items: Sequence[Proposal]) -> Paced:
    """So many threads write these memories into a store of their own."""
    with Tenure.open(run.fresh_folder("library")) as store:
        principal = session(store)
        warmed(principal)
        return paced(number, lambda one: remember(principal, one), items, seconds_max=run.round_seconds_max)


def _rated(number: int, rounds: Sequence[Paced], floor_rate: float, sync: float) -> Row:
    mine = middle([one.per_second for one in rounds])
    ratio = mine / floor_rate
    least = PER_SECOND_MIN.get(number)
    if least is None:
        target, reached = f"≥ {FLOOR_SHARE_MIN} × the floor", ratio >= FLOOR_SHARE_MIN
    else:
        target, reached = f"≥ {least:,}/s", mine >= least
        if sync >= SLOW_SYNC_SECONDS:
            target += f", ≥ {GROUPED_RATIO_MIN:.0f} × floor"
            reached = reached and ratio >= GROUPED_RATIO_MIN
    return Row(
        measured=f"durable write, library, {_callers(number)} ({_latency(rounds)})",
        figure=rate(mine),
        beside=f"floor, 1 caller: {rate(floor_rate)}",
        ratio=ratio,
        target=target,
        reached=reached,
        values={"per_second": mine, "floor_per_second": floor_rate, "sync_milliseconds": sync * 1_000},
    )


def _core_time(number: int, rounds: Sequence[Paced]) -> Row:
    used = middle([one.processor_seconds for one in rounds])
    return Row(
        measured=f"durable write, library, {_callers(number)}: core time of one",
        figure=milliseconds(used),
        values={"processor_seconds": used},
    )


def _callers(number: int) -> str:
    return "1 caller" if number == 1 else f"{number} callers"


def _latency(rounds: Sequence[Paced]) -> str:
    seconds = [one for paced_round in rounds for one in paced_round.seconds]
    return f"p99 {milliseconds(share(seconds, 0.99))}"

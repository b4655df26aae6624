"""What a run beside peers says: every figure side by side, then what Tenure set out to reach."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from bench.peers.measuring import Failed, Figures
from bench.results import Row, milliseconds, rate

OURS: Final = "tenure"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run, for programs."""

    measurement: Literal["peers"] = "peers"
    facts: dict[str, str]
    conversations: str
    questions: int
    figures: list[Figures]
    failed: list[Failed]


class _Line(NamedTuple):
    name: str
    shown: Callable[[Figures], str]


_LINES: Final = (
    _Line("version", lambda one: one.version),
    _Line("a fixed loop, just before", lambda one: one.core_speed),
    _Line(
        "cores that others took",
        lambda one: "?" if one.neighbours_share is None else f"{one.neighbours_share:.0%}",
    ),
    _Line("adds, 1 caller", lambda one: rate(one.adds_per_second)),
    _Line("adds, 8 callers", lambda one: rate(one.adds_together_per_second)),
    _Line("errors in these", lambda one: _counted(one.add_errors)),
    _Line("recall, 1 caller, p50", lambda one: milliseconds(one.find_p50)),
    _Line("recall, 1 caller, p95", lambda one: milliseconds(one.find_p95)),
    _Line("recall, 1 caller, p99", lambda one: milliseconds(one.find_p99)),
    _Line("recalls, 8 callers", lambda one: rate(one.finds_together_per_second)),
    _Line("errors in these", lambda one: _counted(one.find_errors)),
    _Line("evidence recall@5", lambda one: f"{one.recall_at_5:.3f}"),
    _Line("evidence recall@10", lambda one: f"{one.recall_at_10:.3f}"),
    _Line("MRR", lambda one: f"{one.reciprocal_rank:.3f}"),
    _Line("acknowledged writes lost after kill -9", lambda one: f"{one.lost:,} of {one.acknowledged:,}"),
    _Line("disk, bytes a memory", lambda one: f"{one.bytes_each:,.0f}"),
    _Line("resident memory", lambda one: f"{one.resident_bytes / 2**20:,.0f} MiB"),
)


class _Goal(NamedTuple):
    """How many times as fast as a peer Tenure set out to be, or where it is said, how fast."""

    peer: str
    measured: str
    figure: Callable[[Figures], float]
    shown: Callable[[float], str]
    times_min: float
    is_rate: bool
    seconds_max: float | None = None


def _adds(one: Figures) -> float:
    return one.adds_per_second


def _adds_together(one: Figures) -> float:
    return one.adds_together_per_second


def _p50(one: Figures) -> float:
    return one.find_p50


_GOALS: Final = (
    _Goal("mem0", "adds, 1 caller", _adds, rate, 2.0, is_rate=True),
    _Goal("mem0", "adds, 8 callers", _adds_together, rate, 4.0, is_rate=True),
    _Goal("mem0", "recall, p50", _p50, milliseconds, 30.0, is_rate=False),
    _Goal("langgraph", "adds, 1 caller", _adds, rate, 1.1, is_rate=True),
    _Goal("langgraph", "adds, 8 callers", _adds_together, rate, 3.0, is_rate=True),
    # It ranks by vectors alone; words and meaning together, scanned and rendered, may take so long.
    _Goal("langgraph", "recall, p50", _p50, milliseconds, 0.0, is_rate=False, seconds_max=0.002),
    _Goal("chroma", "adds, 1 caller", _adds, rate, 1.0, is_rate=True),
    _Goal("chroma", "adds, 8 callers", _adds_together, rate, 1.0, is_rate=True),
    _Goal("chroma", "recall, p50", _p50, milliseconds, 1.0, is_rate=False),
)


def side_by_side(figures: Sequence[Figures]) -> Iterator[str]:
    """Every figure as a Markdown table, a column for each peer."""
    yield f"|  | {' | '.join(one.name for one in figures)} |"
    yield f"|---{'|---' * len(figures)}|"
    for line in _LINES:
        yield f"| {line.name} | {' | '.join(line.shown(one) for one in figures)} |"


def goals(figures: Sequence[Figures]) -> Iterator[Row]:
    """What Tenure set out to reach beside each peer that was measured."""
    by_name = {one.name: one for one in figures}
    ours = by_name.get(OURS)
    for goal in _GOALS:
        peer = by_name.get(goal.peer)
        if ours is None or peer is None:
            continue
        mine, theirs = goal.figure(ours), goal.figure(peer)
        times = mine / theirs if goal.is_rate else theirs / mine
        yield Row(
            measured=goal.measured,
            figure=goal.shown(mine),
            beside=f"{peer.name} {peer.version}: {goal.shown(theirs)}",
            ratio=times,
            target=f"≥ {goal.times_min:g} × as fast"
            if goal.seconds_max is None
            else f"≤ {milliseconds(goal.seconds_max)}",
            reached=times >= goal.times_min if goal.seconds_max is None else mine <= goal.seconds_max,
        )


def _counted(errors: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in errors.items()) or "none"

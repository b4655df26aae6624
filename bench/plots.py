"""`python -m bench.plots FILE… [--into DIR]`: draw the figures that measurements wrote with --json, as SVG.

It takes files of `bench.recall`, of `bench.peers` and of `bench tenants postgres-tenants`, in any order.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from bench.drawing import Panel, drawn
from bench.peers.measuring import Figures
from bench.peers.reports import Report as PeersReport
from bench.recall.reports import Part
from bench.recall.reports import Report as RecallReport
from bench.recall.scoring import ALL, CUTS, Score
from bench.results import Row, milliseconds

INTO: Final = Path("docs/plots")
HOWS: Final = ("first", "1 caller", "8 callers")
ENGINES: Final = ("SQLite", "PostgreSQL")


class Plot(NamedTuple):
    """A picture and the name of its file."""

    name: str
    svg: str


class _Rows(msgspec.Struct, frozen=True):
    """What `python -m bench --json` writes, as far as it is drawn."""

    facts: dict[str, str]
    rows: list[Row]


def main() -> None:
    """Draw every file, and say what was written."""
    parser = argparse.ArgumentParser(prog="python -m bench.plots", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="figures written with --json")
    parser.add_argument("--into", type=Path, default=INTO, metavar="DIR", help="where the pictures go")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    for file in options.files:
        for plot in plots(file.read_bytes()):
            place = options.into / f"{plot.name}.svg"
            place.write_text(plot.svg, "utf-8")
            print(place)


def plots(figures: bytes) -> Iterator[Plot]:
    """The pictures of one file of figures."""
    kind: dict[str, Any] = msgspec.json.decode(figures)
    match kind.get("measurement"):
        case "recall":
            recall = msgspec.json.decode(figures, type=RecallReport)
            yield from (
                _evidence(part, recall.budget_tokens, _machine(recall.facts)) for part in recall.parts
            )
        case "peers":
            yield _peers(msgspec.json.decode(figures, type=PeersReport))
        case _:
            rows = msgspec.json.decode(figures, type=_Rows)
            yield from _latencies(rows.rows, _machine(rows.facts))
            yield from _weights(rows.rows, _machine(rows.facts))


def _evidence(part: Part, budget_tokens: int, machine: str) -> Plot:
    """All questions of a file by every measure, then each category by one."""
    measures = [*(f"recall@{cut}" for cut in CUTS), "MRR", f"texts of {budget_tokens:,} tokens"]
    categories = [score.category for score in part.rankers[0].scores if score.category != ALL]
    whole = {ranker.name: _measures(ranker.scores[0]) for ranker in part.rankers}
    by_category = {
        ranker.name: [_of(ranker.scores, category) for category in categories] for ranker in part.rankers
    }
    title = f"Evidence recall, {part.file}: {part.questions:,} questions over {part.turns:,} turns"
    panels = [
        Panel("All questions", measures, whole, _share),
        Panel("recall@10 by category", categories, by_category, _share),
    ]
    return Plot(f"evidence-recall-{part.file}", drawn(title, machine, panels))


def _measures(score: Score) -> list[float | None]:
    return [*(score.recall_at[cut] for cut in CUTS), score.reciprocal_rank, score.within_budget]


def _of(scores: Sequence[Score], category: str) -> float | None:
    return next((score.recall_at[10] for score in scores if score.category == category), None)


def _latencies(rows: Sequence[Row], machine: str) -> Iterator[Plot]:
    """A picture for each engine: first questions, one caller, eight callers."""
    for engine in ENGINES:
        panels = []
        for how in HOWS:
            mine = [
                row
                for row in rows
                if row.measured.startswith(f"recall, {engine}, ") and row.measured.endswith(f", {how}")
            ]
            if mine:
                mine.sort(key=lambda row: (row.values["subject"], row.values["memories"]))
                groups = [
                    f"{row.values['subject']:,.0f} of {row.values['memories']:,.0f} memories" for row in mine
                ]
                series = {
                    name: [row.values[key] for row in mine]
                    for name, key in (
                        ("p50", "p50"),
                        ("p95", "p95"),
                        ("p99", "p99"),
                        ("floor, p50", "floor_p50"),
                    )
                }
                panels.append(Panel(how, groups, series, milliseconds))
        if panels:
            title = f"Recall over the memories of a subject, {engine}, 50 tenants"
            yield Plot(f"recall-latency-{engine.lower()}", drawn(title, machine, panels))


def _weights(rows: Sequence[Row], machine: str) -> Iterator[Plot]:
    """Disk and memory by the size of the store."""
    mine = {
        engine: [row for row in rows if row.measured.startswith(f"disk a memory, {engine}, ")]
        for engine in ENGINES
    }
    sizes = sorted({row.values["memories"] for found in mine.values() for row in found})
    if not sizes:
        return
    groups = [f"{size:,.0f} memories" for size in sizes]
    panels = []
    for title, key, shown in (
        ("disk, bytes a memory", "bytes", lambda value: f"{value:,.0f}"),
        ("resident memory after one answer", "resident_bytes", lambda value: f"{value / 2**20:,.0f} MiB"),
    ):
        series = {
            engine: [_valued(found, size, key) for size in sizes]
            for engine, found in mine.items()
            if any(key in row.values for row in found)
        }
        if series:
            panels.append(Panel(title, groups, series, shown))
    yield Plot("memory-and-disk", drawn("Disk and memory, 50 tenants", machine, panels))


def _valued(rows: Sequence[Row], memories: float, key: str) -> float | None:
    return next((row.values.get(key) for row in rows if row.values["memories"] == memories), None)


def _peers(report: PeersReport) -> Plot:
    names = [f"{one.name} {one.version}" for one in report.figures]
    lines: Mapping[str, tuple[Callable[[Figures], float], Callable[[float], str]]] = {
        "adds a second, 1 caller": (lambda one: one.adds_per_second, _whole),
        "adds a second, 8 callers": (lambda one: one.adds_together_per_second, _whole),
        "recall, p50": (lambda one: one.find_p50, milliseconds),
        "recall, p95": (lambda one: one.find_p95, milliseconds),
        "evidence recall@10": (lambda one: one.recall_at_10, _share),
        "acknowledged writes lost after kill -9": (lambda one: float(one.lost), _whole),
    }
    panels = [
        Panel(title, names, {title: [figure(one) for one in report.figures]}, shown)
        for title, (figure, shown) in lines.items()
    ]
    memories = max((one.memories for one in report.figures), default=0)
    title = f"Beside other memories for agents, {memories:,} memories, {report.questions} questions"
    return Plot("peers", drawn(title, _machine(report.facts), panels))


def _machine(facts: Mapping[str, str]) -> str:
    return f"{facts.get('cores', '?')}; {facts.get('system', '?')}; {facts.get('python', '?')}"


def _share(value: float) -> str:
    return f"{value:.3f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


if __name__ == "__main__":
    main()

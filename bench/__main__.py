"""`python -m bench [name…] [--data DIR] [--quick] [--json FILE]`: measure, and print one table.

Figures stand beside a floor or a peer that was measured in the same run, since disks and machines differ.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from bench import (
    evidence,
    floor,
    forgetting,
    http_api,
    importing,
    library,
    machine,
    opening,
    postgres,
    postgres_recall,
    recalling,
    replaying,
    starting,
    syncs,
    tenants,
    truth,
    upkeep,
)
from bench.results import Row, heading, line
from bench.running import Run, place_for_stores


class Measurement(NamedTuple):
    """Something to measure, and what its comparison leaves out."""

    measure: Callable[[Run], Iterator[Row]]
    leaves_out: str


MEASUREMENTS: Final = {
    "floor": Measurement(floor.measure, floor.LEAVES_OUT),
    "syncs": Measurement(syncs.measure, syncs.LEAVES_OUT),
    "library": Measurement(library.measure, library.LEAVES_OUT),
    "http": Measurement(http_api.measure, http_api.LEAVES_OUT),
    "import": Measurement(importing.measure, importing.LEAVES_OUT),
    "recall": Measurement(recalling.measure, recalling.LEAVES_OUT),
    "replay": Measurement(replaying.measure, replaying.LEAVES_OUT),
    "open": Measurement(opening.measure, opening.LEAVES_OUT),
    "forget": Measurement(forgetting.measure, forgetting.LEAVES_OUT),
    "evidence": Measurement(evidence.measure, evidence.LEAVES_OUT),
    "start-up": Measurement(starting.measure, starting.LEAVES_OUT),
    "postgres": Measurement(postgres.measure, postgres.LEAVES_OUT),
    "postgres-1ms": Measurement(postgres.measure_slow, postgres.LEAVES_OUT_SLOW),
    "postgres-recall": Measurement(postgres_recall.measure, postgres_recall.LEAVES_OUT),
    "tenants": Measurement(tenants.measure, tenants.LEAVES_OUT),
    "postgres-tenants": Measurement(tenants.measure_postgres, tenants.LEAVES_OUT_POSTGRES),
    "truth": Measurement(truth.measure, truth.LEAVES_OUT),
    "upkeep": Measurement(upkeep.measure, upkeep.LEAVES_OUT),
}
WHEN_NAMED: Final = frozenset(
    {"postgres", "postgres-1ms", "postgres-recall", "tenants", "postgres-tenants", "truth", "upkeep"}
)
"""`make bench-postgres` and `make bench-latency` name these; a run that names nothing measures the others."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run, for programs."""

    facts: dict[str, str]
    neighbours_share: float | None
    quick: bool
    rows: list[Row]


def main() -> int:
    """Measure what was asked for; 0 unless something could not be measured."""
    options = _options()
    folder = place_for_stores(options.data)
    run = Run(folder=folder, quick=options.quick)
    facts = machine.facts(folder)
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"\n{heading()}", flush=True)
    neighbours, started = machine.Neighbours(), time.perf_counter()
    rows: list[Row] = []
    failed: list[str] = []
    try:
        for name in options.names:
            rows += _rows(name, run, failed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    elapsed, others = time.perf_counter() - started, neighbours.share()
    facts["core speed at the end"] = machine.core_speed()
    print(f"\n{elapsed:.0f} s in all; other programs took {_percent(others)} of the cores meanwhile.")
    print(f"core speed at the end: {facts['core speed at the end']}")
    print("What the comparisons leave out:")
    for name in options.names:
        print(f"- {' '.join(MEASUREMENTS[name].leaves_out.split())}")
    for failure in failed:
        print(f"not measured: {failure}", file=sys.stderr)
    if options.json is not None:
        report = Report(facts=facts, neighbours_share=others, quick=options.quick, rows=rows)
        options.json.write_bytes(msgspec.json.encode(report))
    return 1 if failed else 0


def _rows(name: str, run: Run, failed: list[str]) -> Iterator[Row]:
    """The rows of one measurement, printed as they come; one that fails leaves the others alone."""
    try:
        for row in MEASUREMENTS[name].measure(run):
            print(line(row), flush=True)
            yield row
    except Exception as fault:  # noqa: BLE001 -- whatever it is, the other figures are still wanted
        failed.append(f"{name}: {type(fault).__name__}: {fault}")


def _percent(part: float | None) -> str:
    return "an unknown share" if part is None else f"{part:.0%}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Tenure beside its floors.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"one of {', '.join(MEASUREMENTS)}; all but postgres…, tenants, truth and upkeep if none",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where the stores go (beside the repository)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under a minute, rougher figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to a file as well")
    options = parser.parse_args()
    unknown = set(options.names) - set(MEASUREMENTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(MEASUREMENTS)}")
    options.names = options.names or [name for name in MEASUREMENTS if name not in WHEN_NAMED]
    return options


if __name__ == "__main__":
    sys.exit(main())

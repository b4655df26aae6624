"""`python -m bench.peers [--data DIR] [--quick] [--json FILE]`: Tenure beside other memories for agents.

Each peer does the same work in a process of its own, one after the other, with the same vectors: adds with
1 and 8 callers, recalls over 10,000 memories with known answers, and kill -9 under load. Its packages come
from the package index into an environment of its own, which is kept.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Final

import msgspec

from bench import machine
from bench.peers import environments, measuring, reports
from bench.peers.measuring import Failed, Figures
from bench.peers.running import PeerFailed
from bench.recall import conversations
from bench.recall.conversations import Conversation
from bench.recall.plain import shipped_embedder
from bench.results import heading, line
from bench.running import ROOT, place_for_stores

PEERS: Final = ("tenure", "mem0", "langgraph", "chroma")
DATA: Final = Path("../shared/data")
FILE: Final = "locomo-dev"


def main() -> int:
    """Measure every peer and print the tables; 1 where one could not be measured."""
    options = _options()
    told, source = _conversations(options.data)
    sizes = measuring.QUICK if options.quick else measuring.FULL
    given = measuring.task(told, sizes)
    folder = place_for_stores(options.stores)
    facts = machine.facts(folder)
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"work: {len(given.memories):,} memories, {len(given.questions)} questions about {source}\n")
    figures: list[Figures] = []
    failed: list[Failed] = []
    try:
        measuring.write(folder, given, shipped_embedder())
        for name in options.only or PEERS:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            try:
                python = environments.interpreter(name, options.environments)
                figures.append(measuring.measure(name, python, folder, given, sizes))
            except (PeerFailed, environments.NotInstalled) as error:
                failed.append(Failed(name=name, because=str(error)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(reports.side_by_side(figures)))
    print(f"\n{heading()}")
    print("\n".join(line(row) for row in reports.goals(figures)))
    for one in failed:
        print(f"not measured: {one.name}: {one.because}")
    if options.json is not None:
        report = reports.Report(
            facts=facts, conversations=source, questions=len(given.questions), figures=figures, failed=failed
        )
        options.json.write_bytes(msgspec.json.encode(report))
    return 1 if failed else 0


def _conversations(data: Path) -> tuple[list[Conversation], str]:
    """Those of the data folder, else some that are made up here; and what to call them."""
    try:
        file = conversations.files(data)[FILE]
    except (conversations.NoConversations, KeyError):
        told = conversations.made_up(41, conversations=7, turns=500, questions=60)
        return told, "made-up conversations"
    return conversations.read(file), FILE


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder with retrieval/{FILE}.json.gz")
    parser.add_argument("--only", nargs="+", choices=PEERS, help="only these peers")
    parser.add_argument("--quick", action="store_true", help="2,000 memories, fewer calls, rougher figures")
    parser.add_argument(
        "--environments", type=Path, default=ROOT / ".peers", help="where the peers' packages are kept"
    )
    parser.add_argument("--stores", type=Path, metavar="DIR", help="where the stores go, until the end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to a file as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench.train_classifier [--data DIR] [--only-measure]`: train the classifier, measure its worth.

It first holds out each source in turn and prints what the classifier adds to the rules on sources it has not
seen, chooses the threshold there, then learns from all and writes the model into the package. The same data
gives the same files to the last bit. Nothing but the development dependencies is needed.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Final

import msgspec

from bench.classifier.examples import PATTERNS, development, written
from bench.classifier.held_out import Row, Scored, score_held_out, table, threshold_for, total, transfer
from bench.classifier.learning import learn

MODEL: Final = Path(__file__).parents[1] / "src" / "tenure" / "core" / "scanning" / "model"
VERSION: Final = "1"
FALSE_ALARMS: Final = 0.005
"""The share of all held-out benign lines that the threshold may let be suspected."""
DEFAULT_DATA: Final = Path("../shared/data")


def main() -> None:
    """Measure, and write the model unless only figures are wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with threats/dev.jsonl")
    parser.add_argument("--only-measure", action="store_true", help="leave the model as it is")
    arguments = parser.parse_args()
    examples, own = development(arguments.data), written(PATTERNS.read_text(encoding="utf-8"))
    scored = score_held_out(examples, own)
    threshold = threshold_for(scored, false_alarms=FALSE_ALARMS)
    _report(scored, threshold)
    if not arguments.only_measure:
        model = learn(
            [*(one for one in examples if not one.disguised), *own], version=VERSION, threshold=threshold
        )
        write(MODEL, msgspec.structs.asdict(model))


def write(folder: Path, model: dict[str, object]) -> None:
    """Write the weights, and beside them the facts with the digest of the weights."""
    weights = model.pop("weights")
    if not isinstance(weights, bytes):
        raise TypeError("the weights of a model are bytes")
    facts = {**model, "weights_sha256": hashlib.sha256(weights).hexdigest()}
    folder.mkdir(exist_ok=True)
    (folder / "weights.bin").write_bytes(weights)
    (folder / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n")
    print(f"\nWrote {folder}, digest {facts['weights_sha256']}")


def _report(scored: list[Scored], threshold: float) -> None:
    """Print what each choice would give, then the chosen one by source."""
    print("Each source scored by a model of all the others.\n")
    print("| false alarms alone | found alone | false alarms added | found beyond the rules |")
    print("|---|---|---|---|")
    for share in (0.002, 0.003, 0.005, 0.01, 0.02):
        rows = table(scored, threshold_for(scored, false_alarms=share))
        sums = [(total(rows, attack=attack), name) for name in ("alone", "added") for attack in (False, True)]
        print(f"| {' | '.join(_share(row, name) for row, name in sums)} |")
    print(f"\nThreshold {threshold}:\n\n| source | label | lines | rules | classifier | added to rules |")
    print("|---|---|---|---|---|---|")
    rows = table(scored, threshold)
    for row in (*rows, total(rows, attack=False), total(rows, attack=True)):
        label = "attack" if row.attack else "benign"
        shares = " | ".join(_share(row, name) for name in ("by_rules", "alone", "added"))
        print(f"| {row.source} | {label} | {row.lines} | {shares} |")
    print("\nFalse alarms where the source had no part in the choice of the threshold either:")
    for source, share in transfer(scored, false_alarms=FALSE_ALARMS).items():
        print(f"  {source}: {share:.1%}")


def _share(row: Row, name: str) -> str:
    return f"{getattr(row, name) / row.lines:.1%}"


if __name__ == "__main__":
    main()

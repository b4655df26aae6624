"""`python -m bench.train_classifier [--data DIR] [--only-measure]`: train the classifier, measure its worth.

It first holds out each source in turn and prints what the classifier adds to the rules on sources it has not
seen, chooses the threshold there, then learns from all and writes the model into the package. The same data
and the same Python, whose documentation strings are part of it, give the same files to the last bit.
Nothing but the development dependencies is needed.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Final

import msgspec

from bench.classifier.examples import development, own
from bench.classifier.held_out import (
    Row,
    Scored,
    score_held_out,
    table,
    threshold_together,
    total,
    transferred,
)
from bench.classifier.learning import learn
from bench.classifier.ordinary import digest_of, ordinary
from bench.scanners import KEPT_ASIDE

MODEL: Final = Path(__file__).parents[1] / "src" / "tenure" / "core" / "scanning" / "model"
VERSION: Final = "2"
FALSE_ALARMS: Final = 0.009
"""The share of all held-out benign lines that rules and classifier together may find."""
ORDINARY_DIGEST: Final = "b7a1f77a702599c2"
"""Of the documentation strings of Python 3.11.7, which the model that ships has learned from."""
DEFAULT_DATA: Final = Path("../shared/data")


def main() -> None:
    """Measure, and write the model unless only figures are wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with threats/dev.jsonl")
    parser.add_argument("--only-measure", action="store_true", help="leave the model as it is")
    arguments = parser.parse_args()
    examples, prose = development(arguments.data), ordinary()
    if digest_of(prose) != ORDINARY_DIGEST:
        print(f"The documentation strings of this Python are others ({digest_of(prose)}): so is the model.\n")
    beside = [*own(), *prose]
    scored = score_held_out(examples, beside)
    threshold = threshold_together(scored, false_alarms=FALSE_ALARMS)
    _report(scored, threshold)
    if not arguments.only_measure:
        model = learn(
            [*(one for one in examples if not one.disguised), *beside], version=VERSION, threshold=threshold
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
    print("Each source scored by a model of all the others; found by rules or classifier, in per cent of:")
    print("ordinary lines, attacks, attacks of sources kept aside. First at one threshold that all lines")
    print("chose, then where the source that is scored had no part in the choice of its threshold either.\n")
    print("| share | threshold | ordinary | attacks | kept aside | ordinary | attacks | kept aside |")
    print("|---|---|---|---|---|---|---|---|")
    aside = _kept_aside(scored)
    for share in (0.005, 0.007, 0.009, 0.01, 0.015, 0.02):
        one = threshold_together(scored, false_alarms=share)
        found = _found(table(scored, one)), _found(table(aside, one))
        without = transferred(scored, false_alarms=share), transferred(scored, aside, false_alarms=share)
        moved = _found(without[0]), _found(without[1])
        cells = (*found[0], found[1][1], *moved[0], moved[1][1])
        print(f"| {share:.1%} | {one} | {' | '.join(cells)} |")
    print(f"\nThreshold {threshold}:\n\n| source | label | lines | rules | classifier | added to rules |")
    print("|---|---|---|---|---|---|")
    rows = table(scored, threshold)
    for row in (*rows, total(rows, attack=False), total(rows, attack=True)):
        label = "attack" if row.attack else "benign"
        shares = " | ".join(_share(row, name) for name in ("by_rules", "alone", "added"))
        print(f"| {row.source} | {label} | {row.lines} | {shares} |")
    print("\nClassifier alone on ordinary lines, where the source had no part in the choice either:")
    for row in transferred(scored, false_alarms=FALSE_ALARMS):
        if not row.attack:
            print(f"  {row.source}: {_share(row, 'alone')}")


def _found(rows: list[Row]) -> tuple[str, str]:
    """The shares of ordinary lines and of attacks that rules or classifier find."""
    benign, attack = (total(rows, attack=label) for label in (False, True))
    return _together(benign), _together(attack)


def _kept_aside(scored: list[Scored]) -> list[Scored]:
    """The lines of sources that the rules were not written beside, without the disguised copies."""
    return [
        one
        for one in scored
        if not one.example.disguised and any(name in one.example.source for name in KEPT_ASIDE)
    ]


def _together(row: Row) -> str:
    """The share of a row that rules or classifier find."""
    return f"{(row.by_rules + row.added) / row.lines:.1%}"


def _share(row: Row, name: str) -> str:
    return f"{getattr(row, name) / row.lines:.1%}"


if __name__ == "__main__":
    main()

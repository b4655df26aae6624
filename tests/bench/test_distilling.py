"""How the table of the local embedder is made: from pinned weights alone, and the same every time."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from bench.distill_table import DIMENSIONS, PINNED, directions, table, weights, write
from bench.distilling.minilm import Numbers, read_weights

from tenure.engines.embedding.static import TABLE, vocabulary_of


@pytest.fixture
def means() -> Numbers:
    """What a model might make of a few hundred pieces."""
    return np.random.default_rng(7).normal(size=(400, 300)) * np.linspace(3, 0.1, 300)


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    """SPEC R2: tensors by their names and shapes; what is no number of ours is left out."""
    one, two = np.arange(6, dtype="<f4"), np.arange(2, dtype="<i8")
    head = {
        "__metadata__": {"format": "pt"},
        "layer.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [16, 40]},
        "ids": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]},
    }
    text = json.dumps(head).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text + two.tobytes() + one.tobytes())

    assert {name: value.tolist() for name, value in read_weights(file).items()} == {
        "layer.weight": [[0, 1, 2], [3, 4, 5]]
    }


def test_common_pieces_weigh_less_and_marks_of_the_model_nothing() -> None:
    """SPEC R2: the vocabulary stands in the order of how common its pieces are."""
    weighed = weights(["[PAD]", "[", "the", "of", "aardvark"])

    assert (weighed[0], weighed[1] > 0) == (0, True)
    assert weighed[2] < weighed[3] < weighed[4] <= 1


def test_directions_have_a_sign_of_their_own(means: Numbers) -> None:
    """SPEC R5: which way a direction points is chosen, not left to the library."""
    centred = means - means.mean(axis=0)
    found = directions(centred)

    assert found.shape == (300, DIMENSIONS)
    assert (found[np.abs(found).argmax(axis=0), np.arange(DIMENSIONS)] > 0).all()
    spread = np.sqrt(((centred @ found) ** 2).sum(axis=0))
    assert (np.diff(spread) <= 1e-9).all()


def test_the_last_digits_of_the_model_change_no_step(means: Numbers, tmp_path: Path) -> None:
    """SPEC R5: another machine adds in another order, and makes the same files."""
    vocabulary = [f"piece{number}" for number in range(400)]
    disturbed = means * (1 + np.random.default_rng(8).normal(size=means.shape) * 1e-14)

    write(tmp_path / "one", table(means, vocabulary), vocabulary)
    write(tmp_path / "two", table(disturbed, vocabulary), vocabulary)

    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert vocabulary_of(tmp_path / "one") == vocabulary
    steps = np.load(tmp_path / "one" / "steps.npy")
    assert (steps.dtype, int(np.abs(steps).max())) == (np.int8, 127)


def test_the_vocabulary_that_ships_is_the_pinned_one() -> None:
    """SPEC R2: to the byte."""
    assert digests(TABLE)["vocabulary.txt"] == PINNED["vocab.txt"]


def digests(folder: Path) -> dict[str, str]:
    """The digest of each file."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}

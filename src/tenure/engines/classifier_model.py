"""The model that ships with the package, read and checked once."""

import hashlib
from functools import cache
from importlib.resources import files

import msgspec

from tenure.core.scanning.classifying import Classifier, Model


class BrokenModel(Exception):
    """The files of the model are not those that were trained."""


class _Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands beside the weights; `core/scanning/model/MODEL_CARD.md` says what each is."""

    version: str
    features_version: int
    steps_per_unit: float
    bias: float
    threshold: float
    weights_sha256: str


@cache
def shipped_classifier() -> Classifier:
    """The classifier of this package; its weights are those whose digest is recorded, or there is none."""
    folder = files("tenure.core.scanning") / "model"
    return Classifier(read_model((folder / "model.json").read_bytes(), (folder / "weights.bin").read_bytes()))


def read_model(facts: bytes, weights: bytes) -> Model:
    """The model of these two files."""
    try:
        known = msgspec.json.decode(facts, type=_Facts)
    except msgspec.MsgspecError as fault:
        raise BrokenModel(f"model.json of the classifier cannot be read: {fault}") from fault
    if hashlib.sha256(weights).hexdigest() != known.weights_sha256:
        raise BrokenModel(
            "weights.bin of the classifier is not the file that was trained; install Tenure again"
        )
    return Model(
        version=known.version,
        features_version=known.features_version,
        steps_per_unit=known.steps_per_unit,
        bias=known.bias,
        threshold=known.threshold,
        weights=weights,
    )

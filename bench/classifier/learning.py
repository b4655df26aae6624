"""Learning the weights: a linear support vector machine by dual coordinate descent, in plain Python.

Only sums, products and square roots that every machine rounds alike are used, and long sums are exact
(`fsum`): the same examples give the same weights to the last bit, wherever and with whichever Python.
"""

import random
from collections import Counter
from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final

from bench.classifier.examples import WRITTEN, Example
from bench.classifier.ordinary import ORDINARY
from tenure.core.scanning.classifying import FEATURES_VERSION, PLACES, Model, length_of

COST: Final = 1.0
ROUNDS: Final = 30
SEED: Final = 6
TIMES: Final = {(WRITTEN, False): 3.0, (ORDINARY, False): 3.0}
"""What counts more often than a source of its size would: these stand for many registers, not for one."""


def learn(examples: Sequence[Example], *, version: str, threshold: float = 0.0) -> Model:
    """The model of these examples; the threshold is chosen elsewhere, on sources held out."""
    weights, bias = _descend(examples, importance(examples))
    steps = 127 / max(1e-9, *(abs(weight) for weight in weights))
    rounded = bytes(round(weight * steps) & 0xFF for weight in weights)
    return Model(
        version=version,
        features_version=FEATURES_VERSION,
        steps_per_unit=steps,
        bias=bias,
        threshold=threshold,
        weights=rounded,
    )


def importance(examples: Sequence[Example]) -> list[float]:
    """What each example counts: both labels the same in sum, and a source by the root of its size."""
    sizes = Counter((one.source, one.attack) for one in examples)
    raw = [TIMES.get((one.source, one.attack), 1.0) / sqrt(sizes[one.source, one.attack]) for one in examples]
    sums = {
        label: fsum(weight for weight, one in zip(raw, examples, strict=True) if one.attack is label)
        for label in (False, True)
    }
    half = len(examples) / 2
    return [weight * half / sums[one.attack] for weight, one in zip(raw, examples, strict=True)]


def _descend(examples: Sequence[Example], counts: Sequence[float]) -> tuple[list[float], float]:
    """Weights and bias of the machine with squared hinge loss; no example is longer than one."""
    weights, bias = [0.0] * PLACES, 0.0
    shares = [0.0] * len(examples)
    signs = [1.0 if one.attack else -1.0 for one in examples]
    lengths = [1 / length_of(len(one.places)) for one in examples]
    softness = [1 / (2 * COST * count) for count in counts]
    squares = [1 + len(one.places) * length * length for one, length in zip(examples, lengths, strict=True)]
    order, chance = list(range(len(examples))), random.Random(SEED)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for at in order:
            places, sign, length = examples[at].places, signs[at], lengths[at]
            margin = sign * (length * fsum(map(weights.__getitem__, places)) + bias)
            share = max(
                0.0, shares[at] - (margin - 1 + softness[at] * shares[at]) / (squares[at] + softness[at])
            )
            change = (share - shares[at]) * sign
            if change:
                shares[at] = share
                bias += change
                for place in places:
                    weights[place] += change * length
    return weights, bias

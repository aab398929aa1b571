"""A feedforward network of two layers with one output, and its training by soft cross-entropy (CodeRM, section 3.3).

Small enough for plain Python: a score of inputs, a few hidden units, some hundred examples.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Network:
    """Weights of both layers. Inputs are brought to mean 0 and deviation 1 first.

    Attributes:
        mean, deviation: Of each input in training.
        hidden: By hidden unit its bias and its weights.
        output: The output's bias and its weights.
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    hidden: tuple[tuple[float, ...], ...]
    output: tuple[float, ...]

    def predict(self, inputs: Sequence[float]) -> float:
        """Return the estimated pass rate, 0..1."""
        scaled = self._scaled(inputs)
        return _sigmoid(_affine(self.output, [math.tanh(_affine(row, scaled)) for row in self.hidden]))

    def _scaled(self, inputs: Sequence[float]) -> list[float]:
        # Beyond what was seen in training nothing is known: an outlier counts as the edge.
        return [
            max(-3.0, min(3.0, (value - mean) / deviation))
            for value, mean, deviation in zip(inputs, self.mean, self.deviation, strict=True)
        ]


def train(
    rows: Sequence[Sequence[float]],
    rates: Sequence[float],
    *,
    hidden: int = 6,
    epochs: int = 400,
    step: float = 0.02,
    decay: float = 1e-3,
    seed: int = 0,
) -> Network:
    """Return a network fitted to observed pass rates by soft cross-entropy.

    Args:
        rows: Inputs, one row an example.
        rates: Observed pass rates, 0..1.
        hidden: Hidden units.
        epochs: Passes over all examples.
        step: Learning rate of Adam.
        decay: Weight decay.
        seed: Of the first weights and of the order.
    """
    generator = random.Random(seed)
    width = len(rows[0])
    columns = list(zip(*rows, strict=True))
    mean = tuple(sum(column) / len(column) for column in columns)
    deviation = tuple(
        max(1e-6, (sum((value - m) ** 2 for value in column) / len(column)) ** 0.5)
        for column, m in zip(columns, mean, strict=True)
    )
    layers = [[generator.gauss(0, width**-0.5) for _ in range(width + 1)] for _ in range(hidden)]
    layers.append([generator.gauss(0, hidden**-0.5) for _ in range(hidden + 1)])
    flat = _Adam(layers, step)
    scale = Network(mean, deviation, (), ())
    scaled = [scale._scaled(row) for row in rows]
    order = list(range(len(rows)))
    for _ in range(epochs):
        generator.shuffle(order)
        for start in range(0, len(order), 16):
            batch = order[start : start + 16]
            slopes = [[decay * weight for weight in layer] for layer in layers]
            for index in batch:
                _add_slopes(layers, scaled[index], rates[index], slopes, len(batch))
            flat.move(slopes)
    return Network(mean, deviation, tuple(tuple(layer) for layer in layers[:-1]), tuple(layers[-1]))


def _add_slopes(
    layers: list[list[float]], inputs: list[float], rate: float, slopes: list[list[float]], size: int
) -> None:
    """Add one example's slopes of the soft cross-entropy."""
    activations = [math.tanh(_affine(row, inputs)) for row in layers[:-1]]
    error = (_sigmoid(_affine(layers[-1], activations)) - rate) / size
    slopes[-1][0] += error
    for unit, activation in enumerate(activations):
        slopes[-1][unit + 1] += error * activation
        back = error * layers[-1][unit + 1] * (1 - activation**2)
        slopes[unit][0] += back
        for place, value in enumerate(inputs):
            slopes[unit][place + 1] += back * value


class _Adam:
    """Adam's steps over nested lists of weights, changed in place."""

    def __init__(self, layers: list[list[float]], step: float) -> None:
        self._layers, self._step = layers, step
        self._first = [[0.0] * len(layer) for layer in layers]
        self._second = [[0.0] * len(layer) for layer in layers]
        self._count = 0

    def move(self, slopes: list[list[float]]) -> None:
        self._count += 1
        for layer, slope, first, second in zip(self._layers, slopes, self._first, self._second, strict=True):
            for place, value in enumerate(slope):
                first[place] = 0.9 * first[place] + 0.1 * value
                second[place] = 0.999 * second[place] + 0.001 * value * value
                ahead = first[place] / (1 - 0.9**self._count)
                spread = second[place] / (1 - 0.999**self._count)
                layer[place] -= self._step * ahead / (spread**0.5 + 1e-8)


def _affine(weights: Sequence[float], inputs: Sequence[float]) -> float:
    return weights[0] + sum(w * x for w, x in zip(weights[1:], inputs, strict=True))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))

"""Made-up columns of several shapes, to rehearse mechanisms on. Nobody's data.

Each shape has mean 0 and standard deviation 1. They are chosen for what columns of people's records look like:
measurements, heavy tails, waiting times, incomes, two groups in one table, scores, yes/no answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tukeydp.trusted.parameters import FloatArray

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]

_TAIL = 3.0  # degrees of freedom: the fewest whole number with a variance
_LOG_DEVIATION = 0.75  # of incomes and laboratory values; skewness 3.3, that of exponential columns is 2
_APART = 2.0  # half the distance between the humps, in standard deviations of one hump
_SCORES = (0.1, 0.2, 0.4, 0.2, 0.1)
_YES = 0.2


# Bounds of columns of few values are chosen by those who know the values: at most so many times their range.
_TIMES_RANGE = 10.0


@dataclass(frozen=True)
class Shape:
    """A law with mean 0 and standard deviation 1, under a name that says its parameters.

    `span` is the range of columns of few values, in standard deviations; None for measurements. `symmetric`: about 0.
    """

    name: str
    draw: Draw
    span: float | None = None
    symmetric: bool = False

    @property
    def few_values(self) -> bool:
        return self.span is not None

    def widths(self, widths: FloatArray) -> FloatArray:
        """Bounds, in standard deviations, that such columns would be given by those who give others `widths`."""
        return widths if self.span is None else np.minimum(widths, _TIMES_RANGE * self.span)


def made_up(shape: Shape, n: int, d: int, number: int, missing: float = 0.0) -> FloatArray:
    """The `number`-th made-up table of that shape: independent columns, every cell missing with the same chance."""
    seed = [number, n, d, sum(shape.name.encode())]
    rng = np.random.default_rng(seed)
    table = shape.draw(rng, (n, d))
    if missing:
        table[rng.random((n, d)) < missing] = np.nan
    return table


def _heavy(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return rng.standard_t(_TAIL, size) / math.sqrt(_TAIL / (_TAIL - 2.0))


def _log_normal(rng: np.random.Generator, size: tuple[int, int], deviation: float = _LOG_DEVIATION) -> FloatArray:
    growth = math.exp(deviation**2)
    table = np.exp(deviation * rng.normal(size=size))
    return np.asarray((table - math.sqrt(growth)) / math.sqrt(growth * (growth - 1.0)))


def _humps(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    side = np.where(rng.random(size) < 0.5, -_APART, _APART)
    return np.asarray((side + rng.normal(size=size)) / math.hypot(_APART, 1.0))


def _scores(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    values = np.arange(len(_SCORES)) - float(np.dot(np.arange(len(_SCORES)), _SCORES))
    return np.asarray(rng.choice(values, size, p=_SCORES) / math.sqrt(float(np.dot(values**2, _SCORES))))


def _yes_no(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return np.asarray(((rng.random(size) < _YES) - _YES) / math.sqrt(_YES * (1.0 - _YES)))


SHAPES = (
    Shape("Gaussian", lambda rng, size: rng.normal(size=size), symmetric=True),
    Shape("heavy tails: Student's t(3)", _heavy, symmetric=True),
    Shape("exponential", lambda rng, size: rng.exponential(size=size) - 1.0),
    Shape(f"log-normal({_LOG_DEVIATION})", _log_normal),
    Shape("two humps, 4 deviations of one apart", _humps, symmetric=True),
    Shape("scores from 1 to 5", _scores, span=4.0 / 1.0954, symmetric=True),
    Shape(f"yes/no, {_YES} yes", _yes_no, span=2.5),
)

# For what is found by rank: columns with ties, where quantiles stand or fall, and one that is skewed beyond the others.
_STRONG = 1.5  # deviation of the logarithm: turnovers, debts
_RATINGS = (0.03, 0.1, 0.35, 0.37, 0.15)  # 48 of 100 at most 3: the median is 4, hardly
_EQUAL, _ZEROS = 0.97, 0.6


def _few(values: FloatArray, chances: tuple[float, ...]) -> Draw:
    """Columns of these values with these chances."""
    centred = values - float(np.dot(values, chances))
    centred /= math.sqrt(float(np.dot(centred**2, chances)))
    return lambda rng, size: np.asarray(rng.choice(centred, size, p=chances))


def _mostly_zero(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    table = np.where(rng.random(size) < _ZEROS, 0.0, rng.exponential(size=size))
    mean = 1.0 - _ZEROS
    return np.asarray((table - mean) / math.sqrt(2.0 * mean - mean**2))


RANKED = (
    *(shape for shape in SHAPES if not shape.few_values),
    Shape(f"log-normal({_STRONG})", lambda rng, size: _log_normal(rng, size, _STRONG)),
    *(shape for shape in SHAPES if shape.few_values),
    Shape("ratings from 1 to 5, 48 of 100 at most 3", _few(np.arange(5.0), _RATINGS), span=4.0),
    Shape("97 of 100 equal", _few(np.array([-1.0, 0.0, 1.0]), (0.015, _EQUAL, 0.015)), span=11.5),
    Shape("60 of 100 zero, the others exponential", _mostly_zero, span=8.0),
)

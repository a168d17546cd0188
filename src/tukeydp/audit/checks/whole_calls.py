"""Whole calls of the public functions: every use of noise is noted, and together they cost what the release says.

Neighbouring tables run with equal bits and equal answers in the place of noise, so that their steps are the same. What
each step alone costs is for the enumerations; here it is that none is forgotten or paid for twice.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import tukeydp as td
from tukeydp.arrays import FloatArray
from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.forcing import forced
from tukeydp.exact.boxes import Box
from tukeydp.exact.cube_noise import cube_noise
from tukeydp.exact.noise import discrete_laplace
from tukeydp.mechanisms.clip_radii import RADII, drawn_radii, rows_beyond
from tukeydp.mechanisms.clipped_sum import STEPS
from tukeydp.sampling.cutting_planes import DepthSampler

_ROUNDING = 1e-9
EPSILON = Fraction(7, 5)

Call = Callable[[FloatArray], Any]
WIDE: dict[str, Any] = {"epsilon": EPSILON, "bounds": (-50, 50)}
CALLS: dict[str, tuple[int, Call]] = {
    "boxem": (60, lambda x: td.boxem(x, **WIDE, randomness=td.seeded(1))),
    "boxem, certified": (60, lambda x: td.boxem(x, **WIDE, certify="0.2", randomness=td.seeded(1))),
    "spread": (600, lambda x: td.spread(x, **WIDE, randomness=td.seeded(1))),
    "cube": (60, lambda x: td.cube(x, **WIDE, randomness=td.seeded(1))),
    "mean": (3000, lambda x: td.mean(x, **WIDE, randomness=td.seeded(1))),
    "mean, few rows": (60, lambda x: td.mean(x, **WIDE, randomness=td.seeded(1))),
    "mean, subset": (800, lambda x: td.mean(x, **WIDE, mechanism="subset", randomness=td.seeded(1))),
    "mean, subset, spreads known": (
        800,
        lambda x: td.mean(x, **WIDE, mechanism="subset", sd=1, randomness=td.seeded(1)),
    ),
    "mean, two-step": (3000, lambda x: td.mean(x, **WIDE, mechanism="two-step", randomness=td.seeded(1))),
    "mean, two-step, spreads known": (
        3000,
        lambda x: td.mean(x, **WIDE, mechanism="two-step", sd=1, randomness=td.seeded(1)),
    ),
    "mean with interval": (3000, lambda x: td.mean(x, **WIDE, confidence=0.95, randomness=td.seeded(1))),
    "mean with interval, subset": (
        3000,
        lambda x: td.mean(x, **WIDE, mechanism="subset", confidence=0.95, randomness=td.seeded(1)),
    ),
    "mean with interval, spreads known": (
        3000,
        lambda x: td.mean(x, **WIDE, confidence=0.95, sd=1, randomness=td.seeded(1)),
    ),
    "summary": (3000, lambda x: td.summary(x, **WIDE, randomness=td.seeded(1))),
    "summary with a share": (
        3000,
        lambda x: td.summary(x, epsilon=EPSILON, bounds=([-50, 0], [50, 1]), randomness=td.seeded(1)),
    ),
    "summary of shares": (60, lambda x: td.summary(x, epsilon=EPSILON, bounds=(0, 1), randomness=td.seeded(1))),
}


@dataclass
class Used:
    """What was asked of noise, in the order of the steps."""

    tables: list[tuple[Counter[tuple[int, ...]], Fraction]] = field(default_factory=list)
    cubes: list[Fraction] = field(default_factory=list)
    counts: list[Fraction] = field(default_factory=list)
    weights: list[list[Fraction]] = field(default_factory=list)

    def cost(self, other: Used) -> Fraction:
        """Tables: epsilon for each row that the swap moved; sums: the steps of a range; counts: one."""
        total = sum((STEPS / scale for scale in self.cubes), Fraction(0)) + sum(
            (1 / s for s in self.counts), Fraction(0)
        )
        for (mine, epsilon), (yours, _) in zip(self.tables, other.tables, strict=True):
            total += epsilon * sum((mine - yours).values())
        for ours, theirs in zip(self.weights, other.weights, strict=True):
            total += 2 * max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        return total

    def same_steps(self, other: Used) -> bool:
        """As many uses of each kind, with the same public numbers."""
        ours, theirs = (([e for _, e in u.tables], u.cubes, u.counts, len(u.weights)) for u in (self, other))
        return ours == theirs


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    for name, (n, call) in CALLS.items():
        for seed in range(1 if effort.quick else 5):
            _examine(name, n, call, seed, tally)
    return tally.result()


def _examine(name: str, n: int, call: Call, seed: int, tally: Tally) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 2))
    x[random.random(x.shape) < 0.1] = np.nan
    swapped = x.copy()
    swapped[int(random.integers(n))] = (1e9, np.nan) if seed % 2 else (-1e9, 1e9)
    runs = []
    for table in (x, swapped):
        with _noted() as used:
            epsilon = call(table).guarantee.epsilon
        runs.append(used)
    tally.require(epsilon == EPSILON, f"{name}: the release states another epsilon than was asked for")
    same = runs[0].same_steps(runs[1])
    tally.require(same, f"{name}: steps, or what they spend, depend on the data")
    if same:
        tally.found(float(runs[0].cost(runs[1]) / epsilon))
    tally.saw(datasets=2, pairs=1)


@contextmanager
def _noted() -> Iterator[Used]:
    """All noise of the package, wherever it is used, is noted and gives fixed answers."""
    used = Used()

    class Noted:
        def __init__(self, prepared: Any, *, within: Box, epsilon: Fraction, lowest: int = 0) -> None:
            used.tables.append((Counter(map(tuple, prepared.levels.table.tolist())), epsilon))
            self._middle = [(a + b) // 2 for a, b in zip(within.low, within.high, strict=True)]

        def draw(self, key: object) -> list[int]:
            return self._middle

    def cube(d: int, scale: Fraction, bits: object) -> list[int]:
        used.cubes.append(scale)
        return [0] * d

    def laplace(scale: Fraction, bits: object) -> int:
        used.counts.append(scale)
        return 0

    def radii(
        relative: FloatArray, centre: FloatArray, spread: FloatArray, epsilon: Fraction, bits: object
    ) -> FloatArray:
        beyond = rows_beyond(relative, centre, spread).tolist()
        places = itertools.product(*beyond)
        used.weights.append([-epsilon * max(rows) / 2 for rows in places])
        return np.full(len(beyond), RADII[5])

    stands = ((DepthSampler, Noted), (cube_noise, cube), (discrete_laplace, laplace), (drawn_radii, radii))
    with forced(*(change for original, stand_in in stands for change in _everywhere(original, stand_in))):
        yield used


def _everywhere(original: Any, stand_in: Any) -> list[tuple[Any, str, Any]]:
    """Every name that the package's mechanisms know something under."""
    modules = [m for name, m in sys.modules.items() if name.startswith(("tukeydp.mechanisms", "tukeydp.planning"))]
    return [(module, name, stand_in) for module in modules for name, value in vars(module).items() if value is original]


CHECK = Check(
    name="whole calls: what is spent",
    claim="In whole calls of the public functions everything that noise is used for costs epsilon together, and the "
    "same steps are taken on neighbouring tables.",
    measure="epsilons of all steps together, over the stated epsilon",
    run=run,
)

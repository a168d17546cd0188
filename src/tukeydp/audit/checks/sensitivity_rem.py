"""One swapped row moves REM's score by no more than its tests allow for: by hill climbing."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally, climb
from tukeydp.audit.checks.rem_enumeration import TESTS, chance
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import SafetyTest
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.level_sizes import sizes_of

_ROUNDING = 1e-9
_EXTENT = 60  # of the grid to either side
ROWS, THRESHOLD = 24, 6
DELTA = Fraction(1, 10)
SPREADS = (1.0, 3.0, 8.0)  # of rows, in steps: from tables that are surely released to tables that hardly ever are


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    steps = 5 if effort.quick else 40
    columns = (1, 2) if effort.quick else (1, 2, 3)
    for d, best, test, spread in itertools.product(columns, (True, False), TESTS, SPREADS):
        if d == 1 and not best:
            continue
        random = np.random.default_rng([effort.seed, d, best, len(test.name), int(spread)])
        tally.found(_climbed(d, best, test, spread, steps, random))
        tally.saw(datasets=2 * (steps + 1), pairs=steps + 1)
    return tally.result()


def _climbed(d: int, best: bool, test: SafetyTest, spread: float, steps: int, random: np.random.Generator) -> float:
    vectors = random.integers(-9, 10, size=(3, d))
    directions = np.vstack([np.eye(d, dtype=np.int64), vectors[vectors.any(axis=1)], np.ones((1, d), dtype=np.int64)])
    release = Fraction(6 if test.name == "paper" or d > 1 else 1)
    plan = Plan(ROWS, THRESHOLD, release, Fraction(1), DELTA, THRESHOLD - 1, tuple(range(ROWS + 1)))
    box = Box((-_EXTENT,) * d, (_EXTENT,) * d)

    def row(random: np.random.Generator) -> FloatArray:
        if random.random() < 0.1:
            return random.integers(-_EXTENT, _EXTENT + 1, size=d).astype(float)
        return np.asarray(np.clip(np.rint(random.normal(size=d) * spread), -_EXTENT, _EXTENT))

    def passed(x: FloatArray) -> float:
        levels = level_sets(x.astype(np.int64), directions)
        measure = sizes_of if best else BoxesAndEllipsoids
        return chance(test, Evidence(measure(levels, box, plan.threshold), plan))

    def moved(x: FloatArray, y: FloatArray) -> float:
        """p by e^(test's epsilon) at most, 1 - p by e^epsilon; where one cannot pass, the other by delta at most."""
        p, q = passed(x), passed(y)
        if not min(p, q):
            return max(p, q) / float(DELTA)
        stays = abs(math.log((1 - p) / (1 - q))) / float(plan.epsilon) if max(p, q) < 1 else 0.0
        return max(abs(math.log(p / q)) / float(plan.test), stays)

    return climb(moved, ROWS, row, steps, random)


CHECK = Check(
    name="sensitivity: rem's score",
    claim="Swapping a row moves the chance of a release by no more than a factor e^(epsilon of the test), and that of "
    "a refusal by no more than e^epsilon, for all tests and all ways to measure sizes.",
    measure="largest log ratio, over what is allowed",
    run=run,
)

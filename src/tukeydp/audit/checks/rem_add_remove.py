"""REM with one row more or less on tiny grids: all datasets up to a size, its one-sided test, exact sizes or bounds."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Tally, over_cases
from tukeydp.audit.checks.rem_enumeration import LINE, SLANTED, chance
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles import rem as definition
from tukeydp.audit.oracles import rem as secret_size
from tukeydp.audit.oracles.laws import Dataset
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rem.evidence import Plan, evidence_of
from tukeydp.trusted.rem.safety import Graded
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.level_sizes import sizes_of

_ROUNDING = 1e-9  # relative, of the floats that add up probabilities here


@dataclass(frozen=True)
class Case:
    """A grid of `sides` points, directions, most rows, threshold, eta, the test's epsilon, delta; exact sizes or
    bounds."""

    sides: tuple[int, ...]
    directions: tuple[oracle.Point, ...]
    most: int
    threshold: int
    eta: Fraction
    test: Fraction
    delta: Fraction
    counted: bool = True


QUICK = (
    Case((3,), LINE, 6, 1, Fraction(1), Fraction(1), Fraction(1, 5)),
    Case((3,), LINE, 7, 2, Fraction(1), Fraction(1), Fraction(1, 10)),
    Case((4,), LINE, 7, 2, Fraction(6, 5), Fraction(9, 5), Fraction(1, 20)),
    Case((4,), LINE, 8, 3, Fraction(2), Fraction(2), Fraction(1, 50)),
    Case((2, 2), SLANTED, 4, 2, Fraction(1), Fraction(1), Fraction(1, 10)),
)
FULL = (
    *QUICK,
    Case((3,), LINE, 8, 3, Fraction(6, 5), Fraction(4, 5), Fraction(1, 20)),
    Case((4,), LINE, 10, 4, Fraction(2), Fraction(1), Fraction(1, 50)),
    Case((5,), LINE, 8, 3, Fraction(2), Fraction(3), Fraction(1, 20)),
    Case((2, 2), SLANTED, 5, 2, Fraction(1), Fraction(1), Fraction(1, 10), counted=False),
    Case((2, 2), SLANTED, 6, 3, Fraction(2), Fraction(1), Fraction(1, 20)),
)


def examine(case: Case, tally: Tally) -> None:
    points = list(itertools.product(*(range(side) for side in case.sides)))
    t, eta, test, delta = case.threshold, float(case.eta), float(case.test), float(case.delta)
    laws: dict[Dataset, list[float]] = {}
    for x in secret_size.up_to(len(points), case.most):
        rows = [points[i] for i in x]
        depths = [oracle.depth(rows, y, case.directions) for y in points]
        passed = _chance(case, rows)
        if case.counted:
            wanted = secret_size.one_sided_chance(depths, t, eta, test, delta, t - 1)
            tally.require(abs(passed - wanted) <= _ROUNDING * wanted, "a chance is not that of the definition")
        laws[x] = definition.outcome(depths, t, eta, passed)
    growth = math.exp(case.eta + case.test)
    tally.found(secret_size.worst_excess(laws.__getitem__, len(points), case.most, growth) / delta)
    tally.saw(datasets=len(laws), pairs=2 * len(points) * len(secret_size.up_to(len(points), case.most - 1)))


def _chance(case: Case, rows: list[oracle.Point]) -> float:
    """The package's probability of a release."""
    d, t = len(case.sides), case.threshold
    within = Box((0,) * d, tuple(side - 1 for side in case.sides))
    levels = level_sets(np.array(rows, dtype=np.int64).reshape(len(rows), d), np.array(case.directions))
    plan = Plan(case.most, t, case.eta, case.test, case.delta, t - 1, tuple(range(case.most + 1)), "add-remove")
    sizes = sizes_of(levels, within, t) if case.counted else BoxesAndEllipsoids(levels, within, t)
    return chance(Graded(), evidence_of(sizes, plan))


CHECK = Check(
    name="add-remove, rem: enumeration",
    claim="With one row more or less rem is (epsilon, delta)-DP, refusals included; its chances of a release are those "
    "of the definition.",
    measure="largest hockey-stick divergence at epsilon, over delta",
    run=over_cases(QUICK, FULL, examine, 1.0 + _ROUNDING),
)

"""REM on tiny grids: all datasets, all swaps, for its three tests and all ways to measure sizes."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Tally, over_cases
from tukeydp.audit.forced_samplers import Membership, accepted_weight
from tukeydp.audit.oracles import laws as oracle
from tukeydp.audit.oracles import rem as definition
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, worst_excess
from tukeydp.hints.envelope import Envelope
from tukeydp.hints.linear_programs import LinearPrograms
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.covers import Covers
from tukeydp.trusted.levels import LevelSets, level_sets
from tukeydp.trusted.rem.evidence import Evidence, Plan
from tukeydp.trusted.rem.safety import Graded, Laplace, Paper, SafetyTest
from tukeydp.trusted.sizes.ellipsoids import BoxesAndEllipsoids
from tukeydp.trusted.sizes.level_sizes import Intervals, Sizes, sizes_of

TESTS: tuple[SafetyTest, ...] = (Graded(), Laplace(), Paper())
_BITS = 96  # of a chance: its two ends then differ by far less than what floats can tell
_ROUNDING = 1e-9  # relative, of the floats that add up probabilities here


@dataclass(frozen=True)
class Case:
    """A grid of `sides` points, directions, n rows, threshold, the two epsilons, and delta; exact sizes or bounds."""

    sides: tuple[int, ...]
    directions: tuple[oracle.Point, ...]
    n: int
    threshold: int
    release: Fraction
    test: Fraction
    delta: Fraction
    counted: bool = True

    @property
    def points(self) -> list[oracle.Point]:
        return list(itertools.product(*(range(side) for side in self.sides)))

    @property
    def plan(self) -> Plan:
        t = self.threshold
        return Plan(self.n, t, self.release, self.test, self.delta, t - 1, tuple(range(self.n + 1)))

    @property
    def within(self) -> Box:
        return Box((0,) * len(self.sides), tuple(side - 1 for side in self.sides))


LINE, SLANTED = ((1,),), ((1, 0), (0, 1), (1, 2), (2, -1))
ASKEW = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 1), (2, -1, 1))
QUICK = (
    Case((5,), LINE, 5, 2, Fraction(1), Fraction(1, 2), Fraction(1, 10)),
    Case((5,), LINE, 6, 3, Fraction(2), Fraction(1), Fraction(1, 50)),
    Case((3, 3), SLANTED, 3, 2, Fraction(2), Fraction(1), Fraction(1, 10)),
    Case((2, 2, 2), ASKEW, 3, 2, Fraction(2), Fraction(1), Fraction(1, 10)),
)
FULL = (
    *QUICK,
    Case((5,), LINE, 5, 1, Fraction(1, 2), Fraction(1, 2), Fraction(1, 5)),
    Case((5,), LINE, 6, 2, Fraction(4), Fraction(2), Fraction(3, 10)),
    Case((6,), LINE, 8, 4, Fraction(3), Fraction(1), Fraction(1, 100)),
    Case((3, 3), SLANTED, 4, 2, Fraction(4), Fraction(2), Fraction(1, 20)),
    Case((3, 3), SLANTED, 4, 2, Fraction(4), Fraction(2), Fraction(1, 20), counted=False),
    Case((2, 2, 2), ASKEW, 4, 2, Fraction(4), Fraction(2), Fraction(1, 20)),
    Case((2, 2, 2), ASKEW, 3, 2, Fraction(2), Fraction(1), Fraction(1, 10), counted=False),
)


def examine(case: Case, tally: Tally) -> None:
    points = case.points
    known = datasets(len(points), case.n)
    chances: dict[tuple[Dataset, str], float] = {}
    depths: dict[Dataset, list[int]] = {}
    for x in known:
        rows = [points[i] for i in x]
        depths[x] = [oracle.depth(rows, y, case.directions) for y in points]
        levels = level_sets(np.array(rows, dtype=np.int64), np.array(case.directions, dtype=np.int64))
        evidence = Evidence(_sizes(case, levels), case.plan)
        for test in TESTS:
            chances[x, test.name] = chance(test, evidence)
        _compare(case, depths[x], evidence, chances[x, "graded"], chances[x, "laplace"], tally)
        _compare_draw(case, levels, depths[x], tally)
    growth, eta = math.exp(case.release + case.test), float(case.release) / 2
    for test in TESTS:

        def law(x: Dataset, name: str = test.name) -> list[float]:
            return definition.outcome(depths[x], case.threshold, eta, chances[x, name])

        tally.found(worst_excess(law, len(points), case.n, growth) / float(case.delta))
    tally.saw(datasets=len(known) * len(TESTS), pairs=count_of_pairs(len(points), case.n) * len(TESTS))


def chance(test: SafetyTest, evidence: Evidence) -> float:
    """The package's probability of a release, with everything measured."""
    if evidence.empty:
        return 0.0
    while True:
        found = test.chance(evidence, _BITS)
        if found.doubtful is None or not evidence.refine(found.doubtful):
            return float(found.low)


def _sizes(case: Case, levels: LevelSets) -> Sizes:
    if len(case.sides) == 1:
        return Intervals(levels, case.within)
    if case.counted:
        return sizes_of(levels, case.within, case.threshold)
    return BoxesAndEllipsoids(levels, case.within, case.threshold)


def _compare(case: Case, depths: list[int], evidence: Evidence, graded: float, laplace: float, tally: Tally) -> None:
    """Where sizes are exact, the chances are those of the definition."""
    t, part, delta = case.threshold, float(case.test), float(case.delta)
    tally.require(evidence.empty or max(depths) >= t, "a level without points is not seen to be empty")
    if len(case.sides) > 2 or not case.counted or evidence.empty:
        return
    worst = [definition.worst_case(depths, t, float(case.release) / 2, k) for k in range(t - 1)]
    epsilon = float(case.release + case.test)
    for ours, theirs in (
        (graded, definition.graded(worst, part, epsilon, delta)),
        (laplace, definition.laplace(worst, part, delta)),
    ):
        tally.require(abs(ours - theirs) <= _ROUNDING * theirs, "a chance of a release is not that of the definition")


def _compare_draw(case: Case, levels: LevelSets, depths: list[int], tally: Tally) -> None:
    """The draw: q^depth over the points of depth at least t, and nothing else."""
    t, q = case.threshold, Fraction(3, 2)
    if max(depths) < t:
        return
    envelope = Envelope(Covers(levels, case.within), LinearPrograms(levels))
    envelope.refine(range(1, envelope.top + 1))
    member, groups = Membership(levels, case.within), envelope.groups(t)
    weights = [accepted_weight(member, groups, y, q) for y in case.points]
    expected = [q**value if value >= t else Fraction(0) for value in depths]
    tally.require(weights == expected, "a point is drawn with another weight than q^depth above the threshold")


CHECK = Check(
    name="rem: enumeration",
    claim="rem is (epsilon, delta)-DP with each of its tests, refusals included; its chances of a release and its "
    "draw are those of the definition.",
    measure="largest hockey-stick divergence at epsilon, over delta",
    run=over_cases(QUICK, FULL, examine, 1.0 + _ROUNDING),
)

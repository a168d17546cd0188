"""The two-step mean: centre, spread, radii, shares of missing cells and clipped mean, their losses together."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.dealt_tables import HEADS_OR_TAILS, SIXTEENTHS, by_rows, floats, law, weighed
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import means as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.mechanisms import clipped_sum, two_step
from tukeydp.mechanisms.mean_plans import TwoStepMean
from tukeydp.mechanisms.two_step import TwoStepPlan, at_least_narrowest, clipped_around
from tukeydp.trusted import block_steps as spread_step
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted import clipped_sums
from tukeydp.trusted import clipped_sums as clip_radii
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import OCTAVES, SpreadPlan, SubsetPlan, spread_octaves, subset_point
from tukeydp.trusted.laws import Group, LevelDraw
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge, rehearsed, rehearsed_charge
from tukeydp.trusted.rows import relative_grid

_ROUNDING = 1e-9  # relative, of the floats that add up losses here
# Of epsilon: centre, spread, radii, shares, mean. Large, so that even three rows move the radii.
SHARES = (Fraction(2), Fraction(3), Fraction(10), Fraction(3), Fraction(4))
PLAN = TwoStepPlan(SHARES, SubsetPlan(2, 1, (4,)), SpreadPlan(1), None)
MEDIAN = 0.6744897501960817  # of the size of a standard Gaussian variable
CELLS = (Fraction(-1), Fraction(-1, 3), Fraction(1, 4), Fraction(1), None)
KINDS: tuple[oracle.Row, ...] = tuple((cell,) for cell in CELLS)


@dataclass(frozen=True)
class Second:
    """The second step given the first: weights of the radii, and for each radius what noise is added to.

    `sums` and `counts` are in units of the noise's scale: their differences are losses.
    """

    log_radii: tuple[float, ...]
    sums: tuple[float, ...]
    counts: tuple[float, ...]


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    epsilon = TwoStepMean(sum(SHARES, Fraction(0)), PLAN).guarantee.epsilon
    n, kinds = (3, KINDS[1:]) if effort.quick else (3, KINDS)
    first: dict[Dataset, tuple[dict[float, float], dict[float, float]]] = {}
    for x in datasets(len(kinds), n):
        first[x] = _first_laws(tuple(kinds[i] for i in x), tally)
    spreads = sorted(next(iter(first.values()))[1])
    spreads = spreads[:: len(spreads) // 5 if effort.quick else 4]
    for group in swap_groups(len(kinds), n):
        second = [
            {
                (y, s): _second_step(tuple(kinds[i] for i in x), y, s, tally)
                for y, s in itertools.product(first[x][0], spreads)
            }
            for x in group
        ]
        for (ours, after), (theirs, other) in itertools.permutations(zip(group, second, strict=True), 2):
            tally.found(_worst_loss(first[ours], first[theirs], after, other) / float(epsilon))
    tally.saw(datasets=len(first), pairs=count_of_pairs(len(kinds), n))
    return tally.result()


def _first_laws(x: oracle.Table, tally: Tally) -> tuple[dict[float, float], dict[float, float]]:
    """The package's laws of centre and spread, in relative units; its tables must be those of the definition."""
    relative, public = floats(x), derived_key("public")
    centre = weighed(
        subset_means,
        "filled_at_the_ends",
        lambda: subset_point(relative, rehearsed_charge(bounded_range(SHARES[0]), b""), PLAN.centre, public),
        len(x),
        1,
        HEADS_OR_TAILS,
    )
    spread_plan = SpreadPlan(1)
    spread = weighed(
        spread_step,
        "at_the_ends",
        lambda: spread_octaves(relative, rehearsed_charge(bounded_range(SHARES[1]), b""), spread_plan, public),
        len(x),
        1,
        SIXTEENTHS,
    )
    tally.require(
        by_rows(centre) == oracle.tables(x, 2, lambda v: oracle.mean_choice(v, 4)),
        "block tables of the centre are not those of the definition",
    )
    tally.require(
        by_rows(spread) == oracle.tables(x, 1, lambda v: oracle.difference_choice(v, OCTAVES)),
        "differences of halves are not those of the definition",
    )
    grid = relative_grid(PLAN.centre.steps)
    centres = {float(grid.point([y])[0]): p for y, p in zip(range(-2, 3), law(centre), strict=True)}
    spreads: defaultdict[float, float] = defaultdict(float)
    for k, p in enumerate(law(spread)):
        octaves = np.array([k / 8 - OCTAVES - math.log2(MEDIAN)])
        spreads[float(at_least_narrowest(octaves)[0])] += p
    return centres, dict(spreads)


def _second_step(x: oracle.Table, centre: float, spread: float, tally: Tally) -> Second:
    """By running the package with chosen radii and without noise, and reading off what noise would be added to."""
    relative, y, s = floats(x), np.array([centre]), np.array([spread])
    sums, counts = [], []
    chosen = 0
    scales: list[Fraction] = []
    levels: list[tuple[dict[int, int], Fraction]] = []

    def listened(groups: Sequence[Group], epsilon: Fraction) -> LevelDraw:
        weights = {level: group.size for group in groups for level in range(group.lowest, group.highest + 1)}
        levels.append((weights, epsilon))
        return LevelDraw(groups, epsilon)

    def radii(relative: FloatArray, y: FloatArray, s: FloatArray, charge: Charge) -> FloatArray:
        clip_radii.drawn_radii(relative, y, s, charge)
        return np.array([oracle.RADII[chosen]])

    def no_noise(d: int, scale: Fraction, bits: object) -> list[int]:
        scales.append(scale)
        return [0] * d

    def spied(relative: FloatArray, where: clipped_sums.ClipRange, charge: Charge) -> list[Fraction]:
        scales.clear()
        (mean,) = clipped_sums.clipped_mean(relative, where, charge)
        low, high = Fraction(where.low[0]), Fraction(where.high[0])
        steps = (mean - low) / (high - low) * len(relative) * clipped_sums.STEPS if high > low else Fraction(0)
        sums.append(float(steps / scales[0]))
        return [mean]

    with forced(
        (clip_radii, "LevelDraw", listened),
        (two_step, "drawn_radii", radii),
        (two_step, "clipped_mean", spied),
        (clipped_sums, "cube_noise", no_noise),
    ):
        for radius in range(len(oracle.RADII)):
            chosen = radius
            clipped_around(relative, y, s, rehearsed(PLAN.parts, derived_key("second step")))
        # What is subtracted and cut off afterwards hides nothing and shows nothing: the count itself is wanted.
        with forced((clipped_sum, "NOTICED", 0.0), (clipped_sum, "MOST_MISSING", Fraction(1))):
            scales.clear()
            (share,) = clipped_sum.missing_shares(relative, rehearsed_charge(PLAN.parts["missing"], b"k" * 32))
            counts.append(float(share * len(x) * clipped_sums.STEPS / scales[0]))
    beyond = oracle.rows_beyond(x, 0, centre, spread)
    expected = (oracle.radius_levels(beyond), SHARES[2])
    tally.require(all(found == expected for found in levels), "radii are not weighed as the definition says")
    weights = [
        math.log(weight) - float(SHARES[2]) * rows / 2 for weight, rows in zip(oracle.WEIGHTS, beyond, strict=True)
    ]
    total = math.log(sum(math.exp(w) for w in weights))
    return Second(tuple(w - total for w in weights), tuple(sums), tuple(counts))


def _worst_loss(
    ours: tuple[dict[float, float], dict[float, float]],
    theirs: tuple[dict[float, float], dict[float, float]],
    after: dict[tuple[float, float], Second],
    other: dict[tuple[float, float], Second],
) -> float:
    """The largest sum of the five losses, over all ways the steps can come out."""
    worst = 0.0
    for (y, s), mine in after.items():
        first = math.log(ours[0][y] / theirs[0][y]) + math.log(ours[1][s] / theirs[1][s])
        yours = other[y, s]
        for i, (a, b) in enumerate(zip(mine.log_radii, yours.log_radii, strict=True)):
            noise = abs(mine.sums[i] - yours.sums[i]) + abs(mine.counts[0] - yours.counts[0])
            worst = max(worst, first + a - b + noise)
    return worst


CHECK = Check(
    name="mean, two-step: enumeration",
    claim="The two-step mean keeps epsilon: the losses of centre, spread, radii, shares of missing cells and clipped "
    "mean together, over all ways that its steps can come out.",
    measure="largest sum of log ratios, over epsilon",
    run=run,
)

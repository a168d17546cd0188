"""Scale first: the common factor by enumeration, and what scale and mean lose together."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from tukeydp.audit.check import Check, Effort, Result, Tally
from tukeydp.audit.checks import mean_cube
from tukeydp.audit.dealt_tables import by_rows, floats, law, sixteenths, weighed
from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles import means as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, swap_groups
from tukeydp.audit.oracles.means import factor_tables
from tukeydp.mechanisms import mean_ways as scaled_mean
from tukeydp.mechanisms.mean_plans import CubeMean
from tukeydp.mechanisms.mean_ways import ScaledMean
from tukeydp.mechanisms.scale_step import released_widths
from tukeydp.trusted import block_steps as module
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Charge, rehearsed_charge

_ROUNDING = 1e-6  # of sums read off floats, in half widths
SCALE, TOTAL = Fraction(2), Fraction(7, 2)
ASSUMED = (100.0, 10.0)
PLAN = ScaledMean(TOTAL, SCALE, ASSUMED)
KINDS: tuple[oracle.Row, ...] = (
    (Fraction(-1), Fraction(-1)),
    (Fraction(0), Fraction(1, 10)),
    (Fraction(1, 50), Fraction(1, 10)),
    (None, Fraction(1)),
    (Fraction(1, 2), Fraction(-1)),
)
# Widths in standard deviations that may have been released; what the mean then spends must not depend on them.
WIDTHS = (2.0, 7.0, 40.0, 100.0, 512.0)


def run(effort: Effort) -> Result:
    tally = Tally(bound=1.0 + _ROUNDING)
    cases = [(KINDS[:4], 3)] if effort.quick else [(KINDS, 3), (KINDS, 4)]
    for kinds, n in cases:
        examine(kinds, n, tally)
    for n in (4, 300, 3000, 50_000) if effort.quick else (2, 4, 50, 300, 1000, 3000, 10_000, 50_000, 10**6):
        _spending(n, tally)
    return tally.result()


def examine(kinds: tuple[oracle.Row, ...], n: int, tally: Tally) -> None:
    """The loss of the scale, of the mean that follows, and their sum."""
    scales: dict[Dataset, list[float]] = {}
    sums: dict[Dataset, list[mean_cube.Statistic]] = {}
    for x in datasets(len(kinds), n):
        table = tuple(kinds[i] for i in x)
        relative = floats(table)

        def make(relative: FloatArray = relative) -> object:
            charge = rehearsed_charge(bounded_range(PLAN.scale), b"")
            return released_widths(relative, charge, np.array(ASSUMED), derived_key("public"))

        found = weighed(module, "_factors_at_the_ends", make, n, 1, sixteenths(2, 8))
        tally.require(by_rows(found) == factor_tables(table, ASSUMED), "pairs are not those of the definition")
        scales[x] = law(found)
        sums[x] = mean_cube.statistics(table, None, tally, PLAN.rest)
    for group in swap_groups(len(kinds), n):
        for ours, theirs in itertools.permutations(group, 2):
            first = max(math.log(a / b) for a, b in zip(scales[ours], scales[theirs], strict=True))
            second = sum(a.loss(b) for a, b in zip(sums[ours], sums[theirs], strict=True))
            tally.found((first + second) / float(TOTAL))
    tally.saw(datasets=len(scales), pairs=count_of_pairs(len(kinds), n))


def _spending(n: int, tally: Tally) -> None:
    """Whatever scale is found, the mean spends the rest and no more, from another key."""
    for pair in itertools.product(WIDTHS, repeat=len(ASSUMED)):
        way = PLAN.way(n, np.array(pair))
        spent = PLAN.scale + way.guarantee.epsilon
        tally.require(spent <= TOTAL, "scale and mean spend more than epsilon")
        tally.saw(datasets=1)
    keys: list[bytes] = []

    def scale(relative: FloatArray, charge: Charge, assumed: FloatArray, public: bytes) -> FloatArray:
        keys.append(charge.for_bounded_range().key())
        return assumed

    def draw(way: CubeMean, relative: FloatArray, public: bytes, charge: Charge) -> list[Fraction]:
        keys.append(charge.for_any_law().key())
        return []

    with forced((scaled_mean, "released_widths", scale), (CubeMean, "draw", draw)):
        whole = rehearsed_charge(PLAN.guarantee, derived_key("secret"))
        PLAN.draw(np.zeros((2, len(ASSUMED))), derived_key("public"), whole)
    tally.require(len(set(keys)) == 2, "scale and mean are drawn from one key")


CHECK = Check(
    name="mean, scale first: enumeration",
    claim="Scale and mean together keep epsilon: the common factor over all pairings and coins, the sums that follow, "
    "and whatever way to the mean the found scale leads to.",
    measure="largest sum of log ratios, over epsilon",
    run=run,
)

"""Depth of subset means: all small tables, all dealings, all coins, all swaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist

from tukeydp.audit.check import Check, Tally, over_cases
from tukeydp.audit.dealt_tables import HEADS_OR_TAILS, SHIFTED_AT, by_rows, floats, law, weighed
from tukeydp.audit.oracles import means as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, worst_ratio
from tukeydp.mechanisms.mean_plans import SubsetMean
from tukeydp.trusted import block_steps as subset_means
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SubsetPlan, subset_point
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed_charge

_ROUNDING = 1e-9  # relative, of the floats that add up probabilities here
EPSILON = Fraction(3, 2)


def _cells(*values: object) -> tuple[oracle.Row, ...]:
    return tuple((None if v is None else Fraction(str(v)),) for v in values)


ONE = _cells(-1, 0, 1, None)
TWO: tuple[oracle.Row, ...] = (
    (Fraction(-1), Fraction(-1)),
    (Fraction(1), Fraction(-1)),
    (Fraction(0), Fraction(1)),
    (None, Fraction(1)),
    (Fraction(1), None),
)


@dataclass(frozen=True)
class Case:
    """Rows there are, how many of them, blocks, how often they count, steps of the grid, size of shifts."""

    kinds: tuple[oracle.Row, ...]
    n: int
    blocks: int
    partitions: int
    steps: tuple[int, ...]
    shifts: tuple[float, ...] = ()

    @property
    def dealings(self) -> int:
        """A shifted dealing counts twice."""
        return self.partitions // 2 if self.shifts else self.partitions

    def tables(self, x: oracle.Table) -> oracle.Weighed:
        if self.shifts:
            moved = [self.shifts[0] * NormalDist().inv_cdf(u) for u in SHIFTED_AT[: self.blocks]]
            return oracle.shifted_tables(x, self.blocks, self.steps[0], moved)
        return oracle.tables(x, self.blocks, partial(oracle.mean_choice, steps=self.steps[0]), self.partitions)


QUICK = (
    Case(ONE, 4, 2, 1, (8,)),
    Case(ONE, 3, 3, 1, (8,)),
    Case(ONE, 3, 2, 2, (8,)),
    Case(TWO, 3, 2, 1, (4, 4)),
    Case(ONE, 3, 2, 2, (8,), (0.3,)),
)
FULL = (
    *QUICK,
    Case(ONE, 5, 2, 1, (8,)),
    Case(ONE, 5, 3, 1, (8,)),
    Case(ONE, 4, 4, 1, (8,)),
    Case(ONE, 3, 3, 2, (8,)),
    Case(TWO, 3, 2, 2, (4, 4)),
    Case(ONE, 3, 3, 2, (8,), (0.3,)),
    Case(ONE, 4, 3, 2, (8,), (0.6,)),
)


def examine(case: Case, tally: Tally) -> None:
    plan = SubsetPlan(case.blocks, case.partitions, case.steps, case.shifts)
    guarantee = SubsetMean(EPSILON, plan).guarantee
    laws: dict[Dataset, list[float]] = {}
    for x in datasets(len(case.kinds), case.n):
        table = tuple(case.kinds[i] for i in x)
        relative = floats(table)

        def make(relative: FloatArray = relative) -> object:
            return subset_point(relative, rehearsed_charge(guarantee, b""), plan, derived_key("public"))

        found = weighed(subset_means, "filled_at_the_ends", make, case.n, case.dealings, HEADS_OR_TAILS)
        tally.require(by_rows(found) == case.tables(table), "block tables are not those of the definition")
        laws[x] = law(found)
    tally.found(math.log(worst_ratio(laws.__getitem__, len(case.kinds), case.n)) / float(EPSILON))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(case.kinds), case.n))


CHECK = Check(
    name="mean, subset: enumeration",
    claim="Depth of subset means keeps epsilon over all secret dealings and coins, with missing cells, unequal blocks, "
    "several dealings and shifts; its block tables are those of the definition.",
    measure="largest log ratio of probabilities, over epsilon",
    run=over_cases(QUICK, FULL, examine, 1.0 + _ROUNDING),
)

"""The spread: all small tables, all dealings to blocks and parts, all coins, all swaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tukeydp.audit.check import Check, Tally, over_cases
from tukeydp.audit.dealt_tables import by_rows, floats, law, sixteenths, weighed
from tukeydp.audit.oracles import means as oracle
from tukeydp.audit.oracles.laws import Dataset, count_of_pairs, datasets, worst_ratio
from tukeydp.audit.oracles.means import deviation_choice
from tukeydp.trusted import block_steps as spread_step
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPlan, spread_draws
from tukeydp.trusted.parameters import FloatArray

_ROUNDING = 1e-9  # relative, of the floats that add up probabilities here
EPSILON = Fraction(5, 3)
ONE: tuple[oracle.Row, ...] = tuple((cell,) for cell in (Fraction(-1), Fraction(-1, 3), Fraction(1), None))
TWO: tuple[oracle.Row, ...] = (
    (Fraction(-1), Fraction(0)),
    (Fraction(1, 3), Fraction(1)),
    (Fraction(-1), Fraction(1, 5)),
    (None, Fraction(1)),
)


@dataclass(frozen=True)
class Case:
    """Rows there are, how many of them, blocks, parts of a block, octaves."""

    kinds: tuple[oracle.Row, ...]
    n: int
    plan: SpreadPlan

    def choice(self, values: Sequence[oracle.Cell]) -> oracle.Choice:
        if self.plan.parts == 2:
            return oracle.difference_choice(values, self.plan.octaves)
        return deviation_choice(values, self.plan.parts, self.plan.octaves)


QUICK = (
    Case(ONE, 4, SpreadPlan(1)),
    Case(ONE, 4, SpreadPlan(2)),
    Case(ONE, 3, SpreadPlan(1, 3, 10)),
    Case(TWO, 3, SpreadPlan(1, octaves=2)),
)
FULL = (
    *QUICK,
    Case(ONE, 5, SpreadPlan(2)),
    Case(ONE, 5, SpreadPlan(1, 4, 10)),
    Case(ONE, 4, SpreadPlan(1, 3, 60)),
    Case(TWO, 4, SpreadPlan(2, octaves=2)),
    Case(TWO, 4, SpreadPlan(1, 4, 2)),
)


def examine(case: Case, tally: Tally) -> None:
    laws: dict[Dataset, list[float]] = {}
    for x in datasets(len(case.kinds), case.n):
        table = tuple(case.kinds[i] for i in x)
        relative = floats(table)

        def make(relative: FloatArray = relative) -> object:
            return spread_draws(relative, EPSILON, case.plan, derived_key("public"), b"")

        found = weighed(spread_step, "at_the_ends", make, case.n, 1, sixteenths(8, 9 if case.plan.parts == 2 else 10))
        expected = oracle.tables(table, case.plan.pairs, case.choice)
        tally.require(by_rows(found) == expected, "spreads of blocks are not those of the definition")
        laws[x] = law(found)
    tally.found(math.log(worst_ratio(laws.__getitem__, len(case.kinds), case.n)) / float(EPSILON))
    tally.saw(datasets=len(laws), pairs=count_of_pairs(len(case.kinds), case.n))


CHECK = Check(
    name="spread: enumeration",
    claim="The spread of columns keeps epsilon over all secret dealings and coins, by halves and by more parts, with "
    "missing and equal cells; what is ranked is that of the definition.",
    measure="largest log ratio of probabilities, over epsilon",
    run=over_cases(QUICK, FULL, examine, 1.0 + _ROUNDING),
)

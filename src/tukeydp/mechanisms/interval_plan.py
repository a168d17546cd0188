"""What is fixed before a mean with an interval is released: the mean's plan, and what is spent on the spread.

From public numbers alone. A stated sd costs nothing; columns between 0 and 1 need no spread where their noise is known,
since the share itself bounds it; the two-step mean has a spread inside; otherwise part of epsilon goes to one. Shares
decide accuracy only: any split of epsilon is as private (docs/proofs/mean.md, section 10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tukeydp.forecast.interval_runs import RemMean, Spending
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, TwoStepMean
from tukeydp.mechanisms.mean_ways import known_widths, mean_plan, predicted_error
from tukeydp.mechanisms.spread_step import SpreadPlan, spread_plan
from tukeydp.mechanisms.two_step import MISSING, TwoStepPlan, centre_plan
from tukeydp.trusted.account import PureDP, bounded_range
from tukeydp.trusted.parameters import ParameterError, brief, rational, show
from tukeydp.trusted.rows import BoundedColumns

# Octaves below the bounds' width that an interval's spread tells apart: a thousandth of the width. Columns of less
# spread have no interval; a wider range would take more rows.
OCTAVES = 10
# The smallest spread that can be released is 1.483 of these (a median of 0.6745 stands for a standard deviation), the
# next one a twelfth more: a column of equal values, or of hardly any spread.
AT_THE_FLOOR = 1.55
FLOOR = AT_THE_FLOOR * 2.0**-OCTAVES
# The same without bounds, where grids are a millionth fine and 10^9 wide.
WIDE_OCTAVES = 50
# Shares of epsilon for the spread and parts of its blocks, the first that the rows suffice for. Less than 3/20 saves no
# noticeable noise and reads skewed columns lower, which widens every interval; with fewer than four parts it scatters.
_SPREADS = (
    (Fraction(3, 20), 4),
    (Fraction(1, 5), 4),
    (Fraction(1, 4), 4),
    (Fraction(3, 10), 4),
    (Fraction(3, 10), 3),
    (Fraction(3, 10), 2),
)
# Shares of epsilon for the centre of a two-step mean with an interval, and the least that its mean must keep.
_CENTRES = (Fraction(1, 20), Fraction(2, 25), Fraction(3, 25), Fraction(3, 20), Fraction(1, 5))
_LEAST_FOR_MEAN = Fraction(3, 10)
# Share of epsilon for its radii. Fewer rows are cut off than with the 3/25 of a mean alone: the bias of skewed
# columns, which every interval has to allow for, falls by more than the noise grows (1000 x 2: half-widths 2.27
# non-private ones against 2.46).
_RADIUS = Fraction(3, 20)
# Predicted errors of two steps count for so much less: most of theirs is noise of a known law, which needs no
# allowance.
_FAVOUR = 0.8
_LOWEST, _HIGHEST = Fraction(1, 2), Fraction(99, 100)  # levels that so many rehearsed runs can tell
_MANY = 10**7  # rows, or tenths of an epsilon: where a search for enough of them ends


@dataclass(frozen=True)
class IntervalPlan:
    """All that is fixed beforehand.

    Attributes
    ----------
    spending
        The mean's plan and, where it is released by itself, the spread's.
    known
        Public standard deviations, in widths of the bounds.
    confidence, joint
        The level, for each column by itself or for all columns together.
    floor
        The smallest spread that is believed, in widths of the bounds.
    """

    spending: Spending
    known: tuple[float, ...] | None
    confidence: float
    joint: bool
    floor: float = FLOOR

    @property
    def parts(self) -> dict[str, PureDP]:
        """What each step costs, between bounds."""
        mean, spread = self.spending.mean, self.spending.spread_epsilon
        assert not isinstance(mean, RemMean)
        return {"mean": mean.guarantee, **({"spread": bounded_range(spread)} if spread else {})}


def checked_confidence(confidence: Any) -> float:
    level = rational("confidence", confidence)
    if not _LOWEST <= level <= _HIGHEST:
        rule = f"must be from {show(_LOWEST)} to {show(_HIGHEST)}"
        raise ParameterError("confidence", rule, brief(confidence))
    return float(level)


def checked_joint(joint: Any) -> bool:
    if not isinstance(joint, bool):
        raise ParameterError("joint", "must be True or False", brief(joint))
    return joint


def interval_plan(
    n: int,
    columns: BoundedColumns,
    epsilon: Fraction,
    *,
    confidence: Any,
    joint: Any = False,
    mechanism: str = "auto",
    sd: Any = None,
    blocks: Any = None,
    partitions: Any = None,
    part: Fraction = Fraction(1),
) -> IntervalPlan:
    """The plan for a mean with an interval; raises if n rows are too few for the spread.

    `part` is which part of a larger budget epsilon is: messages speak of the whole.
    """
    level, joint = checked_confidence(confidence), checked_joint(joint)
    asked: dict[str, Any] = {"sd": sd, "blocks": blocks, "partitions": partitions}
    free = mean_plan(n, columns, epsilon, mechanism=mechanism, **asked)
    if sd is not None:
        known = tuple((1.0 / known_widths(columns, sd)).tolist())
        return IntervalPlan(Spending(n, free), known, level, joint)
    measured = tuple(range(columns.d))
    if isinstance(free, CubeMean):
        measured = tuple(j for j in measured if not columns.between_0_and_1(j))
        if not measured:
            return IntervalPlan(Spending(n, free), None, level, joint)
    found = spread_for(n, len(measured), epsilon, part=part)
    inside = _two_step(n, columns, epsilon, *found) if mechanism in ("auto", "two-step") else None
    if mechanism == "two-step":
        if inside is None:
            rule = f"must be auto, subset or cube with confidence and {n} rows: they are too few for two steps"
            raise ParameterError("mechanism", rule, mechanism)
        return IntervalPlan(Spending(n, inside), None, level, joint)
    share, spread = found
    apart = mean_plan(n, columns, epsilon - share * epsilon, mechanism=_apart(mechanism, free), **asked)
    widths = known_widths(columns, None)
    if inside is not None and _FAVOUR * predicted_error(inside, n, widths) < predicted_error(apart, n, widths):
        return IntervalPlan(Spending(n, inside), None, level, joint)
    return IntervalPlan(Spending(n, apart, spread, share * epsilon, measured), None, level, joint)


def _apart(mechanism: str, free: MeanPlan) -> str:
    """The way to a mean beside a spread that is released by itself."""
    if mechanism != "auto":
        return mechanism
    return "cube" if isinstance(free, CubeMean) else "subset"


def spread_for(
    n: int, d: int, epsilon: Fraction, octaves: int = OCTAVES, part: Fraction = Fraction(1)
) -> tuple[Fraction, SpreadPlan]:
    """The share of epsilon for the spread, and its plan; raises if n rows are too few."""
    found = _spread(n, d, epsilon, octaves)
    if found is None:
        raise _too_few(n, d, epsilon, octaves, part)
    return found


def _spread(n: int, d: int, epsilon: Fraction, octaves: int) -> tuple[Fraction, SpreadPlan] | None:
    for share, parts in _SPREADS:
        plan = spread_plan(n, d, share * epsilon, parts, octaves)
        if plan is not None:
            return share, plan
    return None


def _two_step(
    n: int, columns: BoundedColumns, epsilon: Fraction, share: Fraction, spread: SpreadPlan
) -> TwoStepMean | None:
    """Two steps with a spread that serves the interval too; None if the rows are too few for the centre."""
    widths = known_widths(columns, None)
    for for_centre in _CENTRES:
        centre = centre_plan(n, columns.d, for_centre * epsilon, widths, known=False)
        rest = 1 - for_centre - share - _RADIUS - MISSING
        if centre is not None and rest >= _LEAST_FOR_MEAN:
            shares = (for_centre, share, _RADIUS, MISSING, rest)
            a, b, c, d, e = (part * epsilon for part in shares)
            return TwoStepMean(epsilon, TwoStepPlan((a, b, c, d, e), centre, spread, None))
    return None


def _too_few(n: int, d: int, epsilon: Fraction, octaves: int, part: Fraction) -> ParameterError:
    """What would help, from public numbers."""
    rows = _least(lambda size: _spread(size, d, epsilon, octaves) is not None, n)
    times = _least(lambda tenths: _spread(n, d, epsilon * tenths / 10, octaves) is not None, 10)
    helps = ["sd= (standard deviations known without the data)"]
    helps += [] if rows is None else [f"at least {rows} rows"]
    helps += [] if times is None else [f"an epsilon of at least {show(epsilon / part * times / 10)}"]
    columns = f"{d} column{'s' if d > 1 else ''}"
    without = "left out" if part == 1 else "None"
    rule = (
        f"must be {without}, or come with {' or '.join(helps)}: the spread of {columns} cannot be found from so "
        "few rows"
    )
    return ParameterError("confidence", rule, f"{n} rows, epsilon {show(epsilon / part)}")


def _least(enough: Callable[[int], bool], start: int) -> int | None:
    """The least number above `start` that is enough; None if none is."""
    high = start
    while not enough(high):
        high *= 2
        if high > _MANY:
            return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

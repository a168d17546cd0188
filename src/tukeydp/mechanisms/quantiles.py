"""Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md).

The middle one first, then those below it among the values below it and those above among the others, and so on
(Kaplan, Schnapp and Stemmer 2022). A row is in one part at each level, so that all quantiles of a level share one
epsilon: three quantiles cost two levels, seven cost three.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.blas import on_one_thread
from tukeydp.data.grid import Grid, bounded_grid, checked_bounds, require_bounds
from tukeydp.data.tables import read_table
from tukeydp.errors import ParameterError
from tukeydp.mechanisms.quantile_levels import OneDraw, by_halves, number_of_levels
from tukeydp.mechanisms.quantile_rehearsal import quantile_rehearsal
from tukeydp.mechanisms.rank_draw import RankLaw
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.parameters import brief, in_order, positive_rational, rational, show
from tukeydp.privacy import PureDP, in_steps
from tukeydp.quantile_release import QuantileRelease
from tukeydp.randomness import Keystream, source
from tukeydp.spending import require_room
from tukeydp.trusted.release import Charge, Paid, Spends, reserve

# Bits of a column's default grid, and of what breaks ties: together below 62, so that points fit in 64 bits.
_GRID_BITS, TIE_BITS = 40, 16
_MOST_STEPS = 2**45
# Quantiles, and the common denominator of their shares: ranks are counted in its units, in 64 bits.
_MOST, _FINEST = 1000, 10**6
# Columns that nobody has more of: what is refused before the table is read must be too much for any.
_MANY_COLUMNS = 1000


@padded
@checked()
@on_one_thread
def quantiles(
    x: Any,
    q: Any = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    *,
    epsilon: Any,
    bounds: Any = None,
    resolution: Any = None,
    sd: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> QuantileRelease:
    """Release several quantiles of each column, in order, for one epsilon.

    Parameters
    ----------
    x, epsilon, bounds, accountant, check, pad_to, randomness
        As for `td.mean`; bounds are needed. A missing cell ranks nowhere: it is left out of its column.
    q
        Which quantiles: numbers between 0 and 1, different from each other, such as 0.5 for the median alone.
    resolution
        Step of the public grid, as for `td.boxem`; the width over 2**40 unless given. Give the true step of columns
        in which many values are equal (1 for counts and scores): released values are then steps, and far more often
        values that occur.
    sd
        Standard deviations known without the data, as for `td.mean`: what accuracy to expect is then said in the
        columns' own units. Nothing that is released depends on them.

    Returns
    -------
    QuantileRelease
        A dict from shares to the columns' values: `found[0.5]`, `found.to_frame()`, `found.expected_error`.

    Privacy
    -------
    Pure epsilon-DP under the swap of one row, for all quantiles and columns together; n, d, the column names and all
    parameters are public, how many values are missing is not.

    Accuracy
    --------
    Each column has an equal part of epsilon. Where values lie close, a quantile is off by a few times 2 / epsilon'
    ranks, epsilon' being epsilon over the number of columns and of levels (1 for one quantile, 2 for up to three, 3
    for up to seven). Two cliffs, which `found.caveats` and `expected_error` tell with numbers:

    - rows so few that a rank's distance from the ends of the data, q n or (1 - q) n, is below about 2 / epsilon' times
      ln(width of the bounds over the distance between neighbouring values): a random point between the bounds;
    - ties: where the wanted rank is nearer than that to the end of a run of equal values, a random point of the gap
      beside it. With the default grid that is some 140 ranks for quartiles at epsilon = 1, whatever n: the median of
      1000 scores from 1 to 5 may be 3.5 where the table's own is 4, and a column of one value needs about 600 rows.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> incomes = np.random.default_rng(1).exponential(30, size=3000)
    >>> found = td.quantiles(incomes, q=[0.25, 0.5, 0.75], epsilon=1, bounds=(0, 1000), randomness=td.seeded(7))
    >>> [round(float(v), 1) for v in np.quantile(incomes, [0.25, 0.5, 0.75])]
    [8.3, 20.9, 41.1]
    >>> [round(float(found[share][0])) for share in found]
    [8, 21, 41]
    """
    budget = positive_rational("epsilon", epsilon)
    shares = checked_shares(q)
    require_bounds(bounds, "wide ones cost little")
    levels = number_of_levels(len(shares))
    steps = _MANY_COLUMNS * levels
    require_room(accountant, in_steps((budget / steps,) * steps, ()))  # what no run costs less than
    bits = source(randomness)
    table = read_table(x)
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(table.d, bounds=ends, resolution=resolution, bits=_GRID_BITS, columns=table.columns)
    if max(grid.cells) > _MOST_STEPS:
        rule = "must give at most 2**45 steps between the bounds of a column, so that ranks fit in 64 bits"
        raise ParameterError("resolution", rule, show(min(grid.step)))
    each = budget / (table.d * levels)
    rehearsal = quantile_rehearsal(table.n, grid, ends, shares, each, in_order("sd", sd, table.columns))
    column: PureDP = in_steps((each,) * levels, ())
    settings = {"quantiles": [show(share) for share in shares], "levels": levels, "epsilon_of_level": each}
    public = {**table.public, "bounds": ends, "grid": grid.to_dict(), "settings": settings}
    parts = {f"column {j}": column for j in range(table.d)}
    run = reserve(parts, mechanism="quantiles", source=bits, accountant=accountant, parameters=public)
    charges = [run.charge(name, "column", j) for j, name in enumerate(parts)]
    drawn = [column_quantiles(table.cells[:, j], grid, j, shares, charge) for j, charge in enumerate(charges)]
    found = np.array([[point_of(grid, j, y) for j, y in enumerate(row)] for row in zip(*drawn, strict=True)])
    return QuantileRelease(
        values_by_share=found,
        shares=shares,
        seal=run.seal,
        seeded=not bits.private,
        n=table.n,
        columns=table.columns,
        units=table.units,
        bounds=ends,
        settings=settings,
        rehearsal=rehearsal,
    )


def checked_shares(q: Any) -> tuple[Fraction, ...]:
    """Ascending rationals between 0 and 1."""
    listed = list(q) if isinstance(q, Iterable) and not isinstance(q, str | bytes) else [q]
    shares = sorted(rational("q", one) for one in listed)
    if not 1 <= len(shares) <= _MOST:
        raise ParameterError("q", f"must be from 1 to {_MOST} numbers", len(shares))
    if not (shares[0] > 0 and shares[-1] < 1) or len(set(shares)) != len(shares):
        raise ParameterError("q", "must be numbers between 0 and 1, different from each other", brief(q))
    if math.lcm(*(share.denominator for share in shares)) > _FINEST:
        raise ParameterError("q", f"must have a common denominator of at most {_FINEST}", brief(q))
    return tuple(shares)


def column_quantiles(cells: FloatArray, grid: Grid, j: int, shares: tuple[Fraction, ...], charge: Charge) -> list[int]:
    """The quantiles of one column as steps of the grid: pure DP, with an equal part of the charge for each level."""
    levels = number_of_levels(len(shares))
    paid = charge.consume(rho=levels * (charge.epsilon / levels) ** 2 / 8)
    fine = tie_broken(steps_of(cells, grid, j), Keystream(paid.key("ties")))
    return [y >> TIE_BITS for y in halved(fine, ((grid.cells[j] + 1) << TIE_BITS) - 1, shares, paid)]


def halved(fine: IntArray, highest: int, shares: tuple[Fraction, ...], paid: Paid) -> list[int]:
    """Points from 0 to `highest`, in order, by recursive halving."""

    def exactly(one: OneDraw) -> int:
        bits = paid.bits("quantile", one.number)
        return RankLaw(one.values, one.low, one.high, one.share, one.weight).draw(bits)

    return by_halves(fine, highest, shares, paid.epsilon / number_of_levels(len(shares)), exactly)


def steps_of(cells: FloatArray, grid: Grid, j: int) -> IntArray:
    """The column's values as steps from the lower bound, each by itself; missing cells are left out."""
    one = Grid(grid.lower[j : j + 1], grid.step[j : j + 1], grid.cells[j : j + 1])
    return one.snap(cells[:, np.newaxis])[:, 0] + grid.cells[j] // 2  # the grid counts from its middle


def tie_broken(steps: IntArray, stream: Keystream) -> IntArray:
    """Equal values become different ones: secret bits below each, by its place. What is released is cut off again.

    Without them one part would have all values that are equal to its edge, and the other none.
    """
    words = stream.words(0, len(steps))
    return (steps << TIE_BITS) | (words >> np.uint64(64 - TIE_BITS)).astype(np.int64)


def point_of(grid: Grid, j: int, step: int) -> float:
    """In data units: post-processing."""
    return float(grid.lower[j] + grid.step[j] * step)

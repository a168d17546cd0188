"""Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.records import records as opened
from tukeydp.data.relation import checked_relation
from tukeydp.data.sorted_values import sorted_values
from tukeydp.forecast.quantiles import quantile_rehearsal
from tukeydp.mechanisms.clipped_interval import Level, checked_confidence, checked_joint
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.quantile_intervals import COUNTS, Ends, no_ends, noise_of_numbers, shares_of_ends
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.grouped_release import by_group
from tukeydp.results.quantile_release import QuantileRelease
from tukeydp.spending import require_room
from tukeydp.trusted.account import PureDP, in_steps
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import (
    ParameterError,
    brief,
    in_order,
    positive_rational,
    rational,
    show,
)
from tukeydp.trusted.ranks import (
    Among,
    RoundNumbers,
    as_if_swapped,
    drawn_quantiles,
    number_of_levels,
    paid_units,
    round_numbers,
)
from tukeydp.trusted.release import Spends, reserve
from tukeydp.trusted.rows import Grid, bounded_grid, checked_bounds, require_bounds
from tukeydp.trusted.steps import noised_counts

# Several quantiles of each column at once, pure DP, with an exact law (docs/proofs/quantiles.md).
#
# The middle one first, then those below it among the values below it and those above among the others, and so on
# (Kaplan, Schnapp and Stemmer 2022). A row is in one part at each level, so that all quantiles of a level share one
# epsilon: three quantiles cost two levels, seven cost three.

# Bits of a column's default grid; with those that break ties below 62, so that points fit in 64 bits.
_GRID_BITS = 40
_MOST_STEPS = 2**45
# Quantiles, and the common denominator of their shares: ranks are counted in its units, in 64 bits.
_MOST, _FINEST = 1000, 10**6
# Columns that nobody has more of: what is refused before the table is read must be too much for any.
_MANY_COLUMNS = 1000


@padded
@of_persons
@checked()
@finds_bounds
@on_one_thread
def quantiles(
    x: Any,
    q: Any = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    *,
    epsilon: Any,
    bounds: Any = None,
    resolution: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    sd: Any = None,
    neighbours: str = "swap",
    rows: Any = None,
    confidence: Any = None,
    joint: bool = False,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> QuantileRelease:
    """Release several quantiles of each column, in order, for one epsilon.

    Parameters
    ----------
    x, epsilon, bounds, by, keys, person, per_person, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`, lazy frames included, which are read some ten times; bounds are needed. A missing cell ranks
        nowhere: it is left out of its column. With neighbours="add-remove" `rows` is needed for `expected_error` only,
        and a median has twice the exponent.
    q
        Which quantiles: numbers between 0 and 1, different from each other, such as 0.5 for the median alone.
    resolution
        Step of the public grid, as for `td.boxem`; the width over 2**40 unless given. Round numbers weigh more in any
        case, so that values which people write down are found. The true step of a column (1 for counts and scores)
        makes released values steps.
    confidence
        Say 0.95: `found.intervals` then has the ends of nominal 95 % confidence intervals for the *population's*
        quantiles: further quantiles, of shares so far away that sampling and the draws rarely reach beyond. Some two
        thirds of epsilon go to them, a twentieth to a noised number of values. Coverage is empirical
        (docs/guide/intervals.md).
    joint
        Whether the confidence is for all quantiles, columns and groups together, rather than for each by itself.
    sd
        Standard deviations known without the data, as for `td.mean`: what accuracy to expect is then said in the
        columns' own units. Nothing that is released depends on them.

    Returns
    -------
    QuantileRelease
        A dict from shares to the columns' values: `found[0.5]`, `found.to_frame()`, `found.expected_error`. With `by` a
        dict of these by the groups' keys, `found["A"][0.5]`, for one epsilon.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`, for all quantiles, columns and groups together; d, the column names and all
    parameters are public, n too under the swap of one row; how many values are missing, or in a group, is not.

    Accuracy
    --------
    Each column has an equal part of epsilon. Where values lie close, a quantile is off by a few times 2 / epsilon'
    ranks, epsilon' being epsilon over the number of columns and of levels (1 for one quantile, 2 for up to three, 3
    for up to seven). Two cliffs, which `found.caveats` and `expected_error` tell with numbers:

    - rows so few that a rank's distance from the ends of the data, q n or (1 - q) n, is below about 2 / epsilon' times
      ln(width of the bounds over the distance between neighbouring values): a random point between the bounds;
    - ties: where the wanted rank is nearer than some 24 ranks (quartiles at epsilon = 1) to the end of a run of equal
      values, it may be a point of the gap beside it. That is for round numbers, of up to nine digits between the
      bounds; the median of 1000 scores from 1 to 5 is the table's own, as a rule. Logarithms of such values are no
      round numbers.

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
    relation = checked_relation(neighbours, rows)
    shares = checked_shares(q)
    level = checked_level(confidence, joint)
    require_bounds(bounds, "wide ones cost little")
    require_by(by, keys)
    levels = number_of_levels(len(shares) * (1 if level is None else 3))
    steps = _MANY_COLUMNS * levels
    require_room(accountant, in_steps((budget / steps,) * steps, neighbours))  # what no run costs less than
    bits = source(randomness)
    records = opened(x, relation, by=by, keys=keys)
    table = records.table
    ends = checked_bounds(table.d, bounds, table.columns)
    grid = bounded_grid(table.d, bounds=ends, resolution=resolution, bits=_GRID_BITS, columns=table.columns)
    if max(grid.cells) > _MOST_STEPS:
        rule = "must give at most 2**45 steps between the bounds of a column, so that ranks fit in 64 bits"
        raise ParameterError("resolution", rule, show(min(grid.step)))
    counted = Fraction(0) if level is None else COUNTS * budget
    each = (budget - counted) / (table.d * levels)
    settings = {"quantiles": [show(share) for share in shares], "levels": levels, "epsilon_of_level": each}
    settings |= {} if level is None else {"confidence": level.confidence, "joint": level.joint}
    settings |= {**relation.settings, **records.settings}
    told = records.public
    public = {**told, "bounds": ends, "grid": grid.to_dict(), "settings": settings, **records.public_groups}
    parts = {f"column {j}": in_steps((each,) * levels, neighbours) for j in range(table.d)}
    numbers = {} if level is None else {"numbers of values": PureDP(counted, neighbours=neighbours)}
    run = reserve({**parts, **numbers}, mechanism="quantiles", source=bits, accountant=accountant, parameters=public)
    values = sorted_values(records, grid)
    points = [round_numbers(grid, j) for j in range(table.d)]
    among = Among(neighbours, records.count)
    risk = None if level is None else level.of_one(len(shares) * table.d * len(records.labels))

    def plan(number: float, j: int) -> Ends:
        """What is drawn of a column with so many values."""
        if risk is None:
            return no_ends(shares)
        return shares_of_ends(shares, number, each, among, risk, points[j].log_odds)

    found_numbers: list[float] = [0.0] * len(values.counts)
    if level is not None:
        noised = noised_counts(values.counts, run.charge("numbers of values", "numbers of values"), records.count)
        found_numbers = [float(number) for number in noised]
    unsure = 0.0 if risk is None else noise_of_numbers(counted, table.d, among, risk)
    plans = [plan(number - unsure, u % table.d) for u, number in enumerate(found_numbers)]
    charges = [run.charge(name, "column", j) for j, name in enumerate(parts)]
    units = paid_units(charges, levels, points, grid.cells, [plan.shares for plan in plans], records.labels)
    drawn = drawn_quantiles(values, units, levels, records.count)
    size, known = records.size_of_group, in_order("sd", sd, table.columns)
    rehearsal = None
    if size is not None:
        effective = as_if_swapped(shares, each, among)
        rehearsal = quantile_rehearsal(size, grid, ends, shares, effective, known)
    found = []
    for g in range(len(records.labels)):
        columns = [
            _in_units(plans[u], drawn[u], shares, points[j], grid, j)
            for j, u in enumerate(range(g * table.d, (g + 1) * table.d))
        ]
        one = QuantileRelease(
            values_by_share=np.array([values for values, _ in columns]).T,
            intervals=None if level is None else np.array([ends for _, ends in columns]).transpose(1, 0, 2),
            shares=shares,
            seal=run.seal,
            seeded=not bits.private,
            n=told["n"],
            columns=table.columns,
            units=getattr(table, "units", None),
            bounds=ends,
            settings=settings,
            rehearsal=rehearsal,
        )
        found.append(one)
    return by_group(found, records, settings)


def _in_units(
    plan: Ends, drawn: list[int], shares: tuple[Fraction, ...], points: RoundNumbers, grid: Grid, j: int
) -> tuple[list[float], list[tuple[float, float]]]:
    """A column's quantiles and the ends of their intervals in data units: post-processing."""
    by_share = {share: points.value(grid, j, y) for share, y in zip(plan.shares, drawn, strict=True)}
    lowest, highest = (points.value(grid, j, y) for y in (0, grid.cells[j]))
    ends = [
        (lowest if low is None else by_share[low], highest if high is None else by_share[high])
        for low, high in plan.ends
    ]
    return [by_share[share] for share in shares], ends


def checked_level(confidence: Any, joint: Any) -> Level | None:
    """None without intervals."""
    together = checked_joint(joint)
    if confidence is not None:
        return Level(checked_confidence(confidence), together)
    if together:
        raise ParameterError("joint", "must be left out without confidence", brief(joint))
    return None


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

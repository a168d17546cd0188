"""A clipped mean with cube noise under its own name (docs/proofs/mean.md, section 4)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tukeydp.blas import on_one_thread
from tukeydp.data.keys import require_by
from tukeydp.data.lazy_tables import LazyTable, is_lazy, lazy_table
from tukeydp.data.records import records as open_records
from tukeydp.data.relation import Relation, checked_relation
from tukeydp.data.tables import Table
from tukeydp.mechanisms.clipped_sum import MOST_ROWS, CountedMean
from tukeydp.mechanisms.found_bounds import finds_bounds
from tukeydp.mechanisms.mean_plans import CubeMean
from tukeydp.mechanisms.per_person import of_persons
from tukeydp.mechanisms.planned import Wanted, clipped_release, planned_release
from tukeydp.mechanisms.readable_check import checked
from tukeydp.padding import padded
from tukeydp.results.release import Release
from tukeydp.spending import least_cost, require_room
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import ParameterError, brief, positive_rational, show
from tukeydp.trusted.release import Spends
from tukeydp.trusted.rows import bounded_columns, per_column, require_bounds

# Below, floats that predict errors overflow; above, cube noise of hardly a step is accepted so rarely that thirty
# columns take hours. Nobody has use for either.
_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**9), Fraction(10**6)


@padded
@of_persons
@checked()
@finds_bounds
@on_one_thread
def cube(
    x: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    fill: Any = None,
    by: Any = None,
    keys: Any = None,
    person: Any = None,
    per_person: Any = "mean",
    neighbours: str = "swap",
    rows: Any = None,
    accountant: Spends | None = None,
    check: Any = None,
    pad_to: Any = None,
    randomness: Any = None,
) -> Release:
    """Release the mean of each column, clipped at its bounds, with noise for all columns together.

    The best way to a mean where bounds are tight, within about 15 standard deviations of each other, as for scores,
    ages and yes/no answers. A column's noise has the standard deviation sqrt((d+1)(d+2)/3) (upper - lower)/(epsilon n).

    Parameters
    ----------
    x, epsilon, bounds, by, keys, person, per_person, neighbours, rows, accountant, check, pad_to, randomness
        As for `td.mean`. With neighbours="add-remove" a noised number of rows takes the place of n, and `rows` is
        needed for `expected_error` only.
    fill
        What a missing cell counts as: a public value for all columns, one for each, or a dict by name. None
        spends a tenth of epsilon on
        a rough mean of the values that are there, and counts missing cells as that. **Give it only if it is chosen
        without the data**, or if no cell is missing (then any value within the bounds saves the tenth). With
        neighbours="add-remove" nothing is spent on it: the values that are there are counted with noise, as with `by`.

    Privacy
    -------
    Pure epsilon-DP for `neighbours`; d, the column names and all parameters are public, n too under the swap of one
    row.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> yes = np.random.default_rng(1).random((2000, 3)) < [0.1, 0.5, 0.9]
    >>> release = td.cube(yes, epsilon=1, bounds=(0, 1), randomness=td.seeded(7))
    >>> bool(np.abs(release.point - yes.mean(axis=0)).max() < 0.02), str(release.guarantee.epsilon)
    (True, '1')
    """
    budget = checked_epsilon(epsilon)
    require_bounds(bounds, "td.mean(x, epsilon=..., delta=...) does without")
    relation = checked_relation(neighbours, rows)
    grouped = require_by(by, keys)
    if grouped or (relation.secret and is_lazy(x)):
        if fill is not None:
            rule = "must be left out with by, and for lazy frames of secret size: the values that are there are counted"
            raise ParameterError("fill", rule, brief(fill))
        require_room(accountant, least_cost(budget, None, 6, neighbours))
        records = open_records(x, relation, by=by, keys=keys)
        wanted = Wanted(budget, bounded_columns(records.table.d, bounds, records.table.columns), bounds_only=True)
        return clipped_release(records, wanted, source(randomness), accountant)  # type: ignore[return-value]
    way = CountedMean if relation.secret else CubeMean
    require_room(accountant, way(budget, None if fill is None else ()).guarantee)
    bits = source(randomness)
    table = opened(x, relation)
    columns = bounded_columns(table.d, bounds, table.columns)
    relative = None
    if fill is not None:
        values = per_column("fill", fill, table.d, table.columns)
        for value, a, b in zip(values, columns.lower, columns.upper, strict=True):
            if not a <= value <= b:
                raise ParameterError("fill", "must lie between the bounds", show(value))
        ends = zip(values, columns.lower, columns.upper, strict=True)
        relative = tuple(float((2 * v - a - b) / (b - a)) for v, a, b in ends)
    return planned_release(table, columns, way(budget, relative), bits, accountant=accountant, relation=relation)


def checked_epsilon(epsilon: Any) -> Fraction:
    budget = positive_rational("epsilon", epsilon)
    if not _SMALLEST_EPSILON <= budget <= _LARGEST_EPSILON:
        rule = f"must be from {show(_SMALLEST_EPSILON)} to {show(_LARGEST_EPSILON)} for means"
        raise ParameterError("epsilon", rule, show(budget))
    return budget


def opened(x: Any, relation: Relation) -> Table | LazyTable:
    """A table in memory, or one that is read in passes; of a lazy frame the schema and the number of rows are asked."""
    if is_lazy(x):
        return lazy_table(x)
    return relation.table(x) if relation.secret else checked_rows(relation.table(x))


def checked_rows(table: Table) -> Table:
    """Sums of so many rows fit in 64 bits; n is public."""
    if table.n >= MOST_ROWS:
        raise ParameterError("x", f"must have fewer than {MOST_ROWS} rows", table.n)
    return table

"""What accuracy to expect of means of groups, from public inputs only: the way itself, on made-up tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.forecast.mean import NARROW, mean_rehearsal, own_means
from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.tables import MOST_CELLS
from tukeydp.mechanisms.clipped_mean import ClippedMean
from tukeydp.mechanisms.grouped_ways import BlocksOfGroups, GroupWay, RowsOfGroups, filled_blocks
from tukeydp.mechanisms.mean_plans import SubsetMean
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.results.accuracy import ExpectedError, Rehearsal, ShapeError, over_shapes, sampling_error, shape_error
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import Means, SubsetPlan
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import rehearsed_charge
from tukeydp.trusted.rows import BoundedColumns

# Made-up tables of each shape, and groups of each that are looked at: medians of so many columns and groups are good to
# about a fifth. Tables beyond MOST_CELLS are rehearsed with fewer groups of the same size.
TABLES, _GROUPS = 3, 12


def subset_of_group(way: GroupWay, rows: int) -> SubsetMean | None:
    """Depth in one group of `rows` rows, as that of a table of so many rows; None where sums are taken."""
    if isinstance(way, RowsOfGroups):
        return SubsetMean(way.epsilon, SubsetPlan(rows, 1, way.steps))
    if isinstance(way, BlocksOfGroups):
        blocks = max(1, int(filled_blocks(rows, way.blocks)))
        return SubsetMean(way.epsilon / 2, SubsetPlan(blocks, way.partitions, way.steps))
    return None


def clipped_rehearsal(plan: ClippedMean, n: int, rows: int, columns: BoundedColumns, sd: Any) -> Rehearsal:
    """For a clipped mean of n records, or of groups of `rows` each."""
    if plan.groups is None:
        return mean_rehearsal(plan, n, columns, sd)
    given = None if sd is None else tuple((columns.widths / known_widths(columns, sd)).tolist())
    return Rehearsal(_grouped_error, (plan, n, rows, columns, given))


def grouped_rehearsal(way: GroupWay, n: int, rows: int, columns: BoundedColumns, sd: Any) -> Rehearsal:
    """For groups of `rows` rows each, n in all; `sd` as given to the mechanism."""
    subset = subset_of_group(way, rows)
    if subset is not None:
        return mean_rehearsal(subset, rows, columns, sd)
    given = None if sd is None else tuple((columns.widths / known_widths(columns, sd)).tolist())
    return Rehearsal(_grouped_error, (way, n, rows, columns, given))


def _grouped_error(
    way: GroupWay | ClippedMean,
    n: int,
    rows: int,
    columns: BoundedColumns,
    given: tuple[float, ...] | None,
    *,
    sd: Any,
    missing: float,
) -> ExpectedError:
    sd = given if sd is None else sd
    widths = known_widths(columns, sd)
    shapes = tuple(_shape_error(way, n, rows, widths, shape, missing) for shape in SHAPES)
    error = over_shapes(
        shapes,
        estimand="mean",
        sampling=sampling_error(rows, missing),
        missing=missing,
        widths=tuple(widths.tolist()),
        known=sd is not None,
        scales=None if sd is None else columns.widths / widths,
    )
    if error.known or error.typical is None or error.within_95 is None:
        return error
    # Where noise between the bounds is all there is, they may be just around the data, or as wide as assumed.
    narrow = _shape_error(way, n, rows, np.full(len(widths), NARROW), SHAPES[0], missing)
    assert narrow.typical is not None
    assert narrow.within_95 is not None
    least = min(narrow.typical, error.typical[0]), min(narrow.within_95, error.within_95[0])
    return replace(error, typical=(least[0], error.typical[1]), within_95=(least[1], error.within_95[1]))


def _shape_error(
    way: GroupWay | ClippedMean, n: int, rows: int, widths: FloatArray, shape: Shape, missing: float
) -> ShapeError:
    tables = [grouped_errors(way, n, rows, widths, shape, missing, i) for i in range(TABLES)]
    return shape_error(shape, np.concatenate(tables))


def grouped_errors(
    way: GroupWay | ClippedMean, n: int, rows: int, widths: FloatArray, shape: Shape, missing: float, number: int
) -> FloatArray:
    """Released means less the groups' own, in standard deviations: a row for each group."""
    d = len(widths)
    size = min(n, max(rows, MOST_CELLS // d))
    sizes = 2.0 / shape.widths(widths)
    relative = np.clip(made_up(shape, size, d, number, missing) * sizes, -1.0, 1.0)
    count = max(1, min(_GROUPS, size // rows))
    groups = np.minimum(np.arange(size) // rows, count)
    groups = np.where(groups < count, groups, -1)
    public_key, key = (derived_key("rehearsal", part, number) for part in ("public", "secret"))
    charge = rehearsed_charge(way.guarantee, key)
    if isinstance(way, ClippedMean):
        found: Means = way.of_groups(relative, groups, count, charge)
    else:
        found = way.draw(relative, groups, count, public_key, charge)
    own = np.array([own_means(relative[groups == g]) for g in range(count)])
    # Where no mean would be given, the middle of the bounds stands for it.
    released = np.array([[float(Fraction(0) if v is None else v) for v in row] for row in found])
    return np.asarray((released - own) / sizes)

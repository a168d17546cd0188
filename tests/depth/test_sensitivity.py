"""One swapped row moves no depth by more than one: the assumption everything rests on."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support import oracle
from tukeydp.trusted.levels import level_sets
from tukeydp.trusted.rows import bounded_grid

# Few distinct values, so that ties and duplicates are the rule; some missing, infinite or far outside.
cell = st.one_of(
    st.integers(-2, 2).map(float),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 0.5, 1.4999999999999999, 1e-320]),
    st.floats(-4, 4),
)
row = st.tuples(cell, cell)
GRID = bounded_grid(2, bounds=(-2, 2), resolution=1)
POINTS = np.array(list(itertools.product(range(-2, 3), repeat=2)))
NOTIONS = [
    td.AxisAligned(),
    td.Random(5, seed=1),
    td.Random(4, axes=False, seed=2),
    td.Spread(5, seed=1),
    td.Spread(4, axes=False, seed=2),
    td.Directions([[1, 1], [3, -1]]),
]


def depths(x, directions):
    levels = level_sets(GRID.snap(np.array(x, dtype=float)), directions)
    return np.array([max(t for t in range(len(x) + 1) if levels.contains(y, t)) for y in POINTS])


@given(st.lists(row, min_size=1, max_size=9), row, st.data())
def test_a_swap_moves_every_depth_by_at_most_one(x, new, data):
    place = data.draw(st.integers(0, len(x) - 1))
    swapped = [*x[:place], new, *x[place + 1 :]]
    for notion in NOTIONS:
        directions = notion.on_grid(GRID, bytes(32))
        assert np.abs(depths(x, directions) - depths(swapped, directions)).max() <= 1


def test_interpolated_quantiles_would_fail_this():
    """The control: the depth in the authors' code moves by two (docs/errata.md, 5)."""
    x = [1, 3, 3, 3, 3, 3, 4, 4, 4, 4]
    swapped = [1, 0, 3, 3, 3, 3, 4, 4, 4, 4]
    assert abs(oracle.interpolated_depth(x, 2.625) - oracle.interpolated_depth(swapped, 2.625)) == 2
    ours = [td.tukey_depth([2.625], values, td.AxisAligned())[0] for values in (x, swapped)]
    assert abs(ours[0] - ours[1]) == 1


@given(st.lists(row, min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_depth_on_the_grid_is_the_definition_and_ignores_the_order_of_rows(x, shuffle):
    directions = NOTIONS[1].on_grid(GRID, bytes(32))
    ours = depths(x, directions)
    snapped = [None if any(map(math.isnan, r)) else tuple(GRID.snap(np.array([r]))[0].tolist()) for r in x]
    vectors = [tuple(v) for v in directions.tolist()]
    assert ours.tolist() == [oracle.depth(snapped, tuple(y), vectors) for y in POINTS.tolist()]
    shuffled = list(x)
    shuffle.shuffle(shuffled)
    assert ours.tolist() == depths(shuffled, directions).tolist()


@given(st.lists(row, min_size=1, max_size=20), st.integers(0, 19))
def test_a_row_is_mapped_by_itself(x, place):
    """What a row becomes depends neither on the other rows nor on its place."""
    place %= len(x)
    alone = GRID.snap(np.array([x[place]], dtype=float))
    before = sum(not any(map(math.isnan, r)) for r in x[:place])
    together = GRID.snap(np.array(x, dtype=float))
    if len(alone):
        assert together[before].tolist() == alone[0].tolist()

"""Columns in blocks: directions, the law of a draw and its privacy, and when it is the default."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import oracle
from support.fit import FALSE_ALARM, g_test
from tukeydp.depth.notions import InBlocks
from tukeydp.mechanisms.cliff import drawn_notion, widest_bounds, widest_for
from tukeydp.results.accuracy import ASSUMED_WIDTH
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.boxes import whole_grid
from tukeydp.trusted.rows import Grid, bounded_grid
from tukeydp.trusted.sampling.draws import point_sampler

KEY = bytes(32)
EPSILON = Fraction(3)
DRAWS = 20_000
SIDE, PLANE = 3, list(itertools.product(range(3), repeat=2))
ROWS = [(0, 2), (0, 1), (1, 1), (1, 0), (2, 2)]
GRID = Grid((Fraction(0),) * 2, (Fraction(1),) * 2, (SIDE - 1,) * 2)


def depths(rows, y):
    """In each column by itself."""
    return [oracle.depth([None if row is None else (row[j],) for row in rows], (y[j],), [(1,)]) for j in range(2)]


def weights(rows, base):
    """Of all points of the plane: base to the sum of the columns' depths."""
    return [base ** sum(depths(rows, y)) for y in PLANE]


def test_directions_are_those_of_their_blocks_and_leave_other_columns_out():
    notion, grid = InBlocks(12, columns=4), bounded_grid(9, bounds=(-1, 1), resolution=None)
    lines = notion.on_grid(grid, KEY)
    assert lines.shape == (notion.size(9), 9) == (9 + 3 * 12, 9)
    parts = notion.parts_on_grid(grid, KEY)
    assert [columns for columns, _ in parts] == [slice(0, 3), slice(3, 6), slice(6, 9)]
    start = 0
    for columns, own in parts:
        block = lines[start : start + len(own)]
        assert block[:, columns].tolist() == own.tolist()
        assert not np.delete(block, np.r_[columns], axis=1).any()
        start += len(own)
    # A coarse grid leaves room for the longest directions, and both are the same integers.
    assert notion.in_data_units(9, KEY) == notion.on_grid(bounded_grid(9, bounds=(-1, 1), resolution=1), KEY).tolist()


def test_a_point_is_drawn_by_the_mean_of_its_columns_depths():
    """The law of all points of a small plane; blocks that each had all of epsilon, or the same bits, are rejected."""
    prepared = InBlocks(columns=1).prepared_to_draw(np.array(ROWS) + GRID.low, GRID, KEY)
    sampler = point_sampler(prepared, within=whole_grid(GRID), epsilon=EPSILON)
    tally = dict.fromkeys(PLANE, 0)
    for i in range(DRAWS):
        tally[tuple((np.array(sampler.draw(derived_key("law", i))) - GRID.low).tolist())] += 1
    observed = np.array([tally[y] for y in PLANE])
    law, whole = (np.array(weights(ROWS, math.exp(float(EPSILON) * share))) for share in (0.25, 0.5))
    assert g_test(observed, law / law.sum()) > FALSE_ALARM
    assert g_test(observed, whole / whole.sum()) < FALSE_ALARM


def test_the_mean_of_depths_costs_what_a_depth_does():
    """All tables of three rows on nine points, all swaps, in rationals. All of epsilon in each block is too much."""
    quarter = Fraction(21, 20)  # e^(epsilon/4): each of two columns has half of epsilon
    rows = [*PLANE, None]

    def worst(base):
        found = {}
        for table in itertools.combinations_with_replacement(range(len(rows)), 3):
            of = weights([rows[i] for i in table], base)
            found[table] = [w / sum(of) for w in of]
        ratio = Fraction(0)
        for rest in itertools.combinations_with_replacement(range(len(rows)), 2):
            around = [found[tuple(sorted((*rest, i)))] for i in range(len(rows))]
            pairs = itertools.permutations(around, 2)
            ratio = max([ratio, *(a / b for p, q in pairs for a, b in zip(p, q, strict=True))])
        return ratio

    assert worst(quarter) <= quarter**4
    assert worst(quarter**2) > quarter**4


def test_the_depth_of_a_point_is_the_least_of_its_blocks():
    prepared = InBlocks(columns=1).prepared_to_draw(np.array(ROWS) + GRID.low, GRID, KEY)
    for y in PLANE:
        assert prepared.depth((np.array(y) + GRID.low).tolist()) == min(depths(ROWS, y))


@pytest.mark.parametrize("kept", [1, 100])
def test_streamed_rows_give_the_same_release(kept):
    x = np.random.default_rng(1).normal(size=(700, 5))
    given = {"epsilon": 1, "bounds": (-9, 9), "depth": InBlocks(9, columns=2), "certify": 0.1}
    whole = td.boxem(x, **given, randomness=td.seeded(3))
    chunks = td.chunks(lambda: np.array_split(x, 4), memory=kept)
    assert td.boxem(chunks, **given, randomness=td.seeded(3)).point.tolist() == whole.point.tolist()
    assert whole.notion == "InBlocks(directions=9, columns=2)"


def test_many_columns_come_in_blocks_where_rows_suffice_and_along_the_axes_elsewhere():
    """By public numbers alone; a notion that is given stays."""
    assert drawn_notion(None, 2000, 25, Fraction(1)) == td.Spread(327)
    for d in (26, 40, 60):
        assert drawn_notion(None, 3000, d, Fraction(1)) == drawn_notion(None, None, d, Fraction(1)) == InBlocks()
    assert widest_for(InBlocks(), 2000, 60, 1.0) == widest_bounds(2000, 20, 1 / 3) > ASSUMED_WIDTH
    assert widest_for(InBlocks(), 2000, 100, 1.0) < ASSUMED_WIDTH
    for n, d, each in ((2000, 100, None), (1000, 60, None), (8, 30, None), (3000, 60, 300), (1797, 48, None)):
        assert drawn_notion(None, n, d, Fraction(1), each) == td.AxisAligned()
    assert drawn_notion(None, 100_000, 50, Fraction(1)) == InBlocks(66)
    assert drawn_notion(td.Spread(7), 2000, 60, Fraction(1)) == td.Spread(7)


def test_blocks_of_many_columns_err_less_than_all_columns_at_once():
    """Typical errors in standard deviations: 0.06 where few directions in all columns have 0.08."""
    x = np.random.default_rng(1).normal(size=(2000, 60))
    errors = {
        depth: td.boxem(x, epsilon=1, bounds=(-10, 10), depth=depth, randomness=td.seeded(2)).point - x.mean(axis=0)
        for depth in (InBlocks(), td.Spread(45))
    }
    sizes = {depth: float(np.sqrt(np.mean(e**2))) for depth, e in errors.items()}
    assert sizes[InBlocks()] < 0.07 < sizes[td.Spread(45)] < 0.1

"""Depth of subset means and of spreads, proven by enumeration: all dealings, all tables (as multisets), all swaps.

The laws are mixtures over the secret dealing, in rationals, by an account that imports nothing from the package; then
the package's block tables and depths are shown to be those of that account, for every dealing. Each trap of
docs/proofs/mean.md, section 9, has a control that must lose more than epsilon.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from support import mean_oracle as oracle
from support.charges import charge
from support.fit import FALSE_ALARM, g_test
from support.oracle import depth
from tukeydp.depth.choice import chosen_notion
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import (
    OCTAVES,
    SubsetPlan,
    corrected_means,
    log_deviations,
    log_differences,
    subset_point,
)
from tukeydp.trusted.blocks import block_table
from tukeydp.trusted.rows import Grid, relative_grid

Q = Fraction(2)  # e^(epsilon / (2 dealings)): epsilon is 2 ln 2 = 1.39 for each dealing
FEW_OCTAVES = 10  # that the spread of an interval tells apart
ALONG = [(1,)]
CROSS = [(1, 0), (0, 1), (1, 1), (1, -1)]


def cells(*values):
    return [(None if v is None else Fraction(v),) for v in values]


ONE = cells(-1, 0, 1, None)
TWO = [
    (Fraction(-1), Fraction(-1)),
    (Fraction(1), Fraction(-1)),
    (Fraction(0), Fraction(1)),
    (None, Fraction(1)),
    (Fraction(1), None),
]
# rows there are, n, blocks, dealings, steps of the grid, directions
CASES = {
    "two blocks": (ONE, 4, 2, 1, (8,), ALONG),
    "unequal blocks, corrected": (ONE, 5, 2, 1, (8,), ALONG),
    "three blocks": (ONE, 5, 3, 1, (8,), ALONG),
    "rows one by one": (ONE, 4, 4, 1, (8,), ALONG),
    "two dealings": (ONE, 4, 2, 2, (8,), ALONG),
    "two dealings of single rows": (ONE, 3, 3, 2, (8,), ALONG),
    "two columns": (TWO, 3, 2, 1, (4, 4), CROSS),
    "two columns, two dealings": (TWO, 3, 2, 2, (4, 4), CROSS),
}


def worst(law, rows, n, ratio):
    """The largest loss over all tables, swaps and outcomes; epsilon is ln(ratio), and the unit."""
    laws = {x: law(x) for x in oracle.all_tables(rows, n)}
    found = oracle.worst_ratio(laws, rows, n)
    assert found > 1
    return math.log(found) / math.log(ratio), found <= ratio


@pytest.mark.parametrize("case", CASES)
def test_the_mixture_over_all_dealings_is_private(case):
    rows, n, blocks, partitions, steps, directions = CASES[case]
    loss, private = worst(
        lambda x: oracle.subset_law(x, blocks, partitions, steps, directions, Q), rows, n, Q ** (2 * partitions)
    )
    assert private
    assert 0.4 < loss < 0.95  # not far below either: the enumeration sees the mechanism


@pytest.mark.parametrize("pairs", [1, 2])
def test_the_spread_is_private_over_all_dealings(pairs):
    points = [(k,) for k in range(8 * OCTAVES + 1)]
    loss, private = worst(
        lambda x: oracle.mixture(oracle.pair_tables(x, pairs, OCTAVES), points, ALONG, Q), ONE, 4, Q**2
    )
    assert private
    assert loss > 0.4


# Controls: each is the mechanism with one thing done wrong, and each must lose more than epsilon.


def mixture(tables, steps=(8,)):
    rows = [[oracle.on_grid(row, steps) for row in table] for table in tables]
    return oracle.mixture(rows, oracle.grid_points(steps), ALONG, Q)


def assert_not_private(law, rows, n, at_least):
    loss, private = worst(law, rows, n, Q**2)
    assert not private
    assert loss > at_least


def test_overlapping_blocks_would_not_be_private():
    def overlapping(x):
        return mixture([oracle.block_row([o[i], o[i - 1]]) for i in range(len(o))] for o in itertools.permutations(x))

    assert_not_private(overlapping, ONE, 4, 1.2)


def test_a_dealing_chosen_by_the_data_would_not_be_private():
    """Smallest with largest, so that blocks are alike: every pair changes when the smallest is swapped."""

    def balanced(x):
        ranked = sorted(x)
        return mixture([[oracle.block_row([ranked[i], ranked[-1 - i]]) for i in range(len(x) // 2)]])

    assert_not_private(balanced, cells(-1, 0, 1), 6, 1.05)


def test_a_public_partition_by_position_of_a_sorted_table_would_not_be_private():
    """Rows are sorted by a key, consecutive ones averaged: one row that leaves the front moves all others up."""

    def law(x):
        values = [(value,) for _, value in sorted(x)]
        return mixture([[oracle.block_row(values[i : i + 2]) for i in range(0, len(values), 2)]], steps=(16,))

    # Pairs sum to 0 as they stand, to 1/4 when all have moved up by one.
    x = [(i, Fraction(value, 4)) for i, value in enumerate((-4, 4, -3, 3, -2, 2, -1, 1))]
    swapped = [*x[1:], (8, Fraction(0))]
    ratio = max(max(a / b, b / a) for a, b in zip(law(x), law(swapped), strict=True))
    assert ratio >= Q**3  # 1.5 epsilon with four blocks, and more with more
    # The same two tables, dealt in secret.
    secret = [
        mixture(
            (
                [oracle.block_row([(table[i][1],) for i in block]) for block in dealing]
                for dealing in pairings(range(8))
            ),
            (16,),
        )
        for table in (x, swapped)
    ]
    assert max(max(a / b, b / a) for a, b in zip(*secret, strict=True)) <= Q**2


def pairings(places):
    """All ways to pair them up."""
    if not places:
        yield []
        return
    first, *others = places
    for other in others:
        for pairs in pairings([i for i in others if i != other]):
            yield [(first, other), *pairs]


@pytest.mark.parametrize(("n", "blocks"), [(4, 2), (3, 3)])
def test_epsilon_not_divided_among_dealings_would_not_be_private(n, blocks):
    assert_not_private(lambda x: oracle.subset_law(x, blocks, 2, (8,), ALONG, Q), ONE, n, 1.2)


def test_a_block_statistic_that_knows_other_blocks_would_not_be_private():
    """Block means from which the mean of all rows was taken."""

    def centred(x):
        everything = oracle.plain_mean([value for (value,) in x])
        return mixture(
            [(max(Fraction(-1), min(Fraction(1), x[i][0] - everything)),) for (i,) in dealing]
            for dealing in oracle.dealings(len(x), len(x))
        )

    assert_not_private(centred, cells(-1, 0, 1), 4, 1.2)


# The package does what the oracle says, dealing by dealing.


def floats(x):
    return np.array([[np.nan if cell is None else float(cell) for cell in row] for row in x])


def snapped(table, grid):
    """Grid points counted from the lower bound, in any order; missing rows left out."""
    return sorted(tuple((row - grid.low).tolist()) for row in grid.snap(table))


@pytest.mark.parametrize("case", CASES)
def test_block_tables_are_those_of_the_oracle_for_every_dealing(case):
    rows, n, blocks, _, steps, _ = CASES[case]
    grid = relative_grid(steps)
    ends = list(itertools.accumulate(oracle.sizes(n, blocks), initial=0))
    for x in oracle.all_tables(rows, n):
        values = floats(x)
        for order in itertools.islice(itertools.permutations(range(n)), 0, None, 1 if n < 5 else 7):
            table = block_table(values, blocks, np.array(order), corrected_means)
            dealt = [oracle.block_row([x[i] for i in order[a:b]]) for a, b in itertools.pairwise(ends)]
            expected = [point for row in dealt if (point := oracle.on_grid(row, steps)) is not None]
            assert snapped(table, grid) == sorted(expected)


@pytest.mark.parametrize("pairs", [1, 2])
def test_log_differences_are_those_of_the_oracle_for_every_dealing(pairs):
    grid = Grid((Fraction(-OCTAVES),), (Fraction(1, 8),), (8 * OCTAVES,))
    for x in oracle.all_tables(cells(-1, Fraction(-1, 3), 0, Fraction(5, 7), None), 4):
        found, values = [], floats(x)
        for order in itertools.permutations(range(4)):
            found.append(snapped(block_table(values, pairs, np.array(order), log_differences), grid))
        expected = [sorted(row for row in table if row is not None) for table in oracle.pair_tables(x, pairs, OCTAVES)]
        repeats = len(found) // len(expected)
        assert sorted(found) == sorted(expected * repeats)


@pytest.mark.parametrize(("n", "blocks"), [(4, 1), (5, 1), (6, 2)])
def test_the_spread_between_three_parts_is_private_over_all_dealings(n, blocks):
    points = [(k,) for k in range(8 * FEW_OCTAVES + 1)]
    statistic = oracle.eighths_of_three
    loss, private = worst(
        lambda x: oracle.mixture(oracle.pair_tables(x, blocks, FEW_OCTAVES, statistic), points, ALONG, Q),
        cells(-1, Fraction(1, 2), None) if n == 6 else ONE,
        n,
        Q**2,
    )
    assert private
    assert loss > 0.4


@pytest.mark.parametrize(("n", "blocks"), [(4, 1), (5, 1)])
def test_log_deviations_are_those_of_the_oracle_for_every_dealing(n, blocks):
    grid = Grid((Fraction(-FEW_OCTAVES),), (Fraction(1, 8),), (8 * FEW_OCTAVES,))
    for x in oracle.all_tables(cells(-1, Fraction(-1, 3), Fraction(5, 7), None), n):
        found, values = [], floats(x)
        for order in itertools.permutations(range(n)):
            table = block_table(values, blocks, np.array(order), partial(log_deviations, parts=3))
            found.append(snapped(table, grid))
        tables = oracle.pair_tables(x, blocks, FEW_OCTAVES, oracle.eighths_of_three)
        expected = [sorted(row for row in table if row is not None) for table in tables]
        assert sorted(found) == sorted(expected * (len(found) // len(expected)))


@pytest.mark.parametrize("case", ["unequal blocks, corrected", "two columns, two dealings"])
def test_depths_on_the_grid_are_those_of_the_oracle(case):
    rows, n, blocks, partitions, steps, _ = CASES[case]
    grid, d = relative_grid(steps), len(steps)
    for x in oracle.all_tables(rows, n)[::5]:
        values = floats(x)
        for orders in list(itertools.product(itertools.permutations(range(n)), repeat=partitions))[::7]:
            tables = [block_table(values, blocks, np.array(order), corrected_means) for order in orders]
            on_grid = grid.snap(np.concatenate(tables))
            prepared = chosen_notion(None, blocks * partitions, d).prepare(on_grid, grid, derived_key("public"))
            known = [tuple(row) for row in on_grid.tolist()]
            along = [tuple(v) for v in prepared.directions.tolist()]
            for y in itertools.product(*(range(a, b + 1) for a, b in zip(grid.low, grid.high, strict=True))):
                top = depth(known, y, along)
                assert top == 0 or prepared.levels.contains(y, top)
                assert not prepared.levels.contains(y, top + 1)


@pytest.mark.parametrize("partitions", [1, 2])
def test_draws_have_the_law_of_the_mixture(partitions):
    """End to end, with the dealing drawn inside; it would be noticed if it never changed, and twice epsilon too."""
    x = tuple(cells(-1, -1, Fraction(1, 2), 1, None))
    plan = SubsetPlan(2, partitions, (8,))
    counts = np.zeros(9)
    for i in range(800):
        (y,) = subset_point(floats(x), charge(2 * partitions, derived_key("mixture", i)), plan, derived_key("public"))
        counts[y + 4] += 1
    q = Fraction(math.e)
    unchanging = [oracle.block_tables(x, 2, (8,))[0] * partitions]
    assert fit(counts, oracle.subset_law(x, 2, partitions, (8,), ALONG, q)) > FALSE_ALARM
    assert fit(counts, oracle.mixture(unchanging, oracle.grid_points((8,)), ALONG, q)) < FALSE_ALARM
    assert fit(counts, oracle.subset_law(x, 2, partitions, (8,), ALONG, q**2)) < FALSE_ALARM


def fit(counts, law):
    return g_test(counts, np.array(law, float))

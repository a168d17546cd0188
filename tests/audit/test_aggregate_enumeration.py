"""Any statistic of secretly dealt blocks, proven by enumeration: all dealings, all tables (as multisets), all swaps.

The laws are mixtures over the dealing, by accounts that import nothing from the package; then the package's block
tables are shown to be those of that account. Each trap of docs/proofs/aggregate.md, section 4, has a control that must
lose more than it may.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import mean_oracle as oracle
from support import rem_oracle
from support.fit import FALSE_ALARM, g_test
from tukeydp.data.row_blocks import rows_of
from tukeydp.mechanisms.aggregate import BlockStatistic
from tukeydp.mechanisms.block_release import delta_for_each
from tukeydp.trusted.blocks import dealt_rows

Q = Fraction(2)  # e^(epsilon / 2): epsilon is 2 ln 2 = 1.39
ALONG = [(1,)]
STEPS = (8,)
ROWS = [(Fraction(-1),), (Fraction(0),), (Fraction(1),), (Fraction(1, 2),)]


def largest(block):
    """The largest value; a block that holds 0 twice fails."""
    values = [row[0] for row in block]
    if values.count(0) > 1:
        raise ZeroDivisionError
    return max(values)


def spread(block):
    values = [row[0] for row in block]
    return (max(values) - min(values)) - 1


STATISTICS = {"largest, may fail": largest, "spread": spread}


def dealt_tables(x, blocks, statistic):
    """The grid rows of every dealing; None where the statistic fails."""

    def row(block):
        try:
            return oracle.on_grid((statistic([x[i] for i in block]),), STEPS)
        except ZeroDivisionError:
            return None

    return [[row(block) for block in dealing] for dealing in oracle.dealings(len(x), blocks)]


def law_of(statistic, blocks, partitions=1, q=Q):
    def law(x):
        once = dealt_tables(x, blocks, statistic)
        tables = ([row for part in parts for row in part] for parts in itertools.product(once, repeat=partitions))
        return oracle.mixture(tables, oracle.grid_points(STEPS), ALONG, q)

    return law


def loss(law, n, ratio, rows=ROWS):
    """Largest loss over all swaps in epsilons, and whether it is at most one."""
    found = oracle.worst_ratio({x: law(x) for x in oracle.all_tables(rows, n)}, rows, n)
    return math.log(found) / math.log(ratio), found <= ratio


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("n", "blocks", "partitions"), [(4, 2, 1), (5, 2, 1), (4, 3, 1), (3, 2, 2)])
def test_any_statistic_is_private_over_all_dealings(statistic, n, blocks, partitions):
    lost, private = loss(law_of(STATISTICS[statistic], blocks, partitions), n, Q ** (2 * partitions))
    assert private
    assert lost > 0.25  # the enumeration sees the mechanism


# Controls: the mechanism with one thing done wrong.


def test_a_statistic_that_remembers_another_block_would_not_be_private():
    """What a global variable or a closure makes possible: each block is told less the mean of all rows."""

    def remembering(x):
        everything = oracle.plain_mean([value for (value,) in x])
        tables = (
            [oracle.on_grid((max(-1, min(1, x[i][0] - everything)),), STEPS) for (i,) in dealing]
            for dealing in oracle.dealings(len(x), len(x))
        )
        return oracle.mixture(tables, oracle.grid_points(STEPS), ALONG, Q)

    lost, private = loss(remembering, 4, Q**2, ROWS[:3])
    assert not private
    assert lost > 1.2


def test_a_dealing_chosen_by_the_data_would_not_be_private():
    """Rows in the order of their values, smallest with largest."""

    def sorted_first(x):
        ranked = sorted(x)
        pairs = [(ranked[i], ranked[-1 - i]) for i in range(len(x) // 2)]
        means = [oracle.on_grid(((a[0] + b[0]) / 2,), STEPS) for a, b in pairs]
        return oracle.mixture([means], oracle.grid_points(STEPS), ALONG, Q)

    lost, private = loss(sorted_first, 6, Q**2, ROWS[:3])
    assert not private
    assert lost > 1.05


def test_a_public_partition_by_position_of_a_sorted_file_would_not_be_private():
    """The statistic is the second row's value: one row that leaves the front of the file moves all others up."""

    def law(x):
        values = [value for _, value in sorted(x)]
        rows = [oracle.on_grid((values[i + 1],), STEPS) for i in range(0, len(values), 2)]
        return oracle.mixture([rows], oracle.grid_points(STEPS), ALONG, Q)

    for n, at_least in ((8, 3), (16, 7)):  # 1.5 and 3.5 epsilon: the loss grows with the number of blocks
        x = [(i, Fraction(1 if i % 2 else -1)) for i in range(n)]
        swapped = [*x[1:], (n, Fraction(1))]
        assert max(max(a / b, b / a) for a, b in zip(law(x), law(swapped), strict=True)) >= Q**at_least


def test_epsilon_not_divided_among_dealings_would_not_be_private():
    lost, private = loss(law_of(largest, 3, 2), 3, Q**2)
    assert not private
    assert lost > 1.2


# REM: r dealings move r rows of its table.

POINTS = np.arange(4)[:, np.newaxis]
AXIS = np.array([[1]])


def rem_law(times, epsilon, delta, threshold):
    """REM at (epsilon, delta) on the rows one by one, each `times` times: so many dealings of single rows."""

    def law(x):
        depth = rem_oracle.depths(x * times, POINTS, AXIS)
        test, eta = epsilon / 3, epsilon / 3
        worst = [rem_oracle.worst_case(depth, threshold, eta, k) for k in range(threshold - 1)]
        return rem_oracle.outcome(depth, threshold, eta, rem_oracle.graded(worst, test, epsilon, delta))

    return law


@pytest.mark.parametrize(("times", "threshold"), [(1, 2), (2, 3), (2, 4)])
def test_rem_on_dealings_is_private_if_delta_is_paid_for_each(times, threshold):
    epsilon, delta = 1.5, 0.05
    own = float(delta_for_each(td.ApproxDP(epsilon, delta), times))
    assert rem_oracle.worst_delta(4, 5, epsilon, rem_law(times, epsilon / times, own, threshold)) <= delta * (1 + 1e-12)


def test_rem_on_several_dealings_with_the_whole_delta_would_not_be_private():
    epsilon, delta = 1.5, 0.05
    assert rem_oracle.worst_delta(4, 5, epsilon, rem_law(2, epsilon / 2, delta, 3)) > 1.05 * delta


@pytest.mark.parametrize("partitions", [1, 2, 3, 8])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "7/3"])
def test_the_delta_of_each_swap_adds_up_to_no_more_than_delta(epsilon, partitions):
    whole = td.ApproxDP(epsilon, "1e-6")
    own, each = delta_for_each(whole, partitions), float(whole.epsilon) / partitions
    together = float(own) * sum(math.exp(i * each) for i in range(partitions))
    assert 0.999 * 1e-6 < together <= 1e-6 * (1 + 1e-12)


# The package does what the oracle says.


def on_floats(statistic):
    def compute(block):
        return float(statistic([(Fraction(float(v)).limit_denominator(4),) for v in block[:, 0]]))

    return compute


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("n", "blocks"), [(4, 2), (5, 2), (3, 3)])
def test_block_tables_are_those_of_the_oracle_for_every_dealing(statistic, n, blocks):
    known = BlockStatistic(on_floats(STATISTICS[statistic]), 1, None)
    ends = list(itertools.accumulate(oracle.sizes(n, blocks), initial=0))
    for x in oracle.all_tables(ROWS, n)[:: 3 if n > 4 else 1]:
        rows = rows_of(np.array([[float(v) for v in row] for row in x]))
        for order in list(itertools.permutations(range(n)))[:: 11 if n > 4 else 3]:
            found = known.table(rows, dealt_rows(np.array(order), blocks))
            for b, (start, end) in enumerate(itertools.pairwise(ends)):
                try:
                    expected = float(STATISTICS[statistic]([x[i] for i in order[start:end]]))
                except ZeroDivisionError:
                    expected = math.nan
                assert np.array_equal(found[b], [expected], equal_nan=True)


def test_draws_have_the_law_of_the_mixture():
    """End to end. It would be noticed if the dealing never changed, and twice epsilon too."""
    x = tuple(ROWS[i] for i in (0, 0, 0, 2, 2))
    counts = np.zeros(9)
    cells = np.array([[float(v) for v in row] for row in x])
    for seed in range(400):
        release = td.aggregate(
            cells, on_floats(largest), blocks=2, epsilon=2, bounds=(-1, 1), resolution=0.25, dummy=[[0.5], [-1.0]],
            depth=td.AxisAligned(), randomness=td.seeded(seed),
        )  # fmt: skip
        counts[round(4 * (release.point[0] + 1))] += 1
    q = Fraction(math.e)
    first = [dealt_tables(x, 2, largest)[0]]
    assert g_test(counts, np.array(law_of(largest, 2, q=q)(x), float)) > FALSE_ALARM
    assert g_test(counts, np.array(law_of(largest, 2, q=q**2)(x), float)) < FALSE_ALARM
    assert g_test(counts, np.array(oracle.mixture(first, oracle.grid_points(STEPS), ALONG, q), float)) < FALSE_ALARM

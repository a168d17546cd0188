"""The secret dealing, and block tables: who is in which block, and that no block knows of another."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.block_steps import corrected_means, log_deviations, log_differences, means
from tukeydp.trusted.blocks import block_table, filled_at_the_ends, secret_order
from tukeydp.trusted.parameters import ParameterError
from tukeydp.trusted.rows import bounded_columns

STATISTICS = [
    means,
    corrected_means,
    log_differences,
    partial(log_deviations, parts=3),
    partial(log_deviations, parts=4),
]
ANY = st.one_of(
    st.floats(width=64),
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.7e308, -1.7e308, 5e-324, 1.0, -1.0]),
)


def stream(*name):
    return Keystream(derived_key("dealing", *name))


def test_every_order_of_four_rows_is_equally_likely():
    """And the test would notice if the first row stayed in its place a little more often."""
    orders = list(itertools.permutations(range(4)))
    seen = Counter(tuple(secret_order(4, stream(i)).tolist()) for i in range(12_000))
    counts = np.array([seen[order] for order in orders])
    assert counts.sum() == 12_000
    assert g_test(counts, np.full(24, 1 / 24)) > FALSE_ALARM
    favoured = np.array([1.15 if order[0] == 0 else 0.95 for order in orders]) / 24
    assert g_test(counts, favoured) < FALSE_ALARM


class Tied:
    """Words that are equal in the first lanes; in the place of a keystream."""

    def __init__(self, ties):
        self._ties, self.lanes = ties, []

    def words(self, lane, count):
        self.lanes.append(lane)
        words = np.arange(count, dtype=np.uint64)[::-1].copy()
        if lane < self._ties:
            words[-1] = words[0]
        return words


@pytest.mark.parametrize("ties", [0, 1, 3])
def test_words_are_drawn_again_until_no_two_are_equal(ties):
    """A tie broken by place would favour rows at the front."""
    tied = Tied(ties)
    assert secret_order(5, tied).tolist() == [4, 3, 2, 1, 0]
    assert tied.lanes == list(range(ties + 1))


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_the_order_is_a_permutation_fixed_by_its_key(n):
    order = secret_order(n, stream("key"))
    assert sorted(order.tolist()) == list(range(n))
    assert (order == secret_order(n, stream("key"))).all()
    if n > 2:
        assert (order != secret_order(n, stream("other key"))).any()


@pytest.mark.parametrize("n", [1, 2, 5, 12, 13])
@pytest.mark.parametrize("blocks", [1, 2, 5, 12])
def test_blocks_take_the_rows_in_their_order(n, blocks):
    """The first n mod blocks have one row more; those for which no row is left are missing."""
    order = secret_order(n, stream(n))
    cells = np.random.default_rng(n).random((n, 2))
    table = block_table(cells, blocks, order, means)
    assert table.shape == (blocks, 2)
    left = cells[order]
    for b in range(blocks):
        size = n // blocks + (b < n % blocks)
        mine, left = left[:size], left[size:]
        if size:
            assert table[b] == pytest.approx(mine.mean(axis=0), rel=1e-14)
        else:
            assert np.isnan(table[b]).all()
    assert not len(left)


def in_silence(call):
    """Nothing may warn, whatever the caller has done with warnings and floating-point errors."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


@st.composite
def tables_and_changes(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    x = draw(arrays(np.float64, (n, d), elements=ANY))
    blocks = draw(st.integers(1, n))
    row = draw(st.integers(0, n - 1))
    new = draw(arrays(np.float64, d, elements=ANY))
    return x, blocks, row, new, draw(st.integers(0, 1000))


@pytest.mark.parametrize("statistic", STATISTICS)
@given(case=tables_and_changes())
def test_one_row_changes_one_row_of_the_table_bit_by_bit(statistic, case):
    """Whatever it becomes, and whatever the others are: missing, infinite, huge."""
    x, blocks, row, new, key = case
    order = secret_order(len(x), stream(key))
    swapped = x.copy()
    swapped[row] = new
    before, after = (in_silence(lambda t=t: block_table(t, blocks, order, statistic)) for t in (x, swapped))
    ends = np.cumsum([len(x) // blocks + (b < len(x) % blocks) for b in range(blocks)])
    mine = int(np.searchsorted(ends, order.tolist().index(row), side="right"))
    others = np.arange(blocks) != mine
    assert before[others].tobytes() == after[others].tobytes()


@pytest.mark.parametrize("statistic", STATISTICS)
def test_one_row_changes_one_row_of_the_table_also_among_ordinary_values(statistic):
    """Skewed columns in blocks of five: every block is corrected for skewness, by its own rows."""
    x = np.random.default_rng(2).exponential(size=(40, 2))
    order = secret_order(len(x), stream("ordinary"))
    before = block_table(x, 8, order, statistic)
    for row in range(len(x)):
        swapped = x.copy()
        swapped[row] += 3.0
        after = block_table(swapped, 8, order, statistic)
        assert sum(a.tobytes() != b.tobytes() for a, b in zip(before, after, strict=True)) <= 1


@pytest.mark.parametrize("statistic", STATISTICS)
@given(case=tables_and_changes())
def test_a_block_gives_the_same_alone(statistic, case):
    x, blocks, _, _, key = case
    order = secret_order(len(x), stream(key))
    table = in_silence(lambda: block_table(x, blocks, order, statistic))
    ends = np.cumsum([0, *(len(x) // blocks + (b < len(x) % blocks) for b in range(blocks))])
    for b, (start, end) in enumerate(itertools.pairwise(ends)):
        alone = in_silence(lambda start=start, end=end: statistic(x[order[start:end]][np.newaxis]))
        assert np.array_equal(alone[0], table[b], equal_nan=True)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_many_blocks_do_not_know_of_one_another(statistic):
    """The same where arrays are long enough for all that numpy does at once."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6000, 3))
    order = secret_order(6000, stream("many"))
    wild = x.copy()
    wild[order[::2][:1500]] = rng.choice([math.nan, math.inf, -math.inf, 1.7e308, 5e-324], size=(1500, 3))
    calm, stirred = (in_silence(lambda t=t: block_table(t, 1000, order, statistic)) for t in (x, wild))
    assert calm[500:].tobytes() == stirred[500:].tobytes()
    assert (calm[:500] != stirred[:500]).all(axis=1).any()


def test_a_statistic_that_knows_all_blocks_would_be_noticed():
    """The control: means from which the mean of all blocks is taken."""
    x = np.random.default_rng(0).normal(size=(12, 1))
    swapped = x.copy()
    swapped[0] = 5.0
    order = np.arange(12)
    before, after = (
        block_table(t, 4, order, lambda blocks: means(blocks) - means(blocks).mean(axis=0)) for t in (x, swapped)
    )
    assert (before != after).all()


@given(x=arrays(np.float64, (6, 2), elements=ANY), row=st.integers(0, 5), new=arrays(np.float64, 2, elements=ANY))
def test_relative_cells_depend_on_no_other_cell(x, row, new):
    columns = bounded_columns(2, ([-3, -1e300], [1e-290, 1e300]))
    swapped = x.copy()
    swapped[row] = new
    before, after = (in_silence(lambda t=t: columns.relative(t)) for t in (x, swapped))
    others = np.arange(6) != row
    assert before[others].tobytes() == after[others].tobytes()
    assert (np.isnan(before) == np.isnan(x)).all()
    assert ((np.abs(before) <= 1) | np.isnan(before)).all()


def test_relative_cells_and_back():
    columns = bounded_columns(2, ([0, -2], [10, 2]))
    relative = columns.relative(
        np.array([[0.0, -2.0], [10.0, 2.0], [5.0, 0.0], [-math.inf, math.inf], [2.5, math.nan]])
    )
    assert relative[:4].tolist() == [[-1, -1], [1, 1], [0, 0], [-1, 1]]
    assert relative[4, 0] == -0.5
    assert math.isnan(relative[4, 1])
    assert columns.in_units([-1, 1]).tolist() == [0, 2]


@pytest.mark.parametrize("bounds", [(0, 1e-300), (0, "1e-330"), (1, "1.0000000000000000000001"), (1e300, "1e300")])
def test_bounds_that_floats_cannot_tell_apart_are_refused(bounds):
    with pytest.raises(ParameterError, match="bounds must"):
        bounded_columns(1, bounds)


def test_coins_change_missing_cells_only_and_each_by_its_place():
    """Changing one row, or which of its cells are missing, leaves all other rows as they are, bit by bit."""
    table = np.random.default_rng(3).uniform(-1, 1, size=(50, 3))
    table[::4, 1] = table[7] = np.nan
    stream = Keystream(derived_key("coins of a test"))
    filled = filled_at_the_ends(table, stream)
    there = ~np.isnan(table)
    assert (filled[there] == table[there]).all()
    assert set(filled[~there]) == {-1.0, 1.0}
    other = table.copy()
    other[20] = [np.nan, 0.5, np.nan]
    changed = (filled_at_the_ends(other, stream) != filled).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [20]


def test_coins_favour_neither_end():
    """4000 coins: a share outside 0.42 ... 0.58 has a probability below 1e-20, and a coin of 0.65 would be noticed."""
    filled = filled_at_the_ends(np.full((2000, 2), np.nan), Keystream(derived_key("fair coins")))
    assert 0.42 < (filled > 0).mean() < 0.58

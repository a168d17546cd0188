"""Rows that draw their block by themselves: uniform, and one row more or less changes one row of the block table."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fit import FALSE_ALARM, g_test
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.block_steps import corrected_means, log_deviations, log_differences, means
from tukeydp.trusted.blocks import drawn_block_table, drawn_blocks, one_by_one, secret_order

STATISTICS = {
    "means": means,
    "corrected means": corrected_means,
    "log differences": partial(one_by_one, log_differences),
    "log deviations": partial(one_by_one, partial(log_deviations, parts=3)),
}


def stream(*name):
    return Keystream(derived_key("test", *name))


class Words:
    """A stream that gives prepared words, lane by lane."""

    def __init__(self, *lanes):
        self.lanes = lanes

    def words(self, lane, count):
        return np.array(self.lanes[lane][:count], dtype=np.uint64)


def test_words_that_would_favour_a_block_are_drawn_again():
    """2^64 is 1 mod 3 and mod 5: the last word has no block."""
    last = 2**64 - 1
    assert drawn_blocks(4, 3, Words([last, 4, last, 2], [9, last, 5, last])).tolist() == [0, 1, 2, 2]
    assert drawn_blocks(2, 5, Words([last, last - 1], [last, 0], [7, 0])).tolist() == [2, 4]
    assert drawn_blocks(2, 4, Words([last, 5])).tolist() == [3, 1]  # none is lost where the number divides 2^64


@pytest.mark.parametrize("n", [0, 1, 5])
def test_every_row_has_a_number_fixed_by_the_key(n):
    found = drawn_blocks(n, 3, stream(n))
    assert found.shape == (n,)
    assert ((found >= 0) & (found < 3)).all()
    assert (found == drawn_blocks(n, 3, stream(n))).all()


def test_numbers_of_rows_are_uniform_and_independent():
    pairs = drawn_blocks(40_000, 3, stream("uniform")).reshape(-1, 2)
    counts = np.bincount(3 * pairs[:, 0] + pairs[:, 1], minlength=9)
    assert g_test(counts, np.full(9, 1 / 9)) > FALSE_ALARM
    counts[0] += 400
    assert g_test(counts, np.full(9, 1 / 9)) < FALSE_ALARM  # the test can fail


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 3),
    blocks=st.integers(1, 12),
    name=st.sampled_from(sorted(STATISTICS)),
    seed=st.integers(0, 2**32),
)
def test_a_row_less_changes_one_row_of_the_table_bit_by_bit(n, d, blocks, name, seed):
    """Common rows keep their numbers, and their order among themselves; others keep their sums to the last digit."""
    rng = np.random.default_rng(seed)
    cells = rng.standard_cauchy(size=(n, d))
    cells[rng.random((n, d)) < 0.2] = np.nan
    numbers, order = rng.integers(0, blocks, size=n), rng.permutation(n)
    leaving = int(rng.integers(n))
    left = np.delete(np.arange(n), leaving)
    place = np.full(n, -1)
    place[left] = np.arange(n - 1)
    shorter = place[order][place[order] >= 0]
    statistic = STATISTICS[name]
    before = drawn_block_table(cells, blocks, numbers, order, statistic)
    after = drawn_block_table(cells[left], blocks, numbers[left], shorter, statistic)
    changed = [b for b in range(blocks) if before[b].tobytes() != after[b].tobytes()]
    assert changed in ([], [numbers[leaving]])


def test_numbers_within_the_order_of_the_table_would_be_noticed():
    """Rows dealt in turn: when the first leaves, all others change their block."""
    cells = np.arange(12.0)[:, np.newaxis]
    tables = [
        drawn_block_table(rows, 4, np.arange(len(rows)) % 4, np.arange(len(rows)), means) for rows in (cells, cells[1:])
    ]
    assert (tables[0] != tables[1]).sum() > 1


@pytest.mark.parametrize("name", STATISTICS)
def test_a_block_does_not_depend_on_how_many_are_worked_off_with_it(name):
    rng = np.random.default_rng(5)
    for size, d in ((1, 1), (2, 3), (9, 1), (130, 2), (1000, 1)):
        blocks = rng.normal(size=(17, size, d))
        blocks[rng.random(blocks.shape) < 0.1] = np.nan
        together = STATISTICS[name](blocks)
        for i in range(len(blocks)):
            assert STATISTICS[name](blocks[i : i + 1].copy()).tobytes() == together[i : i + 1].tobytes()


def test_a_block_that_no_row_has_drawn_is_missing_and_none_at_all_are():
    table = drawn_block_table(np.ones((2, 2)), 3, np.array([2, 2]), np.array([1, 0]), means)
    assert np.isnan(table[:2]).all()
    assert (table[2] == 1.0).all()
    empty = drawn_block_table(np.empty((0, 2)), 3, drawn_blocks(0, 3, stream()), secret_order(0, stream()), means)
    assert empty.shape == (3, 2)
    assert np.isnan(empty).all()

"""What rows add to a pass: exact integers in any batches, and one block for each row and dealing."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tukeydp as td
from support.fit import FALSE_ALARM, g_test
from support.pass_oracle import HALF, block_sums, drawn_law, step
from tukeydp.data.lazy_tables import LazyTable
from tukeydp.trusted import block_steps as passes_module
from tukeydp.trusted import sums as batches_module
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import BlockSums
from tukeydp.trusted.clipped_sums import STEPS, Beyond, Clipped, ClipRange, Values
from tukeydp.trusted.rows import bounded_columns
from tukeydp.trusted.sums import Pass

ENDS = [(0.0, 10.0), (-1.0, 1.0)]
COLUMNS = bounded_columns(2, ([0, -1], [10, 1]))
KEY = derived_key("test", "passes")
CELLS = st.one_of(
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e-310, 0.0, 10.0]), st.floats(-20, 20, width=32)
)
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=0, max_size=40)


@dataclass(frozen=True)
class ByFirstColumn(BlockSums):
    """Blocks that follow from a row alone, so that they are the same in any batches: for comparing engines only."""

    def __call__(self, cells, place):
        numbers = numbers_of(cells, self.blocks)
        values = [[step(c, *ends) for c, ends in zip(row, ENDS, strict=True)] for row in cells.tolist()]
        found = np.zeros((1, 2, 2, self.blocks), dtype=np.int64)
        for row, b in zip(values, numbers, strict=True):
            for j, value in enumerate(row):
                if value is not None:
                    found[0, :, j, b] += (value, 1)
        return found.reshape(-1)


def numbers_of(cells, blocks):
    return [0 if not math.isfinite(c) else int(abs(c) * 7) % blocks for c in np.asarray(cells)[:, 0].tolist()]


def matrix(rows):
    return np.array(rows, dtype=float).reshape(-1, 2)


def total(kernel, *parts):
    one = Pass((kernel,), ("a", "b"))
    added = sum((one.of([part], i) for i, part in enumerate(parts)), one.of([]))
    rows, (found,) = one.whole(added)
    assert rows == sum(map(len, parts))
    return found


@given(TABLES, st.integers(0, 40), st.integers(1, 9))
def test_sums_are_those_of_the_oracle_in_any_batches(rows, cut, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches_module, "PIECE", piece)
        x = matrix(rows)
        values = total(Values(COLUMNS), x[cut:], x[:cut], x[:0])
        blocks = total(ByFirstColumn(COLUMNS, 5, 1, KEY), x[cut:], x[:cut])
    sums, counts = block_sums(rows, ENDS, [0] * len(rows), 1)
    assert values == [s[0] for s in sums] + [c[0] for c in counts]
    sums, counts = block_sums(rows, ENDS, numbers_of(x, 5), 5)
    assert blocks == [v for part in (sums, counts) for column in part for v in column]


@given(TABLES, st.integers(1, 9))
def test_every_row_is_in_one_block_of_each_dealing(rows, piece):
    """Sums and numbers of blocks add up to those of the table, in every dealing; also with more blocks than rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches_module, "PIECE", piece)
        x = matrix(rows)
        for blocks in (1, 3, 50):
            found = np.array(total(BlockSums(COLUMNS, blocks, 3, KEY), x), dtype=object).reshape(3, 4, blocks)
            assert found.sum(axis=2).tolist() == [total(Values(COLUMNS), x)] * 3


@given(TABLES.filter(len), st.tuples(CELLS, CELLS), st.data())
def test_a_swapped_row_changes_one_block_of_each_dealing_bit_by_bit(rows, other, data):
    i = data.draw(st.integers(0, len(rows) - 1))
    kernel = BlockSums(COLUMNS, 4, 3, KEY)
    tables = []
    for x in (matrix(rows), matrix([*rows[:i], other, *rows[i + 1 :]])):
        tables.append(kernel.tables(total(kernel, x[:7], x[7:])))
    for (means, counts), (other_means, other_counts) in zip(*tables, strict=True):
        same = [
            a.tobytes() == b.tobytes() and c.tobytes() == d.tobytes()
            for a, b, c, d in zip(means, other_means, counts, other_counts, strict=True)
        ]
        assert same.count(False) <= 1


def test_block_means_are_the_nearest_floats():
    kernel = BlockSums(COLUMNS, 3, 1, KEY)
    ((means, counts),) = kernel.tables([HALF, 3, 0, 0, 0, -1, 1, 3, 0, 0, 0, 7])
    np.testing.assert_array_equal(counts, [[1, 0], [3, 0], [0, 7]])
    np.testing.assert_array_equal(means, [[1, np.nan], [1 / HALF, np.nan], [np.nan, -1 / (7 * HALF)]])


def test_clipped_sums_and_counts_are_those_of_tables_in_memory():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5000, 2)) * [4, 1]
    x[rng.random(x.shape) < 0.1] = np.nan
    where = ClipRange(np.array([-0.5, -1.0]), np.array([0.75, 0.25]), np.array([0.1, 0.0]))
    relative = COLUMNS.relative(x)
    assert total(Clipped(COLUMNS, where), x[:1234], x[1234:]) == where.steps(relative).sum(axis=0).tolist()
    beyond = Beyond(COLUMNS, np.array([0.1, 0.2]), np.array([0.3, 0.05]))
    found = total(beyond, x[:4000], x[4000:])
    assert found[:2] == np.isnan(x).sum(axis=0).tolist()
    away = np.abs(relative - [0.1, 0.2]) / [0.3, 0.05]
    assert found[2 + 4] == int((away[:, 0] > 3.0).sum())
    assert found[2 + 11 + 6] == int((away[:, 1] > 7.0).sum())


def test_sums_beyond_64_bits_are_exact():
    """A batch with the limbs of 2^34 rows at the end of the range, which no 64-bit sum of steps holds."""
    rows, value = 2**34, STEPS
    one = Pass((Values(COLUMNS),), ("a", "b"))
    piece = one.of([np.full((2**16, 2), np.inf)])
    n, (found,) = one.whole(piece * (rows // 2**16))
    assert n == rows
    assert found == [rows * value // 2] * 2 + [rows] * 2
    assert rows * value > 2**63


def test_numbers_are_uniform_and_independent_between_dealings_and_pieces(monkeypatch):
    drawn = []
    plain = passes_module.drawn_blocks
    monkeypatch.setattr(passes_module, "drawn_blocks", lambda *given: drawn.append(plain(*given)) or drawn[-1])
    kernel = BlockSums(COLUMNS, 3, 2, KEY)
    for i in range(20):
        kernel(np.zeros((300, 2)), (0, i))
    numbers = np.array(drawn).reshape(20, 2, 300)

    def alike(first, second):
        return g_test(np.bincount((3 * first + second).reshape(-1), minlength=9), np.full(9, 1 / 9))

    assert alike(numbers[:, 0], numbers[:, 1]) > FALSE_ALARM
    assert alike(numbers[::2], numbers[1::2]) > FALSE_ALARM
    kernel(np.zeros((300, 2)), (0, 0))  # pieces that share a place would share their draws
    assert alike(numbers[0, 0], drawn[-2]) < FALSE_ALARM


def test_no_two_pieces_of_a_pass_have_the_same_place(monkeypatch):
    monkeypatch.setattr(batches_module, "PIECE", 3)
    places = []

    class Noting:
        length = 1

        def __call__(self, cells, place):
            places.append(place)
            return np.array([len(cells)])

    one = Pass((Noting(),), ("a", "b"))
    for partition in range(3):
        one.of([np.zeros((8, 2)), np.zeros((2, 2)), np.zeros((0, 2))], partition)
    assert len(set(places)) == len(places) == 3 * 4


def test_a_key_travels_but_is_not_shown():
    kernel = BlockSums(COLUMNS, 3, 2, KEY)
    assert repr(KEY)[2:10] not in repr(Pass((kernel,), ("a", "b")))
    assert "key" not in repr(kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_a_batch_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="other columns"):
        Pass((Values(COLUMNS),), ("a", "b")).of([np.zeros((3, 1))])


def test_a_table_that_changes_between_passes_is_noticed():
    sizes = iter([3, 2])
    table = LazyTable(3, ("a", "b"), "test", lambda one: one.of([np.zeros((next(sizes), 2))]))
    assert table.total(Values(COLUMNS)) == [[-3 * HALF, 0, 3, 3]]
    with pytest.raises(td.ParameterError, match="same rows in every pass; this run's budget is spent"):
        table.total(Values(COLUMNS))


def test_drawn_blocks_are_private_under_swap_over_all_draws():
    """Exact mixtures over all numbers and coins of tiny tables, by the oracle: at most epsilon, and more than half."""
    epsilon, points = 1.0, range(-2, 3)
    laws = {rows: drawn_law(rows, 2, epsilon, points) for rows in combinations_with_replacement(points, 4)}
    worst = 0.0
    for rows, law in laws.items():
        for i in range(4):
            for value in points:
                other = laws[tuple(sorted((*rows[:i], *rows[i + 1 :], value)))]
                worst = max(worst, *(math.log(a / b) for a, b in zip(law, other, strict=True)))
    assert 0.5 < worst < 1.0 + 1e-12
    # The control: all of epsilon in the exponent, in place of half of it.
    a, b = (drawn_law(rows, 2, 2 * epsilon, points) for rows in ((-1, 1, 1, 1), (1, 1, 1, 1)))
    assert max(math.log(p / q) for p, q in zip(a, b, strict=True)) > 1.0 + 1e-12

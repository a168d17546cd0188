"""Points of all groups together, proven by enumeration: all tables (as multisets), all swaps and moves between groups.

The joint laws are those of an account that imports nothing from the package; then the package's tables, depths and
epsilons are shown to be those of that account. Controls must lose more than epsilon.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import groups_oracle as oracle
from support.charges import charge
from tukeydp.mechanisms import cliff
from tukeydp.mechanisms.grouped_ways import BlocksOfGroups, RowsOfGroups
from tukeydp.trusted import block_steps as grouped_blocks
from tukeydp.trusted import points
from tukeydp.trusted.account import bounded_range
from tukeydp.trusted.bits import Keystream, derived_key
from tukeydp.trusted.block_steps import block_means, corrected_means, grouped_block_means, partly_filled
from tukeydp.trusted.blocks import drawn_blocks
from tukeydp.trusted.steps import noised_group_counts

GRID = tuple(Fraction(k, 2) - 1 for k in range(5))  # -1, -1/2, ... 1
VALUES = (Fraction(-1), Fraction(0), Fraction(1), None)
ROWS = [(g, v) for g in (0, 1) for v in VALUES] + [(None, Fraction(1))]
BLOCKS = 2
# q = e^(epsilon / 2) for rows, e^(epsilon / 4) for blocks, so that e^epsilon is the other number.
OF_ROWS, OF_BLOCKS = (Fraction(2), 4), (Fraction(2), 16)


def neighbours(n):
    """Tables as multisets: n - 1 common rows, and two that differ."""
    for common in itertools.combinations_with_replacement(range(len(ROWS)), n - 1):
        for i, j in itertools.combinations(range(len(ROWS)), 2):
            yield tuple(sorted((*common, i))), tuple(sorted((*common, j)))


def worst(n, joint):
    laws = {
        table: joint([ROWS[i] for i in table]) for table in itertools.combinations_with_replacement(range(len(ROWS)), n)
    }
    return max(oracle.largest_ratio(laws[a], laws[b]) for a, b in neighbours(n))


@pytest.mark.parametrize("n", [2, 3])
def test_rows_of_all_groups_together_lose_at_most_epsilon(n):
    q, most = OF_ROWS
    assert 1 < worst(n, lambda rows: oracle.joint_of_rows(rows, 2, GRID, q)) <= most


def test_rows_with_twice_the_exponent_would_lose_more():
    q, most = OF_ROWS
    assert worst(3, lambda rows: oracle.joint_of_rows(rows, 2, GRID, q * q)) > most


@pytest.mark.parametrize("n", [1, 2])
def test_blocks_of_all_groups_together_lose_at_most_epsilon(n):
    q, most = OF_BLOCKS
    assert 1 < worst(n, lambda rows: oracle.joint_of_blocks(rows, 2, BLOCKS, GRID, q)) <= most


def test_blocks_with_epsilon_in_each_group_would_lose_more():
    """The control: as in a table without groups, each group's blocks at all of epsilon."""
    q, most = OF_BLOCKS
    grid = tuple(Fraction(k, 16) - 1 for k in range(33))  # a coarser one hides part of the loss
    common = [(0, Fraction(-1)), (0, Fraction(-1)), (1, Fraction(-1)), (1, Fraction(0))]
    tables = [[*common, (g, Fraction(1))] for g in (0, 1)]

    def lost(q):
        return oracle.largest_ratio(*(oracle.joint_of_blocks(rows, 2, BLOCKS, grid, q) for rows in tables))

    assert lost(q) <= most
    assert lost(q * q) > most


def alternating(n):
    """Rows of one group whose values come in pairs, and one that leaves for another group."""
    return [(0, Fraction(-1) if i // 2 % 2 == 0 else Fraction(1)) for i in range(n)]


@pytest.mark.parametrize("blocks", [8, 16, 32])
def test_numbers_within_a_group_would_lose_more_and_more(blocks):
    """The control that tables of two rows do not see: when the first row leaves, all later ones shift by one.

    With e^(epsilon / 4) = 2 and the rows of the file dealt in their order.
    """
    q, most = OF_BLOCKS
    ours = alternating(2 * blocks + 1)
    theirs = [(1, ours[0][1]), *ours[1:]]
    laws = []
    for rows in (ours, theirs):
        numbers = oracle.numbered_within(rows[: 2 * blocks + 1], blocks + 1)
        laws.append([oracle.law(oracle.block_values(rows, numbers, h, blocks + 1, GRID), GRID, q) for h in (0, 1)])
    lost = math.prod(max(max(a / b, b / a) for a, b in zip(*pair, strict=True)) for pair in zip(*laws, strict=True))
    assert lost > most ** (blocks // 8)


@pytest.mark.parametrize("blocks", [8, 16, 32])
def test_numbers_drawn_by_each_row_lose_at_most_epsilon_there(blocks):
    q, most = OF_BLOCKS
    ours = alternating(2 * blocks + 1)
    for moved in (0, blocks, 2 * blocks):
        theirs = [*ours[:moved], (1, ours[moved][1]), *ours[moved + 1 :]]
        numbers = drawn_blocks(len(ours), blocks, Keystream(derived_key("numbers", moved))).tolist()
        laws = [
            [oracle.law(oracle.block_values(rows, numbers, h, blocks, GRID), GRID, q) for h in (0, 1)]
            for rows in (ours, theirs)
        ]
        lost = math.prod(max(max(a / b, b / a) for a, b in zip(*pair, strict=True)) for pair in zip(*laws, strict=True))
        assert lost <= most


class Seen:
    """Stands where the sampler is: keeps what it was given, and draws the first point."""

    found: ClassVar[list] = []

    def __init__(self, prepared, *, within, epsilon):
        depths = [prepared.depth([y]) for y in range(within.low[0], within.high[0] + 1)]
        Seen.found.append((depths, epsilon))

    def draw(self, key):
        return [0]


@pytest.fixture
def seen(monkeypatch):
    Seen.found.clear()
    monkeypatch.setattr(points, "point_sampler", Seen)
    return Seen.found


def relative(rows):
    return np.array([[np.nan if v is None else float(v)] for _, v in rows])


def numbers_of_groups(rows):
    return np.array([-1 if g is None else g for g, _ in rows])


def tables(n):
    return ([ROWS[i] for i in t] for t in itertools.combinations_with_replacement(range(len(ROWS)), n))


def test_the_package_ranks_rows_as_the_account_does(seen):
    way = RowsOfGroups(Fraction(3), (4,))
    for rows in tables(3):
        seen.clear()
        way.draw(relative(rows), numbers_of_groups(rows), 2, derived_key("p"), charge(way.epsilon))
        expected = [[oracle.depth([v for g, v in rows if g == h], y) for y in GRID] for h in (0, 1)]
        assert seen == [(depths, Fraction(3)) for depths in expected]


@pytest.mark.parametrize("partitions", [1, 2])
def test_the_package_ranks_blocks_as_the_account_does(seen, monkeypatch, partitions):
    """For every draw of the numbers; the epsilon of each group is a half, divided by the dealings."""
    way = BlocksOfGroups(Fraction(3), BLOCKS, partitions, (4,))
    monkeypatch.setattr(grouped_blocks, "secret_order", lambda n, stream: np.arange(n))
    monkeypatch.setattr(grouped_blocks, "corrected", lambda block: block.mean)
    for rows in itertools.islice(tables(3), 0, None, 3):
        for numbers in itertools.product(range(BLOCKS), repeat=3):
            seen.clear()
            monkeypatch.setattr(grouped_blocks, "drawn_blocks", lambda n, b, s, drawn=numbers: np.array(drawn))
            way.draw(relative(rows), numbers_of_groups(rows), 2, derived_key("p"), charge(way.epsilon))
            values = [oracle.block_values(rows, numbers, h, BLOCKS, GRID) * partitions for h in (0, 1)]
            expected = [[oracle.depth(table, y) for y in GRID] for table in values]
            assert seen == [(depths, Fraction(3) / 2 / partitions) for depths in expected]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_a_row_that_moves_changes_one_block_of_two_groups_to_the_last_digit(data):
    n, d = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 3))
    blocks, partitions = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cells = np.where(rng.random((n, d)) < 0.2, np.nan, rng.uniform(-1, 1, (n, d)))
    groups = rng.integers(-1, 3, n)
    moved, swapped = groups.copy(), cells.copy()
    row = data.draw(st.integers(0, n - 1))
    moved[row], swapped[row] = rng.integers(-1, 3), rng.uniform(-1, 1, d)
    key = derived_key("moves")
    ours = grouped_block_means(cells, groups, 3, blocks, partitions, key)
    theirs = grouped_block_means(swapped, moved, 3, blocks, partitions, key)
    changed = [
        int(((ours[g] != theirs[g]) & ~(np.isnan(ours[g]) & np.isnan(theirs[g]))).any(axis=1).sum()) for g in range(3)
    ]
    for g, count in enumerate(changed):
        assert count <= (partitions if g in (groups[row], moved[row]) else 0)


def test_numbers_by_place_within_the_group_would_change_nearly_every_block():
    """The control of the property above."""
    cells = np.random.default_rng(1).uniform(-1, 1, 200)
    places = np.arange(200) % 20
    ours, theirs = block_means(cells, places, 20), block_means(cells[1:], places[:-1], 20)
    assert (ours != theirs).sum() > 15


def test_block_means_are_those_of_blocks_of_one_size():
    rng = np.random.default_rng(3)
    for rows in (1, 2, 5):
        cells = np.where(rng.random((6, rows)) < 0.2, np.nan, rng.exponential(size=(6, rows)))
        places = np.repeat(np.arange(6), rows)
        found = block_means(cells.ravel(), places, 6)
        np.testing.assert_allclose(found, corrected_means(cells[:, :, np.newaxis])[:, 0], rtol=1e-12)


def test_every_dealing_draws_its_own_numbers_and_order(monkeypatch):
    lanes = []
    monkeypatch.setattr(
        grouped_blocks,
        "drawn_blocks",
        lambda n, b, stream: lanes.append(stream.words(0, 2).tolist()) or np.zeros(n, int),
    )
    grouped_block_means(np.zeros((4, 1)), np.zeros(4, int), 1, 3, 3, derived_key("k"))
    assert len({tuple(lane) for lane in lanes}) == 3


def test_rows_without_a_value_stay_missing_and_others_are_filled_by_place():
    table = np.array([[np.nan, np.nan], [0.25, np.nan], [np.nan, 0.5]])
    filled = partly_filled(table, Keystream(derived_key("coins")))
    assert np.isnan(filled[0]).all()
    assert filled[1, 0] == 0.25
    assert abs(filled[1, 1]) == 1.0
    assert abs(filled[2, 0]) == 1.0


def test_counts_have_noise_of_half_their_epsilon_in_each_group(monkeypatch):
    """A row that moves changes two counts by 1 each."""
    scales = []
    monkeypatch.setattr(
        "tukeydp.trusted.steps.discrete_laplace",
        lambda scale, bits: scales.append((scale, bits.take(64))) or 0,
    )
    found = noised_group_counts(np.array([0, 0, 1, -1]), 3, charge(Fraction(1, 5)))
    assert found == [2, 1, 0]
    assert [scale for scale, _ in scales] == [10, 10, 10]
    assert len({bits for _, bits in scales}) == 3


def test_groups_without_rows_have_noise_as_others_have(monkeypatch):
    """A count that is exact where it is 0 tells who is not there."""
    monkeypatch.setattr("tukeydp.trusted.steps.discrete_laplace", lambda scale, bits: 2)
    assert noised_group_counts(np.array([0, 0, 1, -1, -1]), 3, charge(1)) == [4, 3, 2]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_blocks_of_groups_cost_as_two_draws_of_half_of_epsilon(epsilon):
    """As zCDP: a row that moves is in two draws. Two coins show that half of the claim would not do."""
    claimed = BlocksOfGroups(epsilon, 8, 1, (4,)).guarantee.zcdp.rho
    assert claimed == 2 * bounded_range(epsilon / 2).zcdp.rho == epsilon**2 / 16
    each = float(epsilon) / 2  # the range of a draw's log ratios: from each / 2 to -each / 2, by two outcomes
    lost = 2 * (each / 2) * math.tanh(each / 4)  # their divergences add up; order 1
    assert claimed / 2 < lost <= claimed


def test_which_directions_there_are_does_not_hang_on_the_sizes_of_groups(monkeypatch):
    """They are published: by the rows of the whole table, or by the blocks, both public."""
    asked, chosen = [], cliff.drawn_notion
    monkeypatch.setattr(cliff, "drawn_notion", lambda *given: asked.append(given) or chosen(*given))
    relative = np.random.default_rng(1).uniform(-1, 1, size=(60, 2))
    for groups in (np.arange(60) % 2, np.zeros(60, dtype=np.int64), np.full(60, -1)):
        for way in (RowsOfGroups(Fraction(1), (8, 8)), BlocksOfGroups(Fraction(1), 6, 2, (8, 8))):
            way.draw(relative, groups, 2, derived_key("p"), charge(way.epsilon))
    assert [given[:3] for given in asked] == [*[(None, 60, 2)] * 2, *[(None, 12, 2)] * 2] * 3  # for each of two groups

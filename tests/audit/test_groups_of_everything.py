"""Draws in every group, for one epsilon: all small tables, all moves between groups, or one record more or less.

Laws are written down here again; weights are those of the package's prices. Each has a control: the price of one key
used with two, or that of a swap where the record may be absent.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tukeydp as td
from support import quantile_oracle as oracle
from tukeydp.mechanisms.quantile_levels import ALL, Among, as_if_swapped, level_weight, levels_of
from tukeydp.trusted.blocks import drawn_block_table
from tukeydp.trusted.prices import depth_of_blocks, kappa

EPSILON = Fraction(1)
ROUNDING = 1e-9
SHARES = {
    "median": (Fraction(1, 2),),
    "a tail": (Fraction(9, 10),),
    "quartiles": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "uneven": (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)),
}
SWAPS_OF_GROUPS, ONE_MORE = Among("swap", 2), Among("add-remove", 2)


def weights_of(shares, among):
    return [weight for weight, _ in levels_of(shares, EPSILON, among)]


def largest_ratio(ours, theirs):
    return max(abs(math.log(ours[y] / theirs[y])) for y in ours)


def laws_of_tables(shares, weights, most, highest):
    """The joint law of every multiset of at most so many values: a group's, however many values it has."""
    tables = [t for n in range(most + 1) for t in itertools.combinations_with_replacement(range(highest + 1), n)]
    return {t: oracle.joint(t, highest, shares, weights) for t in tables}


def one_more(laws, most, highest):
    """What a value more or less loses in one group at most: an addition and a removal have the same ratios."""
    smaller = [t for t in laws if len(t) < most]
    return max(largest_ratio(laws[t], laws[tuple(sorted((*t, v)))]) for t in smaller for v in range(highest + 1))


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("among", [SWAPS_OF_GROUPS, ONE_MORE], ids=["moves between groups", "one more or less"])
def test_quantiles_of_all_groups_together_lose_at_most_epsilon_at_each_level(name, among):
    """Groups are drawn by themselves, so that losses add up: a move is a value less in one and one more in another."""
    shares, most, highest = SHARES[name], 4, 3
    weights = weights_of(shares, among)
    lost = one_more(laws_of_tables(shares, weights, most, highest), most, highest)
    groups = 2 if among.relation == "swap" else 1
    assert 0.3 * len(weights) < groups * lost <= len(weights) + ROUNDING


def in_a_tail(weight, gap=2000):
    """What a value more loses where the quantile is 9/10: alone above a gap it pulls the wanted rank up by 9/10."""
    share, below = Fraction(9, 10), (1,) * 9
    ours, theirs = (oracle.law(values, 0, gap, share, weight) for values in (below, (*below, gap)))
    return max(abs(math.log(a / b)) for a, b in zip(ours, theirs, strict=True))


def test_the_price_of_one_key_would_lose_more_with_two():
    (one_key,), (two_keys,) = weights_of(SHARES["a tail"], ALL), weights_of(SHARES["a tail"], SWAPS_OF_GROUPS)
    assert one_key == Fraction(1, 2)
    assert two_keys == Fraction(5, 18)
    assert 2 * in_a_tail(two_keys) <= 1 + ROUNDING
    assert 2 * in_a_tail(one_key) > 1.5


def test_the_median_s_price_would_lose_more_in_a_tail_of_secret_size():
    (weight,) = weights_of(SHARES["a tail"], ONE_MORE)
    assert weight == Fraction(5, 9)
    assert 0.9 < in_a_tail(weight) <= 1 + ROUNDING
    assert in_a_tail(Fraction(1)) > 1.5


def test_weights_of_levels_follow_the_largest_part():
    parts = [Fraction(1, 8), Fraction(7, 8)]
    assert level_weight(parts, EPSILON, ONE_MORE) == Fraction(4, 7)
    assert level_weight(parts, EPSILON, SWAPS_OF_GROUPS) == Fraction(2, 7)
    assert level_weight(parts, EPSILON, Among("swap", 1)) == level_weight(parts, EPSILON)
    assert as_if_swapped((Fraction(1, 2),), EPSILON, ONE_MORE) == 2


BLOCK_VALUES = (None, 0, 1, 2, 3)


def drawn_depths(values, weight):
    """Of a block table: e^(weight depth) on a small grid; a block without a row lies on no side."""
    there = [v for v in values if v is not None]
    depths = [min(sum(v <= y for v in there), sum(v >= y for v in there)) for y in range(4)]
    chances = [math.exp(float(weight) * depth) for depth in depths]
    return {y: c / sum(chances) for y, c in enumerate(chances)}


def worst_block(weight):
    """One block's value becomes another, or is there no longer: what a record does in one group."""
    worst = 0.0
    for others in itertools.combinations_with_replacement(BLOCK_VALUES, 4):
        laws = [drawn_depths((*others, v), weight) for v in BLOCK_VALUES]
        worst = max(worst, *(largest_ratio(a, b) for a, b in itertools.permutations(laws, 2)))
    return worst


def test_blocks_of_all_groups_together_lose_at_most_epsilon():
    """A record that moves changes a block in each of two groups; one more or less changes a block of one."""
    moves = kappa(EPSILON, *depth_of_blocks(1), "swap", 2)
    assert 0.6 < 2 * worst_block(moves) <= 1 + ROUNDING
    assert 0.6 < worst_block(kappa(EPSILON, *depth_of_blocks(1), "add-remove", 2)) <= 1 + ROUNDING
    one_key = kappa(EPSILON, *depth_of_blocks(1), "swap", 1)  # the control
    assert 2 * worst_block(one_key) > 1.2


def test_rows_of_no_group_are_in_no_block():
    cells, numbers = np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 0])
    groups, order = np.array([0, -1, 1, 1]), np.array([3, 1, 0, 2])
    sums = drawn_block_table(cells, 2, numbers, order, lambda blocks: blocks.sum(axis=1), groups, 2)
    np.testing.assert_array_equal(sums[:, 0], [1.0, np.nan, 8.0, 4.0])


GROUPED = {
    "quantiles": {"q": [0.5]},
    "spread": {},
    "cube": {},
}


@pytest.mark.parametrize("neighbours", ["swap", "add-remove"])
@pytest.mark.parametrize("name", GROUPED)
def test_nothing_but_the_values_depends_on_who_is_in_which_group(name, neighbours):
    rng = np.random.default_rng(5)
    x, size = rng.normal(size=(600, 2)), {"rows": 600} if neighbours == "add-remove" else {}
    told = []
    for groups in (rng.integers(0, 2, 600), np.zeros(600, dtype=int), np.full(600, 7)):
        asked = {"by": groups, "keys": [0, 1], "neighbours": neighbours, "randomness": td.seeded(3), **size}
        found = getattr(td, name)(x, epsilon=1, bounds=(-9, 9), **asked, **GROUPED[name])
        assert list(found) == ["0", "1"]
        told.append((found.settings, found.n, found.guarantee, found.caveats, found["0"].settings))
    assert told[0] == told[1] == told[2]
    assert (told[0][1] is None) == (neighbours == "add-remove")


@pytest.mark.parametrize("name", GROUPED)
def test_persons_groups_and_secret_sizes_compose(name):
    rng = np.random.default_rng(6)
    ids = rng.permutation(np.repeat(np.arange(900), 2))
    x = rng.normal(50, 5, size=(1800, 2))
    asked = {"by": ids % 2, "keys": [0, 1], "person": ids, "neighbours": "add-remove", "rows": 900}
    asked |= {"bounds": (0, 100), "check": False, "randomness": td.seeded(1), **GROUPED[name]}
    found = getattr(td, name)(x, epsilon=4, **asked)
    assert found.guarantee.neighbours == "add-remove-person"
    assert "persons" in str(found.caveats)
    expected = 50 if name != "spread" else 5 / math.sqrt(2)
    for group in found.values():
        value = group[0.5] if name == "quantiles" else group.point
        assert (np.abs(np.log2(value / expected)) < 1.5).all()
